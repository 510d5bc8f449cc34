//! The slot ring: messages of one cache line, and the announcements of longer ones.
//!
//! As `scheduler/ring.rs`, for two processes of which neither believes the other: every word is checked, positions are
//! kept privately on both sides, and contents are copied out before anyone looks at them.

use std::any::Any;
use std::ptr::NonNull;

use super::sync::{AtomicU64, Ordering, UnsafeCell};

/// What a slot holds beside its lap number.
pub(super) type Content = [u64; 7];

/// Keeps the memory of a ring.
pub(super) type Keeper = std::sync::Arc<dyn Any + Send + Sync>;

/// One cache line. Content and lap number arrive together.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Slot {
    content: UnsafeCell<Content>,
    /// The number, from 1, of the lap in which `content` was last written: 0 in fresh memory.
    lap: AtomicU64,
}

/// How far the receiver of a direction is, for its sender: a line of its own.
#[derive(Debug)]
#[repr(C, align(128))]
pub(super) struct Positions {
    /// Slots read.
    pub(super) slots: AtomicU64,
    /// Bytes of the byte ring read.
    pub(super) bytes: AtomicU64,
}

#[allow(dead_code, reason = "a new segment has them by being zero; the model makes its own")]
impl Slot {
    pub(super) fn new() -> Slot {
        Slot { content: UnsafeCell::new([0; 7]), lap: AtomicU64::new(0) }
    }
}

#[allow(dead_code, reason = "as above")]
impl Positions {
    pub(super) fn new() -> Positions {
        Positions { slots: AtomicU64::new(0), bytes: AtomicU64::new(0) }
    }
}

/// The other side wrote what it cannot have meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Impossible;

/// The memory of one direction, as one end sees it.
pub(super) struct Ring {
    slots: NonNull<Slot>,
    positions: NonNull<Positions>,
    /// The capacity is two to this power.
    capacity_log2: u32,
    _keeper: Keeper,
}

// SAFETY: the memory is reached through atomics and through `Slot::content`, for which the lap numbers say whose turn it
// is. The keeper is `Send` and `Sync`.
unsafe impl Send for Ring {}

impl Ring {
    /// # Safety
    /// `capacity` slots and the positions are there, aligned, zero when the first end begins, and live as long as
    /// `keeper`. In this process one `Writer` and one `Reader` at most are made of them.
    pub(super) unsafe fn new(
        slots: NonNull<Slot>,
        capacity: usize,
        positions: NonNull<Positions>,
        keeper: Keeper,
    ) -> Ring {
        assert!(capacity.is_power_of_two() && capacity >= 2, "a ring of {capacity} slots");
        Ring { slots, positions, capacity_log2: capacity.ilog2(), _keeper: keeper }
    }

    fn positions(&self) -> &Positions {
        // SAFETY: the keeper keeps them, and they consist of atomics.
        unsafe { self.positions.as_ref() }
    }

    #[inline(always)]
    fn capacity(&self) -> u64 {
        1 << self.capacity_log2
    }

    #[inline(always)]
    fn slot(&self, position: u64) -> &Slot {
        let index = position & (self.capacity() - 1);
        // SAFETY: there are `capacity` slots, which the keeper keeps; a slot consists of cells and atomics.
        unsafe { self.slots.add(index as usize).as_ref() }
    }

    #[inline(always)]
    fn lap(&self, position: u64) -> u64 {
        (position >> self.capacity_log2) + 1
    }
}

/// The end that writes.
pub(super) struct Writer {
    ring: Ring,
    /// Slots written so far.
    tail: u64,
    /// What the reader last said.
    head: u64,
}

impl Writer {
    pub(super) fn new(ring: Ring) -> Writer {
        Writer { ring, tail: 0, head: 0 }
    }

    /// Whether a slot is free.
    #[inline(always)]
    pub(super) fn has_room(&mut self) -> Result<bool, Impossible> {
        if self.tail - self.head < self.ring.capacity() { Ok(true) } else { self.look_for_room() }
    }

    /// Touching the reader's line only when the ring looks full keeps the line where it is written.
    #[cold]
    fn look_for_room(&mut self) -> Result<bool, Impossible> {
        let head = self.ring.positions().slots.load(Ordering::Acquire);
        self.head = advanced(self.head, head, self.tail)?;
        Ok(self.tail - self.head < self.ring.capacity())
    }

    /// How far the reader says it is.
    pub(super) fn positions(&self) -> &Positions {
        self.ring.positions()
    }

    /// The lap of the slot that is next.
    #[inline(always)]
    pub(super) fn lap(&self) -> u64 {
        self.ring.lap(self.tail)
    }

    /// Writes the next slot, for which there is room, and publishes it with everything written before.
    #[inline(always)]
    pub(super) fn publish(&mut self, content: Content) {
        debug_assert!(self.tail - self.head < self.ring.capacity(), "a slot that is not free");
        let slot = self.ring.slot(self.tail);
        // SAFETY: valid memory. An honest reader is done with this slot: its position says so, acquired by
        // `look_for_room`. What a dishonest one sees here is its own affair.
        slot.content.with_mut(|at| unsafe { at.write_volatile(content) });
        // The one store that makes the message exist: a process that dies before it has sent nothing.
        slot.lap.store(self.ring.lap(self.tail), Ordering::Release);
        self.tail += 1;
    }
}

/// `said`, if a reader that was at `before` can be there now.
pub(super) fn advanced(before: u64, said: u64, tail: u64) -> Result<u64, Impossible> {
    if (before..=tail).contains(&said) { Ok(said) } else { Err(Impossible) }
}

/// The end that reads.
pub(super) struct Reader {
    ring: Ring,
    /// Slots read so far.
    head: u64,
    /// What the writer was last told of `head`.
    published: u64,
}

impl Reader {
    pub(super) fn new(ring: Ring) -> Reader {
        Reader { ring, head: 0, published: 0 }
    }

    /// Where this end says how far it is.
    pub(super) fn positions(&self) -> &Positions {
        self.ring.positions()
    }

    /// Whether nothing is waiting: one load. What cannot be in a slot is something to look at.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.ring.slot(self.head).lap.load(Ordering::Relaxed) == self.lap() - 1
    }

    /// The lap of the slot that is next.
    #[inline(always)]
    pub(super) fn lap(&self) -> u64 {
        self.ring.lap(self.head)
    }

    /// A copy of the next slot's content, if it was written. It stays the next until [`Reader::advance`].
    #[inline(always)]
    pub(super) fn peek(&self) -> Result<Option<Content>, Impossible> {
        let slot = self.ring.slot(self.head);
        let lap = slot.lap.load(Ordering::Acquire);
        if lap == self.lap() {
            // SAFETY: valid memory. An honest writer does not touch it before this reader has said it is done. Volatile,
            // since a dishonest one may: there is one read, and what it gave is looked at.
            return Ok(Some(slot.content.with(|at| unsafe { at.read_volatile() })));
        }
        // A slot carries the lap before until it is written.
        if lap == self.lap() - 1 { Ok(None) } else { Err(Impossible) }
    }

    /// Goes on to the next slot.
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        self.head += 1;
        // A quarter lap: the line changes hands a few times per lap, and never are all slots kept back.
        if self.head - self.published >= self.ring.capacity().div_ceil(4) {
            self.publish();
        }
    }

    /// Gives every slot that was read back to the writer.
    pub(super) fn publish(&mut self) {
        if self.head != self.published {
            self.ring.positions().slots.store(self.head, Ordering::Release);
            self.published = self.head;
        }
    }
}
