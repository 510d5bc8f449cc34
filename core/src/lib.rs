//! The runtime.

pub mod launch;
pub mod scheduler;
pub mod sync;
