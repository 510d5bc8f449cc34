//! Whether a job comes to its right end, and which mistakes keep it from that.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use crate::program::{self, Main, Plan};
use talisman::mutations;
use talisman::testing::Test;

pub type Jobs = fn(u64) -> (Test, Plan);

/// What is wrong about how the job of a seed comes to its end, if anything is.
pub fn wrong(jobs: Jobs, seed: u64) -> Option<String> {
    judged(jobs(seed))
}

/// The same where no node has a twin, which would notice a mistake before anything else does.
pub fn wrong_without_twins(jobs: Jobs, seed: u64) -> Option<String> {
    let (test, plan) = jobs(seed);
    judged((test.without_twins(), plan))
}

pub fn judged((test, plan): (Test, Plan)) -> Option<String> {
    let ran = test.run::<Main>((plan,));
    let expected = program::lines(plan);
    let mut output = ran.output.clone();
    output.sort_unstable();
    if test.is_started_again() {
        output.dedup();
    }
    let results = ["tokens", "sum"].map(|name| ran.results.value(name).is_some());
    let went_back = &ran.went_back;
    let is_lost = |(node, times): (&u32, &u32)| went_back.lost.get(node).is_some_and(|lost| times <= lost);
    let is_right = ran.status == 0
        && output == expected
        && results == [true, true]
        && went_back.restored.iter().all(is_lost);
    (!is_right).then(|| format!("{:?} {:?} {output:?} {results:?} {went_back:?}", ran.status, ran.message))
}

/// The seed that noticed it. Those from a known one on are tried first.
pub fn noticed(
    (mistake, known): (&'static str, u64),
    wrong: &impl Fn(u64) -> Option<String>,
    seeds: u64,
) -> Option<u64> {
    mutations::choose(Some(mistake));
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let is_wrong =
        |seed: &u64| catch_unwind(AssertUnwindSafe(|| wrong(*seed))).map_or(true, |wrong| wrong.is_some());
    let noticed = (known..seeds).chain(0..known).find(is_wrong);
    set_hook(hook);
    mutations::choose(None);
    noticed
}

/// Those of these mistakes that so many seeds do not notice, without twins.
pub fn unnoticed(mistakes: &[(&'static str, u64)], jobs: Jobs, seeds: u64) -> Vec<&'static str> {
    unnoticed_in(mistakes, |seed| wrong_without_twins(jobs, seed), seeds)
}

pub fn unnoticed_in(
    mistakes: &[(&'static str, u64)],
    wrong: impl Fn(u64) -> Option<String>,
    seeds: u64,
) -> Vec<&'static str> {
    let is_noticed = |mistake: &&(&'static str, u64)| match noticed(**mistake, &wrong, seeds) {
        Some(seed) => {
            eprintln!("{}: noticed by seed {seed}", mistake.0);
            true
        }
        None => false,
    };
    mistakes.iter().filter(|mistake| !is_noticed(mistake)).map(|(name, _)| *name).collect()
}
