//! The building blocks of a PE's scheduler: how messages reach it from the other PEs of its node, in which
//! order they run, and what it does when there are none. Nothing here knows of chares.
#![doc = include_str!("README.md")]
#![allow(missing_docs, reason = "the runtime's own interface, where names say it")]

pub mod bell;
pub mod idle;
pub mod park;
pub mod priority;
pub mod queue;
pub mod ring;
// Seen by the other modules as `super::sync`; the loom tests put another module in its place.
pub mod sync;
pub mod timer;
pub mod worker;

#[cfg(test)]
mod tests;
