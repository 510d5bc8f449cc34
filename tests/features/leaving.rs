//! Elements that leave as the last thing they do in the entry in which they contribute: no contribution is lost or counted twice, and no
//! broadcast missed.

use talisman::prelude::*;

const ALL: i32 = 9;
const ROUNDS: u64 = 25;

/// What an element contributes in a round.
fn worth(index: i32, round: u64) -> u64 {
    (index as u64 + 1) << (round % 8)
}

#[derive(Pup)]
struct Stone {
    /// Rounds that were announced here, and that it has ended.
    announced: u64,
    ended: u64,
    /// Of even and odd rounds: who has told it, and what.
    heard: [(u32, u64); 2],
}

#[chare(array1d)]
impl Stone {
    #[init]
    fn new() -> Self {
        Stone { announced: 0, ended: 0, heard: [(0, 0); 2] }
    }

    #[entry]
    fn round(&mut self, cx: &mut Cx<Self>, round: u64) {
        assert_eq!(round, self.announced + 1, "broadcasts come once, in their order");
        self.announced = round;
        for to in [cx.index() + 1, cx.index() + ALL - 1] {
            cx.array().at(to % ALL).hear(round, worth(cx.index(), round));
        }
        self.end_round_if_all_is_heard(cx);
    }

    #[entry]
    fn hear(&mut self, cx: &mut Cx<Self>, round: u64, worth: u64) {
        let heard = &mut self.heard[(round % 2) as usize];
        *heard = (heard.0 + 1, heard.1 + worth);
        self.end_round_if_all_is_heard(cx);
    }

    fn end_round_if_all_is_heard(&mut self, cx: &mut Cx<Self>) {
        let round = self.ended + 1;
        let heard = &mut self.heard[(round % 2) as usize];
        if self.announced != round || heard.0 < 2 {
            return;
        }
        let neighbours = [cx.index() + 1, cx.index() + ALL - 1].map(|index| worth(index % ALL, round));
        assert_eq!(std::mem::take(heard), (2, neighbours.iter().sum()), "round {round}");
        self.ended = round;
        cx.contribute(
            (worth(cx.index(), round), round, round),
            (Sum, Min, Max),
            Main::main_chare().callback(Main::over),
        );
        let pes = u64::from(cx.pes());
        if !round.is_multiple_of(3) {
            cx.migrate_to(((cx.index() as u64 * 7 + round * 5) % pes) as u32);
        }
    }
}

#[derive(Pup)]
struct Main {
    stones: Array<Stone>,
    round: u64,
}

#[talisman::main]
impl Main {
    #[init]
    fn new() -> Self {
        let stones = Stone::array(ALL).new();
        stones.round(1);
        Main { stones, round: 1 }
    }

    #[entry]
    fn over(&mut self, cx: &mut Cx<Self>, sum: u64, first: u64, last: u64) {
        let all = (0..ALL).map(|index| worth(index, self.round)).sum();
        assert_eq!((sum, first, last), (all, self.round, self.round));
        if self.round == ROUNDS {
            writeln!(cx.output(), "{sum}");
            return cx.exit();
        }
        self.round += 1;
        self.stones.round(self.round);
    }
}

#[test]
fn after_a_contribution_loses_nothing() {
    crate::common::same_everywhere::<Main, _>(|| (), &["90"]);
}
