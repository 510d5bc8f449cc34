//! `Pup` for the types of the standard library, and the refusal of those that cannot travel.

mod boxes;
mod collections;
mod hashed;
mod net;
mod numbers;
mod options;
mod ranges;
mod refused;
mod strings;
mod time;
mod tuples;

pub(crate) use collections::lend_each;
pub use refused::{Carries, Trip};
