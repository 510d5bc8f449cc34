//! Jobs with virtual MPI ranks that are recorded, and their PEs that run again, each alone (`--record`, `talisman replay`,
//! `talisman check --replay`).
//!
//! ```text
//! cargo test --test recorded_ranks
//! ```
//!
//! The program is this binary itself, called with `program` as its first argument; others are examples of the same build.
//! Executables that were built for MPICH or Open MPI are in `tests/mpirun/recorded.rs`.

#![allow(missing_docs)]

#[path = "recorded_ranks/checks.rs"]
mod checks;
#[path = "processes/harness.rs"]
mod harness;
#[path = "processes/job.rs"]
#[allow(dead_code, reason = "the tests of processes use all of it")]
mod job;
#[path = "recorded_ranks/program.rs"]
mod program;
#[path = "common/record.rs"]
#[allow(dead_code, reason = "records of other programs are looked at more closely")]
mod record;
#[path = "processes/system.rs"]
#[allow(dead_code, reason = "the tests of processes use all of it")]
mod system;
#[path = "common/trials.rs"]
#[allow(dead_code, reason = "none of these tests needs what not every machine has")]
mod trials;

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("program" | "--talisman-agent") => program::start(),
        _ => harness::run(checks::all()),
    }
}
