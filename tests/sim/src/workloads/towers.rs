//! A chare on each node, which stays with its number: nodes are lost, come back, are added, and have more or fewer PEs when the job is started again.
//!
//! Of a lost tower another has what it knew, and what was sent to it: of coins and of memories there are as many in all as were given out, in
//! each round, whoever is there.

use talisman::prelude::*;
use talisman::rng::Rng;
use talisman::simulation::{self, simulate};

use super::ledger::{self, HERE};
use super::{Checked, Size};

#[derive(Clone, Copy, Pup, clap::Parser)]
struct Towers {
    #[arg(skip)]
    seed: u64,
    #[arg(skip)]
    rounds: u32,
}

pub fn run(seed: u64, size: Size, plan: &simulation::Plan, logging: bool) -> Checked {
    let mut rng = Rng::new(seed);
    let towers = Towers { seed, rounds: 2 + 2 * size.0 + rng.below(6) as u32 };
    let ledger = ledger::open(HERE, 0);
    let ran = simulate::<__Main>((towers,), plan, logging);
    ledger::close(HERE);
    Checked::by_ledger(ran, &ledger)
}

/// What towers tell in a round.
fn word(seed: u64, round: u32) -> u64 {
    Rng::new(seed ^ u64::from(round)).next_u64()
}

/// One on each node.
#[derive(Pup)]
struct Tower {
    towers: Towers,
    /// In which round it rang first; 0 if it has not.
    first: u32,
    /// How often it has rung.
    rings: u32,
    /// Those that were there in the first round and whose memory it has: itself, and lost ones.
    memories: u64,
    /// What it has been given, and those.
    coins: u64,
}

/// What a tower has to say: rounds since its first in which it has not rung, its memories and coins, and the word of the round.
type Peal = (u64, u64, u64, u64);

#[chare(nodegroup)]
impl Tower {
    #[init]
    fn new(towers: Towers) -> Self {
        Tower { towers, first: 0, rings: 0, memories: 0, coins: 0 }
    }

    #[entry]
    fn give(&mut self, coins: u64) {
        self.coins += coins;
    }

    #[entry]
    fn ring(&mut self, cx: &mut Cx<Self>, round: u32) -> Peal {
        // Whoever is lost rings where another is, to whom it leaves all after that.
        if cx.index() == cx.node() {
            expect("the PE of a tower", cx.pe(), cx.node() * (cx.pes() / cx.nodes()));
        }
        if self.rings == 0 {
            self.first = round;
            self.memories += u64::from(round == 1);
        }
        self.rings += 1;
        let missed = self.rings.abs_diff(round + 1 - self.first);
        (missed.into(), self.memories, self.coins, word(self.towers.seed, round))
    }

    #[lost]
    fn inherit(&mut self, other: Self) {
        self.memories += other.memories;
        self.coins += other.coins;
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Towers) {
    ledger::of(HERE).begin();
    let towers: Group<Tower> = Tower::group().new(options);
    let mut memories: u64 = 0;
    let mut coins: u64 = 0;
    for round in 1..=options.rounds {
        for node in 0..cx.nodes() {
            towers.on(node).give(word(options.seed, round) % 100);
            coins += word(options.seed, round) % 100;
        }
        cx.quiescence().await;
        ledger::of(HERE).quiet("after a round");
        let (missed, remembered, given, said): Peal = towers.ring(round).reduce((Sum, Sum, Sum, Max)).await;
        if round == 1 {
            memories = remembered;
        }
        expect("rounds in which one has not rung", missed, 0);
        expect("whom they remember", remembered, memories);
        expect("what they were given", given, coins);
        cx.step(round.into());
        cx.result(&format!("round {round}"), said);
    }
    // Whatever the last round has left behind comes to its end before the job does.
    cx.quiescence().await;
    ledger::of(HERE).finish();
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) {
    if found != expected {
        ledger::of(HERE).violation(format!("{what}: {found:?} instead of {expected:?}"));
    }
}
