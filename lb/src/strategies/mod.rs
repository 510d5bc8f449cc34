//! The strategies, one file each.

mod geometry;
pub mod graph;
mod least;
mod mapping;
mod memory;
#[cfg(feature = "metis")]
pub mod metis;
pub mod rcb;
#[cfg(test)]
mod samples;
pub mod sfc;
mod work;
