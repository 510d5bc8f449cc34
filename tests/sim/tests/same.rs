//! A seed is the same run everywhere: in other processes, on other threads, beside other runs, and with or without a log.

#![allow(missing_docs)]

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use talisman_sim::case::{Case, Overrides};
use talisman_sim::played::{Played, Stage, Worlds};
use talisman_sim::pool::Pool;

/// Among them are all that a small run can have: migrations, resets, cuts, a crash.
const SEEDS: [u64; 6] = [1, 2, 3, 5, 8, 13];

#[test]
fn a_seed_is_the_same_in_other_processes_and_with_a_log() {
    for seed in SEEDS {
        let here = played(seed, false);
        let expected = format!(
            "{:#018x}, {} events in {:.3} ms",
            here.trace.expect("it ran"),
            here.events,
            here.lasted_ns as f64 / 1e6
        );
        // At the same time, so that they have to share what the machine has.
        let others = [&["--brief"][..], &[]].map(|options| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_talisman-sim"));
            command.args(["--seed", &seed.to_string(), "--size", "1"]).args(options);
            command.stdout(Stdio::piped()).spawn().expect("it has been built")
        });
        for other in others {
            let output = other.wait_with_output().expect("it ends");
            let text = String::from_utf8_lossy(&output.stdout);
            let trace = text.lines().find_map(|line| line.strip_prefix("trace     ")).expect("it is told");
            assert_eq!(trace, expected, "seed {seed}");
        }
    }
}

#[test]
fn a_seed_is_the_same_with_a_log_of_all_events() {
    for seed in SEEDS {
        let (without, with) = (played(seed, false), played(seed, true));
        // As many if the job ended before anybody had a turn.
        assert!(with.log.len() >= without.log.len(), "seed {seed}");
        // A log takes memory, which may come in larger pieces.
        let without_log = |played| Played { log: Vec::new(), memory_most: 0, memory_left: 0, ..played };
        assert_eq!(without_log(with), without_log(without), "seed {seed}");
    }
}

#[test]
fn a_seed_is_the_same_beside_others() {
    let alone: Vec<Played> = SEEDS.iter().map(|seed| played(*seed, false)).collect();
    let mut beside = Vec::new();
    let twice = SEEDS.iter().enumerate().chain(SEEDS.iter().enumerate());
    Pool { jobs: 2, until: None }.run(
        twice,
        |(_, seed)| seed.to_string(),
        |(place, seed)| (place, played(*seed, false)),
        String::new,
        |result| {
            beside.push(result);
            ControlFlow::Continue(())
        },
    );
    assert_eq!(beside.len(), 2 * SEEDS.len());
    assert!(beside.iter().all(|(place, played)| *played == alone[*place]));
    let traces: BTreeSet<_> = alone.iter().map(|played| played.trace).collect();
    assert_eq!(traces.len(), SEEDS.len(), "seeds differ");
}

/// Of two nodes of ranks one is lost. What the other one does once depended on whether it was the only one that its process had left, where
/// other threads have nodes too.
#[test]
fn ranks_are_the_same_beside_others_when_all_other_nodes_are_lost() {
    const LAST_OF_TWO: u64 = 0x4_d700_74a3;
    let of_ranks = Overrides { workload: Some("ranks".into()), ..Overrides::default() };
    let case = Case::draw(LAST_OF_TWO, &of_ranks).expect("it can be drawn");
    let calm = Worlds::default().play(&case, &case.calm_plan(), false);
    let played = || Worlds::default().play(&case, &case.plan(calm.length()), false);
    let alone = played();
    assert!(alone.injected.contains_key("crash"), "{:?}", alone.injected);
    let beside = AtomicBool::new(true);
    thread::scope(|scope| {
        scope.spawn(|| {
            while beside.load(Ordering::Relaxed) {
                played();
            }
        });
        let traces: BTreeSet<_> = (0..50).map(|_| played().trace).collect();
        beside.store(false, Ordering::Relaxed);
        assert_eq!(traces, BTreeSet::from([alone.trace]));
    });
}

/// The run of a seed with its faults, at its smallest.
fn played(seed: u64, logging: bool) -> Played {
    let case = Case::draw(seed, &Overrides { size: Some(1), ..Overrides::default() });
    let case = case.expect("it can be drawn");
    let calm = Worlds::default().play(&case, &case.calm_plan(), false);
    Worlds::default().play(&case, &case.plan(calm.length()), logging)
}
