//! Elements that print lines, each where it is, while they move, up to the very end of the job.
//!
//! Every singer has its turn when the one before it passes it on, prints the next verse, and passes it on in turn; when all have
//! sung, each takes a bow, and the job ends. Nothing of what they print comes from where the program ends it. Those that are restored
//! after a loss move on at once, and again from wherever they come to: their homes may hear of that before they hear where they had been.

use std::time::Duration;

use talisman::prelude::*;
use talisman::rng::Rng;
use talisman::simulation::{self, charge, simulate};

use super::{Checked, Size};

#[derive(Clone, Copy, Pup, clap::Parser)]
struct Chorus {
    #[arg(skip)]
    seed: u64,
    #[arg(skip)]
    singers: i32,
    /// That each of them sings.
    #[arg(skip)]
    verses: u32,
}

pub fn run(seed: u64, size: Size, plan: &simulation::Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let chorus = Chorus {
        seed,
        singers: 2 + rng.below(4 * u64::from(size.0)) as i32,
        verses: 3 + rng.below(6 * u64::from(size.0)) as u32,
    };
    let ran = simulate::<Main>((chorus,), plan, logging);
    Checked::by_itself(ran, &[]).with_unordered_lines()
}

/// Moves of a singer that was restored, one after the other, at most. It stays where the last one ends.
const MOVES_MOST: u64 = 4;

#[derive(Pup)]
struct Singer {
    chorus: Chorus,
    /// Draws places and times, in whatever order things happen.
    rng: Rng,
    sung: u32,
    ends: Option<Callback<u64>>,
}

#[chare(array1d)]
impl Singer {
    #[init]
    fn new(cx: &mut Cx<Self>, chorus: Chorus) -> Self {
        let rng = Rng::new(chorus.seed ^ ((cx.index() as u64) << 32));
        Singer { chorus, rng, sung: 0, ends: None }
    }

    #[restored]
    fn restored(&mut self, cx: &mut Cx<Self>, why: Restored) {
        if !matches!(why, Restored::AfterMigration) {
            let moves = 1 + self.rng.below(MOVES_MOST) as u32;
            self.roam(cx, moves);
        }
    }

    /// All begin at once; whoever has sung all it has to tells this.
    #[entry]
    fn begin(&mut self, cx: &mut Cx<Self>, ends: Callback<u64>) {
        self.ends = Some(ends);
        self.sing(cx);
    }

    /// It has its turn. One may come before all have begun.
    #[entry]
    fn sing(&mut self, cx: &mut Cx<Self>) {
        charge(Duration::from_micros(self.rng.below(40)));
        self.sung += 1;
        writeln!(cx.output(), "{} sings verse {}", cx.index(), self.sung);
        if cx.index() == 0 {
            cx.step(u64::from(self.sung));
        }
        if self.sung < self.chorus.verses {
            cx.array().at((cx.index() + 1) % self.chorus.singers).sing();
        }
        self.end_if_all_is_sung(cx);
        self.wander(cx);
    }

    /// Goes to some place, and from there to others.
    #[entry]
    fn roam(&mut self, cx: &mut Cx<Self>, moves: u32) {
        if moves > 1 {
            cx.me().roam(moves - 1);
        }
        let pe = self.rng.below(cx.pes().into()) as u32;
        cx.migrate_to(pe);
    }

    /// The last that is heard of it.
    #[entry]
    fn bow(&mut self, cx: &mut Cx<Self>) -> u64 {
        writeln!(cx.output(), "{} bows", cx.index());
        self.sung.into()
    }
}

impl Singer {
    fn end_if_all_is_sung(&mut self, cx: &mut Cx<Self>) {
        if self.sung == self.chorus.verses
            && let Some(ends) = &self.ends
        {
            cx.contribute(1u64, Sum, ends.clone());
        }
    }

