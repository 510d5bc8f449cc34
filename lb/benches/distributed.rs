//! Distributed strategies on whole jobs, all members in one thread: `cargo bench -p talisman-lb --bench distributed [-- NAME… OBJECTS…]`.
//!
//! What members take is measured and counted into the simulated time, so that is what a job of so many PEs would wait. Where others
//! use the processor too, that and the real time are too long; the processor's own seconds are beside them.

#![allow(clippy::disallowed_methods, reason = "time is what is measured")]

use std::time::Instant;

use talisman_lb::distributed::{Distributed, Model, Ran, run};
use talisman_lb::rng::Rng;
use talisman_lb::snapshot::{Key, Node, Object, Pe, Snapshot};
use talisman_lb::strategies::{Choice, by_name};

const SIZES: [(u32, u32); 3] = [(100_000, 1_000), (1_000_000, 10_000), (10_000_000, 100_000)];

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let (sizes, names): (Vec<_>, Vec<_>) = chosen.iter().partition(|arg| arg.parse::<u32>().is_ok());
    let is_chosen = |name: &str| names.is_empty() || names.iter().any(|chosen| *chosen == name);
    let is_size = |objects: u32| sizes.is_empty() || sizes.iter().any(|size| **size == objects.to_string());
    println!(
        "{:12} {:9} {:>8} {:>7}  {:>8} {:>8} {:>8}  {:>9} {:>9} {:>9} {:>9}  {:>6} {:>6} {:>9}",
        "strategy",
        "loads",
        "objects",
        "PEs",
        "before",
        "after",
        "ideal",
        "moves",
        "notes",
        "MB",
        "most held",
        "real s",
        "CPU s",
        "simulated"
    );
    for (objects, pes) in SIZES.into_iter().filter(|(objects, _)| is_size(*objects)) {
        for (loads, make) in LOADS {
            let snapshot = snapshot(objects, pes, *make);
            for name in ["diffusion", "gossip", "hierarchical"].into_iter().filter(|name| is_chosen(name)) {
                if let Ok(Choice::Distributed(strategy)) = by_name(name) {
                    row(&*strategy, loads, &snapshot);
                }
            }
        }
    }
}

fn row(strategy: &dyn Distributed, loads: &str, snapshot: &Snapshot) {
    let processor = processor_s();
    let start = Instant::now();
    let mut clock = || start.elapsed().as_secs_f64();
    let ran = run(strategy, snapshot, Model { clock: Some(&mut clock) });
    let (real, processor) = (start.elapsed().as_secs_f64(), processor_s() - processor);
    assert_eq!((ran.undecided, &ran.refused), (0, &None));
    ran.plan.check(snapshot).expect("what a strategy of this crate decides makes sense");
    let Ran { plan, notes, bytes, simulated_s, most_held, .. } = ran;
    let before: Vec<_> = snapshot.objects.iter().map(|object| object.pe).collect();
    println!(
        "{:12} {:9} {:8} {:7}  {:8.3} {:8.3} {:8.3}  {:9} {:9} {:9.1} {:9}  {:6.2} {:6.2} {:9.4}",
        strategy.name(),
        loads,
        snapshot.objects.len(),
        snapshot.pes.len(),
        ratio(snapshot, &before),
        ratio(snapshot, &plan.places(snapshot)),
        ideal(snapshot),
        plan.moves.len(),
        notes,
        bytes as f64 / 1e6,
        most_held,
        real,
        processor,
        simulated_s,
    );
}

/// What this thread had of a processor, where the system tells it.
fn processor_s() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|nanoseconds| nanoseconds.parse().ok()).map_or(0.0, |ns: f64| ns * 1e-9)
}

/// Of the slowest PE to the average.
fn ratio(snapshot: &Snapshot, places: &[u32]) -> f64 {
    let mut loads = vec![0.0; snapshot.pes.len()];
    for (object, pe) in snapshot.objects.iter().zip(places) {
        loads[*pe as usize] += object.load;
    }
    loads.iter().fold(0.0, |max: f64, load| max.max(*load)) / average(snapshot)
}

/// No PE can take less than the largest object.
fn ideal(snapshot: &Snapshot) -> f64 {
    let largest = snapshot.objects.iter().fold(0.0, |max: f64, object| max.max(object.load));
    (largest / average(snapshot)).max(1.0)
}

fn average(snapshot: &Snapshot) -> f64 {
    snapshot.objects.iter().map(|object| object.load).sum::<f64>() / snapshot.pes.len() as f64
}

/// The load of an object and its PE, by its number of all and the PEs.
type Load = fn(u32, u32, u32, &mut Rng) -> (f64, u32);

const LOADS: &[(&str, Load)] = &[
    ("uniform", |number, objects, pes, rng| (2.0 * rng.unit(), block(number, objects, pes))),
    // Of the kind in which the variance is infinite.
    ("power law", |number, objects, pes, rng| {
        ((1.0 - rng.unit()).powf(-1.0 / 1.9).min(60.0), block(number, objects, pes))
    }),
    ("crowded", |number, objects, pes, rng| (2.0 * rng.unit(), block(number, objects, pes / 20))),
];

fn block(number: u32, objects: u32, pes: u32) -> u32 {
    (u64::from(number) * u64::from(pes) / u64::from(objects)) as u32
}

fn snapshot(objects: u32, pes: u32, load: Load) -> Snapshot {
    let mut rng = Rng::new(1);
    let object = |number| {
        let (load, pe) = load(number, objects, pes, &mut rng);
        let key = Key { collection: 1, index: u128::from(number) };
        Object { key, load, bytes: 1000, pe, migratable: true, position: None }
    };
    let pe = |number| Pe { node: number / 16, speed: 1.0, background: 0.0, available: true };
    let node = |number| Node { host: number / 2, memory: None };
    Snapshot {
        pes: (0..pes).map(pe).collect(),
        nodes: (0..pes.div_ceil(16)).map(node).collect(),
        objects: (0..objects).map(object).collect(),
        edges: Vec::new(),
    }
}
