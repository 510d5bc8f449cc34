//! Names of what is logged: the input log of a PE, the two directions of a link, the processes of a node.

use serde::{Deserialize, Serialize};

use crate::NodeId;

/// The processes that a node has had, counted from 0: which one, that is.
pub type Incarnation = u32;

/// The input log of a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LogId {
    /// The PE's node.
    pub node: NodeId,
    /// Which one of that node's PEs.
    pub rank: u32,
}

/// One direction of the link between the PEs of one rank on two nodes. First in, first out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lane {
    /// The node of the PE that sends.
    pub from: NodeId,
    /// The node of the PE that receives.
    pub to: NodeId,
    /// The rank of both.
    pub rank: u32,
}

/// How many nodes a job has, and PEs each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Nodes that have a number.
    pub nodes: u32,
    /// PEs of each.
    pub pes_per_node: u32,
}

impl Shape {
    /// The input logs of a node's PEs.
    pub fn logs_of(self, node: NodeId) -> impl Iterator<Item = LogId> {
        (0..self.pes_per_node).map(move |rank| LogId { node, rank })
    }

    /// All nodes but this one.
    pub fn others(self, node: NodeId) -> impl Iterator<Item = NodeId> {
        (0..self.nodes).filter(move |one| *one != node)
    }

    /// Whether there is such a log.
    #[must_use]
    pub fn has(self, log: LogId) -> bool {
        log.node < self.nodes && log.rank < self.pes_per_node
    }

    /// The next node around the ring, which keeps the images and logs of this one, where all nodes are on hosts of
    /// their own.
    #[must_use]
    pub fn next_around(self, node: NodeId) -> NodeId {
        (node + 1) % self.nodes
    }
}
