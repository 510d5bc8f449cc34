//! The runtime.

pub mod scheduler;
pub mod sync;
