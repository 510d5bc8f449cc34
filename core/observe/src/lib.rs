//! What people see of the runtime: its events, what it counts, and the marks it leaves on rare paths. Every other crate may
//! use this one; it knows none of them.
//!
//! A part of Talisman that promises no interface of its own: programs use the crate `talisman`.

#![allow(missing_docs, reason = "the runtime's own interface, where names say it")]

pub mod event;
pub mod mutations;
pub mod sometimes;
pub mod stats;
pub mod subjects;
pub mod trace;
