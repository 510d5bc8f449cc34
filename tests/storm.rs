//! Storms: programs that do everything at once, at random, with a ledger of what should come of it. In simulation a seed
//! decides the program, the cluster and every delay, so a failure can be repeated:
//!
//! ```text
//! TALISMAN_STORM_SEED=17 cargo test --test storm          one seed
//! TALISMAN_STORM_SEEDS=20000 cargo test --release --test storm     many
//! ```

#![allow(missing_docs)]

#[path = "storm/ledger.rs"]
mod ledger;
#[path = "storm/program.rs"]
mod program;

use std::env;
use std::sync::atomic::{AtomicU64, Ordering};

use program::{End, Main, Plan};
use talisman::rng::Rng;
use talisman::testing::{Test, Tested};

/// Seeds that once found a fault.
const FOUND_SOMETHING: &[u64] = &[];

#[test]
fn storms_come_out_right_in_simulation() {
    let failures: Vec<_> = seeds().filter_map(|seed| storm(seed).err()).take(5).collect();
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}

#[test]
fn storms_come_out_right_on_threads() {
    for seed in 0..6 {
        let (plan, _) = planned(seed);
        let ledger = ledger::open(plan.job, plan.core);
        let tested = Test::new().pes(1 + seed as u32 % 4).run::<Main>((plan,));
        let wrong = wrong_of(&ledger.violations(), &tested);
        ledger::close(plan.job);
        assert!(wrong.is_empty(), "seed {seed} on threads, {plan:?}:\n{}", wrong.join("\n"));
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let traces: Vec<_> = (0..5).map(trace).collect();
    assert_eq!(traces, (0..5).map(trace).collect::<Vec<_>>());
    assert!(traces.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn a_storm_that_is_cut_off_leaves_nothing() {
    for seed in 0..30 {
        for end in [End::Exit(1), End::Fail(1), End::Panic(1)] {
            cut_off(seed, end, |test, nodes| test.simulated(nodes, seed));
        }
    }
    for seed in 0..4 {
        for end in [End::Exit(1), End::Fail(1), End::Panic(1)] {
            cut_off(seed, end, |test, _| test.pes(3));
        }
    }
}

fn cut_off(seed: u64, end: End, way: impl Fn(Test, u32) -> Test) {
    let (plan, (nodes, test)) = planned(seed);
    let plan = Plan { end, rounds: 4, ..plan };
    let ledger = ledger::open(plan.job, plan.core);
    let tested = way(test, nodes).run::<Main>((plan,));
    assert_eq!(tested.status, i32::from(end != End::Exit(1)), "seed {seed}: {:?}", tested.message);
    assert_eq!(ledger.values(), 0, "values left over, seed {seed}, {end:?}");
    ledger::close(plan.job);
}

/// The seeds to try.
fn seeds() -> Box<dyn Iterator<Item = u64>> {
    let number = |name| env::var(name).ok().map(|text: String| text.parse::<u64>().expect("a number"));
    match (number("TALISMAN_STORM_SEED"), number("TALISMAN_STORM_SEEDS")) {
        (Some(seed), _) => Box::new(std::iter::once(seed)),
        (None, many) => Box::new(FOUND_SOMETHING.iter().copied().chain(0..many.unwrap_or(200))),
    }
}

/// Runs the storm of a seed; what went wrong.
fn storm(seed: u64) -> Result<u64, String> {
    let (plan, (nodes, test)) = planned(seed);
    if env::var_os("TALISMAN_STORM_TRACE").is_some() {
        eprintln!("seed {seed}: {plan:?}");
    }
    let ledger = ledger::open(plan.job, plan.core);
    let tested = test.simulated(nodes, seed).run::<Main>((plan,));
    let wrong = wrong_of(&ledger.violations(), &tested);
    ledger::close(plan.job);
    match wrong.is_empty() {
        true => Ok(tested.trace.expect("simulated")),
        false => Err(format!(
            "TALISMAN_STORM_SEED={seed} cargo test --test storm in_simulation  # {plan:?}, {nodes} nodes\n  {}",
            wrong.join("\n  ")
        )),
    }
}

fn trace(seed: u64) -> u64 {
    storm(seed).expect("it comes out right")
}

fn wrong_of(violations: &[String], tested: &Tested) -> Vec<String> {
    let ended = (tested.status != 0).then(|| format!("{:?}", tested.message));
    violations.iter().take(10).cloned().chain(ended).collect()
}

/// What a seed stands for: a program and a cluster.
fn planned(seed: u64) -> (Plan, (u32, Test)) {
    static JOBS: AtomicU64 = AtomicU64::new(0);
    let mut rng = Rng::new(seed);
    let nodes = 2 + rng.below(4) as u32;
    let mut test = Test::new().pes(1 + rng.below(3) as u32);
    if rng.below(6) == 0 {
        test = test.packing_messages();
    }
    if rng.below(6) == 0 {
        test = test.repacking_objects();
    }
    let largest = if rng.below(4) == 0 { 56 } else { 10 };
    let plan = Plan {
        job: JOBS.fetch_add(1, Ordering::Relaxed),
        seed,
        core: 5 + rng.below(largest) as i32,
        rounds: 2 + rng.below(5) as u32,
        sparse: rng.below(2) == 0,
        again: env::var_os("TALISMAN_STORM_NOT_AGAIN").is_none() && rng.below(2) == 0,
        end: End::Calm,
    };
    (plan, (nodes, test))
}
