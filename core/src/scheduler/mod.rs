//! The building blocks of a PE's scheduler: how messages reach it from the other PEs of its node, in which
//! order they run, and what it does when there are none. Nothing here knows of chares.
#![doc = include_str!("README.md")]

pub mod bell;
pub mod idle;
pub mod park;
pub mod priority;
pub mod queue;
pub mod ring;
pub mod timer;

// Seen by the modules above as `super::sync`; the loom tests put another module in its place.
use crate::sync;

#[cfg(test)]
mod tests;
