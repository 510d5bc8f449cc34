//! The critical path of a part of a trace: the longest chain of calls, each of which had to wait for the one before.
//!
//! A call waits for the message that makes it, so for what its sender did until then; and for the call of the same object
//! before it. What a chain took is the time in its calls alone: messages under way, and calls that waited until their PE
//! had time, are not in it. So neither more PEs nor a better balance make the job faster than its critical path.

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher as _;
use std::io::BufRead;

use rustc_hash::FxBuildHasher;

use super::balance::Loads;
use super::reader::{Event, Names, ReadError, TraceReader, What};
use super::summary::{OfJob, Summary};
use super::tracks::Track;
use super::vocabulary::names;
use crate::balancer_trial::Gain;

/// Calls and messages of which a path is found: some hundred megabytes of memory.
const ITEMS_MAX: usize = 1 << 21;
/// A message passes by fewer PEs on its way.
const RELAYS_MAX: usize = 8;
/// Calls at the end of the path that are told one by one.
const LINKS_MAX: usize = 20;

/// A part of the job's time, and what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub what: String,
    /// In nanoseconds since the program's start.
    pub from: u64,
    pub until: u64,
}

/// The critical path of a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// The time in its calls, in nanoseconds.
    pub ns: u64,
    pub calls: u64,
    /// Of its calls, so many were made by messages of the one before.
    pub messages: u64,
    /// Entries on it, by the numbers of their names: time and calls, the most first.
    pub entries: Vec<(u32, u64, u64)>,
    /// PEs on which it is: time, the most first.
    pub pes: Vec<(u32, u64)>,
    /// Its last calls, in order.
    pub links: Vec<Link>,
}

/// A call on the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub pe: u32,
    pub name: u32,
    pub index: String,
    /// When it began, and for how long it is on the path.
    pub at: u64,
    pub ns: u64,
}

/// What is known of a part alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Looked {
    /// None if nothing is called in it, or more than can be looked at.
    pub path: Option<Path>,
    /// What a balancer would have saved, if it is worth it.
    pub gain: Option<Gain>,
}

/// Looks at a part of a trace, which is read once more.
///
/// # Errors
/// The trace cannot be read.
pub fn look_at<R: BufRead>(reader: TraceReader<R>, part: &Part, job: &OfJob) -> Result<Looked, ReadError> {
    let mut seen = Seen { from: part.from, until: part.until, ..Seen::default() };
    let names = reader.read(|event, names| seen.see(event, names))?;
    if seen.is_cut {
        return Ok(Looked::default());
    }
    seen.clip();
    let loads = seen.loads(&names, &job.movable);
    let gain = loads.gain(part.ns(), job.nodes.saturating_mul(job.pes_per_node), job.pes_per_node);
    Ok(Looked { path: seen.path(), gain })
}

/// A call that was seen.
#[derive(Clone, Debug)]
struct Call {
    pe: u32,
    name: u32,
    /// Which object is called: a hash.
    object: u64,
    index: Box<str>,
    from: u64,
    until: u64,
    /// The arrow of the message that made it.
    by: Option<u64>,
}

/// A message has left.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// The place of the call in which it was sent.
    within: Option<usize>,
    at: u64,
    /// The arrow by which it had come, if it was passed on.
    passed: Option<u64>,
}

/// What a call had to wait for: another one, until a moment in it.
#[derive(Clone, Copy, Debug)]
struct Before {
    call: usize,
    until: u64,
    by_message: bool,
}

/// What is in a part.
#[derive(Default)]
struct Seen {
    from: u64,
    until: u64,
    calls: Vec<Call>,
    sent: HashMap<u64, Sent, FxBuildHasher>,
    /// The call that runs, by PE.
    open: BTreeMap<u32, usize>,
    /// There is more than can be looked at.
    is_cut: bool,
}

