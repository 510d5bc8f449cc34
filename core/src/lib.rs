//! The runtime.

pub mod launch;
