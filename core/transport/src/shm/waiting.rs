//! A message that waits in the sending half, or is half way through.

use std::collections::VecDeque;

use super::Segment;
use super::frame::{Begin, Frame, INLINE_MAX, Inline};
use super::out::Ring;
use super::table;

/// It goes as parts, each in chunks of its own: first the table of segments and the head, then each segment.
pub(super) struct Waiting {
    rank: u16,
    /// Bytes of the head.
    head: usize,
    /// How many segments there are in all.
    count: usize,
    /// The table, and behind it the head. Gone once it was written.
    front: Vec<u8>,
    /// Those that were not written to the end. None is empty.
    segments: VecDeque<Segment>,
    /// Bytes written of the first part that is left.
    written: usize,
    begun: bool,
    left: usize,
}

/// What a message counts for beside its bytes, so that many empty ones are not nothing.
const SLOT_COUNTS: usize = 64;

impl Waiting {
    pub(super) fn new(rank: u16, head: &[u8], mut segments: Vec<Segment>) -> Waiting {
        let mut front = Vec::with_capacity(segments.len() * table::ENTRY + head.len());
        segments.iter().for_each(|segment| table::push(&mut front, segment));
        front.extend_from_slice(head);
        let count = segments.len();
        segments.retain(|segment| !segment.bytes().is_empty());
        let bytes: usize = segments.iter().map(|segment| segment.bytes().len()).sum();
        let left = SLOT_COUNTS + front.len() + bytes;
        let (head, segments) = (head.len(), VecDeque::from(segments));
        Waiting { rank, head, count, front, segments, written: 0, begun: false, left }
    }

    /// Bytes that still have to be written, and 64 for the message until it is begun.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Writes the next chunk; by how much that made [`Waiting::left`] smaller. `None` if there is no room.
    pub(super) fn write(&mut self, ring: &mut Ring) -> Option<usize> {
        let (frame, n) = self.next(ring.chunk());
        let inline = matches!(frame, Frame::Inline(_));
        let chunk = if inline { &[] } else { &self.part()[self.written..][..n] };
        if !ring.write(frame, [chunk, &[]]) {
            return None;
        }
        let counted = n + if self.begun { 0 } else { SLOT_COUNTS };
        self.begun = true;
        self.left -= counted;
        self.advance(n);
        Some(counted)
    }

    /// The next slot, and how many bytes of the current part go with it.
    fn next(&self, chunk: usize) -> (Frame, usize) {
        let n = chunk.min(self.part().len() - self.written);
        let &Waiting { rank, head, count, begun, .. } = self;
        if begun {
            (Frame::More, n)
        } else if count == 0 && head <= INLINE_MAX {
            (Frame::Inline(Inline::new(rank, &self.front)), n)
        } else {
            (Frame::Begin(Begin { rank, head: head as u64, segments: count as u64 }), n)
        }
    }

    fn part(&self) -> &[u8] {
        match self.segments.front() {
            Some(segment) if self.front.is_empty() => segment.bytes(),
            _ => &self.front,
        }
    }

    /// Goes on by `n` bytes. A part that is written is freed.
    fn advance(&mut self, n: usize) {
        self.written += n;
        if self.written < self.part().len() {
            return;
        }
        self.written = 0;
        if self.front.is_empty() {
            self.segments.pop_front();
        } else {
            self.front = Vec::new();
        }
    }
}
