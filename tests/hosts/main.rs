//! Jobs on several hosts: over real ssh, on hosts that are namespaces of this machine.
//!
//! Shown as ignored where the rights or the programs for that are missing; see [`network::hosts`]. Nothing depends on how fast
//! anything is: what something shall befall goes on until it is let go, or for ever.

#![allow(missing_docs)]

mod bench;
mod job;
mod logged;
mod losses;
#[path = "../common/network/mod.rs"]
mod network;
mod output;
mod refusals;
mod restarting;
mod slurm;
mod starting;
mod surviving;
mod top_over_ssh;
#[path = "../common/trials.rs"]
mod trials;

use std::process::ExitCode;

fn main() -> ExitCode {
    let subjects = [
        starting::all(),
        output::all(),
        refusals::all(),
        losses::all(),
        surviving::all(),
        logged::all(),
        restarting::all(),
        slurm::all(),
        top_over_ssh::all(),
        bench::all(),
    ];
    trials::run(subjects.into_iter().flatten().collect())
}
