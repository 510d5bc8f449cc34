//! Messages: what travels between objects and PEs, and how its memory is kept.

pub mod cell;
pub mod control;
pub mod envelope;
pub mod pool;
pub mod queue;
pub mod send_options;
pub mod service;
