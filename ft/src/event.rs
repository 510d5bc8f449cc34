//! What happens to a protocol. One closed set for all, so that a driver has one place for each.

use crate::coordinated::{At, Word};
use crate::logging::{Holdings, Incarnation, LogId, Position, Session};
use crate::{NodeId, Version};

/// Who takes a part of an image: a PE, by number.
pub type Member = u32;

/// Something has happened. What belongs to a protocol that is not used says nothing to it.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An image is wanted: a period is over, or somebody has asked for it.
    Wanted {
        /// How many words of parts and copies are to be heard before it is safe.
        words: u32,
    },
    /// This member has nothing left to do, and has sent so many messages to other members, and taken so many of them,
    /// since the job began.
    AtRest {
        /// Sent.
        sent: u64,
        /// Taken.
        received: u64,
    },
    /// This member's part of an image is packed.
    Captured(Version),
    /// Entries run here again.
    Thawed,
    /// This member's part is kept somewhere for as long as it has to be, or cannot be.
    Kept {
        /// Of which image.
        version: Version,
        /// Where.
        at: At,
        /// Why not.
        kept: Result<(), String>,
    },
    /// Another member says something.
    Heard(Word),
    /// These nodes are lost, which is proved.
    Lost(Vec<NodeId>),
    /// A process has taken a lost node's place.
    Arrived(NodeId, Incarnation),
    /// A survivor has read the links from the lost to their end, and holds this.
    Held(NodeId, Session, Box<Holdings>),
    /// A survivor knows of the new incarnations.
    Announced(NodeId, Session),
    /// A restored node has sent all that anybody took.
    AtHorizon(NodeId, Session),
    /// What a restored node had kept for this one is kept by it again.
    Covered(NodeId, Session),
    /// A node's own image is committed, which it took alone.
    Imaged(NodeId, Box<Position>),
    /// So many lines of a PE have been printed.
    Printed(LogId, u64),
}
