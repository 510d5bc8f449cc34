//! How well graphs are divided: `cargo bench -p talisman-lb --bench partition`, and with `--features metis` METIS beside it;
//! `… -- "stencil, 1000 "` picks a graph.

#![allow(clippy::disallowed_methods, reason = "time is what is measured")]

use std::time::Instant;

use talisman_lb::generate::{self, Machine, Program};
use talisman_lb::quality::Quality;
use talisman_lb::snapshot::Snapshot;
#[cfg(feature = "metis")]
use talisman_lb::strategies::Metis;
use talisman_lb::strategies::{Comm, Graph, Rcb, Sfc};
use talisman_lb::strategy::Strategy;

fn main() {
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    println!(
        "{:42} {:8} {:>10} {:>8} {:>7} {:>8}",
        "graph", "strategy", "cut (MB)", "max/avg", "moves %", "seconds"
    );
    for (objects, pes) in
        [(1_000, 8), (4_000, 64), (32_000, 64), (32_000, 1024), (260_000, 1024), (1_000_000, 1024)]
    {
        for program in [Program::Stencil, Program::Molecules] {
            let name = format!("{}, {objects} on {pes} PEs", program.name());
            if only.as_ref().is_none_or(|only| name.contains(only.as_str())) {
                table(&name, &generate::snapshot(program, objects, machine(pes), true));
            }
        }
    }
}

fn machine(pes: u32) -> Machine {
    Machine { pes, pes_per_node: 4, nodes_per_host: 4 }
}

fn table(name: &str, snapshot: &Snapshot) {
    line(name, &mut Graph, snapshot);
    #[cfg(feature = "metis")]
    line(name, &mut Metis, snapshot);
    for strategy in [&mut Comm as &mut dyn Strategy, &mut Rcb, &mut Sfc] {
        line(name, strategy, snapshot);
    }
}

fn line(name: &str, strategy: &mut dyn Strategy, snapshot: &Snapshot) {
    let start = Instant::now();
    let plan = strategy.plan(snapshot);
    let seconds = start.elapsed().as_secs_f64();
    let quality = Quality::of(snapshot, &plan);
    println!(
        "{name:42} {:8} {:>10.3} {:>8.4} {:>7.1} {seconds:>8.3}",
        strategy.name(),
        quality.external_bytes / 1e6,
        quality.ratio(),
        100.0 * quality.moves as f64 / snapshot.objects.len().max(1) as f64,
    );
}
