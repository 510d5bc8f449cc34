//! MPI programs on Talisman: virtual ranks.
//!
//! A rank is an MPI process that is not a process of the system: many of them share one processor, and each can move to
//! another one, be balanced and be checkpointed while it waits. What they are made of:
//!
//! | module | is |
//! |---|---|
//! | [`engine`] | matching of messages, requests, probes: a pure state machine |
//! | [`datatype`] | how values lie in memory |
//! | [`op`] | operations of reductions |
//! | [`collective`] | collectives as schedules of messages and local operations |
//! | [`partitioned`] | messages that are sent and received in parts |
//! | [`ports`] | how ranks without a communicator together come to one |
//! | [`comm`] | groups, communicators, topologies, attributes |
//! | [`mod@file`] | files that a rank has open, and what it sees of them |
//! | [`window`] | memory of a rank that others read and write |
//! | [`objects`] | what programs in C and Fortran name by handles besides |
//! | [`process`] | these together: all of MPI's own state of a rank |
//! | [`slot`] | the memory of a rank, at the same addresses everywhere |
//! | [`thread`] | its thread: suspend and resume |
//! | [`rank`] | a rank: thread and state together, and the chare that it is |
//! | [`api`] | the interface for programs in Rust |
//! | [`raw`] | what the binary interfaces are made of |
//! | [`report`] | why a job is stuck |
//!
//! Everything but memory and threads of ranks is plain [`Pup`](talisman_pup::Pup) data: it moves with the rank.

// The code that macros write says `::talisman`.
extern crate talisman_core as talisman;

pub mod api;
pub mod collective;
pub mod comm;
pub mod datatype;
pub mod engine;
pub mod file;
mod launch;
pub mod objects;
pub mod op;
pub mod partitioned;
pub mod ports;
pub mod process;
mod process_state;
pub mod rank;
pub mod raw;
pub mod report;
pub mod slot;
#[cfg(test)]
mod testing;
pub mod thread;
pub mod window;

pub use launch::{RankArgs, StartError, run};
#[doc(hidden)]
pub use talisman_base::layout;
#[doc(hidden)]
pub use talisman_core_macros::register;
#[doc(hidden)]
pub use talisman_pup::inventory;
