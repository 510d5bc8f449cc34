//! Storms: programs that do everything at once, at random, with a ledger of what should come of it. In simulation a seed
//! decides the program, the cluster and every delay, so a failure can be repeated:
//!
//! ```text
//! TALISMAN_STORM_SEED=17 cargo test --test storm in_simulation            one seed
//! TALISMAN_STORM_SEEDS=20000 cargo test --release --test storm in_simulation      many
//! ```
//!
//! With `on_threads` or `on_nodes` instead, the same seeds run with real threads in one node, or in several whose links
//! are real; there a seed decides the program and the cluster only.

#![allow(missing_docs)]

#[path = "storm/ledger.rs"]
#[allow(dead_code, reason = "simulated worlds use the rest")]
mod ledger;
#[path = "storm/ordered.rs"]
mod ordered;
#[path = "storm/program.rs"]
mod program;

use std::env;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use program::{End, Main, Plan};
use talisman::launch::checkpoints::{CkptEvery, FaultTolerance};
use talisman::launch::options::{Transport, TransportChoice};
use talisman::launch::{Output, Progress};
use talisman::rng::Rng;
use talisman::run::{Watch, run};
use talisman::testing::{Test, Tested};
use talisman::{Few, RunArgs};

/// Seeds that once found a fault: 8, 20 and 37, when a `Missed` overtook its element's `Arrive`, which was kept until the
/// array was known; 1, 4, 9 and 21, when an element was removed before it could read a broadcast that it counted for; 9 of an
/// ordered array, when a marker overtook at an element's home the news of its end, and markers waited for each other.
const FOUND_SOMETHING: &[u64] = &[8, 20, 37, 1, 4, 9, 21];

#[test]
fn storms_come_out_right_in_simulation() {
    weather(Manner::Simulated, 150);
    let marks = talisman::sometimes::take_marks();
    if env::var_os("TALISMAN_STORM_SEED").is_none() {
        RARE.iter()
            .for_each(|rare| assert!(marks.contains_key(rare), "no storm came here: {rare}; {marks:#?}"));
    }
}

/// What a storm has to come to sometimes, or it is none.
const RARE: &[&str] = &[
    "a broadcast overtook another",
    "a message came to a PE before its collection was known there",
    "a broadcast was sent after an element that moved",
    "a member of a section was not where its root believed",
    "a message waited for a marker",
    "a message was forwarded twice",
    "a message came before a shared value in it",
    "an element came before a shared value in it",
    "a sender learns that an object moved",
    "an element arrived behind the broadcasts",
    "an element was inserted before its former one was known to be gone",
    "an element was removed before it had caught up with the broadcasts",
    "an object left before a queued message",
    "an object was packed and built anew",
    "a home forgot that objects were gone",
    "a PE asked for all places that it knew",
    "a PE forgot the place of an object that was gone, or at its home",
];

#[test]
fn storms_come_out_right_without_some_nodes() {
    weather(Manner::Without, 100);
}

#[test]
fn storms_come_out_right_with_checkpoints() {
    checkpoints_were_taken(weather(Manner::Checkpoints, 90));
    let marks = talisman::sometimes::take_marks();
    if env::var_os("TALISMAN_STORM_SEED").is_none() {
        let missing: Vec<_> = RARE_IN_CHECKPOINTS.iter().filter(|rare| !marks.contains_key(*rare)).collect();
        assert!(missing.is_empty(), "no storm came there: {missing:?}; {marks:#?}");
    }
}

/// What a storm with checkpoints has to come to sometimes.
const RARE_IN_CHECKPOINTS: &[&str] = &[
    "a broadcast waited for the end of a checkpoint",
    "a broadcast that an element had missed waited for the end of a checkpoint",
    "a multicast waited for the end of a checkpoint",
    "messages came to a frozen PE from others that were not any more",
    "messages were on their way when every frozen PE had been at rest",
];

#[test]
fn storms_come_out_right_with_checkpoints_without_some_nodes() {
    checkpoints_were_taken(weather(Manner::CheckpointsWithout, 40));
}

#[test]
fn storms_come_out_right_with_checkpoints_on_threads() {
    checkpoints_were_taken(weather(Manner::CheckpointsOnThreads, 6));
}

#[test]
fn storms_come_out_right_with_checkpoints_on_nodes() {
    checkpoints_were_taken(weather(Manner::CheckpointsOnNodes, 6));
}

/// In most runs: one may be over before the first.
fn checkpoints_were_taken(runs: Vec<Tested>) {
    let with = runs.iter().filter(|tested| !tested.checkpoints.is_empty()).count();
    assert!(with * 2 >= runs.len(), "{with} of {} runs had checkpoints", runs.len());
}

#[test]
fn storms_come_out_right_going_back() {
    weather(Manner::GoingBack, 90);
}

