//! Deliberate mistakes about message logging: real PEs that log and are run again notice them.

#![allow(missing_docs)]

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::time::Duration;

use program::{Main, Plan};
use talisman::RunArgs;
use talisman::mutations;
use talisman::options::{CkptEvery, Every, FaultTolerance};
use talisman::rng::Rng;
use talisman::testing::Test;

#[path = "../../storm/ledger.rs"]
#[allow(dead_code, reason = "nothing is cut off here")]
mod ledger;
#[path = "../../logging/program.rs"]
mod program;
#[path = "../../storm/program.rs"]
#[allow(dead_code, reason = "as above")]
mod storm;

const PLAN: Plan = Plan { tokens: 10, hops: 25, save_after: None, talks: false, is_large: false };
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
    let second = (first + 2 + u32::from(seed.is_multiple_of(3))) % 5;
    let (asked, within) = (40 + seed * 37 % 600, seed * 13 % 320);
    // None by itself: of a job that is stuck, the simulation is to find that nothing happens any more.
    let by_steps = |options: &mut RunArgs| options.ckpt_every = Some(CkptEvery::Steps(u64::MAX));
    let test = Test::new().pes(1 + seed as u32 / 2 % 2).simulated(5, seed).with_options(by_steps);
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

/// One that loses nodes when some hold their parts of a cut and the others do not, and others soon after that, or when all are live: what was
/// said before the loss counts no more, and is said again. All of that is within the promise.
fn job_that_is_partly_held(seed: u64) -> (Test, Plan) {
    let first = (seed / 4 % 5) as u32;
    let second = (first + 2 + u32::from(seed.is_multiple_of(3))) % 5;
    let (asked, held_by) = (40 + seed * 37 % 600, 1 + (seed % 4) as u32);
    let by_steps = |options: &mut RunArgs| options.ckpt_every = Some(CkptEvery::Steps(u64::MAX));
    let test = Test::new().pes(1 + seed as u32 / 2 % 2).simulated(5, seed).with_options(by_steps);
    let test = test.cutting_until_held_by(held_by, asked);
    let test = match seed % 5 {
        0 => test.losing(0, &[first]),
        1 => test.losing(seed % 7, &[first, second]),
        2 => test.losing(0, &[first]).losing(seed * 7 % 200, &[first]),
        3 => test.losing(0, &[first]).losing(seed * 7 % 200, &[second]),
        _ => test.losing(0, &[first]).losing_at_rest(seed % 40, second),
    };
    (test, Plan { save_after: (seed % 5 < 2).then_some(4), ..TALKING })
}

/// One whose cuts come by themselves, in quick succession.
fn job_of_many_cuts(seed: u64) -> (Test, Plan) {
    let period = Duration::from_micros(100 + seed * 29 % 400);
    let (test, plan) = job_with_cuts(seed);
    (test.with_options(|options| options.ckpt_every = Some(CkptEvery::Time(period))), plan)
}

/// The same on nodes whose system gives no memory for the first copies of what some of them have: these cuts do not take place.
fn job_short_of_memory(seed: u64) -> (Test, Plan) {
    let (test, plan) = job_of_many_cuts(seed);
    program::refuse(1 + (seed * 5 % 4) as u32);
    (test, Plan { is_large: true, ..plan })
}

/// The same where keepers have no memory for what they are to hold.
fn job_of_keepers_short_of_memory(seed: u64) -> (Test, Plan) {
    let (test, plan) = job_of_many_cuts(seed);
    (test.refusing_rooms(1 + (seed * 5 % 4) as u32), plan)
}

/// One whose objects are balanced by what was measured, which is never the same when it is measured again. Elements move by themselves
/// as well.
fn balanced_job(seed: u64) -> (Test, Plan) {
    let (test, plan) = job_with_cuts(seed);
    let strategy = ["greedy", "refine", "diffusion"][(seed % 3) as usize];
    (test.balancing(strategy, Every::Time(Duration::from_micros(60 + seed * 41 % 300))), plan)
}

