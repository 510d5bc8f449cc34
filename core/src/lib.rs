//! The runtime.

pub mod index;
