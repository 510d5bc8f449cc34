//! An entry of an input log: one thing that was not determined in a PE, and after how many messages it came.
//!
//! The papers' determinants and tickets are per message; these are per turn of the PE's loop and source. The order
//! inside a source is known, since links and rings are first in first out, so a count of what was taken is enough.

use crate::NodeId;

/// What came, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// How many messages the PE had run. A value is read by the last one of them.
    pub at: u64,
    /// What.
    pub input: Input,
}

/// What a PE cannot know by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// So many frames of the lane from this node were taken in.
    Lane {
        /// Who had sent them.
        from: NodeId,
        /// How many; at least one.
        frames: u32,
        /// How long the logs of the sender's PEs were, by rank, when it sent the last of them.
        told: Vec<u64>,
    },
    /// So many slots of the ring from a PE of this node were taken.
    Ring {
        /// The rank of that PE.
        rank: u32,
        /// How many; at least one.
        slots: u32,
        /// How long that PE's log was when they were looked for. Longer than needed is no harm.
        told: u64,
    },
    /// So many frames were taken in in the order of their tickets (`logging:ticket`), one whenever no message was left to
    /// run: which ones is known to those who had sent them.
    InOrder(u32),
    /// The timer of this serial number fired.
    Timer(u64),
    /// Something that the program can notice became due, by a number of the runtime's.
    Due(u32),
    /// Something was done while nothing else was to do, by a number of the runtime's: the outcome of a look at the
    /// world.
    Chore(u32),
    /// Somebody outside asked for this, as packed by the runtime.
    Command(Vec<u8>),
    /// A value of the world was read: a clock, a measured load, the outcome of a test.
    Value {
        /// Of which kind, by a number of the runtime's.
        kind: u32,
        /// As packed by the runtime.
        bytes: Vec<u8>,
    },
    /// An image was taken here.
    Cut,
}
