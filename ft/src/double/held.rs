//! What survivors hold of checkpoints, and what they are told to make of it.

use serde::{Deserialize, Serialize};

use super::Contents;
use crate::view::View;
use crate::{NodeId, Version};
use talisman_observe::mutations::mutated;

/// What one node holds of one version, its own part included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Which one.
    pub version: Version,
    /// Who was there when it was taken: it has a part of each.
    pub view: View,
    /// Those whose part is held here whole: every piece of a copy has come, and nothing of it was found damaged.
    pub held: Vec<NodeId>,
    /// Whether this node was told that the version is complete everywhere.
    pub committed: bool,
    /// What the parts have in them that may be lost: those of lost nodes, and this node's own if it is not held here.
    pub missed: Vec<(NodeId, Contents)>,
}

/// How a survivor is to go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Who is there from now on.
    pub view: View,
    /// The version to go back to; none if there is none yet: the program begins anew.
    pub version: Option<Version>,
    /// Whose parts this node restores, its own first if it has one.
    pub restore: Vec<NodeId>,
    /// Parts that it restores and does not hold, as it is new, each with the node that sends it. If it was not there when the version was
    /// taken, that makes one for it of the part of its acting node.
    pub fetch: Vec<(NodeId, NodeId)>,
    /// Parts that it sends, or makes and sends, each with the node that fetches it.
    pub send: Vec<(NodeId, NodeId)>,
    /// The version of the next checkpoint.
    pub next_version: Version,
    /// The newest version that is known to be committed. It is older than the one to go back to if nobody who is left knows whether that
    /// is committed: then that may be held once only, or not be on any disk yet, and may be lost before the next one is committed.
    pub committed: Option<Version>,
    /// How often something was lost since the job began, as far as that is known. What makes the job halt is not always a loss.
    pub failures: u32,
}

impl Order {
    /// To go on in this view from this version, which is committed, without anything to restore, or anything that was lost.
    #[must_use]
    pub fn new(view: View, version: Option<Version>, next_version: Version) -> Self {
        let (restore, fetch, send) = (Vec::new(), Vec::new(), Vec::new());
        Order { view, version, restore, fetch, send, next_version, committed: version, failures: 0 }
    }

    /// Whether what is held of a version stays until the next one is committed: all that the job may go back to until then. A version between
    /// the committed one and the one that it goes back to may be whole when the latter is not any more.
    #[must_use]
    pub fn keeps(&self, version: Version) -> bool {
        let oldest = if mutated("committed-dropped-too-early") { self.version } else { self.committed };
        oldest <= Some(version) && Some(version) <= self.version
    }
}

/// What cannot be restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// The newest version that is known to have been complete; none if nobody is left who could begin anew.
    pub version: Option<Version>,
    /// Those of which there is no copy.
    pub parts: Vec<LostPart>,
}

/// A part of which there is no copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostPart {
    /// Whose it was.
    pub of: NodeId,
    /// Who had held one.
    pub held_by: Vec<NodeId>,
    /// What was in it, if anybody is left who knows.
    pub contents: Option<Contents>,
}
