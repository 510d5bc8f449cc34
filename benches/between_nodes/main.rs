//! What a message between two processes costs, over TCP and through shared memory, against raw bytes between the same two
//! processes; and what jobs of several nodes cost as a whole.
//!
//! `cargo bench --bench between_nodes`, or a part of it: `-- latency`, `stream`, `rate`, `crowd`, `start`, `collectives`, `migration`,
//! `apps` (after `cargo build --profile bench --examples`). Where Open MPI or MPICH is installed the first three show it
//! beside ours. `--smoke` takes one round of each.
//!
//! Each job is this program again, with a first word that begins with `@` and says which program it is.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/streamer.rs"]
mod streamer;

mod apps;
mod collectives;
mod crowd;
mod job;
mod latency;
mod migration;
mod mpi;
mod rate;
#[path = "../../src/bin/talisman-bench/raw/mod.rs"]
mod raw;
mod start;
mod stream;

use std::process::ExitCode;

fn main() -> ExitCode {
    let program = std::env::args().nth(1).filter(|word| word.starts_with('@'));
    match program.as_deref() {
        None => measure(),
        Some(latency::PROGRAM) => return latency::program(),
        Some(stream::PROGRAM) => return stream::program(),
        Some(rate::PROGRAM) => return rate::program(),
        Some(crowd::PROGRAM) => return crowd::program(),
        Some(start::PROGRAM) => return start::program(),
        Some(start::NOTHING) => {}
        Some(collectives::PROGRAM) => return collectives::program(),
        Some(migration::PROGRAM) => return migration::program(),
        Some(other) => panic!("no program is called {other}"),
    }
    ExitCode::SUCCESS
}

fn measure() {
    let parts: [(&str, fn()); 8] = [
        ("latency", latency::measure),
        ("stream bandwidth", stream::measure),
        ("rate", rate::measure),
        ("crowd", crowd::measure),
        ("start exit", start::measure),
        ("collectives", collectives::measure),
        ("migration move", migration::measure),
        ("apps", apps::measure),
    ];
    parts.into_iter().filter(|(name, _)| common::wanted(name)).for_each(|(_, measure)| measure());
}
