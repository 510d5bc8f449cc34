//! Programs under all oracles, on the level of messages.

#![allow(missing_docs)]

#[path = "../../storm/ledger.rs"]
#[allow(dead_code, reason = "storms that are cut off are tested elsewhere")]
mod ledger;
#[path = "../src/oracles/mod.rs"]
#[allow(dead_code, reason = "nothing here goes wrong")]
mod oracles;
#[path = "../../storm/ordered.rs"]
mod ordered;
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
    for seed in seeds(12) {
        let (plan, test) = planned(seed);
        let (ran, events) = watched(seed, plan.job, plan.core, || test.run::<Main>((plan,)));
        assert!(events > 1_000, "seed {seed}: {events} events are too few for a storm");
        assert_eq!(ran.status, 0, "seed {seed}: {:?}", ran.message);
    }
}

#[test]
fn talks_of_an_ordered_array_come_out_right_under_all_oracles() {
    for seed in seeds(12) {
        let (Plan { job, again, core, .. }, test) = planned(seed);
        let plan = ordered::Plan { job, elements: core, rounds: 5, again };
        let (ran, _) = watched(seed, job, 0, || test.run::<ordered::Main>((plan,)));
        assert_eq!(ran.status, 0, "seed {seed}: {:?}", ran.message);
    }
}

/// Storms that end in the middle leave nothing behind, though much is under way.
#[test]
fn what_is_cut_off_is_given_back() {
    for (seed, end) in [(1, End::Exit(1)), (2, End::Fail(1)), (3, End::Panic(1))] {
        let (plan, test) = planned(seed);
        let _ledger = ledger::open(plan.job, plan.core);
        let watched = Watched::by(oracles::all());
        let ran = test.run::<Main>((Plan { end, rounds: 4, ..plan },));
        ledger::close(plan.job);
        let well = ran.status == 0;
        assert_eq!(well, end == End::Exit(1), "{:?}", ran.message);
        watched.end(well).unwrap_or_else(|violation| panic!("{end:?}: {violation}"));
    }
}

#[test]
fn a_run_is_the_same_with_and_without_oracles() {
    for seed in 0..5 {
        let traces = [true, false].map(|is_watched| {
            let (plan, test) = planned(seed);
            let _ledger = ledger::open(plan.job, plan.core);
            let watched = is_watched.then(|| Watched::by(oracles::all()));
            let ran = test.run::<Main>((plan,));
            drop(watched);
            ledger::close(plan.job);
            ran.trace
        });
        assert_eq!(traces[0], traces[1], "seed {seed}");
    }
}

/// So many seeds, unless more are asked for.
fn seeds(few: u64) -> std::ops::Range<u64> {
    let many = std::env::var("TALISMAN_STORM_SEEDS").ok();
    0..many.map_or(few, |many| many.parse().expect("a number"))
}

/// Runs a program under all oracles. They are asked before its ledger is: the earlier a mistake is seen, the better.
fn watched(seed: u64, job: u64, core: i32, run: impl FnOnce() -> Tested) -> (Tested, u64) {
    let ledger = ledger::open(job, core);
    let watched = Watched::by(all_expecting(Expected { drained: true, ..Expected::default() }));
    let ran = run();
    ledger::close(job);
    let events = watched.end(ran.status == 0).unwrap_or_else(|violation| panic!("seed {seed}: {violation}"));
    assert_eq!(ledger.violations(), [""; 0], "seed {seed}");
    (ran, events)
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
