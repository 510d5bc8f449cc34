//! Pieces of messages that the receiver reads where they are: one copy instead of two, and no turn for every chunk.

use std::collections::VecDeque;

use super::Segment;

/// Segments of at least so many bytes are lent. The call that reads takes as long as copying some pages twice.
pub(super) const LENT_MIN: usize = 64 << 10;

/// Bytes of a piece. A receiver takes one between two looks at its other links, in about a millisecond.
pub(super) const PIECE: usize = 4 << 20;

/// What the receiver has been told of and has not taken.
#[derive(Default)]
pub(super) struct Lent {
    pieces: VecDeque<Piece>,
    bytes: usize,
}

struct Piece {
    /// Slots written with this one.
    position: u64,
    bytes: usize,
    /// With the last piece of a segment, which stays until then.
    _segment: Option<Segment>,
}

impl Lent {
    /// A piece is said to be there. With the last one of a segment that is given.
    pub(super) fn add(&mut self, position: u64, bytes: usize, segment: Option<Segment>) {
        self.bytes += bytes;
        self.pieces.push_back(Piece { position, bytes, _segment: segment });
    }

    /// The receiver has taken so many slots: what they lent is not needed any more.
    pub(super) fn release(&mut self, taken: u64) {
        while let Some(piece) = self.pieces.front()
            && piece.position <= taken
        {
            self.bytes -= piece.bytes;
            self.pieces.pop_front();
        }
    }

    /// Bytes that are lent.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
