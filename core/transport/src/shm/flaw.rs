//! What can be wrong with what arrives.

use super::frame::FrameFlaw;
use super::{HEAD_MAX, SEGMENT_BYTES_MAX, SEGMENTS_MAX, SegmentError};

/// Why a receiving half cannot go on: what the other process wrote is not of this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Flaw {
    #[error("a slot with the number of another lap")]
    Lap,
    #[error(transparent)]
    Frame(#[from] FrameFlaw),
    #[error("a message for PE {0}, which this node does not have")]
    Rank(u16),
    #[error("a message that is said to be long and has no bytes")]
    Empty,
    #[error("a message within another that is not whole")]
    Unfinished,
    #[error("more of a message that was never begun")]
    NothingBegun,
    #[error("a message of {0} bytes beside its segments; at most {HEAD_MAX} are allowed")]
    Head(u64),
    #[error("a message of {0} segments; at most {SEGMENTS_MAX} are allowed")]
    Segments(u64),
    #[error("a message whose segments have more than {SEGMENT_BYTES_MAX} bytes")]
    SegmentBytes,
    #[error("no memory for a message of {0} bytes")]
    Memory(usize),
    #[error(transparent)]
    Segment(#[from] SegmentError),
}
