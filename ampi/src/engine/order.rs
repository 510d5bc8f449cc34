//! MPI's order: messages from one rank to another in one context do not overtake each other (MPI-3.1, 3.5).
//!
//! The network may deliver frames in any order, since ranks move while frames are on their way. Numbered frames are
//! acted on in the order of their numbers; one that comes early waits here.

use std::collections::{BTreeMap, HashMap};

use rustc_hash::FxBuildHasher;
use talisman_pup::Pup;

use super::{Context, Frame, FrameError, Payload, Rank};

/// Numbers by context and peer.
#[derive(Debug, Default, PartialEq, Pup)]
pub struct Order {
    /// The number of the next frame to each receiver.
    sent: HashMap<(Context, Rank), u32, FxBuildHasher>,
    /// What is known of each sender.
    incoming: HashMap<(Context, Rank), Incoming, FxBuildHasher>,
}

#[derive(Debug, Default, PartialEq, Pup)]
struct Incoming {
    /// The number of the next frame to act on.
    expected: u32,
    /// Frames with later numbers.
    early: BTreeMap<u32, Frame<Payload>>,
}

impl Order {
    /// The number of the next frame to this receiver.
    pub fn next_to(&mut self, context: Context, to: Rank) -> u32 {
        let next = self.sent.entry((context, to)).or_default();
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
        let incoming = self.incoming.entry((head.context, head.source)).or_default();
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

    /// A frame of this sender that waited and whose turn is now.
    pub fn next_ready(&mut self, context: Context, source: Rank) -> Option<Frame<Payload>> {
        let incoming = self.incoming.get_mut(&(context, source))?;
        let frame = incoming.early.remove(&incoming.expected)?;
        incoming.expected = incoming.expected.wrapping_add(1);
        Some(frame)
    }

    /// How many frames wait for earlier ones.
    pub fn early(&self) -> usize {
        self.incoming.values().map(|incoming| incoming.early.len()).sum()
    }

    /// Begins to count near the end of the numbers, to see them wrap around.
    #[cfg(test)]
    pub fn begin_at(&mut self, context: Context, peer: Rank, number: u32) {
        self.sent.insert((context, peer), number);
        self.incoming.insert((context, peer), Incoming { expected: number, early: BTreeMap::new() });
    }
}
