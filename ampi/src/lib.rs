//! MPI programs on Talisman: virtual ranks.
//!
//! A rank is an MPI process that is not a process of the system: many of them share one processor, and each can move to
//! another one, be balanced and be checkpointed while it waits. What they are made of:
//!
//! | module | is |
//! |---|---|
//! | [`datatype`] | how values lie in memory |
//! | [`engine`] | matching of messages, requests, probes: a pure state machine |
//! | [`op`] | operations of reductions |
//!
//! Everything but memory and threads of ranks is plain [`Pup`](talisman_pup::Pup) data: it moves with the rank.

// The code that `#[derive(Pup)]` writes says `::talisman::pup`.
extern crate talisman_pup as talisman;

pub mod datatype;
pub mod engine;
pub mod op;
