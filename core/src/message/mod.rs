//! Messages: what travels between objects and PEs, and how its memory is kept.

pub(crate) mod cell;
pub(crate) mod control;
pub(crate) mod envelope;
pub(crate) mod pool;
pub(crate) mod queue;
