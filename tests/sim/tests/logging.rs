//! Deliberate mistakes about message logging: real PEs that log and are run again notice them.

#![allow(missing_docs)]

use std::panic::{catch_unwind, set_hook, take_hook};

use program::{Main, Plan};
use talisman::mutations;
use talisman::testing::Test;

#[path = "../../logging/program.rs"]
mod program;

const PLAN: Plan = Plan { tokens: 10, hops: 25 };

/// A job whose losses are all within the promise: no node is away with its keeper.
fn job(seed: u64) -> Test {
    let after = 60 + (seed * 37) % 900;
    let test = Test::new().pes(1 + seed as u32 / 2 % 2).simulated(5, seed).logging();
    match seed % 4 {
        0 => test.losing(after, &[(seed % 5) as u32]),
        1 => test.losing(after, &[0, 2]),
        2 => test.losing(after, &[1, 3]).losing(1 + seed % 90, &[1]),
        _ => test.losing(after / 3, &[4]).losing(after, &[2]),
    }
}

/// Whether the job of a seed comes to its end with all its lines.
fn comes_out_right(seed: u64) -> bool {
    let ran = job(seed).run::<Main>((PLAN,));
    let sum = format!("sum {}", program::expected(PLAN.tokens, PLAN.hops));
    ran.status == 0 && ran.output.len() as u64 == PLAN.tokens + 1 && ran.output.contains(&sum)
}

/// How many seeds it took.
fn noticed(mistake: &'static str) -> Option<u64> {
    mutations::choose(Some(mistake));
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let is_wrong = |seed: &u64| !catch_unwind(|| comes_out_right(*seed)).unwrap_or(false);
    let noticed = (0..SEEDS).find(is_wrong);
    set_hook(hook);
    mutations::choose(None);
    noticed
}

const SEEDS: u64 = 120;

/// Of what the logging of a whole world rests on. What is not here is noticed in `ft/tests/logging`.
const MISTAKES: [&str; 11] = [
    "time-not-logged",
    "frame-taken-not-logged",
    "slot-taken-not-logged",
    "timer-not-logged",
    "frame-not-retained",
    "sent-again-though-taken",
    "log-not-riding",
    "others-log-not-riding",
    "written-counts-as-stable",
    "live-before-horizon",
    "second-loss-forgets-first",
];

#[test]
fn without_a_mistake_all_comes_out_right() {
    (0..SEEDS).for_each(|seed| assert!(comes_out_right(seed), "seed {seed}"));
}

#[test]
fn every_mistake_is_noticed() {
    let mut unnoticed = Vec::new();
    for mistake in MISTAKES {
        match noticed(mistake) {
            Some(seed) => eprintln!("{mistake}: noticed by seed {seed}"),
            None => unnoticed.push(mistake),
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:?}");
}
