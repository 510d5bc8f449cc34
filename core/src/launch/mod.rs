//! Starting and ending a program: its command line, its output, its report, and the signals that end it early.
//!
//! Nothing here knows what a chare is. The files stand beside each other and are put together by the runtime:
//!
//! | file | is |
//! |---|---|
//! | [`options`] | [`RunArgs`], the options every program has, and what is wrong with impossible ones |
//! | [`command_line`] | the program's own `clap` options and the runtime's, read together |
//! | [`balancing`] | how load balancing is asked for |
//! | `variables` | the `TALISMAN_…` variables that are empty, or that nobody reads |
//! | `slips` | how far a word is from another that may be meant |
//! | [`faults`] | when a node is killed on purpose |
//! | `diagnostics` | what the runtime says beside the program's output: events, and the lines that they become |
//! | [`output`] | whole lines to standard output, or into a test |
//! | [`progress`] | the bar or the occasional line of `--progress` |
//! | [`report`] | the JSON file of `--report` |
//! | [`interrupt`] | what a first and a second Ctrl-C do |
//! | [`tool`] | the `talisman` command, which runs programs with options in their environment |
//! | `listing` | its `list`: the jobs that run on this machine |
//! | `replay` | its `lb-replay`: strategies of load balancing on what a step knew |
//! | [`exit`] | exit statuses and their meaning |

pub(crate) mod asking;
pub mod balancing;
pub mod checkpoints;
pub mod command_line;
pub(crate) mod diagnostics;
pub mod exit;
pub mod faults;
pub mod interrupt;
mod listing;
pub mod options;
pub mod output;
pub mod progress;
mod replay;
pub mod report;
mod slips;
pub mod tool;
pub(crate) mod variables;

pub use command_line::{Program, ProgramArgs};
pub use exit::ExitStatus;
pub use interrupt::{Interrupts, Signal};
pub use options::RunArgs;
pub use output::Output;
pub use progress::Progress;
pub use report::{
    BalancingStep, CheckpointTaken, Failure, NotInjected, Report, ResultValue, Results, Undelivered,
};