/// One of which all nodes are lost after a cut. As many others, or more, or fewer, go on from their disks, are cut and lose nodes as well.
fn job_started_again(seed: u64) -> (Test, Plan) {
    let by_steps = |options: &mut RunArgs| options.ckpt_every = Some(CkptEvery::Steps(u64::MAX));
    let pes = 1 + seed as u32 / 2 % 2;
    let nodes = 3 + seed as u32 % 4;
    let lost = (seed % 2) as u32;
    let test = Test::new().pes(pes).simulated(5, seed).with_options(by_steps).cutting(40 + seed * 37 % 500);
    let test = test.started_again(seed * 13 % 320, nodes);
    let test = match seed % 3 {
        0 => test.losing(seed * 7 % 300, &[lost]),
        1 => test.asking_for_cut(seed * 7 % 200).losing(seed * 11 % 320, &[lost]),
        _ => test.cutting(seed * 7 % 200).started_again(seed % 90, 8 - nodes).losing(90, &[lost]),
    };
    (test, Plan { save_after: (seed % 5 < 2).then_some(4), ..TALKING })
}

/// One that loses whoever leads it: alone, with a node, while another goes back, amid a cut, when not all have heard of the next line, or at
/// its end.
fn job_without_its_leader(seed: u64) -> (Test, Plan) {
    let first = (seed % 5) as u32;
    let second = (first + 2 + u32::from(seed.is_multiple_of(3))) % 5;
    let (asked, within) = (40 + seed * 37 % 600, seed * 13 % 320);
    let by_steps = |options: &mut RunArgs| options.ckpt_every = Some(CkptEvery::Steps(u64::MAX));
    let test = Test::new().pes(1 + seed as u32 / 2 % 2).simulated(5, seed).with_options(by_steps);
    let test = match seed % 11 {
        0 => test.losing_leader(asked, &[]).losing(within, &[first]),
        1 => test.losing_leader(asked, &[first]),
        2 => test.losing(asked, &[first]).losing_leader(within, &[]),
        3 => test.losing(asked, &[first]).losing_leader(within, &[second]),
        4 => test.asking_for_cut(asked).losing_leader(within, &[]).losing(seed * 7 % 200, &[second]),
        5 => test.asking_for_cut(asked).losing_leader(within, &[first]).losing(seed * 7 % 60, &[second]),
        6 => test.cutting(asked).losing_leader(within, &[first]).losing_leader(seed % 90, &[]),
        7 => test.losing_leader(300 + seed * 29 % 1500, &[first]),
        8 => test.cutting_until_one_begins(asked).losing_leader(seed % 7, &[]),
        9 => {
            test.cutting_until_one_begins(asked).losing_leader(seed % 13, &[first]).losing(within, &[second])
        }
        _ => test.asking_for_cut(asked).losing(within, &[first]).losing_leader(seed * 7 % 200, &[second]),
    };
    (test, Plan { save_after: (seed % 5 < 2).then_some(4), ..TALKING })
}

/// One of which nodes are released at a cut, others, or the same, being lost at any moment of that and after it, whoever leads too. All of
/// that is within the promise among those that were there, and among those that stay.
fn job_of_fewer_nodes(seed: u64) -> (Test, Plan) {
    let gone = (seed / 14 % 5) as u32;
    let nth = |after: u32| (gone + after) % 5;
    // Who takes it over, and others; or who is to go.
    let first = nth((seed / 3 % 5) as u32);
    let second = nth([0, 3, 4, 1, 2][(seed / 3 % 5) as usize]);
    let (asked, within) = (40 + seed * 37 % 500, seed * 13 % 420);
    let by_steps = |options: &mut RunArgs| options.ckpt_every = Some(CkptEvery::Steps(u64::MAX));
    let test = Test::new().pes(1 + seed as u32 / 2 % 2).simulated(5, seed).with_options(by_steps);
    let test = match seed % 14 {
        0 => test.releasing(asked, &[gone]),
        1 => test.releasing(asked, &[gone]).losing(within, &[first]),
        2 => test.releasing(asked, &[gone]).losing(within, &[first]).losing(seed * 7 % 200, &[first]),
        3 => test.releasing(asked, &[gone]).losing(within, &[gone]),
        4 => test.losing(asked, &[first]).releasing(seed * 7 % 200, &[gone]).losing_at_rest(within, nth(1)),
        5 => test.releasing(asked, &[gone]).cutting(0).losing(within, &[first]).losing_at_rest(9, second),
        6 => test.releasing(asked, &[gone]).cutting(0).releasing(within, &[nth(1)]).losing(within, &[nth(2)]),
        7 => test.releasing(asked, &[gone, nth(1)]).losing(within, &[nth(2)]),
        8 => test.releasing(asked, &[gone]).losing_leader(within, &[]),
        9 => test.releasing(asked, &[gone]).losing_leader(within, &[first]).cutting(seed % 90),
        10 => test.releasing(asked, &[gone]).cutting_until_one_begins(0).losing_leader(seed % 13, &[]),
        11 => test.releasing(asked, &[gone]).cutting_until_one_begins(0).losing(seed % 40, &[first]),
        12 => test.releasing(asked, &[gone]).cutting(0).cutting(within).losing(seed * 7 % 200, &[first]),
        // That is taken back.
        _ => test.releasing(asked, &[gone]).releasing(within, &[]),
    };
    (test, Plan { save_after: (seed % 5 < 2).then_some(4), ..TALKING })
}

