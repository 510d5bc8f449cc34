//! Jobs on several hosts: over real ssh, on hosts that are namespaces of this machine.
//!
//! Skipped, with a message, where the rights or the programs for that are missing; see [`network`]. Nothing depends on how fast
//! anything is: what something shall befall goes on until it is let go, or for ever.

#![allow(missing_docs)]

mod job;
mod losses;
#[path = "../common/network/mod.rs"]
mod network;
mod output;
mod refusals;
mod restarting;
mod starting;
mod surviving;
