//! What a survivor has of what was lost, and where it is itself.

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::lengths::Lengths;
use super::position::Position;
use crate::NodeId;

/// A survivor's answer. It has read the links from the lost to their end before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holdings {
    /// Images that it keeps for others, whole, oldest first.
    pub kept: Vec<(NodeId, Position)>,
    /// Lost nodes that were not there before the line: what they began with can be made of what is here.
    pub makes: Vec<NodeId>,
    /// Its own images, oldest first.
    pub images: Vec<Position>,
    /// Where it is.
    pub present: Position,
    /// Entries of the logs of the lost.
    pub of_lost: Vec<Batch>,
    /// Entries of others' logs that may be known to few: whoever is restored may depend on them.
    pub unstable: Vec<Batch>,
    /// How long it was told that logs were, directly.
    pub told: Lengths,
}