/// One of which a node or two are released, and come back later, while others, or the same, are lost at any moment of that and after it,
/// whoever leads too. All of that is within the promise.
fn job_of_more_nodes(seed: u64) -> (Test, Plan) {
    let gone = (seed / 15 % 5) as u32;
    let nth = |after: u32| (gone + after) % 5;
    // Who has acted for it, its keeper, and others; or who comes.
    let first = nth((seed / 3 % 5) as u32);
    let second = nth([0, 3, 4, 1, 2][(seed / 3 % 5) as usize]);
    let (asked, within) = (40 + seed * 37 % 300, seed * 13 % 420);
    let by_steps = |options: &mut RunArgs| options.ckpt_every = Some(CkptEvery::Steps(u64::MAX));
    let test = Test::new().pes(1 + seed as u32 / 2 % 2).simulated(5, seed).with_options(by_steps);
    let fewer = |nodes: &[u32]| test.clone().releasing(30 + seed * 11 % 90, nodes).cutting(0);
    let one = || fewer(&[gone]).adding(seed * 17 % 120, &[gone]);
    let test = match seed % 15 {
        0 => one(),
        1 => one().losing(within, &[first]),
        2 => one().losing(within, &[first]).losing(seed * 7 % 200, &[first]),
        3 => one().losing(within, &[gone]).losing(seed * 7 % 90, &[gone]),
        4 => one().cutting_until_one_begins(0).losing(seed % 60, &[first]),
        5 => one().cutting_until_one_begins(0).losing(seed % 40, &[first]).losing(seed * 7 % 60, &[first]),
        6 => one().cutting(0).losing(within, &[gone]).losing_at_rest(9, first),
        7 => one().cutting(0).losing(within, &[first]).losing_at_rest(9, second),
        8 => fewer(&[gone, nth(2)]).adding(asked, &[gone, nth(2)]).cutting(0).losing(within, &[gone]),
        9 => one().losing_leader(within, &[]).losing_at_rest(seed % 90, first),
        10 => one().losing_leader(within, &[first]).cutting(seed % 90),
        11 => one().cutting_until_one_begins(0).losing_leader(seed % 60, &[]),
        12 => one().cutting_until_one_begins(0).losing_leader(seed % 60, &[first]),
        13 => one().cutting(0).releasing(within, &[first]).cutting(0).losing(seed % 90, &[second]),
        // That is taken back.
        _ => one().adding(within, &[]).losing(seed * 7 % 200, &[first]),
    };
    (test, Plan { save_after: (seed % 5 < 2).then_some(4), ..TALKING })
}