impl Part {
    /// Of a trace, the last step that the program has told; else from the last balancing step but one to the last; else all.
    pub fn last_of(summary: &Summary) -> Part {
        let between = |what: String, marks: &[u64]| match marks {
            [.., from, until] => Some(Part { what, from: *from, until: *until }),
            _ => None,
        };
        let marks: Vec<u64> = summary.marks.iter().map(|mark| mark.1).collect();
        let balanced: Vec<u64> = summary.steps.iter().map(|step| step.at).collect();
        let step = summary.marks.last().map_or(0, |mark| mark.0);
        between(format!("of step {step}"), &marks)
            .or_else(|| between("between two balancing steps".into(), &balanced))
            .unwrap_or_else(|| Part { what: "of the whole trace".into(), from: 0, until: summary.end })
    }

    pub fn ns(&self) -> u64 {
        self.until.saturating_sub(self.from)
    }
}

impl Seen {
    fn see(&mut self, event: &Event<'_>, names: &Names) {
        let Track::Pe(pe) = event.track else { return };
        self.is_cut |= self.calls.len() + self.sent.len() >= ITEMS_MAX;
        if self.is_cut {
            return;
        }
        match (event.what, event.name) {
            (What::Begins, Some(name)) if event.is_entry && event.at < self.until => {
                let index = event.first_text().map(|text| event.look_up(&text)).unwrap_or_default();
                let object = object_of(names.get(name), &index);
                let (from, by) = (event.at, event.arrows_in().first().copied());
                self.open.insert(pe, self.calls.len());
                let index = index.into_boxed_str();
                self.calls.push(Call { pe, name, object, index, from, until: self.until, by });
            }
            (What::Ends, _) => self.end(pe, event.at),
            (What::Happens, Some(name)) if [names::SEND, names::PASS_ON].contains(&names.get(name)) => {
                let within = self.open.get(&pe).copied();
                let passed = event.arrows_in().first().copied();
                let sent = Sent { within, at: event.at, passed };
                if (self.from..=self.until).contains(&event.at) {
                    self.sent.extend(event.arrows_out().first().map(|arrow| (*arrow, sent)));
                }
            }
            _ => {}
        }
    }

    /// What ran on this PE has ended. Calls before the part are forgotten, but for some that will have no time.
    fn end(&mut self, pe: u32, at: u64) {
        let Some(place) = self.open.remove(&pe) else { return };
        match at <= self.from && place + 1 == self.calls.len() {
            true => drop(self.calls.pop()),
            false => self.calls[place].until = at.min(self.until),
        }
    }

    /// Of calls, leaves what is in the part.
    fn clip(&mut self) {
        for call in &mut self.calls {
            (call.from, call.until) = (call.from.max(self.from), call.until.max(self.from));
        }
    }

    /// What objects had to do.
    fn loads(&self, names: &Names, movable: &[String]) -> Loads {
        let mut loads = Loads::default();
        for call in &self.calls {
            let is_movable = movable.iter().any(|chare| chare == chare_of(names.get(call.name)));
            loads.add(call.object, call.pe, call.ns(), is_movable);
        }
        loads
    }

    fn path(self) -> Option<Path> {
        let before = self.waited_for();
        let chains = self.chains(&before);
        let ends = |place: usize| chains[place].map(|begun| begun.0 + self.calls[place].ns());
        let last = (0..self.calls.len()).max_by_key(|place| ends(*place))?;
        Some(self.walk(last, &chains))
    }

    /// What each call had to wait for.
    fn waited_for(&self) -> Vec<[Option<Before>; 2]> {
        let mut order: Vec<usize> = (0..self.calls.len()).collect();
        order.sort_by_key(|place| self.calls[*place].from);
        let mut of_object = HashMap::<u64, usize, FxBuildHasher>::default();
        let mut before = vec![[None; 2]; self.calls.len()];
        for place in order {
            let call = &self.calls[place];
            let former = of_object.insert(call.object, place);
            let former = former.map(|call| Before { call, until: self.calls[call].until, by_message: false });
            before[place] = [self.sender_of(call), former];
        }
        before
    }

