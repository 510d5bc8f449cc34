//! Members of groups that are made again on nodes which are back, and sections.

use talisman::prelude::*;
use talisman::rng::Rng;
use talisman::testing::{Test, Tested};

/// Contributions of a member for one multicast.
const AT_ONCE: u32 = 3;
/// Multicasts that are not waited for.
const UNDER_WAY: u32 = 4;
const MULTICASTS: u32 = 16;
const REDUCTIONS: u32 = AT_ONCE * MULTICASTS;

#[derive(Pup)]
struct Ringer;

#[chare(group)]
impl Ringer {
    #[init]
    fn new() -> Self {
        Ringer
    }

    #[entry]
    fn ring(&mut self, cx: &mut Cx<Self>, part: Section<Self>, times: u32, to: Callback<Vec<u32>>) {
        for _ in 0..times {
            cx.contribute_to(part, cx.index(), Concat, to.clone());
        }
    }
}

#[derive(Pup)]
struct Main {
    ringers: Group<Ringer>,
    part: Section<Ringer>,
    /// Who contributed last.
    left: Vec<u32>,
    asked: u32,
    reductions: u32,
}

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>) -> Self {
        let ringers: Group<Ringer> = Ringer::group().new();
        let part: Section<Ringer> = ringers.section(0..cx.pes());
        let mut main = Main { ringers, part, left: (0..cx.pes()).collect(), asked: 0, reductions: 0 };
        (0..UNDER_WAY).for_each(|_| main.ask(cx));
        let rests = cx.callback(Self::rests);
        cx.on_quiescence(rests);
        main
    }

    /// Who has contributed to a reduction has contributed to all before.
    #[entry]
    fn rang(&mut self, cx: &mut Cx<Self>, who: Vec<u32>) {
        assert!(who.is_sorted_by(|one, next| one < next), "somebody twice: {who:?}");
        assert!(who.iter().all(|member| self.left.contains(member)), "{who:?} after {:?}", self.left);
        self.left = who;
        self.reductions += 1;
        if self.reductions.is_multiple_of(AT_ONCE) {
            self.ask(cx);
        }
    }

    /// Those that were made again are members of sections that are made after them like any others.
    #[entry]
    fn rests(&mut self, cx: &mut Cx<Self>) {
        let all: Section<Ringer> = self.ringers.section(0..cx.pes());
        all.ring(all, 1, cx.callback(Self::all_rang));
    }

    #[entry]
    fn all_rang(&mut self, cx: &mut Cx<Self>, who: Vec<u32>) {
        assert!(who.is_sorted_by(|one, next| one < next), "somebody twice: {who:?}");
        writeln!(cx.output(), "{} reductions, of {} in the end", self.reductions, self.left.len());
        writeln!(cx.output(), "and one of {}", who.len());
        cx.exit();
    }
}

impl Main {
    fn ask(&mut self, cx: &mut Cx<Self>) {
        if self.asked < MULTICASTS {
            self.asked += 1;
            self.part.ring(self.part, AT_ONCE, cx.callback(Self::rang));
        }
    }
}

/// Four nodes, of which some are lost and come back, and then others are lost.
fn run(seed: u64, lost: &[u32], later: &[u32]) -> Tested {
    let mut rng = Rng::new(seed);
    let test = Test::new().pes(2).simulated(4, seed);
    let test = test.going_back(rng.below(150), lost).growing(rng.below(60), lost);
    let tested = test.going_back(rng.below(90), later).run::<Main>(());
    crate::common::assert_ended_well(
        &format!("with {lost:?} again, without {later:?}, seed {seed}"),
        &tested,
    );
    tested
}

#[test]
fn they_have_no_part_in_what_was_begun_without_them() {
    let mut again = 0;
    for seed in 0..120 {
        let lost: &[u32] = [&[0][..], &[1], &[3], &[0, 1], &[1, 2], &[0, 2, 3]][seed as usize % 6];
        let tested = run(seed, lost, if seed % 2 == 0 { &[] } else { &[2] });
        let all = format!("{REDUCTIONS} reductions, of ");
        assert!(tested.output[0].starts_with(&all), "seed {seed}: {:?}", tested.output);
        let left = 8 - 2 * lost.len();
        again += u32::from(tested.output == [format!("{all}{left} in the end"), "and one of 8".into()]);
    }
    assert!(again > 20, "{again} were in time");
}

/// Then nobody contributes any more.
#[test]
fn nobody_else_is_left() {
    let mut early = 0;
    for seed in 0..100 {
        let tested = run(seed, &[0, 1], &[2, 3]);
        assert!(["and one of 4", "and one of 8"].contains(&tested.output[1].as_str()), "seed {seed}");
        early += u32::from(!tested.output[0].starts_with(&format!("{REDUCTIONS} ")));
    }
    assert!(early > 20, "{early} were in time");
}
