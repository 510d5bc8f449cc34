//! How large a job is.

use crate::ids::PeId;

/// How many nodes, and how many PEs on each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub nodes: u32,
    pub pes_per_node: u32,
}

impl Shape {
    pub fn pes(self) -> u32 {
        self.nodes * self.pes_per_node
    }

    pub fn node_of(self, pe: PeId) -> u32 {
        pe / self.pes_per_node
    }

    /// The PE where a node's own affairs are looked after: members of nodegroups live there.
    pub fn first_pe(self, node: u32) -> PeId {
        node * self.pes_per_node
    }
}
/// The other end of a link, for messages to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Peer {
    /// Its number in the job.
    pub node: u32,
    /// The rank of the PEs that the link connects.
    pub lane: u32,
}