#[test]
fn storms_come_out_right_growing() {
    weather(Manner::Growing, 90);
}

#[test]
fn storms_come_out_right_replayed() {
    weather(Manner::Replayed, 20);
}

#[test]
fn storms_come_out_right_replayed_with_checkpoints() {
    checkpoints_were_taken(weather(Manner::ReplayedWithCheckpoints, 15));
}

#[test]
fn storms_come_out_right_replayed_going_back() {
    weather(Manner::ReplayedGoingBack, 15);
}

#[test]
fn storms_come_out_right_on_threads() {
    weather(Manner::Threads, 6);
}

#[test]
fn storms_come_out_right_on_nodes() {
    weather(Manner::Nodes, 6);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let traces: Vec<_> = (0..5).map(trace).collect();
    if env::var_os(PRINT).is_some() {
        return println!("\ntraces {traces:?}");
    }
    assert_eq!(traces, (0..5).map(trace).collect::<Vec<_>>());
    assert!(traces.windows(2).all(|pair| pair[0] != pair[1]));
    let mut other = Command::new(env::current_exe().expect("this test"));
    let other = other.args(["--exact", "the_same_seed_gives_the_same_run", "--nocapture"]).env(PRINT, "");
    let printed = String::from_utf8(other.output().expect("it runs").stdout).expect("text");
    assert!(printed.contains(&format!("traces {traces:?}")), "in another process: {printed}");
}

/// Makes the test above print its traces, for its like in another process.
const PRINT: &str = "TALISMAN_STORM_PRINT";

#[test]
fn a_storm_that_is_cut_off_leaves_nothing() {
    for seed in 0..30 {
        for end in [End::Exit(1), End::Fail(1), End::Panic(1)] {
            cut_off(seed, end, |test, nodes| test.simulated(nodes, seed));
            cut_off(seed, end, |test, nodes| with_checkpoints(test.simulated(nodes, seed), seed));
        }
    }
    for seed in 0..4 {
        for end in [End::Exit(1), End::Fail(1), End::Panic(1)] {
            cut_off(seed, end, |test, _| test.pes(3));
            cut_off(seed, end, |test, _| with_checkpoints(test.pes(3), seed));
        }
    }
}

