//! Tests of the real thing, with the machine's own atomics; `core/sched/tests/loom_*.rs` check the interleavings.
//!
//! They lie apart from the sources because the loom tests include those sources.

mod handover;
mod idle;
mod priority;
mod timer;
