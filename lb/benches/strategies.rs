//! What every central strategy makes of generated snapshots, and how long it takes:
//! `cargo bench -p talisman-lb --bench strategies`; `… -- 1000000 greedy refine` leaves out larger snapshots, and other strategies.
//!
//! A strategy that is too slow for a size is not tried on larger ones; the table says so.

#![allow(clippy::disallowed_methods, reason = "time is what is measured")]

use std::time::Instant;

use talisman_lb::generate::{Machine, Program, snapshot};
use talisman_lb::plan::Plan;
use talisman_lb::quality::Quality;
use talisman_lb::snapshot::Snapshot;
use talisman_lb::strategies::{Choice, KNOWN, by_name};
use talisman_lb::strategy::Strategy;

/// Objects and PEs, each ten to a hundred times the one before.
const SIZES: [(u32, u32); 5] =
    [(100, 4), (10_000, 100), (100_000, 1_000), (1_000_000, 10_000), (10_000_000, 100_000)];

/// Nobody waits longer for a balancing step.
const TOO_LONG_S: f64 = 60.0;

fn main() {
    let (objects_max, names) = wanted();
    let mut seconds = vec![(0, 0.0); names.len() * Program::ALL.len()];
    for (objects, pes) in SIZES.into_iter().filter(|&(objects, _)| objects <= objects_max) {
        for (number, program) in Program::ALL.into_iter().enumerate() {
            let machine = Machine { pes, pes_per_node: 8, nodes_per_host: 4 };
            let snapshot = snapshot(program, objects, machine, true);
            heading(program, &snapshot);
            for (name, last) in names.iter().zip(seconds.iter_mut().skip(number).step_by(Program::ALL.len()))
            {
                *last = tried(name, &snapshot, *last);
            }
        }
    }
}

/// What the arguments say; those that cargo adds are none of ours.
fn wanted() -> (u32, Vec<String>) {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let objects_max = arguments.iter().find_map(|argument| argument.parse().ok());
    let mut names: Vec<_> =
        arguments.into_iter().filter(|argument| argument.parse::<u32>().is_err()).collect();
    if names.is_empty() {
        names = KNOWN.iter().map(|known| known.name.to_owned()).collect();
        names.push("greedy+refine".to_owned());
    }
    (objects_max.unwrap_or(u32::MAX), names)
}

fn heading(program: Program, snapshot: &Snapshot) {
    let (objects, pes, edges) = (snapshot.objects.len(), snapshot.pes.len(), snapshot.edges.len());
    println!("\n{}: {objects} objects on {pes} PEs, {edges} edges", program.name());
    println!(
        "{:22} {:>11} {:>13} {:>9} {:>9} {:>14} {:>10}",
        "", "max/average", "external MB", "moves %", "moved MB", "off the host %", "seconds"
    );
    row("(nothing)", snapshot, &Plan::default(), None);
}

/// Tries a strategy that took so many seconds for so many objects; what it takes now.
fn tried(name: &str, snapshot: &Snapshot, (objects, seconds): (usize, f64)) -> (usize, f64) {
    let Some(mut strategy) = central(name) else { return (0, 0.0) };
    let expected = seconds * snapshot.objects.len() as f64 / objects.max(1) as f64;
    if expected > TOO_LONG_S {
        println!(
            "{name:22} skipped: {seconds:.1} s for {objects} objects let expect more than {expected:.0} s here"
        );
        return (objects, seconds);
    }
    let start = Instant::now();
    let plan = strategy.plan(snapshot);
    let seconds = start.elapsed().as_secs_f64();
    match plan.check(snapshot) {
        Ok(()) => row(name, snapshot, &plan, Some(seconds)),
        Err(nonsense) => println!("{name:22} is refused: {nonsense}"),
    }
    (snapshot.objects.len(), seconds)
}

/// None if it is distributed, which has a benchmark of its own.
fn central(name: &str) -> Option<Box<dyn Strategy>> {
    match by_name(name) {
        Ok(Choice::Central(strategy)) => Some(strategy),
        Ok(Choice::Distributed(_)) => None,
        Err(unknown) => {
            eprintln!("{unknown}");
            std::process::exit(2);
        }
    }
}

fn row(name: &str, snapshot: &Snapshot, plan: &Plan, seconds: Option<f64>) {
    let quality = Quality::of(snapshot, plan);
    let percent = |moves: u64| 100.0 * moves as f64 / snapshot.objects.len().max(1) as f64;
    println!(
        "{name:22} {:>11.3} {:>13.1} {:>9.2} {:>9.1} {:>14.2} {:>10}",
        quality.ratio(),
        quality.external_bytes / 1e6,
        percent(quality.moves),
        quality.bytes_moved as f64 / 1e6,
        percent(quality.moves_between_hosts),
        seconds.map_or(String::new(), |seconds| format!("{seconds:.4}")),
    );
}
