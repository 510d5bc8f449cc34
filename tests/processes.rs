//! Programs as real processes: `--nodes N` starts them, and these tests kill, stop, cut off and overrun them.
//!
//! ```text
//! cargo test --test processes                               what every change has to pass
//! cargo test --test processes kills                         only those with this in their name
//! TALISMAN_TEST_ALL=1 cargo test --test processes results        every example on every number of nodes and transport
//! TALISMAN_TEST_SOAK=600 cargo test --release --test processes soak      ten minutes of traffic, memory and descriptors flat
//! ```
//!
//! What needs rights that are missing here (root, for other mount namespaces and other processes' descriptors) is
//! shown as ignored. Nothing depends on how fast anything is: tests wait for lines of output, processes and files,
//! and every wait has an end ([`job::PATIENCE`]) that only a hanging job reaches.
//!
//! The program that most of them run is this binary itself, called with `program` as its first argument; hence
//! `harness = false`, and a `main` of its own.

#![allow(missing_docs)]

#[path = "processes/checks/mod.rs"]
mod checks;
#[path = "processes/harness.rs"]
mod harness;
#[path = "processes/job.rs"]
mod job;
#[path = "processes/program/mod.rs"]
mod program;
#[path = "processes/system.rs"]
mod system;
#[path = "common/trials.rs"]
mod trials;

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("program") => program::start(),
        _ => harness::run(checks::all()),
    }
}
