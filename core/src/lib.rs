//! The runtime.

pub mod index;
pub mod reduce;