/// The same where nothing leaves a node before its log is kept, or frames go with tickets: whoever comes is not one that is away.
fn strict_or_ticket_job_of_more_nodes(seed: u64) -> (Test, Plan) {
    let (gone, nth) = ((seed / 6 % 5) as u32, (seed / 6 + seed / 3 % 5) as u32 % 5);
    let by_steps = |options: &mut RunArgs| options.ckpt_every = Some(CkptEvery::Steps(u64::MAX));
    let test = Test::new().pes(1 + seed as u32 / 2 % 2).simulated(5, seed).with_options(by_steps);
    let ft = [FaultTolerance::LoggingStrict, FaultTolerance::LoggingTicket][(seed % 2) as usize];
    let test = test.logging_as(ft).releasing(30 + seed * 11 % 90, &[gone]).cutting(0);
    let test = test.adding(seed * 17 % 120, &[gone]);
    let test = match seed / 2 % 3 {
        0 => test.losing_at_rest(seed * 13 % 300, nth),
        1 => test.cutting(0).losing(seed * 13 % 300, &[nth]),
        _ => test.cutting_until_one_begins(0).losing(seed % 60, &[nth]),
    };
    (test, Plan { save_after: (seed % 5 < 2).then_some(4), ..TALKING })
}

/// One of which nodes are released and come back, and then all are lost: as many others, or more, or fewer, go on from their disks.
fn job_of_more_nodes_started_again(seed: u64) -> (Test, Plan) {
    let by_steps = |options: &mut RunArgs| options.ckpt_every = Some(CkptEvery::Steps(u64::MAX));
    let (pes, gone, nodes) = (1 + seed as u32 / 2 % 2, (seed / 3 % 5) as u32, 3 + seed as u32 % 4);
    let test = Test::new().pes(pes).simulated(5, seed).with_options(by_steps);
    let test = test.releasing(30 + seed * 37 % 200, &[gone]).cutting(0).adding(seed % 40, &[gone]).cutting(0);
    let test = if seed.is_multiple_of(3) { test.cutting(seed * 11 % 200) } else { test };
    (test.started_again(seed * 13 % 320, nodes).losing(seed * 7 % 300, &[(seed % 2) as u32]), TALKING)
}

/// One of which nodes are released, and then all are lost: as many others, or more, or fewer, go on from their disks.
fn job_of_fewer_nodes_started_again(seed: u64) -> (Test, Plan) {
    let by_steps = |options: &mut RunArgs| options.ckpt_every = Some(CkptEvery::Steps(u64::MAX));
    let (pes, gone, nodes) = (1 + seed as u32 / 2 % 2, (seed / 3 % 5) as u32, 3 + seed as u32 % 4);
    let test = Test::new().pes(pes).simulated(5, seed).with_options(by_steps);
    let test = test.releasing(40 + seed * 37 % 400, &[gone]).cutting(0);
    let test = if seed.is_multiple_of(3) { test.cutting(seed * 11 % 200) } else { test };
    (test.started_again(seed * 13 % 320, nodes).losing(seed * 7 % 300, &[(seed % 2) as u32]), TALKING)
}

/// One of which nothing leaves a node before its log is kept: all that is within the promise of others is within its own.
fn strict_job(seed: u64) -> (Test, Plan) {
    let (test, plan) = if seed.is_multiple_of(2) { job(seed / 2) } else { job_with_cuts(seed / 2) };
    (test.logging_as(FaultTolerance::LoggingStrict), plan)
}

/// One whose frames go with tickets: one node is lost at a time, the next when all are live, or the same while it comes back. There are cuts.
fn ticket_job(seed: u64) -> (Test, Plan) {
    let (after, asked) = (60 + seed * 37 % 900, 40 + seed * 41 % 500);
    let (first, second) = ((seed % 5) as u32, (seed * 7 % 5) as u32);
    let by_steps = |options: &mut RunArgs| options.ckpt_every = Some(CkptEvery::Steps(u64::MAX));
    let test = Test::new().pes(1 + seed as u32 / 2 % 2).simulated(5, seed).with_options(by_steps);
    let test = test.logging_as(FaultTolerance::LoggingTicket);
    let test = match seed % 6 {
        0 => test.losing(after, &[first]),
        1 => test.losing(after, &[first]).losing_at_rest(seed * 13 % 200, second),
        2 => test.losing(after, &[first]).losing(seed * 11 % 150, &[first]),
        3 => test.asking_for_cut(asked).losing(seed * 13 % 320, &[first]),
        4 => test.cutting(asked).losing(seed * 13 % 300, &[first]).losing_at_rest(seed * 17 % 90, second),
        _ => {
            let all = [first, second, 4 - first];
            all.into_iter().fold(test.losing(after / 3, &[second]), |test, node| {
                test.losing_at_rest(1 + seed % 70, node)
            })
        }
    };
    (test, Plan { talks: seed % 4 < 2, save_after: (seed % 5 < 2).then_some(4), ..PLAN })
}

