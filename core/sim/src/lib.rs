//! A whole job in a simulated world: launcher, processes, connections, PEs and chares, in one thread.
//!
//! The code is that of real runs; what is simulated are clocks, the network, disks and the system's part in processes.
//! A [`Plan`] decides what the world is like and what goes wrong in it.
//!
//! What is otherwise than in real processes:
//! - What has arrived for a process waits for it without bound: connections slow a sender down by the bandwidth of lines and by
//!   what links have not acknowledged, not by a receiver that does not read.
//! - A process that exits still hears for a moment what is said to it, as one does whose other threads have not ended yet.
//! - Dials and heartbeats go by the world's time; only PEs read clocks that drift and jump.
//! - Programs' computing takes no time of its own; a turn takes what the schedule says.
//! - Nodes of one host are linked by connections, never through memory, and no connection is encrypted.
//! - A process that comes in a lost one's place is on the same host; if that is lost, there is none.
//! - A process dies within a turn of a PE, or between two; other PEs of it are between two turns then.

#![allow(missing_docs, reason = "the runtime's own interface, where names say it")]

mod agenda;
mod agents;
mod clock;
mod control_messages;
mod crowds;
mod disk_log;
mod disks;
mod disks_after;
mod durability_oracle;
mod fault;
mod faults;
mod giveup_oracle;
mod greeting;
mod job;
mod launcher;
mod lives;
mod mailer;
mod members;
pub mod messages;
mod network;
mod newcomers;
mod plan;
mod process;
mod processes;
mod programs;
mod recovered;
mod seeking;
mod stale_nodes;
mod steps;
mod succession;
mod takeover;
#[cfg(test)]
mod tests;
mod trace;
mod turns;
mod wires;
mod world;

use std::collections::BTreeMap;

#[doc(hidden)]
pub use inventory;

pub use fault::{Asked, Fault, What, When};
pub use job::run_for_user;
pub use messages::{
    Core, Guest, Losses, Machine, Way, charge, run_modelled, run_modelled_losing, run_modelled_with,
};
pub use plan::{Limits, Line, Network, Plan, Rates, Schedule};
pub use programs::{Program, run_program};
pub use talisman_base::ballast::Ballast;
pub use talisman_store::disk::DiskRates;

use talisman_core::chare::{Args, MainChare};
use talisman_core::main_chare::beginning;
use talisman_node::Outcome;

/// What a job in a simulated world left behind.
#[derive(Clone, Debug)]
pub struct Ran {
    /// As the launcher saw it; a trace hash and a count of events are in it.
    pub outcome: Outcome,
    /// The lines of the program's output.
    pub output: Vec<String>,
    /// How many faults of each kind happened, those that come by rates included.
    pub injected: BTreeMap<&'static str, u64>,
    /// The planned faults that happened while the launcher had anything to lead, each with its time.
    pub hurt: Vec<(u64, What)>,
    /// Nodes that one of them killed before they had said all.
    pub cut_short: Vec<u32>,
    /// When the launcher first heard how the job ends; `None` if it never did.
    pub over_ns: Option<u64>,
    /// Simulated nanoseconds from the launcher's start until nothing was left.
    pub lasted_ns: u64,
    /// How many things happened, of which not all are events of the trace.
    pub steps: u64,
    /// The step by which the job had got over the last loss: all had gone on, and knew that a later checkpoint is committed. `None` if it did
    /// not come to that, or nobody was lost.
    pub recovered: Option<u64>,
    /// What is wrong however the job ended: something hung, or was left over.
    pub flaws: Vec<String>,
    /// What became of it when it was started again from its disks, if it was lost and that was planned ([`Plan::again`]).
    pub again: Option<Box<Ran>>,
    /// The last events of each node, and before them those of the launcher; all events, if a log was asked for.
    pub log: Vec<String>,
}

impl Ran {
    /// The last of the jobs that were started one after the other: that one came to an end, or nothing was left to go on from.
    pub fn last(&self) -> &Ran {
        self.jobs().last().unwrap_or(self)
    }

    /// The job, and all that were started again after it.
    pub fn jobs(&self) -> impl Iterator<Item = &Ran> {
        std::iter::successors(Some(self), |ran| ran.again.as_deref())
    }
}

/// Runs a program in a world. `logging`: the log has all events.
pub fn simulate<C: MainChare>(args: impl Args, plan: &Plan, logging: bool) -> Ran {
    job::run(plan, beginning::<C, _>(args), logging)
}
