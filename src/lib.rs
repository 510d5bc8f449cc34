//! Talisman: a runtime for parallel programs made of migratable objects.
//!
//! What a program needs is in [`prelude`]; see the README for a first program.

pub use talisman_core::*;
#[doc(hidden)]
pub use talisman_job::program;
#[doc(hidden)]
pub use talisman_launch::start;
pub use talisman_launch::{self as launch, RunArgs, run, testing};
#[doc(hidden)]
pub use talisman_simulator::{self as simulation, known_program};

/// What comes from outside, for fuzz targets and their corpora. Nothing that programs use.
#[doc(hidden)]
pub mod hostile {
    pub use talisman_cluster::hostile::{read_knock, read_messages, read_request};
    pub use talisman_store::files::hostile::read_checkpoint;
}

#[doc = include_str!("../docs/async-entries.md")]
pub mod async_entries {}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(doctest)]
#[doc = include_str!("../docs/mpi.md")]
mod mpi {}
