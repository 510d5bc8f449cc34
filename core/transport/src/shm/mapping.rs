//! What one node has of the segment: its links, and where its PEs and those of the others sleep.

use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use super::inbound::Receiver;
use super::layout::{Direction, LINE, Layout, SLOT, SLOTS, Shape};
use super::memory::Bytes;
use super::out::Sender;
use super::segment::{Memory, NoSegment};
use super::slots::Ring;
use super::sync::{AsymmetricFence, Futex};
use super::{Arc, Parker, Peer, bytes, slots};

/// The segment, mapped into this process.
pub struct Mapping {
    pub(super) memory: Arc<Memory>,
    pub(super) layout: Layout,
    fence: AsymmetricFence,
    /// Which directions have an end in this process, made through this mapping.
    taken: Box<[AtomicBool]>,
}

impl Mapping {
    /// Maps the segment that [`create`](super::create) made for the same shape.
    ///
    /// # Errors
    /// It is another segment, or cannot be mapped: see [`NoSegment`].
    pub fn open(fd: impl AsFd, shape: Shape) -> Result<Mapping, NoSegment> {
        let layout = Layout::of(shape)?;
        let (memory, fence) = Memory::open(fd, &layout)?;
        let taken = (0..layout.directions()).map(|_| AtomicBool::new(false)).collect();
        Ok(Mapping { memory: Arc::new(memory), layout, fence, taken })
    }

    /// The sleeping place of the PE of rank `pe` on the `node`-th of this host's nodes, with the call that ends its
    /// sleep. Its owner and everyone who sends to it make one each.
    ///
    /// # Panics
    /// There is no such PE.
    pub fn parker(&self, node: u32, pe: u32, bell: impl Fn() + Send + Sync + 'static) -> Parker {
        let word: NonNull<Futex> = self.memory.piece(self.layout.parker(node, pe), LINE);
        // SAFETY: the word is aligned, mapped as long as the memory is kept, and used as this everywhere. The fence is of
        // the kind that all processes that have the segment use.
        unsafe { Parker::in_shared_memory(word, self.memory.clone(), self.fence, bell) }
    }

    /// The two halves of the link between the `me`-th and the `other`-th of this host's nodes in lane `peer.lane`.
    ///
    /// `peer` is who the other is in the job; `receiver` is the parker of its PE of that rank.
    ///
    /// # Panics
    /// There is no such link, or its halves were made before.
    pub fn link(&self, me: u32, other: u32, peer: Peer, receiver: Arc<Parker>) -> (Sender, Receiver) {
        let out = Direction { from: me, to: other, lane: peer.lane };
        let inbound = Direction { from: other, to: me, lane: peer.lane };
        let (slots, bytes) = self.ends(out);
        let sender = Sender::new(slots::Writer::new(slots), bytes::Writer::new(bytes), peer, receiver);
        let (slots, bytes) = self.ends(inbound);
        let (slots, bytes) = (slots::Reader::new(slots), bytes::Reader::new(bytes));
        (sender, Receiver::new(slots, bytes, peer, self.layout.shape.pes))
    }

    /// The memory of a direction, for its one end in this process.
    pub(super) fn ends(&self, direction: Direction) -> (Ring, Bytes) {
        let Layout { ring, .. } = self.layout;
        let taken = self.taken[self.layout.number(direction)].swap(true, Ordering::Relaxed);
        assert!(!taken, "an end of {direction:?} was taken before");
        let memory = &self.memory;
        let slots = memory.piece(self.layout.slots(direction), SLOTS * SLOT);
        let positions = memory.piece(self.layout.positions(direction), LINE);
        let bytes = memory.piece(self.layout.bytes(direction), ring);
        // SAFETY: the pieces are inside the mapping, aligned, disjoint by the layout, zero in a new memfd, and kept by
        // `memory`. Each direction has one end here, the other in the peer's process; nothing else refers to the bytes.
        unsafe {
            (Ring::new(slots, SLOTS, positions, memory.clone()), Bytes::new(bytes, ring, memory.clone()))
        }
    }
}