/// One that is cut now and then and loses nobody, logging in one of the ways: twins alone notice what is not logged.
fn calm_job(seed: u64) -> (Test, Plan) {
    let by_steps = |options: &mut RunArgs| options.ckpt_every = Some(CkptEvery::Steps(u64::MAX));
    let variants = [FaultTolerance::Logging, FaultTolerance::LoggingStrict, FaultTolerance::LoggingTicket];
    let test = Test::new().pes(1 + seed as u32 / 3 % 3).simulated(2 + seed as u32 % 4, seed);
    let test = test.with_options(by_steps).logging_as(variants[(seed % 3) as usize]);
    let test = test.cutting(40 + seed * 37 % 500).cutting(seed * 13 % 300).cutting(seed * 7 % 200);
    (test, Plan { talks: seed % 4 < 2, save_after: (seed % 5 < 2).then_some(4), ..PLAN })
}

type Jobs = fn(u64) -> (Test, Plan);

/// What is wrong about how the job of a seed comes to its end, if anything is.
fn wrong(jobs: Jobs, seed: u64) -> Option<String> {
    judged(jobs(seed))
}

/// The same where no node has a twin, which would notice a mistake before anything else does.
fn wrong_without_twins(jobs: Jobs, seed: u64) -> Option<String> {
    let (test, plan) = jobs(seed);
    judged((test.without_twins(), plan))
}

