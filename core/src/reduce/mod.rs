//! Reductions.

mod exact;

pub use exact::ExactSum;