    /// Where the message of a call was sent.
    fn sender_of(&self, call: &Call) -> Option<Before> {
        let mut sent = self.sent.get(&call.by?)?;
        for _ in 0..RELAYS_MAX {
            let Some(passed) = sent.passed else { break };
            sent = self.sent.get(&passed)?;
        }
        Some(Before { call: sent.within?, until: sent.at, by_message: true })
    }

    /// The longest chain before each call, and what is last in it. None of those that wait for each other in a ring, which
    /// there are in no trace of ours.
    fn chains(&self, before: &[[Option<Before>; 2]]) -> Vec<Option<(u64, Option<Before>)>> {
        let mut waiters: Vec<Vec<usize>> = vec![Vec::new(); before.len()];
        let mut missing = vec![0; before.len()];
        for (place, before) in before.iter().enumerate() {
            for before in before.iter().flatten() {
                waiters[before.call].push(place);
                missing[place] += 1;
            }
        }
        let mut chains = vec![None; before.len()];
        let mut due: Vec<usize> = (0..before.len()).filter(|place| missing[*place] == 0).collect();
        while let Some(place) = due.pop() {
            let long = |before: &Before| {
                let begun = chains[before.call].map_or(0, |chain: (u64, Option<Before>)| chain.0);
                begun + self.ns_until(before)
            };
            let last = before[place].iter().flatten().max_by_key(|before| long(before));
            chains[place] = Some((last.map_or(0, long), last.copied()));
            for waiter in &waiters[place] {
                missing[*waiter] -= 1;
                if missing[*waiter] == 0 {
                    due.push(*waiter);
                }
            }
        }
        chains
    }

    /// How long a call had run when another one could go on.
    fn ns_until(&self, before: &Before) -> u64 {
        let call = &self.calls[before.call];
        before.until.saturating_sub(call.from).min(call.ns())
    }

    /// The chain up to this call, from its end to its beginning.
    fn walk(&self, last: usize, chains: &[Option<(u64, Option<Before>)>]) -> Path {
        let mut path = Path::default();
        let (mut entries, mut pes) = (BTreeMap::<u32, (u64, u64)>::new(), BTreeMap::<u32, u64>::new());
        let mut next = Some((last, self.calls[last].ns()));
        while let Some((place, ns)) = next {
            let call = &self.calls[place];
            path.ns += ns;
            path.calls += 1;
            let entry = entries.entry(call.name).or_default();
            *entry = (entry.0 + ns, entry.1 + 1);
            *pes.entry(call.pe).or_default() += ns;
            if path.links.len() < LINKS_MAX {
                let (pe, name, index, at) = (call.pe, call.name, call.index.to_string(), call.from);
                path.links.push(Link { pe, name, index, at, ns });
            }
            let before = chains[place].and_then(|chain| chain.1);
            path.messages += u64::from(before.is_some_and(|before| before.by_message));
            next = before.map(|before| (before.call, self.ns_until(&before)));
        }
        path.links.reverse();
        path.entries = entries.into_iter().map(|(name, (ns, calls))| (name, ns, calls)).collect();
        path.entries.sort_by_key(|(name, ns, _)| (std::cmp::Reverse(*ns), *name));
        path.pes = pes.into_iter().collect();
        path.pes.sort_by_key(|(pe, ns)| (std::cmp::Reverse(*ns), *pe));
        path
    }
}

impl Call {
    fn ns(&self) -> u64 {
        self.until.saturating_sub(self.from)
    }
}

/// A chare with this entry, and an index.
fn object_of(entry: &str, index: &str) -> u64 {
    FxBuildHasher.hash_one((chare_of(entry), index))
}

fn chare_of(entry: &str) -> &str {
    entry.rsplit_once('.').map_or(entry, |(chare, _)| chare)
}
