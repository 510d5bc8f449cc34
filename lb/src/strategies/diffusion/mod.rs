//! Diffusion: every PE evens out with its neighbours, and objects go from neighbour to neighbour.
//!
//! The neighbours are those of a hypercube: PEs whose numbers differ in one bit. All even out along one dimension after the other
//! (dimension exchange, Cybenko 1989: "Dynamic load balancing for distributed memory multiprocessors"), the lowest bits first, so that load
//! stays inside nodes and hosts if it can. First only numbers are exchanged, until it is known how much should flow along each
//! edge; then tokens of objects that match these flows; and both once more for what objects could not match. Small flows are left
//! out, so that nothing moves back and forth between steps.
//!
//! Which pair exchanges what in which round is arithmetic, so nobody waits for anybody but the neighbour whose turn it is.

mod exchange;
mod member;

use crate::distributed::Distributed;
use crate::distributed::stepping::Stepping;
use crate::member::{Local, Member};
use member::DiffusionStep;

/// The strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Diffusion {
    /// A PE that takes this part longer than the average is no reason to move anything, nor is so small a flow.
    pub tolerance: f64,
    /// How often flows are found and objects sent: later ones even out what objects could not match.
    pub passes: u32,
}

impl Default for Diffusion {
    fn default() -> Self {
        Diffusion { tolerance: 0.01, passes: 3 }
    }
}

impl Distributed for Diffusion {
    fn name(&self) -> &str {
        "diffusion"
    }

    fn member(&self, pe: u32, pes: u32) -> Box<dyn Member> {
        let strategy = *self;
        Box::new(Stepping::new(pe, move |local: &Local| DiffusionStep::new(strategy, pe, pes, local)))
    }
}
