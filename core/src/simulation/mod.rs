//! A whole job in a simulated world: launcher, processes, connections, PEs and chares, in one thread.
//!
//! The code is that of real runs; what is simulated are clocks, the network, disks and the system's part in processes.
//! A [`Plan`] decides what the world is like and what goes wrong in it.

mod fault;
// The world that uses all of it is not there yet.
#[allow(dead_code)]
mod network;
mod plan;

use std::collections::BTreeMap;

pub use fault::{Fault, What, When};
pub use plan::{Limits, Line, Network, Plan, Rates, Schedule};

use crate::chare::{Args, MainChare};
use crate::launch::{Output, Progress, RunArgs};
use crate::run::{Outcome, Watch, run};

/// What a job in a simulated world left behind.
#[derive(Clone, Debug)]
pub struct Ran {
    /// As the launcher saw it; a trace hash and a count of events are in it.
    pub outcome: Outcome,
    /// The lines of the program's output.
    pub output: Vec<String>,
    /// How many faults of each kind happened, those that come by rates included.
    pub injected: BTreeMap<&'static str, u64>,
    /// When the last fault happened that may have cost the job something, and what; `None` if there was none before its end.
    pub hurt: Vec<(u64, What)>,
    /// Simulated nanoseconds from the launcher's start until nothing was left.
    pub lasted_ns: u64,
    /// What is wrong however the job ended: something hung, or was left over.
    pub flaws: Vec<String>,
    /// The last events of each node, and before them those of the launcher; all events, if a log was asked for.
    pub log: Vec<String>,
}

/// Runs a program in a world. `logging`: the log has all events.
pub fn simulate<C: MainChare>(args: impl Args + Send, plan: &Plan, logging: bool) -> Ran {
    let _ = logging;
    let output = Output::capture();
    let options = RunArgs {
        simulate: true,
        nodes: plan.nodes(),
        pes: Some(plan.pes_per_node),
        seed: plan.seed,
        ..RunArgs::default()
    };
    let outcome = run::<C, _>(args, &options, Watch::new(output.clone(), Progress::off()));
    Ran {
        lasted_ns: outcome.wall.as_nanos() as u64,
        outcome,
        output: output.captured(),
        injected: BTreeMap::new(),
        hurt: Vec::new(),
        flaws: Vec::new(),
        log: Vec::new(),
    }
}
