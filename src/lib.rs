//! Talisman: a runtime for parallel programs made of migratable objects.
//!
//! What a program needs is in [`prelude`]; see the README for a first program.

pub use talisman_core::*;

#[doc = include_str!("../docs/async-entries.md")]
pub mod async_entries {}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
