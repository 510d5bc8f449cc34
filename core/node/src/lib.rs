//! A process of a job: its PEs on threads, their links to other nodes, and what the launcher tells it.

#![allow(missing_docs, reason = "the runtime's own interface, where names say it")]

// The code that `#[derive(Pup)]` writes says `::talisman::pup`.
#[cfg(not(test))]
extern crate talisman_pup as talisman;

mod commands;
pub mod connections;
mod cores;
mod held_up;
pub mod in_turn;
mod kept_memory;
pub mod linking;
mod lives;
mod logged;
pub mod member;
mod node_record;
mod outcome;
pub mod peer_incarnations;
mod recorded_worker;
mod shown;
mod threads;
mod together;
pub mod trace;
pub mod turns;
mod watch;
mod worker;

pub use outcome::{Done, Outcome, outcome};
pub use watch::{Stopper, Watch};

use talisman_base::topology::Shape;
use talisman_job::RunArgs;
use talisman_kernel::node::Config;
use talisman_kernel::panics;
use talisman_kernel::pe::Pe;

/// Runs a job until it ends, on threads of this process, which may be several nodes. `main` makes its first message on the first PE.
pub fn run(options: &RunArgs, watch: Watch, main: impl FnOnce(&Pe) + Send) -> Outcome {
    panics::listen();
    kept_memory::keep_memory();
    let shape = Shape { nodes: options.nodes, pes_per_node: options.pes_per_node() };
    let config = Config::of(options);
    let job = watch.job.clone();
    let done = if shape.nodes > 1 {
        let nodes = together::nodes(shape, options.transport, config, &job).expect("links");
        threads::run_nodes(nodes, &job, watch.progress, Some(main))
    } else {
        threads::run(shape, config, &job, watch.progress, main)
    };
    outcome(&job, done)
}
