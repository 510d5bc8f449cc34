//! Programs whose node processes have the same addresses everywhere (`talisman::layout`).
//!
//! ```text
//! cargo test --test layout
//! ```
//!
//! The program is this binary itself, called with `program` as its first argument; it has a row that asks for a fixed
//! layout. What its nodes are like is read from `/proc` by themselves and compared, also of nodes that are replaced and
//! added, and of such as agents start. Systems that refuse are made by filters of system calls.

#![allow(missing_docs)]

#[path = "layout/checks.rs"]
mod checks;
#[path = "processes/harness.rs"]
mod harness;
#[path = "processes/job.rs"]
#[allow(dead_code, reason = "the tests of processes use all of it")]
mod job;
#[path = "layout/program.rs"]
mod program;
#[path = "layout/refusing.rs"]
mod refusing;
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
