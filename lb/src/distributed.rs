//! Strategies that nobody has to see everything for: every PE decides on its own objects.

use crate::member::Member;
use crate::strategy::Wants;

/// Decides in every PE about its own objects, with notes to other PEs.
pub trait Distributed: Send + Sync {
    /// What it is called, on the command line as well.
    fn name(&self) -> &str;

    /// What it needs to know beside loads.
    fn wants(&self) -> Wants;

    /// The member of a PE, of so many.
    fn member(&self, pe: u32, pes: u32) -> Box<dyn Member>;
}