#[test]
fn a_storm_that_is_stopped_from_outside_ends_and_leaves_nothing() {
    for seed in 0..4 {
        let (plan, _) = planned(seed);
        let ledger = ledger::open(plan.job, plan.core);
        let watch = Watch::new(Output::capture(), Progress::off());
        let (stopper, busy) = (watch.stopper(), ledger.clone());
        let stopping = std::thread::spawn(move || {
            while busy.sent() < 2000 {
                std::thread::yield_now();
            }
            stopper.stop(130);
        });
        let options = RunArgs { pes: Some(3), ..RunArgs::default() };
        let outcome = run::<Main, _>((Plan { rounds: u32::MAX, ..plan },), &options, watch);
        stopping.join().expect("it only waits");
        assert_eq!((outcome.status, ledger.values()), (130, 0), "seed {seed}");
        ledger::close(plan.job);
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

#[test]
fn messages_of_an_ordered_array_come_in_order_in_simulation() {
    talks(Manner::Simulated, 184);
    let marks = talisman::sometimes::take_marks();
    if env::var_os("TALISMAN_STORM_SEED").is_none() {
        let missing: Vec<_> = RARE_IN_TALKS.iter().filter(|rare| !marks.contains_key(*rare)).collect();
        assert!(missing.is_empty(), "no talk came there: {missing:?}; {marks:#?}");
    }
}

/// What a talk has to come to sometimes.
const RARE_IN_TALKS: &[&str] = &[
    "an element left its order to its home",
    "a home asked the partners of those that are gone for their counts",
    "an order could not end yet, or had ended on one side",
    "an order ended whose element was gone",
    "an element waited until the order of its former one had ended, or not",
    "two that were gone asked each other for their counts",
];

#[test]
fn messages_of_an_ordered_array_come_in_order_without_some_nodes() {
    talks(Manner::Without, 60);
}

#[test]
fn messages_of_an_ordered_array_come_in_order_with_checkpoints() {
    checkpoints_were_taken(talks(Manner::Checkpoints, 50));
}

#[test]
fn messages_of_an_ordered_array_come_in_order_going_back() {
    talks(Manner::GoingBack, 80);
}

#[test]
fn messages_of_an_ordered_array_come_in_order_growing() {
    talks(Manner::Growing, 80);
}

#[test]
fn messages_of_an_ordered_array_come_in_order_replayed() {
    talks(Manner::Replayed, 15);
}

#[test]
fn messages_of_an_ordered_array_come_in_order_on_threads() {
    talks(Manner::Threads, 8);
}

#[test]
fn messages_of_an_ordered_array_come_in_order_on_nodes() {
    talks(Manner::Nodes, 8);
}

/// How nodes are linked, by turns.
const TRANSPORTS: [TransportChoice; 3] =
    [TransportChoice::One(Transport::Shm), TransportChoice::One(Transport::Tcp), TransportChoice::Mixed];

/// How a storm runs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Manner {
    Simulated,
    /// Simulated, where some nodes are lost from the start.
    Without,
    /// Simulated; at random events it goes back to a checkpoint taken then, perhaps without some nodes.
    GoingBack,
    /// The same, and then with some of the lost nodes again.
    Growing,
    /// Simulated, and every PE is run again afterwards from what it was given.
    Replayed,
    ReplayedWithCheckpoints,
    ReplayedGoingBack,
    /// In one node.
    Threads,
    /// In several nodes of this process, on real links.
    Nodes,
    /// Simulated, with checkpoints in quick succession.
    Checkpoints,
    /// The same, where some nodes are lost from the start.
    CheckpointsWithout,
    CheckpointsOnThreads,
    CheckpointsOnNodes,
}

impl Manner {
    fn of(self, test: Test, nodes: u32, seed: u64) -> Test {
        match self {
            Manner::Simulated => test.simulated(nodes, seed),
            Manner::Without => test.simulated(nodes, seed).without(&lost(nodes, seed)),
            Manner::GoingBack => going_back(test.simulated(nodes, seed), nodes, seed),
            Manner::Growing => growing(test.simulated(nodes, seed), nodes, seed),
            Manner::Replayed => Manner::Simulated.of(test, nodes, seed).verifying_replay(),
            Manner::ReplayedWithCheckpoints => Manner::Checkpoints.of(test, nodes, seed).verifying_replay(),
            Manner::ReplayedGoingBack => Manner::GoingBack.of(test, nodes, seed).verifying_replay(),
            Manner::Threads => test.pes(1 + seed as u32 % 8),
            Manner::Nodes => test.nodes(nodes, TRANSPORTS[seed as usize % TRANSPORTS.len()]),
            Manner::Checkpoints => with_checkpoints(Manner::Simulated.of(test, nodes, seed), seed),
            Manner::CheckpointsWithout => with_checkpoints(Manner::Without.of(test, nodes, seed), seed),
            Manner::CheckpointsOnThreads => with_checkpoints(Manner::Threads.of(test, nodes, seed), seed),
            Manner::CheckpointsOnNodes => with_checkpoints(Manner::Nodes.of(test, nodes, seed), seed),
        }
    }

    /// The end of the names of the test that runs storms so.
    fn test(self) -> &'static str {
        match self {
            Manner::Simulated => "in_simulation",
            Manner::Without => "without_some_nodes",
            Manner::GoingBack => "going_back",
            Manner::Growing => "growing",
            Manner::Replayed => "replayed",
            Manner::ReplayedWithCheckpoints => "replayed_with_checkpoints",
            Manner::ReplayedGoingBack => "replayed_going_back",
            Manner::Threads => "on_threads",
            Manner::Nodes => "on_nodes",
            Manner::Checkpoints => "with_checkpoints",
            Manner::CheckpointsWithout => "with_checkpoints_without_some_nodes",
            Manner::CheckpointsOnThreads => "with_checkpoints_on_threads",
            Manner::CheckpointsOnNodes => "with_checkpoints_on_nodes",
        }
    }
}

/// With a checkpoint each time so long after the one before; some of these times are shorter than what a message takes.
fn with_checkpoints(test: Test, seed: u64) -> Test {
    let mut rng = Rng::new(seed ^ 0xc4e7);
    let period = Duration::from_micros([1, 20, 100, 400, 1500][rng.below(5) as usize]);
    test.with_options(|options| {
        (options.ft, options.ckpt_every) = (FaultTolerance::Double, Some(CkptEvery::Time(period)));
    })
}

/// Some of so many nodes, but not all.
fn lost(nodes: u32, seed: u64) -> Vec<u32> {
    let mut rng = Rng::new(seed ^ 0x1057);
    let stays = rng.below(nodes.into()) as u32;
    let mut lost: Vec<_> = (0..nodes).filter(|node| *node != stays && rng.below(2) == 0).collect();
    if lost.is_empty() {
        lost.push((stays + 1) % nodes);
    }
    lost
}

/// Up to three times, each time perhaps without some more nodes.
fn going_back(mut test: Test, nodes: u32, seed: u64) -> Test {
    let mut rng = Rng::new(seed ^ 0xbac);
    let mut there: Vec<_> = (0..nodes).collect();
    for _ in 0..1 + rng.below(3) {
        let loses = rng.below(there.len() as u64);
        let lost: Vec<_> =
            (0..loses).map(|_| there.swap_remove(rng.below(there.len() as u64) as usize)).collect();
        let most = 1 << rng.below(14);
        test = test.going_back(rng.below(most), &lost);
    }
    test
}

