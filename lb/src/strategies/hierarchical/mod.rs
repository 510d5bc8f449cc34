//! Hierarchical: PEs in groups, groups in a tree. For ten thousand PEs and more.
//!
//! A group's leader gets to know the objects of its group and no others, and of those only as many as it can hold: a PE with very
//! many describes the lighter ones in bundles, which move together. What a group has too much or too little is offered up the tree of
//! leaders, and matched as low in it as can be, so that objects go to a group near by. Who is to give sends the descriptions of what
//! it gives directly to who is to take; and a central strategy places them, and the group's own, on the PEs of the group.
//!
//! Has the aims of Charm++'s `HybridLB` (Zheng and others 2011: "Periodic hierarchical load balancing for large supercomputers").

mod bundles;
mod group;
mod lead;
mod member;
mod offers;

use crate::distributed::Distributed;
use crate::member::Member;
use crate::strategies::GreedyRefine;
use crate::strategy::Strategy;

/// The strategy.
#[derive(Clone, Copy, Debug)]
pub struct Hierarchical {
    /// PEs of a group.
    pub group: u32,
    /// Objects or bundles of them that a PE describes to its leader.
    pub bundles: u32,
    /// A PE that takes this part longer than the average is no reason to move anything.
    pub tolerance: f64,
    /// What decides within a group. It sees the group's PEs, and one more that takes no objects: there is what other groups gave.
    pub within: fn() -> Box<dyn Strategy>,
}

impl Default for Hierarchical {
    /// Groups as large as a central strategy handles in milliseconds.
    fn default() -> Self {
        Hierarchical { group: 256, bundles: 1024, tolerance: 0.01, within: || Box::new(GreedyRefine) }
    }
}

impl Distributed for Hierarchical {
    fn name(&self) -> &str {
        "hierarchical"
    }

    fn member(&self, pe: u32, pes: u32) -> Box<dyn Member> {
        let bounds = Hierarchical { group: self.group.max(1), bundles: self.bundles.max(2), ..*self };
        Box::new(member::Grouped::new(bounds, pe, pes))
    }
}
