//! Strategies that nobody has to see everything for.

pub(crate) mod alone;
pub(crate) mod census;
pub(crate) mod holding;
#[cfg(test)]
pub(crate) mod jumble;
pub(crate) mod level;
pub(crate) mod locals;
mod run;
pub(crate) mod stepping;

pub use run::{Model, Ran, run, run_members};

use crate::member::Member;
use crate::strategy::Wants;

/// Decides in as many places as there are PEs: each has a member that knows its own objects and what others tell it.
///
/// The same measurements and the same order of notes give the same moves.
pub trait Distributed: Send + Sync {
    /// What it is called, on the command line as well.
    fn name(&self) -> &str;

    /// What it needs to know beside loads.
    fn wants(&self) -> Wants {
        Wants::default()
    }

    /// The member for one step of PE `pe` of `pes`.
    fn member(&self, pe: u32, pes: u32) -> Box<dyn Member>;
}
