//! Programs under all oracles, on the level of messages.

#![allow(missing_docs)]

#[path = "../../storm/ledger.rs"]
#[allow(dead_code, reason = "storms that are cut off are tested elsewhere")]
mod ledger;
#[path = "../src/oracles/mod.rs"]
#[allow(dead_code, reason = "nothing here goes wrong")]
mod oracles;
#[path = "../../storm/program.rs"]
#[allow(dead_code, reason = "as above")]
mod program;

use std::sync::atomic::{AtomicU64, Ordering};

use oracles::{Expected, Watched, all_expecting};
use program::{End, Main, Plan};
use talisman::rng::Rng;
use talisman::testing::{Test, Tested};

#[test]
fn storms_come_out_right_under_all_oracles() {
    for seed in 0..30 {
        let (ran, watched) = storm(seed);
        assert_eq!(ran.status, 0, "seed {seed}: {:?}", ran.message);
        let events = watched.end(true).unwrap_or_else(|violation| panic!("seed {seed}: {violation}"));
        assert!(events > 1_000, "seed {seed}: {events} events are too few for a storm");
    }
}

#[test]
fn a_run_is_the_same_with_and_without_oracles() {
    for seed in 0..5 {
        let watched = storm(seed).0.trace;
        let (plan, test) = planned(seed);
        assert_eq!(run(plan, &test).trace, watched, "seed {seed}");
    }
}

fn storm(seed: u64) -> (Tested, Watched) {
    let (plan, test) = planned(seed);
    let watched = Watched::by(all_expecting(Expected { drained: true, ..Expected::default() }));
    (run(plan, &test), watched)
}

fn run(plan: Plan, test: &Test) -> Tested {
    let ledger = ledger::open(plan.job, plan.core);
    let ran = test.run::<Main>((plan,));
    ledger::close(plan.job);
    assert_eq!(ledger.violations(), [""; 0]);
    ran
}

/// A program and a cluster.
fn planned(seed: u64) -> (Plan, Test) {
    static JOBS: AtomicU64 = AtomicU64::new(0);
    let mut rng = Rng::new(seed);
    let mut test = Test::new().pes(1 + rng.below(3) as u32).simulated(1 + rng.below(5) as u32, seed);
    if rng.below(6) == 0 {
        test = test.packing_messages();
    }
    if rng.below(6) == 0 {
        test = test.repacking_objects();
    }
    let plan = Plan {
        job: JOBS.fetch_add(1, Ordering::Relaxed),
        seed,
        core: 5 + rng.below(20) as i32,
        rounds: 2 + rng.below(5) as u32,
        sparse: rng.below(2) == 0,
        again: rng.below(2) == 0,
        end: End::Calm,
    };
    (plan, test)
}
