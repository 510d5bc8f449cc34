//! The shortest Golomb ruler: marks at whole places, and no distance between two of them twice. A search whose tree nobody knows
//! beforehand, without steps or iterations.
//!
//! Shows: an array whose elements come and go while the program runs; a job that never comes to a point at which it could be
//! saved, and is saved all the same (`--ckpt-every`, a time).
//!
//! ```text
//! cargo run --release --example golomb -- --marks 11 --nodes 4 --ft double --ckpt-every 200ms --kill 2@1s
//! ```
//!
//! Each element is the beginning of a ruler, with its marks for an index. One with few marks makes an element for each way to go on,
//! waits for what they find, tells whoever made it, and goes; one with `--depth` marks searches the rest at once.
//!
//! Check: the length is the published one (OEIS A003022). Results: `length`, `elements`, `wall_s`.

mod ruler;

use ruler::{Best, MOST_MARKS, Marks, Ruler, bound, known};
use talisman::prelude::*;

/// Most elements: a few GB, if all exist at the same time.
const MOST_ELEMENTS: u64 = 2_000_000;

/// Finds the shortest Golomb ruler of so many marks.
#[derive(clap::Parser, Pup)]
struct Options {
    /// Marks of the ruler
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(2..=i64::from(MOST_MARKS)))]
    marks: u32,
    /// Marks from which on the rest is searched at once
    #[arg(long, allow_negative_numbers = true, value_name = "MARKS", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    depth: u32,
}

/// What has been found below a beginning, and by how many elements.
#[derive(Clone, Copy, Pup)]
struct Found {
    best: Best,
    elements: u64,
}

/// The beginning of a ruler, and everything that follows from it.
#[derive(Pup)]
struct Beginning {
    ruler: Ruler,
    search: Shared<Search>,
    report_to: Callback<Found>,
    /// Those who have not reported.
    waits_for: u32,
    found: Found,
}

/// What all of them search for.
#[derive(Pup)]
struct Search {
    beginnings: Array<Beginning>,
    marks: u32,
    depth: u32,
    /// Longer rulers are of no interest.
    most: u32,
}

#[chare(array(Marks))]
impl Beginning {
    #[init]
    fn new(cx: &mut Cx<Self>, ruler: Ruler, search: Shared<Search>, report_to: Callback<Found>) -> Self {
        cx.array().at(ruler.name()).go();
        let found = Found { best: Best::none(search.most + 1), elements: 1 };
        Beginning { ruler, search, report_to, waits_for: 0, found }
    }

    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>) {
        if self.ruler.laid() >= self.search.depth.min(self.search.marks) {
            self.found.best = self.ruler.search(self.search.marks, self.search.most);
        } else {
            self.branch(cx);
        }
        self.report_if_done(cx);
    }

    /// One that this one made has searched everything below it.
    #[entry]
    fn found(&mut self, cx: &mut Cx<Self>, found: Found) {
        self.found.best = self.found.best.or(found.best);
        self.found.elements += found.elements;
        self.waits_for -= 1;
        self.report_if_done(cx);
    }

    fn branch(&mut self, cx: &mut Cx<Self>) {
        for child in self.ruler.children(self.search.marks, self.search.most) {
            let report_to = cx.callback(Self::found);
            self.search.beginnings.insert(child.name()).new(child, self.search.clone(), report_to);
            self.waits_for += 1;
        }
    }

    fn report_if_done(&mut self, cx: &mut Cx<Self>) {
        if self.waits_for == 0 {
            self.report_to.send(self.found);
            cx.destroy();
        }
    }
}

#[derive(Pup)]
struct Main {
    marks: u32,
    began: f64,
}

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>, options: Options) -> Self {
        let beginnings = Beginning::sparse();
        let (marks, depth) = (options.marks, options.depth);
        let (first, most) = (Ruler::new(), bound(marks));
        let search = cx.share(Search { beginnings, marks, depth, most });
        if first.beginnings(marks, most, depth, MOST_ELEMENTS).is_some() {
            beginnings.insert(first.name()).new(first, search, cx.callback(Self::done));
        } else {
            cx.fail(format!(
                "{marks} marks have more than {MOST_ELEMENTS} beginnings of up to {depth} marks, each an element; \
                 use a smaller --depth"
            ));
        }
        Main { marks, began: cx.now().as_secs_f64() }
    }

    #[entry]
    fn done(&mut self, cx: &mut Cx<Self>, found: Found) {
        let Found { best, elements } = found;
        let places = Ruler::places(best.marks);
        writeln!(
            cx.output(),
            "{} marks: the shortest ruler has a length of {}: {places:?}",
            self.marks,
            best.length
        );
        cx.result("length", u64::from(best.length));
        cx.result("elements", elements);
        let seconds = cx.now().as_secs_f64() - self.began;
        cx.result("wall_s", seconds);
        match known(self.marks) {
            _ if !best.is_found() => cx.fail("there is a ruler, and none was found"),
            Some(length) if length != best.length => {
                cx.fail(format!("the published length is {length}, not {}", best.length))
            }
            _ => cx.exit(),
        }
    }
}