    fn wander(&mut self, cx: &mut Cx<Self>) {
        if self.rng.below(3) == 0 {
            let pe = self.rng.below(cx.pes().into()) as u32;
            cx.migrate_to(pe);
        }
    }
}

#[derive(Pup)]
struct Main;

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>, chorus: Chorus) -> Self {
        cx.me().run(chorus);
        Main
    }

    #[entry]
    fn sung(singers: u64);

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>, chorus: Chorus) {
        let singers: Array<Singer> = Singer::array(chorus.singers).new(chorus);
        singers.begin(cx.callback(Self::sung));
        let there: u64 = cx.when(Self::sung).await;
        let verses: u64 = singers.bow().reduce(Sum).await;
        cx.result("singers", there);
        cx.result("verses", verses);
        cx.exit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::played::{Played, Stage, Worlds};
    use crate::regressions::case_of;
    use crate::run::judged_beside;
    use crate::workloads::PRINTS;
    use talisman::simulation::Plan;

    #[test]
    fn everybody_sings_each_verse_once_and_bows() {
        let checked = run(5, Size(1), &Plan::calm(1, 3, 2), false);
        let lines: Vec<_> = checked.result.iter().filter_map(|line| line.strip_prefix(PRINTS)).collect();
        let bows = lines.iter().filter(|line| line.ends_with("bows")).count();
        let verses = lines.iter().filter(|line| line.contains("sings verse")).count();
        assert!(bows >= 2 && verses >= 3 * bows && verses % bows == 0, "{lines:?}");
        let all: std::collections::BTreeSet<_> = lines.iter().collect();
        assert_eq!(all.len(), bows + verses, "no line comes twice");
        assert_eq!(lines.len(), bows + verses);
    }

    /// More lines than that are known one by one when the launcher is lost.
    const KNOWN: &str = "more lines of a node were printed than are known one by one";

    /// A job of whose nodes each has had 440 pieces of its lines printed when it is over, 280 of them before the first of these strikes.
    fn of_many_pieces(strikes: &str) -> Case {
        let line = format!(
            "--seed 22 --workload chorus --size 75 --nodes 3 --pes 1 --ft 10us --heirs true --strikes {strikes}"
        );
        case_of(&line).expect("it can be drawn")
    }

    /// What comes of such a job with each of these strikes, and without any.
    fn runs_of_many_pieces<const N: usize>(strikes: [&str; N]) -> (Played, [Played; N]) {
        let cases = strikes.map(of_many_pieces);
        let calm = Worlds::default().play(&cases[0], &cases[0].calm_plan(), false);
        let struck = cases.map(|case| {
            let judged = judged_beside(&Worlds::default(), &case, calm.clone(), false, false);
            assert_eq!(judged.failures, []);
            let struck = judged.main().clone();
            assert_eq!(struck.hurt.len(), case.faults.len(), "all that was to happen has");
            assert!(struck.marks.contains_key(KNOWN), "{:?}", struck.marks);
            struck
        });
        (calm, struck)
    }

    #[test]
    fn no_line_is_missing_or_comes_twice_however_many_were_printed_when_the_launcher_is_lost() {
        let strikes = ["launcher@75000", "1@65000,launcher@80000", "launcher@70000,1@85000"];
        let (calm, all) = runs_of_many_pieces(strikes);
        all.iter().for_each(|struck| assert_eq!(struck.result, calm.result));
    }

    /// Of what was printed last only these two knew that it was.
    #[test]
    fn if_a_node_is_lost_with_the_launcher_few_lines_come_twice_and_none_is_missing() {
        let (calm, all) = runs_of_many_pieces(["1@68049,launcher@68049", "2@68049,launcher@68049"]);
        for mut struck in all {
            let more = struck.result.len() - calm.result.len();
            assert!(more <= 10, "{more} lines came again, of {}", calm.result.len());
            struck.result.dedup();
            assert_eq!(struck.result, calm.result);
        }
    }
}