fn judged((test, plan): (Test, Plan)) -> Option<String> {
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
fn noticed(
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
fn unnoticed(mistakes: &[(&'static str, u64)], jobs: Jobs, seeds: u64) -> Vec<&'static str> {
    unnoticed_in(mistakes, |seed| wrong_without_twins(jobs, seed), seeds)
}

fn unnoticed_in(
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

const SEEDS: u64 = 120;
/// With cuts, of which there are many in one job.
const SEEDS_WITH_CUTS: u64 = 40;
/// Within which a mistake is to be noticed.
const SEEDS_MAX: u64 = 2_000;

/// Of what the logging of a whole world rests on. What is not here is noticed in `ft/tests/logging`.
const MISTAKES: [(&str, u64); 12] = [
    ("time-not-logged", 0),
    ("frame-taken-not-logged", 1),
    ("slot-taken-not-logged", 2),
    ("log-behind-what-was-sent", 6),
    ("timer-not-logged", 4),
    ("frame-not-retained", 0),
    ("sent-again-though-taken", 1),
    ("log-not-riding", 1),
    ("others-log-not-riding", 9),
    ("written-counts-as-stable", 15),
    ("live-before-horizon", 3),
    ("second-loss-forgets-first", 2),
];

/// Of what the cuts of such a job rest on.
const MISTAKES_ABOUT_CUTS: [(&str, u64); 11] = [
    ("line-begins-before-the-last-holds", 1),
    ("lost-goes-back-to-the-former-line", 0),
    ("printed-counts-on-in-the-next-line", 0),
    ("log-goes-on-in-the-next-line", 0),
    ("held-before-the-keeper-has-it", 27),
    ("held-before-all-is-printed", 1),
    ("next-not-kept", 3),
    ("former-line-taken-in", 15),
    ("next-line-taken-in-early", 0),
    ("results-not-in-the-cut", 5),
    ("waiting-for-a-cut-not-in-it", 0),
];

/// Of what it rests on that nodes are lost when some hold their parts. Losses at any moment of a cut are seldom between the first of them and
/// the last.
const MISTAKES_ABOUT_HOLDING: [(&str, u64); 3] =
    [("held-before-a-loss-counts", 0), ("next-not-sent-to-a-new-keeper", 0), ("held-is-not-said-again", 0)];

/// Of what cuts rest on that there is no memory for.
const MISTAKES_ABOUT_MEMORY: [(&str, u64); 3] =
    [("refused-part-not-told", 0), ("refused-cut-not-thawed", 0), ("refused-memory-not-logged", 0)];

/// Of what the loss of whoever leads rests on. What is not here is noticed by the tests of `talisman-ft` and `talisman-control`.
const MISTAKES_ABOUT_LEADERS: [(&str, u64); 5] = [
    ("printed-is-not-asked-for", 7),
    ("seen-is-not-looked-at", 10),
    ("unprinted-is-not-said-again", 5),
    ("next-leader-takes-the-former-line", 8),
    ("keeper-forgets-what-is-printed", 7),
];

/// Of what it rests on that nodes are released. That what was held for a membership that is taken back does not count is noticed in
/// `ft/src/logging/tests`: here all say it again for the next one, and only what is on its way meanwhile could count.
const MISTAKES_ABOUT_RELEASED_NODES: [(&str, u64); 4] = [
    ("held-by-the-former-keeper", 7),
    ("what-is-handed-over-not-joined", 0),
    ("held-before-all-is-handed-over", 14),
    ("handed-over-before-all-is-printed", 14),
];

/// Of what it rests on that nodes are added. That nobody is live whom nobody keeps, and that nothing is made whose log is needed, is noticed in
/// `ft/src/logging/tests`.
const MISTAKES_ABOUT_ADDED_NODES: [(&str, u64); 2] =
    [("parts-not-shared-out", 0), ("made-by-the-one-that-had-acted-only", 4)];

/// Of what balancing rests on in a job that logs.
const MISTAKES_ABOUT_LOADS: [(&str, u64); 3] =
    [("loads-not-logged", 11), ("load-of-a-look-not-logged", 11), ("measured-goes-unlogged", 1)];

/// Of what tickets rest on. That a hole is void is noticed in `ft/src/logging/ticket`, and what was asked for is sent again in
/// `core/src/logging`: without either a job only waits, if nothing else follows on a lane.
const MISTAKES_ABOUT_TICKETS: [(&str, u64); 4] = [
    ("ticketed-frames-not-counted", 1),
    ("ticket-asked-before-the-log-is-stable", 2),
    ("tickets-before-all-answered", 12),
    ("ticketed-while-messages-wait-not-logged", 7),
];

/// Of what PEs are given: noticed where nobody is lost.
const MISTAKES_THAT_TWINS_NOTICE: [(&str, u64); 10] = [
    ("chore-not-logged", 0),
    ("command-not-logged", 0),
    ("value-not-logged", 0),
    ("messages-in-order-of-memory", 0),
    ("timers-by-what-is-measured", 0),
    ("time-not-logged", 0),
    ("frame-taken-not-logged", 0),
    ("slot-taken-not-logged", 0),
    ("timer-not-logged", 0),
    ("ticketed-frames-not-counted", 0),
];

/// Of what is in a part: who is restored after a loss lacks it, and so does a twin.
const PARTS_NOT_TAKEN_BACK: [(&str, u64); 18] = [
    ("shared-values-not-taken-back", 0),
    ("passed-broadcasts-not-taken-back", 0),
    ("insertions-not-taken-back", 0),
    ("unborn-not-taken-back", 0),
    ("roots-not-taken-back", 0),
    ("open-reductions-not-taken-back", 0),
    ("held-broadcasts-not-taken-back", 0),
    ("sections-not-taken-back", 0),
    ("headers-not-taken-back", 0),
    ("given-broadcasts-not-taken-back", 0),
    ("destinations-not-taken-back", 0),
    ("away-not-taken-back", 0),
    ("births-not-taken-back", 0),
    ("requests-not-taken-back", 0),
    ("timers-not-taken-back", 0),
    ("idle-work-not-taken-back", 0),
    ("quiet-not-taken-back", 0),
    ("names-not-taken-back", 0),
];

/// `TALISMAN_TEST_SEEDS` says how many others, `TALISMAN_TEST_FIRST` from which on.
fn seeds(few: u64) -> Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let first = number("TALISMAN_TEST_FIRST").unwrap_or(0);
    first..first + number("TALISMAN_TEST_SEEDS").unwrap_or(few)
}

fn all_come_out_right(jobs: Jobs, few: u64) {
    let wrong = seeds(few).find_map(|seed| Some((seed, wrong(jobs, seed)?)));
    assert_eq!(wrong, None);
}

#[test]
fn without_a_mistake_all_comes_out_right() {
    all_come_out_right(job, SEEDS);
}

#[test]
fn nodes_are_lost_at_any_moment_of_a_cut() {
    all_come_out_right(job_with_cuts, SEEDS_WITH_CUTS);
    all_come_out_right(job_of_many_cuts, SEEDS_WITH_CUTS);
    all_come_out_right(job_that_is_partly_held, 2 * SEEDS_WITH_CUTS);
}

#[test]
fn a_cut_for_which_there_is_no_memory_does_not_take_place() {
    all_come_out_right(job_short_of_memory, SEEDS_WITH_CUTS);
    let has_cut_later = |seed: &u64| {
        let (test, plan) = job_short_of_memory(*seed);
        let ran = test.run::<Main>((plan,));
        program::refused_to_come() == 0 && !ran.checkpoints.is_empty()
    };
    let count = (0..SEEDS_WITH_CUTS).filter(has_cut_later).count();
    assert!(count > 20, "{count} of {SEEDS_WITH_CUTS} have been refused memory, and have had some later");
}

#[test]
fn a_cut_does_not_take_place_that_a_keeper_has_no_memory_for() {
    all_come_out_right(job_of_keepers_short_of_memory, SEEDS_WITH_CUTS);
    // Each has a number, which of one that was refused is left out.
    let has_cut_later = |seed: &u64| {
        let (test, plan) = job_of_keepers_short_of_memory(*seed);
        let taken = &test.run::<Main>((plan,)).checkpoints;
        taken.last().is_some_and(|last| last.version > taken.len() as u64)
    };
    let count = (0..SEEDS_WITH_CUTS).filter(has_cut_later).count();
    assert!(count > 20, "{count} of {SEEDS_WITH_CUTS} have been refused memory, and have had some later");
}

#[test]
fn every_mistake_about_memory_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES_ABOUT_MEMORY, job_short_of_memory, SEEDS_MAX), [""; 0]);
    let of_keepers = [("refused-part-not-told", 0)];
    assert_eq!(unnoticed(&of_keepers, job_of_keepers_short_of_memory, SEEDS_MAX), [""; 0]);
}

#[test]
fn nodes_of_a_strict_job_are_lost() {
    all_come_out_right(strict_job, SEEDS);
}

#[test]
fn nodes_that_give_tickets_are_lost_one_at_a_time() {
    all_come_out_right(ticket_job, SEEDS);
}

#[test]
fn every_mistake_about_strictness_is_noticed() {
    assert_eq!(unnoticed(&[("strict-leaves-before-stable", 1)], strict_job, SEEDS_MAX), [""; 0]);
}

#[test]
fn every_mistake_about_tickets_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES_ABOUT_TICKETS, ticket_job, SEEDS_MAX), [""; 0]);
}

