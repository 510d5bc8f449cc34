//! Jobs that log their messages and lose nodes, by a seed each.

use std::time::Duration;

use crate::program::{self, Plan};
use talisman::RunArgs;
use talisman::options::{CkptEvery, Every, FaultTolerance};
use talisman::testing::Test;

pub const PLAN: Plan = Plan { tokens: 10, hops: 25, save_after: None, talks: false, is_large: false };
/// The same, where each hop is told of.
pub const TALKING: Plan = Plan { talks: true, ..PLAN };

/// A job whose losses are all within the promise: no node is away with its keeper.
pub fn job(seed: u64) -> (Test, Plan) {
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
pub fn job_with_cuts(seed: u64) -> (Test, Plan) {
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
pub fn job_that_is_partly_held(seed: u64) -> (Test, Plan) {
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
pub fn job_of_many_cuts(seed: u64) -> (Test, Plan) {
    let period = Duration::from_micros(100 + seed * 29 % 400);
    let (test, plan) = job_with_cuts(seed);
    (test.with_options(|options| options.ckpt_every = Some(CkptEvery::Time(period))), plan)
}

/// The same on nodes whose system gives no memory for the first copies of what some of them have: these cuts do not take place.
pub fn job_short_of_memory(seed: u64) -> (Test, Plan) {
    let (test, plan) = job_of_many_cuts(seed);
    program::refuse(1 + (seed * 5 % 4) as u32);
    (test, Plan { is_large: true, ..plan })
}

/// The same where keepers have no memory for what they are to hold.
pub fn job_of_keepers_short_of_memory(seed: u64) -> (Test, Plan) {
    let (test, plan) = job_of_many_cuts(seed);
    (test.refusing_rooms(1 + (seed * 5 % 4) as u32), plan)
}

/// One whose objects are balanced by what was measured, which is never the same when it is measured again. Elements move by themselves
/// as well.
pub fn balanced_job(seed: u64) -> (Test, Plan) {
    let (test, plan) = job_with_cuts(seed);
    let strategy = ["greedy", "refine", "diffusion"][(seed % 3) as usize];
    (test.balancing(strategy, Every::Time(Duration::from_micros(60 + seed * 41 % 300))), plan)
}

/// One of which all nodes are lost after a cut. As many others, or more, or fewer, go on from their disks, are cut and lose nodes as well.
pub fn job_started_again(seed: u64) -> (Test, Plan) {
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
pub fn job_without_its_leader(seed: u64) -> (Test, Plan) {
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
pub fn job_of_fewer_nodes(seed: u64) -> (Test, Plan) {
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
pub fn job_of_more_nodes(seed: u64) -> (Test, Plan) {
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
pub fn strict_or_ticket_job_of_more_nodes(seed: u64) -> (Test, Plan) {
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
pub fn job_of_more_nodes_started_again(seed: u64) -> (Test, Plan) {
    let by_steps = |options: &mut RunArgs| options.ckpt_every = Some(CkptEvery::Steps(u64::MAX));
    let (pes, gone, nodes) = (1 + seed as u32 / 2 % 2, (seed / 3 % 5) as u32, 3 + seed as u32 % 4);
    let test = Test::new().pes(pes).simulated(5, seed).with_options(by_steps);
    let test = test.releasing(30 + seed * 37 % 200, &[gone]).cutting(0).adding(seed % 40, &[gone]).cutting(0);
    let test = if seed.is_multiple_of(3) { test.cutting(seed * 11 % 200) } else { test };
    (test.started_again(seed * 13 % 320, nodes).losing(seed * 7 % 300, &[(seed % 2) as u32]), TALKING)
}

/// One of which nodes are released, and then all are lost: as many others, or more, or fewer, go on from their disks.
pub fn job_of_fewer_nodes_started_again(seed: u64) -> (Test, Plan) {
    let by_steps = |options: &mut RunArgs| options.ckpt_every = Some(CkptEvery::Steps(u64::MAX));
    let (pes, gone, nodes) = (1 + seed as u32 / 2 % 2, (seed / 3 % 5) as u32, 3 + seed as u32 % 4);
    let test = Test::new().pes(pes).simulated(5, seed).with_options(by_steps);
    let test = test.releasing(40 + seed * 37 % 400, &[gone]).cutting(0);
    let test = if seed.is_multiple_of(3) { test.cutting(seed * 11 % 200) } else { test };
    (test.started_again(seed * 13 % 320, nodes).losing(seed * 7 % 300, &[(seed % 2) as u32]), TALKING)
}

/// One of which nothing leaves a node before its log is kept: all that is within the promise of others is within its own.
pub fn strict_job(seed: u64) -> (Test, Plan) {
    let (test, plan) = if seed.is_multiple_of(2) { job(seed / 2) } else { job_with_cuts(seed / 2) };
    (test.logging_as(FaultTolerance::LoggingStrict), plan)
}

/// One whose frames go with tickets: one node is lost at a time, the next when all are live, or the same while it comes back. There are cuts.
pub fn ticket_job(seed: u64) -> (Test, Plan) {
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
pub fn calm_job(seed: u64) -> (Test, Plan) {
    let by_steps = |options: &mut RunArgs| options.ckpt_every = Some(CkptEvery::Steps(u64::MAX));
    let variants = [FaultTolerance::Logging, FaultTolerance::LoggingStrict, FaultTolerance::LoggingTicket];
    let test = Test::new().pes(1 + seed as u32 / 3 % 3).simulated(2 + seed as u32 % 4, seed);
    let test = test.with_options(by_steps).logging_as(variants[(seed % 3) as usize]);
    let test = test.cutting(40 + seed * 37 % 500).cutting(seed * 13 % 300).cutting(seed * 7 % 200);
    (test, Plan { talks: seed % 4 < 2, save_after: (seed % 5 < 2).then_some(4), ..PLAN })
}