/// Up to three times without some nodes, and then with them again, some before others.
fn growing(mut test: Test, nodes: u32, seed: u64) -> Test {
    let mut rng = Rng::new(seed ^ 0x9709);
    let mut after = |most: u64| {
        let most = 1 << rng.below(most);
        rng.below(most)
    };
    for round in 0..1 + after(2) {
        let lost = lost(nodes, seed + round);
        let (first, rest) = lost.split_at(after(4) as usize % (lost.len() + 1));
        test = test.going_back(after(14), &lost).growing(after(12), first);
        if !rest.is_empty() {
            test = test.growing(after(12), rest);
        }
    }
    test
}

/// Runs storms of this manner, so many if nothing else is asked for; none may go wrong.
fn weather(manner: Manner, few: u64) -> Vec<Tested> {
    none_fails(seeds(few), |seed| storm(manner, seed))
}

/// The same for talks of ordered arrays.
fn talks(manner: Manner, few: u64) -> Vec<Tested> {
    none_fails(seeds(few), |seed| talk(manner, seed))
}

fn none_fails(seeds: impl Iterator<Item = u64>, run: impl Fn(u64) -> Result<Tested, String>) -> Vec<Tested> {
    let (mut runs, mut failures) = (Vec::new(), Vec::new());
    for seed in seeds {
        match run(seed) {
            Ok(tested) => runs.push(tested),
            Err(failure) => failures.push(failure),
        }
        if failures.len() == 5 {
            break;
        }
    }
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
    runs
}

/// The seeds to try.
fn seeds(few: u64) -> Box<dyn Iterator<Item = u64>> {
    let number = |name| env::var(name).ok().map(|text: String| text.parse::<u64>().expect("a number"));
    match (number("TALISMAN_STORM_SEED"), number("TALISMAN_STORM_SEEDS")) {
        (Some(seed), _) => Box::new(std::iter::once(seed)),
        (None, many) => Box::new(FOUND_SOMETHING.iter().copied().chain(0..many.unwrap_or(few))),
    }
}

/// Runs the storm of a seed; what went wrong.
fn storm(manner: Manner, seed: u64) -> Result<Tested, String> {
    let (plan, (nodes, test)) = planned(seed);
    if env::var_os("TALISMAN_STORM_TRACE").is_some() {
        eprintln!("seed {seed}: {plan:?}");
    }
    let ledger = ledger::open(plan.job, plan.core);
    let tested = manner.of(test, nodes, seed).run::<Main>((plan,));
    ledger::close(plan.job);
    judge(&ledger.violations(), tested, || {
        format!("{seed} cargo test --test storm right_{}  # {plan:?}, {nodes} nodes", manner.test())
    })
}

/// Runs the talk of a seed; what went wrong.
fn talk(manner: Manner, seed: u64) -> Result<Tested, String> {
    let (Plan { job, .. }, (nodes, test)) = planned(seed);
    let plan = ordered::Plan { job, elements: 2 + (seed % 12) as i32, rounds: 10, again: seed % 2 == 1 };
    let ledger = ledger::open(job, 0);
    let tested = manner.of(test, nodes, seed).run::<ordered::Main>((plan,));
    ledger::close(job);
    judge(&ledger.violations(), tested, || {
        format!("{seed} cargo test --test storm order_{}  # {plan:?}, {nodes} nodes", manner.test())
    })
}

fn trace(seed: u64) -> u64 {
    storm(Manner::Simulated, seed).expect("it comes out right").trace.expect("simulated")
}

/// Whether it came out right; if not, what went wrong, and how to see it again.
fn judge(violations: &[String], tested: Tested, again: impl FnOnce() -> String) -> Result<Tested, String> {
    let ended = (tested.status != 0).then(|| format!("{:?}", tested.message));
    let wrong: Vec<_> = violations.iter().take(10).cloned().chain(ended).collect();
    match wrong.is_empty() {
        true => Ok(tested),
        false => Err(format!("TALISMAN_STORM_SEED={}\n  {}", again(), wrong.join("\n  "))),
    }
}

/// What a seed stands for: a program and a cluster.
fn planned(seed: u64) -> (Plan, (u32, Test)) {
    static JOBS: AtomicU64 = AtomicU64::new(ledger::HERE + 1);
    let mut rng = Rng::new(seed);
    let nodes = 2 + rng.below(4) as u32;
    let mut test = Test::new().pes(1 + rng.below(3) as u32);
    if rng.below(6) == 0 {
        test = test.packing_messages();
    }
    if rng.below(6) == 0 {
        test = test.repacking_objects();
    }
    // Tables of what has been are looked through all the time.
    if seed % 3 == 1 {
        test = test.with_options(|options| options.few = Few(1 + (seed % 5) as u32));
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