#[test]
fn a_job_is_started_again_from_its_disks() {
    all_come_out_right(job_started_again, SEEDS_WITH_CUTS);
}

#[test]
fn every_mistake_about_disks_is_noticed() {
    let mistakes = [("results-not-on-disk", 0), ("absent-have-no-place", 0)];
    assert_eq!(unnoticed(&mistakes, job_started_again, SEEDS), [""; 0]);
}

#[test]
fn nodes_of_a_job_are_lost_that_is_balanced() {
    all_come_out_right(balanced_job, SEEDS_WITH_CUTS);
    let moved = |seed: &u64| {
        let (test, plan) = balanced_job(*seed);
        test.run::<Main>((plan,)).balancing.iter().any(|step| step.moves > 0)
    };
    assert!((0..20).filter(moved).count() > 10, "hardly any step moves anything");
}

#[test]
fn whoever_leads_is_lost_at_any_moment() {
    all_come_out_right(job_without_its_leader, 2 * SEEDS_WITH_CUTS);
}

/// A cut was asked for in the turn in which a frame came for another PE of the node, which then went before what the question had sent.
#[test]
fn what_a_command_sends_is_in_the_rings_before_what_comes_next() {
    assert_eq!(wrong(job_without_its_leader, 923), None);
}

#[test]
fn every_mistake_about_leaders_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES_ABOUT_LEADERS, job_without_its_leader, SEEDS), [""; 0]);
}

