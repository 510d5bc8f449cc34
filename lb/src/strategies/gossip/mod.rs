//! Gossip: PEs with less to do than others are talked about, and those with more send objects to some that they have heard of.
//!
//! After GrapevineLB (Menon and Kalé 2013: "A distributed dynamic load balancer for iterative applications") and its refinement in
//! TemperedLB (Lifflander and others 2021): rumours of PEs below the average, transfers at random by how much these lack, receivers
//! that refuse, and several passes in which only tokens of objects are passed on.
//!
//! Two things differ. Whom a PE tells in a round follows from a number that all know, the same distance on for all: so everybody
//! hears exactly one rumour in each round, a pass ends without a barrier, and no PE is talked about more than others. And who has far
//! too much for those it knows of evens out with them, also above the average: the next pass spreads that on.

mod give;
mod member;
mod rumour;

use crate::distributed::Distributed;
use crate::distributed::stepping::Stepping;
use crate::member::{Local, Member};
use member::GossipStep;

/// The strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gossip {
    /// A PE that takes this part longer than the average is no reason to move anything.
    pub tolerance: f64,
    /// Passes of talking and sending.
    pub passes: u32,
}

impl Default for Gossip {
    /// As near to the average as objects of usual sizes allow, and more passes than are needed: it ends when they no longer help.
    fn default() -> Self {
        Gossip { tolerance: 0.03, passes: 16 }
    }
}

impl Distributed for Gossip {
    fn name(&self) -> &str {
        "gossip"
    }

    fn member(&self, pe: u32, pes: u32) -> Box<dyn Member> {
        let strategy = *self;
        Box::new(Stepping::new(pe, move |local: &Local| GossipStep::new(strategy, pe, pes, local)))
    }
}
