//! The receiving half of a link.

use super::arriving::Arriving;
use super::flaw::Flaw;
use super::frame::{Begin, Frame};
use super::in_place::{Arrived, Rest};
use super::slots::Impossible;
use super::{Incoming, LinkError, Peer, SegmentError, TO_LINK, TO_STORE, bytes, slots};

/// Bytes of a chunk that are copied to be looked at before the rest is: more than a message has before its values.
const START_MAX: usize = 64;

/// Receives from one PE of another node of this host. Nothing that the other process writes makes it panic, read
/// elsewhere, wait, or take memory without bound.
pub struct Receiver {
    slots: slots::Reader,
    bytes: bytes::Reader,
    /// The message that is not whole.
    arriving: Option<Arriving>,
    /// Where heads of one chunk are copied to, to be looked at.
    scratch: Vec<u8>,
    peer: Peer,
    /// PEs of this node.
    pes: u32,
    failed: Option<LinkError>,
}

impl Receiver {
    pub(super) fn new(slots: slots::Reader, bytes: bytes::Reader, peer: Peer, pes: u32) -> Receiver {
        Receiver { slots, bytes, arriving: None, scratch: Vec::new(), peer, pes, failed: None }
    }

    /// Whether something can be received: one load of a line that only the sender's next message changes.
    #[inline(always)]
    pub fn has_work(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Takes up to `budget` slots and gives each message that is whole to `f`; how many slots there were. (A message is
    /// one slot, and one more for every chunk, 32 KiB, after the first.)
    ///
    /// # Errors
    /// What arrived is not of this protocol. The link does not recover: every later call gives the error again.
    #[inline]
    pub fn receive(&mut self, budget: usize, f: &mut dyn FnMut(Incoming<'_>)) -> Result<usize, LinkError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let mut taken = 0;
        while taken < budget {
            match self.receive_one(f) {
                Ok(true) => taken += 1,
                Ok(false) => break,
                Err(flaw) => return Err(self.fail(flaw)),
            }
        }
        Ok(taken)
    }

    /// Gives everything that was read back to the sender. To be called before sleeping, so that the sender does not
    /// take the rings for fuller than they are; otherwise it happens by itself.
    pub fn publish(&mut self) {
        self.slots.publish();
        self.bytes.publish(self.slots.positions());
    }

    /// Takes the next slot, if there is one.
    #[inline(always)]
    fn receive_one(&mut self, f: &mut dyn FnMut(Incoming<'_>)) -> Result<bool, Flaw> {
        let Some(content) = self.slots.peek().map_err(|Impossible| Flaw::Lap)? else { return Ok(false) };
        let frame = Frame::unpack(content, self.slots.lap())?;
        match frame {
            Frame::Inline(inline) if self.arriving.is_none() => {
                let rank = self.checked(inline.rank)?;
                // Before `f`: a message whose handler panics has arrived.
                self.slots.advance();
                inline.with_head(|head| f(Incoming { rank, head, segments: Vec::new() }));
            }
            Frame::Begin(begin) if self.arriving.is_none() => self.begin(begin, f)?,
            Frame::More => self.go_on(f)?,
            Frame::Inline(_) | Frame::Begin(_) => return Err(Flaw::Unfinished),
        }
        Ok(true)
    }

    /// As [`Receiver::receive`] takes one slot, but a message of one at most, chunk included, is given to `take` as it came. What that does
    /// not take `f` gets.
    ///
    /// # Errors
    /// As for that.
    #[inline]
    pub fn hear(
        &mut self,
        take: &mut dyn FnMut(&Arrived<'_>) -> bool,
        f: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<usize, LinkError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        match self.hear_one(take, f) {
            Ok(is_there) => Ok(usize::from(is_there)),
            Err(flaw) => Err(self.fail(flaw)),
        }
    }

    #[inline(always)]
    fn hear_one(
        &mut self,
        take: &mut dyn FnMut(&Arrived<'_>) -> bool,
        f: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<bool, Flaw> {
        let Some(content) = self.slots.peek().map_err(|Impossible| Flaw::Lap)? else { return Ok(false) };
        let is_taken = match Frame::unpack(content, self.slots.lap())? {
            _ if self.arriving.is_some() => false,
            Frame::Inline(inline) => {
                let rank = self.checked(inline.rank)?;
                inline.with_head(|start| take(&Arrived { rank, start, rest: Rest::NOTHING }))
            }
            Frame::Begin(begin) if self.is_one_chunk(&begin) => {
                let rank = self.checked(begin.rank)?;
                let is_taken = self.offer_chunk(rank, begin.head as usize, take);
                if is_taken {
                    self.bytes.pass(begin.head as usize, self.slots.positions());
                }
                is_taken
            }
            _ => false,
        };
        match is_taken {
            true => self.slots.advance(),
            // Read again: what was looked at is not what it is told from then on.
            false => return self.receive_one(f),
        }
        Ok(true)
    }

    /// Gives the start of a chunk to `take`, and where the rest is.
    #[inline]
    fn offer_chunk(&self, rank: u16, len: usize, take: &mut dyn FnMut(&Arrived<'_>) -> bool) -> bool {
        // What follows the start is wanted as soon as that has been looked at.
        self.bytes.prefetch(len);
        let mut start = [0; START_MAX];
        let start = &mut start[..len.min(START_MAX)];
        // SAFETY: it is borrowed, so it is no part of the ring, and no longer than the chunk.
        unsafe { self.bytes.read_ahead(0, start) };
        let rest = Rest::behind(start.len(), len - start.len(), &self.bytes);
        take(&Arrived { rank, start, rest })
    }

    /// Whether it is a message of one chunk, without segments.
    fn is_one_chunk(&self, begin: &Begin) -> bool {
        begin.segments == 0 && (1..=self.bytes.chunk() as u64).contains(&begin.head)
    }

    fn begin(&mut self, begin: Begin, f: &mut dyn FnMut(Incoming<'_>)) -> Result<(), Flaw> {
        let rank = self.checked(begin.rank)?;
        if self.is_one_chunk(&begin) {
            self.read_to_scratch(begin.head as usize)?;
            self.slots.advance();
            f(Incoming { rank, head: &self.scratch, segments: Vec::new() });
            return Ok(());
        }
        self.arriving = Some(Arriving::new(begin)?);
        self.go_on(f)
    }

    /// Takes the next chunk of a message of several.
    fn go_on(&mut self, f: &mut dyn FnMut(Incoming<'_>)) -> Result<(), Flaw> {
        let Some(mut message) = self.arriving.take() else { return Err(Flaw::NothingBegun) };
        let whole = message.take(&mut self.bytes, self.slots.positions())?;
        self.slots.advance();
        if whole {
            message.give(f);
        } else {
            self.arriving = Some(message);
        }
        Ok(())
    }

    fn read_to_scratch(&mut self, n: usize) -> Result<(), Flaw> {
        self.scratch.clear();
        self.scratch.try_reserve(n).map_err(|_| Flaw::Memory(n))?;
        let spare = &raw mut self.scratch.spare_capacity_mut()[..n];
        // SAFETY: `n` is at most a chunk; the vector's own memory has room for it, and is all written then.
        unsafe {
            self.bytes.read(spare as *mut [u8], self.slots.positions());
            self.scratch.set_len(n);
        }
        Ok(())
    }

    #[inline(always)]
    fn checked(&self, rank: u16) -> Result<u16, Flaw> {
        if u32::from(rank) < self.pes || [TO_LINK, TO_STORE].contains(&rank) {
            Ok(rank)
        } else {
            Err(Flaw::Rank(rank))
        }
    }

    #[cold]
    fn fail(&mut self, flaw: Flaw) -> LinkError {
        let (peer, what) = (self.peer, flaw.to_string());
        let error = match flaw {
            Flaw::Memory(_) | Flaw::Segment(SegmentError::Memory { .. }) => LinkError::Memory { peer, what },
            Flaw::Head(_) | Flaw::Segments(_) | Flaw::SegmentBytes | Flaw::Segment(_) => {
                LinkError::Refused { peer, what }
            }
            _ => LinkError::Garbage { peer, what },
        };
        self.failed = Some(error.clone());
        error
    }
}
