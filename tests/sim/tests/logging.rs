//! Deliberate mistakes about message logging: real PEs that log and are run again notice them.

#![allow(missing_docs)]

use std::panic::{catch_unwind, set_hook, take_hook};
use std::time::Duration;

use program::{Main, Plan};
use talisman::mutations;
use talisman::options::CkptEvery;
use talisman::testing::Test;

#[path = "../../logging/program.rs"]
mod program;

const PLAN: Plan = Plan { tokens: 10, hops: 25, save_after: None, talks: false };
/// The same, where each hop is told of.
const TALKING: Plan = Plan { talks: true, ..PLAN };

/// A job whose losses are all within the promise: no node is away with its keeper.
fn job(seed: u64) -> (Test, Plan) {
    let after = 60 + (seed * 37) % 900;
    let test = Test::new().pes(1 + seed as u32 / 2 % 2).simulated(5, seed).logging();
    let test = match seed % 4 {
        0 => test.losing(after, &[(seed % 5) as u32]),
        1 => test.losing(after, &[0, 2]),
        2 => test.losing(after, &[1, 3]).losing(1 + seed % 90, &[1]),
        _ => test.losing(after / 3, &[4]).losing(after, &[2]),
    };
    (test, PLAN)
}

/// One with cuts, which loses nodes at any moment of them, of the recoveries meanwhile, and after them. All of these are within the
/// promise: of five in a ring, the second ones are no neighbours of the first.
fn job_with_cuts(seed: u64) -> (Test, Plan) {
    let first = (seed % 5) as u32;
    let second = (first + 2 + u32::from(seed % 3 == 0)) % 5;
    let (asked, within) = (40 + seed * 37 % 600, seed * 13 % 320);
    let test = Test::new().pes(1 + seed as u32 / 2 % 2).simulated(5, seed);
    let test = match seed % 6 {
        0 => test.asking_for_cut(asked).losing(within, &[first]),
        1 => test.asking_for_cut(asked).losing(within, &[first]).losing(seed * 7 % 200, &[second]),
        2 => test.asking_for_cut(asked).losing(within, &[first]).losing(seed * 7 % 200, &[first]),
        3 => test.cutting(asked).losing(within, &[first, second]),
        4 => test.losing(asked, &[first]).asking_for_cut(seed * 7 % 200).losing(within, &[second]),
        _ => test
            .cutting(asked / 2)
            .asking_for_cut(within)
            .losing(seed * 11 % 320, &[first])
            .losing(90, &[second]),
    };
    (test, Plan { save_after: (seed % 5 < 2).then_some(4), ..TALKING })
}

/// One whose cuts come by themselves, in quick succession.
fn job_of_many_cuts(seed: u64) -> (Test, Plan) {
    let period = Duration::from_micros(100 + seed * 29 % 400);
    let (test, plan) = job_with_cuts(seed);
    (test.with_options(|options| options.ckpt_every = Some(CkptEvery::Time(period))), plan)
}

type Jobs = fn(u64) -> (Test, Plan);

/// What is wrong about how the job of a seed comes to its end, if anything is.
fn wrong(jobs: Jobs, seed: u64) -> Option<String> {
    let (test, plan) = jobs(seed);
    let ran = test.run::<Main>((plan,));
    let expected = program::lines(plan);
    let mut output = ran.output.clone();
    output.sort_unstable();
    let results = ["tokens", "sum"].map(|name| ran.results.value(name).is_some());
    let went_back = &ran.went_back;
    let is_lost = |(node, times): (&u32, &u32)| went_back.lost.get(node).is_some_and(|lost| times <= lost);
    let is_right = ran.status == 0
        && output == expected
        && results == [true, true]
        && went_back.restored.iter().all(is_lost);
    (!is_right).then(|| format!("{:?} {:?} {output:?} {results:?} {went_back:?}", ran.status, ran.message))
}

/// How many seeds it took.
fn noticed(mistake: &'static str, jobs: Jobs, seeds: u64) -> Option<u64> {
    mutations::choose(Some(mistake));
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let is_wrong = |seed: &u64| catch_unwind(|| wrong(jobs, *seed)).map_or(true, |wrong| wrong.is_some());
    let noticed = (0..seeds).find(is_wrong);
    set_hook(hook);
    mutations::choose(None);
    noticed
}

/// Those of these mistakes that so many seeds do not notice.
fn unnoticed<'a>(mistakes: &[&'static str], jobs: Jobs, seeds: u64) -> Vec<&'a str> {
    let is_noticed = |mistake: &&'static str| match noticed(mistake, jobs, seeds) {
        Some(seed) => {
            eprintln!("{mistake}: noticed by seed {seed}");
            true
        }
        None => false,
    };
    mistakes.iter().copied().filter(|mistake| !is_noticed(mistake)).collect()
}

const SEEDS: u64 = 120;
/// Within which a mistake is to be noticed.
const SEEDS_MAX: u64 = 2_000;

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

/// Of what the cuts of such a job rest on.
const MISTAKES_ABOUT_CUTS: [&str; 14] = [
    "line-begins-before-the-last-holds",
    "held-before-a-loss-counts",
    "lost-goes-back-to-the-former-line",
    "printed-counts-on-in-the-next-line",
    "log-goes-on-in-the-next-line",
    "next-not-sent-to-a-new-keeper",
    "held-before-the-keeper-has-it",
    "held-before-all-is-printed",
    "held-is-not-said-again",
    "next-not-kept",
    "former-line-taken-in",
    "next-line-taken-in-early",
    "results-not-in-the-cut",
    "waiting-for-a-cut-not-in-it",
];

fn all_come_out_right(jobs: Jobs) {
    let wrong = (0..SEEDS).find_map(|seed| Some((seed, wrong(jobs, seed)?)));
    assert_eq!(wrong, None);
}

#[test]
fn without_a_mistake_all_comes_out_right() {
    all_come_out_right(job);
}

#[test]
fn nodes_are_lost_at_any_moment_of_a_cut() {
    all_come_out_right(job_with_cuts);
    all_come_out_right(job_of_many_cuts);
}

#[test]
fn every_mistake_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES, job, SEEDS), [""; 0]);
}

#[test]
fn every_mistake_about_cuts_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES_ABOUT_CUTS, job_with_cuts, SEEDS_MAX), [""; 0]);
}
