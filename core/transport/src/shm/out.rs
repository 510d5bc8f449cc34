//! The sending half of a link.

use std::collections::VecDeque;

use super::frame::{Begin, Frame, INLINE_MAX, Inline};
use super::slots::Impossible;
use super::waiting::Waiting;
use super::{Arc, LinkError, Parker, Peer, Segment, bytes, slots};

/// Sends to one PE of another node of this host. Never blocks: what the rings have no room for waits here, in order.
///
/// It wakes the receiver, whose parker it was given.
pub struct Sender {
    ring: Ring,
    waiting: VecDeque<Waiting>,
    /// Bytes in `waiting`.
    unsent: usize,
    receiver: Arc<Parker>,
    peer: Peer,
}

/// Both rings of a direction, at their writing end.
pub(super) struct Ring {
    slots: slots::Writer,
    bytes: bytes::Writer,
    /// The reader said it was where it cannot be. Nothing more is written then: what is free is unknown.
    broken: bool,
}

impl Sender {
    pub(super) fn new(
        slots: slots::Writer,
        bytes: bytes::Writer,
        peer: Peer,
        receiver: Arc<Parker>,
    ) -> Sender {
        let ring = Ring { slots, bytes, broken: false };
        Sender { ring, waiting: VecDeque::new(), unsent: 0, receiver, peer }
    }

    /// Sends a message to the PE of rank `rank` of the receiving node. The head is copied; the segments are kept until
    /// they have been copied into the ring.
    ///
    /// The head is at most [`HEAD_MAX`](super::super::HEAD_MAX) bytes, the segments as few and short as is said there:
    /// the receiver refuses more.
    #[inline]
    pub fn send(&mut self, rank: u16, head: &[u8], segments: Vec<Segment>) {
        if self.waiting.is_empty() && segments.is_empty() && self.ring.send_at_once(rank, head) {
            self.receiver.unpark_if_parked();
        } else {
            self.enqueue(Waiting::new(rank, head, segments));
        }
    }

    /// The same of a message without segments whose head is in two parts.
    #[inline]
    pub fn send_parts(&mut self, rank: u16, parts: [&[u8]; 2]) {
        if self.waiting.is_empty() && self.ring.send_chunk_at_once(rank, parts) {
            self.receiver.unpark_if_parked();
        } else {
            self.enqueue(Waiting::new(rank, &parts.concat(), Vec::new()));
        }
    }

    #[cold]
    fn enqueue(&mut self, message: Waiting) {
        self.unsent += message.left();
        self.waiting.push_back(message);
        self.flush();
    }

    /// Writes what goes now of the messages that wait, about one filling of the byte ring at most; whether anything.
    pub fn flush(&mut self) -> bool {
        if self.waiting.is_empty() {
            return false;
        }
        let before = self.unsent;
        let mut chunks = 0;
        while chunks < CHUNKS_AT_ONCE
            && let Some(message) = self.waiting.front_mut()
            && let Some(written) = message.write(&mut self.ring)
        {
            chunks += usize::from(written > INLINE_MAX);
            self.unsent -= written;
            if message.left() == 0 {
                self.waiting.pop_front();
            }
            // After each, so that a receiver that sleeps begins with the first.
            self.receiver.unpark_if_parked();
        }
        self.unsent < before
    }

    /// Bytes that were accepted and wait for room, with 64 for each message.
    pub fn unsent(&self) -> usize {
        self.unsent
    }

    /// Why nothing will be sent any more: the receiver wrote nonsense where it says how far it is.
    pub fn error(&self) -> Option<LinkError> {
        let what = "it says it has read what was never written";
        self.ring.broken.then(|| LinkError::Garbage { peer: self.peer, what: what.into() })
    }
}

/// So that a PE whose receiver keeps pace still gets to its own messages between two calls.
const CHUNKS_AT_ONCE: usize = 8;

impl Ring {
    /// Writes a message that needs one slot and one chunk at most, if it is that short and they are free.
    #[inline]
    fn send_at_once(&mut self, rank: u16, head: &[u8]) -> bool {
        if head.len() <= INLINE_MAX {
            return self.write(Frame::Inline(Inline::new(rank, head)), [&[], &[]]);
        }
        self.send_chunk_at_once(rank, [head, &[]])
    }

    /// Writes a message of one chunk, which is in two parts, if it is that short and there is room.
    #[inline]
    fn send_chunk_at_once(&mut self, rank: u16, parts: [&[u8]; 2]) -> bool {
        let head = length(parts);
        let begin = Begin { rank, head: head as u64, segments: 0 };
        head <= self.chunk() && self.write(Frame::Begin(begin), parts)
    }

    /// Bytes of a full chunk.
    pub(super) fn chunk(&self) -> usize {
        self.bytes.chunk()
    }

    /// Writes a slot and, before it, the chunk that it announces; nothing if there is no room for both.
    #[inline(always)]
    pub(super) fn write(&mut self, frame: Frame, chunk: [&[u8]; 2]) -> bool {
        let bytes = length(chunk);
        match self.has_room(bytes) {
            Ok(true) => {
                if bytes > 0 {
                    self.bytes.write(chunk);
                }
                self.slots.publish(frame.pack(self.slots.lap()));
                true
            }
            Ok(false) => false,
            Err(Impossible) => {
                self.broken = true;
                false
            }
        }
    }

    #[inline(always)]
    fn has_room(&mut self, bytes: usize) -> Result<bool, Impossible> {
        if self.broken {
            return Ok(false);
        }
        Ok(self.slots.has_room()? && (bytes == 0 || self.bytes.has_room(bytes, self.slots.positions())?))
    }
}

/// Of both parts of a chunk.
#[inline(always)]
pub(super) fn length([start, end]: [&[u8]; 2]) -> usize {
    start.len() + end.len()
}
