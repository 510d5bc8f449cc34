//! Where a node is, or was when an image was taken: as much as has to be known to say who goes back where.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::ids::{Lane, LogId, Shape};
use super::lengths::Lengths;
use crate::NodeId;

/// The images of a node, in the order in which they were taken.
pub type ImageId = u64;

/// An image, or the present.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Which image; the one that would be taken next, for the present.
    pub image: ImageId,
    /// Frames taken in, by lane.
    pub taken: BTreeMap<Lane, u64>,
    /// Frames sent, by lane.
    pub sent: BTreeMap<Lane, u64>,
    /// Frames that are retained, by lane. Most often what was sent from some number on.
    pub retained: BTreeMap<Lane, Vec<Range<u64>>>,
    /// Slots taken from rings between PEs of the node, by the ranks of sender and receiver.
    pub rings: BTreeMap<(u32, u32), u64>,
    /// Entries in the logs of the node's PEs, by rank.
    pub logs: Vec<u64>,
    /// How long it was told that others' logs were: it depends on so much of them.
    pub told: Lengths,
}

impl Position {
    /// Of a node at the beginning of a line: of all logs and lanes.
    #[must_use]
    pub fn at_beginning(node: NodeId, shape: Shape) -> Self {
        let ranks = move |other| (0..shape.pes_per_node).map(move |rank| (other, rank));
        let lanes = || shape.others(node).flat_map(ranks);
        Position {
            taken: lanes().map(|(from, rank)| (Lane { from, to: node, rank }, 0)).collect(),
            sent: lanes().map(|(to, rank)| (Lane { from: node, to, rank }, 0)).collect(),
            logs: shape.logs_of(node).map(|_| 0).collect(),
            ..Position::default()
        }
    }

    /// How many frames of a lane it has taken.
    #[must_use]
    pub fn taken(&self, lane: Lane) -> u64 {
        self.taken.get(&lane).copied().unwrap_or(0)
    }

    /// How many frames it has sent on a lane.
    #[must_use]
    pub fn sent(&self, lane: Lane) -> u64 {
        self.sent.get(&lane).copied().unwrap_or(0)
    }

    /// Whether all frames of a lane from this one on can be had from a node that is at this position: they are
    /// retained, or will be made again.
    #[must_use]
    pub fn can_serve(&self, lane: Lane, from: u64) -> bool {
        let mut wanted = from;
        let ranges = self.retained.get(&lane).map_or(&[][..], Vec::as_slice);
        for range in ranges {
            if range.start <= wanted {
                wanted = wanted.max(range.end);
            }
        }
        wanted >= self.sent(lane)
    }

    /// The lengths of a node's logs.
    pub fn lengths(&self, node: NodeId, shape: Shape) -> impl Iterator<Item = (LogId, u64)> + '_ {
        shape.logs_of(node).zip(self.logs.iter().copied())
    }
}
