//! How a job is asked for, and what it says of itself: options, output and output commit, progress, report, requests, and its end.
//!
//! Nothing here knows what a chare or a PE is, nor how processes are started.
//!
//! | module | is |
//! |---|---|
//! | [`options`] | [`RunArgs`], the options every program has, and what is wrong with impossible ones |
//! | [`command_line`], [`variables`] | the program's own options and the runtime's, read together; the `TALISMAN_…` variables |
//! | [`balancing`], [`strategies`], [`measures`] | how load balancing is asked for, by which strategy, and what is measured for it |
//! | [`checkpoints`] | how fault tolerance is asked for |
//! | [`faults`] | when a node is killed on purpose |
//! | [`output`] | whole lines to standard output, or into a test |
//! | [`output_commit`], [`lines`] | what the program says, held until it cannot be taken back |
//! | [`streams`] | which lines of that are for standard error |
//! | [`program_types`] | what the launcher has to know of a program |
//! | [`progress`] | the bar or the occasional line of `--progress` |
//! | [`report`] | the JSON file of `--report` |
//! | [`undelivered`] | messages that nobody got |
//! | [`loads`] | what objects had to do, as far as advice at the end depends on it |
//! | [`snapshot`] | how a running job stands, for whoever looks |
//! | [`asking`] | requests to a running job |
//! | [`diagnostics`] | what the runtime says beside the program's output: events, and the lines that they become |
//! | [`interrupt`] | what a first and a second Ctrl-C do |
//! | [`job`] | the job, as the nodes of a process share it |
//! | [`exit`] | exit statuses and their meaning |

#![allow(missing_docs, reason = "the runtime's own interface, where names say it")]

// Derived code says `::talisman::pup::…`, because programs depend on the root package.
extern crate self as talisman;
pub use talisman_pup as pup;

pub mod asking;
pub mod balancing;
pub mod checkpoints;
pub mod command_line;
pub mod diagnostics;
pub mod exit;
pub mod faults;
pub mod interrupt;
pub mod job;
pub mod lines;
pub mod loads;
pub mod measures;
pub mod options;
pub mod output;
pub mod output_commit;
pub mod program_types;
pub mod progress;
pub mod report;
mod slips;
pub mod snapshot;
pub mod strategies;
pub mod streams;
pub mod undelivered;
pub mod variables;

pub use command_line::{Program, ProgramArgs};
pub use exit::ExitStatus;
pub use interrupt::{Interrupts, Signal};
#[doc(hidden)]
pub use inventory;
pub use measures::Measures;
pub use options::RunArgs;
pub use output::Output;
pub use progress::Progress;
pub use report::{
    BalancingStep, CheckpointTaken, Failure, LogKept, NotInjected, Report, ResultValue, Results, Undelivered,
};
