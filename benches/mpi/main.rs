//! What MPI costs on virtual ranks, each time beside what bounds it and beside MPICH and Open MPI, where these are installed.
//!
//! `cargo bench --bench mpi`, or a part of it: `-- switch`, `latency`, `collectives`, `stencil`, `create`, `move`, `checkpoint`,
//! `recover` (ranks of programs in Rust), `program` (the same program in C on all), `netpipe`, `loading`, `lammps`, `hpcc` (executables of
//! others).
//! `--smoke` takes one round of each, `--check` ends with status 1 if a budget is missed.
//!
//! Jobs are this program again, with a first word that begins with `@` and says which program it is.

#[path = "../common/mod.rs"]
mod common;
#[path = "../recovery/copying.rs"]
#[allow(dead_code, reason = "other benchmarks need more of it")]
mod copying;
#[path = "../between_nodes/job.rs"]
#[allow(dead_code, reason = "other benchmarks need more of it")]
mod job;
#[path = "../../src/bin/talisman-bench/raw/mod.rs"]
mod raw;

mod collectives;
mod create;
mod executables;
mod hpcc;
mod lammps;
mod latency;
mod losses;
mod moves;
mod netpipe;
mod ranks;
mod stencil;
mod switch;
mod systems;

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some(copying::PROGRAM) => copying::program(),
        Some(ranks::PROGRAM) => return ranks::program(),
        _ => measure(),
    }
    ExitCode::SUCCESS
}

fn measure() {
    let parts: [(&str, fn()); 13] = [
        ("switch", switch::measure),
        ("latency", latency::measure),
        ("collectives", collectives::measure),
        ("stencil", stencil::measure),
        ("create", create::measure),
        ("move", moves::measure),
        ("checkpoint", losses::measure_checkpoints),
        ("recover", losses::measure_losses),
        ("program", executables::measure),
        ("netpipe", netpipe::measure),
        ("loading", executables::measure_loading),
        ("lammps", lammps::measure),
        ("hpcc", hpcc::measure),
    ];
    parts.into_iter().filter(|(name, _)| common::wanted(name)).for_each(|(_, measure)| measure());
}
