//! MPI's order: messages from one rank to another in one context do not overtake each other (MPI-3.1, 3.5).
//!
//! The network may deliver frames in any order, since ranks move while frames are on their way. Numbered frames are
//! acted on in the order of their numbers; one that comes early waits here.

use std::collections::BTreeMap;

use talisman_pup::Pup;

use super::peers::Peers;
use super::{Context, Frame, FrameError, Head, Payload, Rank};

/// Numbers by context and peer.
#[derive(Debug, Default, PartialEq, Pup)]
pub struct Order {
    /// The number of the next frame to each receiver.
    sent: Peers<u32>,
    /// What is known of each sender.
    incoming: Peers<Incoming>,
}

#[derive(Debug, Default, PartialEq, Pup)]
struct Incoming {
    /// The number of the next frame to act on.
    expected: u32,
    /// Frames with later numbers.
    early: BTreeMap<u32, Frame<Payload>>,
}

/// The turn of a frame that waits for none, and none for it.
pub struct Turn<'a>(&'a mut u32);

impl Turn<'_> {
    /// It was acted on.
    #[inline]
    pub fn pass(self) {
        *self.0 = self.0.wrapping_add(1);
    }
}

impl Order {
    /// The number of the next frame to this receiver.
    #[inline]
    pub fn next_to(&mut self, context: Context, to: Rank) -> u32 {
        let next = self.sent.of(context, to);
        let number = *next;
        *next = next.wrapping_add(1);
        number
    }

    /// A numbered frame has come. Returns it if its turn is now, and whether others wait for it; else it is kept for
    /// [`Order::next_ready`].
    ///
    /// # Errors
    /// If a frame with its number has come before.
    pub fn admit(&mut self, frame: Frame<Payload>) -> Result<Option<(Frame<Payload>, bool)>, FrameError> {
        let head = frame.head;
        let incoming = self.incoming.of(head.context, head.source);
        if head.number == incoming.expected {
            incoming.expected = incoming.expected.wrapping_add(1);
            return Ok(Some((frame, !incoming.early.is_empty())));
        }
        let ahead = head.number.wrapping_sub(incoming.expected);
        if ahead > u32::MAX / 2 || incoming.early.contains_key(&head.number) {
            return Err(FrameError::Repeated {
                source_rank: head.source,
                context: head.context,
                number: head.number,
            });
        }
        incoming.early.insert(head.number, frame);
        Ok(None)
    }

    /// The turn of a numbered frame with this head, if it would be acted on now, and none after it.
    #[inline]
    pub fn turn_alone(&mut self, head: &Head) -> Option<Turn<'_>> {
        let incoming = self.incoming.of(head.context, head.source);
        let is_next_alone = head.number == incoming.expected && incoming.early.is_empty();
        is_next_alone.then_some(Turn(&mut incoming.expected))
    }

    /// A frame of this sender that waited and whose turn is now.
    pub fn next_ready(&mut self, context: Context, source: Rank) -> Option<Frame<Payload>> {
        let incoming = self.incoming.get_mut(context, source)?;
        let frame = incoming.early.remove(&incoming.expected)?;
        incoming.expected = incoming.expected.wrapping_add(1);
        Some(frame)
    }

    /// A deliberate mistake: frames are numbered from 0 again.
    pub fn forget_sent(&mut self) {
        self.sent = Peers::default();
    }

    /// How many frames wait for earlier ones.
    pub fn early(&self) -> usize {
        self.incoming.values().map(|incoming| incoming.early.len()).sum()
    }

    /// Begins to count near the end of the numbers, to see them wrap around.
    #[cfg(test)]
    pub fn begin_at(&mut self, context: Context, peer: Rank, number: u32) {
        *self.sent.of(context, peer) = number;
        self.incoming.of(context, peer).expected = number;
    }
}
