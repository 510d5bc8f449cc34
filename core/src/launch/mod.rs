//! Starting a program: its command line, and the `talisman` command.
//!
//! Options, output, report and the end of a job are `talisman_job`.
//!
//! | file | is |
//! |---|---|
//! | [`command_line`] | the program's own `clap` options and the runtime's, read together |
//! | `variables` | the `TALISMAN_…` variables that are empty, or that nobody reads |
//! | [`tool`] | the `talisman` command, which runs programs with options in their environment |
//! | `listing` | its `list`: the jobs that run on this machine |
//! | `replay` | its `lb-replay`: strategies of load balancing on what a step knew |

pub mod command_line;
mod listing;
mod replay;
pub mod tool;
pub(crate) mod variables;

pub use command_line::{Program, ProgramArgs};
pub use talisman_job::{
    BalancingStep, CheckpointTaken, ExitStatus, Failure, Interrupts, NotInjected, Output, Progress, Report,
    ResultValue, Results, RunArgs, Signal, Undelivered, balancing, checkpoints, exit, faults, interrupt,
    options, output, progress, report,
};
