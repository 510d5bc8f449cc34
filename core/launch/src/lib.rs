//! How a program starts, on threads, as processes or simulated, and the `talisman` command.
//!
//! The command line, options, output, report and the end of a job are `talisman_job`.
//!
//! | file | is |
//! |---|---|
//! | [`tool`] | the `talisman` command, which runs programs with options in their environment |
//! | [`start`] | what `#[talisman::main]` calls |
//! | [`run`] | a job in this process |
//! | [`testing`] | the same in a test |
//! | `bench` | its `bench`: what messages take, beside what the machine allows |
//! | `node_program` | node programs that lie beside it |
//! | `mpirun` | its `mpirun`: MPI programs as they were built, on virtual ranks |
//! | `listing` | its `list`: the jobs that run on this machine |
//! | `replay_pe` | a program that runs one of its PEs again from a record, alone |
//! | `replay` | its `replay`: has a program do that |
//! | `check` | its `check`: whether all PEs of a program do the same when they are given the same |
//! | `ranks` | its `ranks`: what the ranks of an MPI program do |
//! | `trace` | its `trace`: what a trace says; and parts of a trace put together |
//! | `lb_replay` | its `lb-replay`: strategies of load balancing on what a step knew |

mod balancer_trial;
mod bench;
mod check;
mod lb_replay;
mod listing;
mod main_stack;
mod mpirun;
mod node_program;
mod ranks;
mod replay;
mod replay_pe;
pub mod run;
#[doc(hidden)]
pub mod start;
pub mod testing;
pub mod tool;
mod top;
mod trace;

/// Ranks of MPI programs find programs as their command does.
#[doc(hidden)]
pub use mpirun::executable;
#[doc(hidden)]
pub use trace::hostile::read_trace;

/// For tests of what a trace has.
#[doc(hidden)]
pub use talisman_node::trace::part_file as trace_part;
#[doc(hidden)]
pub use talisman_observe::trace as trace_record;

pub use talisman_job::{
    BalancingStep, CheckpointTaken, ExitStatus, Failure, Interrupts, NotInjected, Output, Program,
    ProgramArgs, Progress, Report, ResultValue, Results, RunArgs, Signal, Undelivered, balancing,
    checkpoints, command_line, exit, faults, interrupt, options, output, progress, report,
};