#[test]
fn nodes_are_released_at_any_moment() {
    all_come_out_right(job_of_fewer_nodes, 2 * SEEDS);
    all_come_out_right(job_of_fewer_nodes_started_again, SEEDS_WITH_CUTS);
}

#[test]
fn every_mistake_about_released_nodes_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES_ABOUT_RELEASED_NODES, job_of_fewer_nodes, SEEDS_MAX), [""; 0]);
}

#[test]
fn nodes_are_added_at_any_moment() {
    all_come_out_right(job_of_more_nodes, 2 * SEEDS);
    all_come_out_right(strict_or_ticket_job_of_more_nodes, SEEDS);
    all_come_out_right(job_of_more_nodes_started_again, SEEDS_WITH_CUTS);
}

#[test]
fn every_mistake_about_added_nodes_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES_ABOUT_ADDED_NODES, job_of_more_nodes, SEEDS_MAX), [""; 0]);
}

#[test]
fn every_mistake_about_loads_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES_ABOUT_LOADS, balanced_job, SEEDS_MAX), [""; 0]);
}

#[test]
fn every_mistake_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES, job, SEEDS), [""; 0]);
}

#[test]
fn every_mistake_about_cuts_is_noticed() {
    assert_eq!(unnoticed(&MISTAKES_ABOUT_CUTS, job_with_cuts, SEEDS_MAX), [""; 0]);
    assert_eq!(unnoticed(&MISTAKES_ABOUT_HOLDING, job_that_is_partly_held, SEEDS), [""; 0]);
}

/// What is wrong about a storm that is cut in quick succession and loses nobody.
fn wrong_in_storm(seed: u64) -> Option<String> {
    let mut rng = Rng::new(seed);
    let nodes = 2 + rng.below(3) as u32;
    let period = Duration::from_micros([20, 100, 400][rng.below(3) as usize]);
    let variants = [FaultTolerance::Logging, FaultTolerance::LoggingStrict, FaultTolerance::LoggingTicket];
    let test = Test::new().pes(1 + rng.below(3) as u32).simulated(nodes, seed);
    let test = test.logging_as(variants[seed as usize % 3]);
    let test = test.with_options(|options| options.ckpt_every = Some(CkptEvery::Time(period)));
    let plan = storm::Plan {
        job: ledger::HERE,
        seed,
        core: 5 + rng.below(12) as i32,
        rounds: 2 + rng.below(4) as u32,
        sparse: rng.below(2) == 0,
        again: rng.below(2) == 0,
        end: storm::End::Calm,
    };
    let ledger = ledger::open(plan.job, plan.core);
    let ran = test.run::<storm::Main>((plan,));
    ledger::close(plan.job);
    let violations = ledger.violations();
    (ran.status != 0 || !violations.is_empty()).then(|| format!("{:?} {violations:?}", ran.message))
}

#[test]
fn every_node_has_a_twin_when_it_comes_to_the_next_line() {
    all_come_out_right(calm_job, SEEDS);
    let twins = |seed| {
        let (test, plan) = calm_job(seed);
        test.run::<Main>((plan,)).went_back.twins
    };
    let twins: u64 = (0..20).map(twins).sum();
    assert!(twins > 100, "{twins} twins");
}

#[test]
fn twins_notice_what_is_not_logged_where_nobody_is_lost() {
    assert_eq!(unnoticed_in(&MISTAKES_THAT_TWINS_NOTICE, |seed| wrong(calm_job, seed), SEEDS), [""; 0]);
}

#[test]
fn storms_are_cut_and_have_twins() {
    let wrong = seeds(SEEDS_WITH_CUTS).find_map(|seed| Some((seed, wrong_in_storm(seed)?)));
    assert_eq!(wrong, None);
}

#[test]
fn twins_notice_what_is_not_taken_back_of_a_part() {
    assert_eq!(unnoticed_in(&PARTS_NOT_TAKEN_BACK, wrong_in_storm, SEEDS), [""; 0]);
}
