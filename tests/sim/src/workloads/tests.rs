//! Every workload in calm worlds of several sizes.

use talisman::simulation::Plan;

use super::{Checked, NAMES, Size, run};

/// Nodes, and PEs of each.
const CLUSTERS: [(u32, u32); 3] = [(1, 2), (2, 1), (5, 2)];

/// A test for each workload.
macro_rules! workloads {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            comes_out_right_everywhere(stringify!($name));
        })*

        #[test]
        fn every_workload_is_tested() {
            assert_eq!(NAMES, [$(stringify!($name)),*]);
        }
    };
}

workloads! { storm talk jacobi3d leanmd ring nqueens casts flood births timers sync chorus imbalance gradient chimes towers ranks }

fn comes_out_right_everywhere(name: &str) {
    for size in (1..=3).map(Size) {
        for seed in 0..10 {
            let all = CLUSTERS.map(|cluster| in_calm(name, seed, size, cluster));
            assert!(!all[0].result.is_empty(), "{name} {seed} {size:?} has no result");
            for (checked, cluster) in all.iter().zip(CLUSTERS) {
                assert_eq!(checked.result, all[0].result, "{name} {seed} {size:?} {cluster:?}");
            }
        }
    }
}

fn in_calm(name: &str, seed: u64, size: Size, (nodes, pes): (u32, u32)) -> Checked {
    let checked = run(name, seed, size, &Plan::calm(seed + 1, nodes, pes), false);
    let at = format!("{name} {seed} {size:?} on {nodes} nodes");
    assert!(checked.ended_well(), "{at}: {:?}", checked.ran.outcome.message);
    assert_eq!(checked.complaints(), [""; 0], "{at}");
    checked
}

#[test]
fn a_run_leaves_nothing_that_the_next_one_meets() {
    for name in NAMES {
        let hash = || in_calm(name, 3, Size(1), CLUSTERS[1]).ran.outcome.trace;
        let first = hash();
        NAMES.iter().for_each(|other| drop(in_calm(other, 4, Size(1), CLUSTERS[1])));
        assert_eq!(hash(), first, "{name}");
    }
}

/// What each workload takes, and the least, median and most of the time that it simulates: `cargo test --release -p talisman-sim -- --ignored --nocapture how_long`.
#[test]
#[ignore = "prints figures of this machine"]
fn how_long_each_takes() {
    for name in NAMES {
        for size in (1..=3).map(Size) {
            let begin = std::time::Instant::now();
            let all: Vec<_> = (0..20).map(|seed| in_calm(name, seed, size, (4, 2))).collect();
            let real = begin.elapsed().as_secs_f64() * 1e3 / all.len() as f64;
            let mut simulated: Vec<_> =
                all.iter().map(|checked| checked.ran.lasted_ns as f64 * 1e-6).collect();
            simulated.sort_by(f64::total_cmp);
            let events = all.iter().map(|checked| checked.ran.outcome.events).sum::<u64>() / all.len() as u64;
            println!(
                "{name:10} size {}: {real:6.2} ms, {events:6} events, simulated {:.2}, {:.2}, {:.2} ms",
                size.0,
                simulated[0],
                simulated[all.len() / 2],
                simulated[all.len() - 1]
            );
        }
    }
}
