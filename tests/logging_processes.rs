//! Jobs of real processes that log their messages and lose some of them: only these go back (`--ft logging`).
//!
//! ```text
//! cargo test --test logging_processes                                what every change has to pass
//! TALISMAN_TEST_ROUNDS=100 cargo test --test logging_processes random     more random kills
//! ```
//!
//! Each run is compared with one of the same program that loses nobody: exit status, every line of `cx.output()` once, and every result to
//! the bit. What each process has executed it notes in a file, so that it is seen who went back. Nothing depends on how fast anything is.
//!
//! Two of the programs are this binary itself, called with `program` as its first argument; the others are examples of the same build.

#![allow(missing_docs)]

#[path = "logging_processes/balanced.rs"]
mod balanced;
#[path = "logging_processes/beyond.rs"]
mod beyond;
#[path = "logging_processes/cuts.rs"]
mod cuts;
#[path = "logging_processes/disk.rs"]
mod disk;
#[path = "logging_processes/examples.rs"]
mod examples;
#[path = "logging_processes/executions.rs"]
mod executions;
#[path = "logging_processes/growing.rs"]
mod growing;
#[path = "processes/harness.rs"]
mod harness;
#[path = "logging_processes/held.rs"]
mod held;
#[path = "logging_processes/hosts.rs"]
mod hosts;
#[path = "processes/job.rs"]
#[allow(dead_code, reason = "the tests of processes use all of it")]
mod job;
#[path = "logging_processes/launcher.rs"]
mod launcher;
#[path = "logging_processes/limits.rs"]
mod limits;
#[path = "logging_processes/losses.rs"]
mod losses;
#[path = "logging_processes/mapped_parts.rs"]
mod mapped_parts;
#[path = "common/once.rs"]
mod once;
#[path = "common/record.rs"]
mod record;
#[path = "logging_processes/recorded_nodes.rs"]
mod recorded_nodes;
#[path = "logging_processes/records.rs"]
mod records;
#[path = "logging_processes/relay.rs"]
mod relay;
#[path = "logging_processes/releasing.rs"]
mod releasing;
#[path = "recovery/program.rs"]
mod rounds;
#[path = "logging_processes/several_pes.rs"]
mod several_pes;
#[path = "common/ssh_stand_in.rs"]
mod ssh_stand_in;
#[path = "logging_processes/strict.rs"]
mod strict;
#[path = "processes/system.rs"]
#[allow(dead_code, reason = "the tests of processes use all of it")]
mod system;
#[path = "logging_processes/ticket.rs"]
mod ticket;
#[path = "common/trials.rs"]
#[allow(dead_code, reason = "the tests of hosts use all of it")]
mod trials;
#[path = "logging_processes/variants.rs"]
mod variants;

use std::process::ExitCode;

fn main() -> ExitCode {
    let is = |option: &str| std::env::args().any(|word| word == option);
    match std::env::args().nth(1).as_deref() {
        Some("program") if is("--relay") => relay::start(),
        // An agent is the same whatever its nodes run.
        Some("program" | "--talisman-agent") => rounds::start(),
        _ => {
            let tests = [
                losses::all(),
                launcher::all(),
                hosts::all(),
                cuts::all(),
                beyond::all(),
                examples::all(),
                records::all(),
                recorded_nodes::all(),
                strict::all(),
                ticket::all(),
                variants::all(),
                balanced::all(),
                several_pes::all(),
                disk::all(),
                mapped_parts::all(),
                limits::all(),
                releasing::all(),
                growing::all(),
            ];
            harness::run(tests.into_iter().flatten().collect())
        }
    }
}
