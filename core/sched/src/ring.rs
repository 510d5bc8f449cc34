//! A bounded queue between two threads in which a message of 56 bytes and its arrival share one cache line.

use std::mem::MaybeUninit;

use super::sync::{Arc, AtomicU64, Ordering, UnsafeCell};

/// The content of one slot, unless it is another `Copy` type of 56 bytes: seven words whose meaning is the user's.
pub type Words = [u64; 7];

/// Slots per ring unless told otherwise: 16 KiB per pair of PEs, and a burst of this length does not spill.
pub const DEFAULT_CAPACITY: usize = 256;

/// Creates a ring of `capacity` slots and returns its two ends, which may go to different threads.
///
/// All memory is allocated here. Words that were pushed and never popped are forgotten when both ends are
/// gone: if they own something, drain the ring first.
///
/// # Panics
/// If `capacity` is not a power of two of at least 2.
pub fn ring<W: Copy>(capacity: usize) -> (Producer<W>, Consumer<W>) {
    let ring = Arc::new(Ring::new(capacity));
    let producer = Producer { ring: Arc::clone(&ring), tail: 0, head_cached: 0 };
    (producer, Consumer { ring, head: 0, head_published: 0 })
}

/// The end that pushes.
#[derive(Debug)]
pub struct Producer<W = Words> {
    ring: Arc<Ring<W>>,
    /// Messages pushed so far.
    tail: u64,
    /// A past value of the consumer's head: never ahead of it, so the ring has at least the room it says.
    head_cached: u64,
}

impl<W: Copy> Producer<W> {
    /// Pushes one message, or gives it back if the ring is full.
    ///
    /// It may call itself full with up to a quarter of the slots free, since the consumer announces free slots
    /// by the quarter.
    #[inline]
    pub fn try_push(&mut self, words: W) -> Result<(), W> {
        if self.tail - self.head_cached == self.ring.capacity() && !self.find_room() {
            return Err(words);
        }
        let slot = self.ring.slot(self.tail);
        // SAFETY: at most `capacity` messages lie beyond the consumer's head, this one included, so the slot's
        // last content was popped; `find_room` acquired that. No other thread pushes: `&mut self`, not `Clone`.
        slot.words.with_mut(|content| unsafe { *content = MaybeUninit::new(words) });
        slot.lap.store(self.ring.lap(self.tail), Ordering::Release);
        self.tail += 1;
        Ok(())
    }

    /// Reads how far the consumer is: touching its line only when the ring looks full keeps it out of the way.
    #[cold]
    fn find_room(&mut self) -> bool {
        self.head_cached = self.ring.head.0.load(Ordering::Acquire);
        self.tail - self.head_cached < self.ring.capacity()
    }
}

/// The end that pops.
#[derive(Debug)]
pub struct Consumer<W = Words> {
    ring: Arc<Ring<W>>,
    /// Messages popped so far.
    head: u64,
    /// What the producer was last told of `head`.
    head_published: u64,
}

impl<W: Copy> Consumer<W> {
    /// Whether no message is waiting. One load of a line that only the producer's next push invalidates.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.slot(self.head).lap.load(Ordering::Relaxed) != self.ring.lap(self.head)
    }

    /// Takes the oldest message.
    #[inline]
    pub fn pop(&mut self) -> Option<W> {
        let mut popped = None;
        self.drain(1, |words| popped = Some(*words));
        popped
    }

    /// Gives up to `max` messages to `f`, oldest first, and returns how many there were.
    ///
    /// `f` reads in place: a slot is returned to the producer only after `f` is done with it. If `f` panics,
    /// its message counts as popped.
    #[inline]
    pub fn drain(&mut self, max: usize, mut f: impl FnMut(&W)) -> usize {
        for count in 0..max {
            let slot = self.ring.slot(self.head);
            if slot.lap.load(Ordering::Acquire) != self.ring.lap(self.head) {
                return count;
            }
            self.head += 1;
            // SAFETY: the lap number, acquired above, says that the content was written for this position; the
            // producer writes here again only after a head beyond it is published, which happens below.
            slot.words.with(|content| f(unsafe { (*content).assume_init_ref() }));
            if self.head - self.head_published >= self.ring.publish_every {
                self.publish();
            }
        }
        max
    }

    /// Tells the producer of every slot that is free. To be called before sleeping, so that the producer does
    /// not take the ring for fuller than it is in the meantime; otherwise it happens by itself.
    #[inline]
    pub fn publish(&mut self) {
        if self.head != self.head_published {
            self.ring.head.0.store(self.head, Ordering::Release);
            self.head_published = self.head;
        }
    }
}

/// What both ends share.
#[derive(Debug)]
struct Ring<W> {
    slots: Box<[Slot<W>]>,
    /// The capacity is two to this power.
    capacity_log2: u32,
    /// The consumer publishes its head when it is this far ahead of the last publication: a quarter lap, so
    /// that the line changes hands a few times per lap, not per message, and never all slots are kept back.
    publish_every: u64,
    /// Messages popped, as far as the producer needs to know.
    head: OwnLine<AtomicU64>,
}

/// One message. Content and lap number fill one cache line, so one transfer between cores brings both.
#[derive(Debug)]
#[repr(C, align(64))]
struct Slot<W> {
    words: UnsafeCell<MaybeUninit<W>>,
    /// The number, from 1, of the lap in which `words` was last written.
    lap: AtomicU64,
}

impl<W> Slot<W> {
    fn new() -> Self {
        Slot { words: UnsafeCell::new(MaybeUninit::uninit()), lap: AtomicU64::new(0) }
    }
}

/// Keeps its content away from its neighbours: two lines, since cores fetch lines by adjacent pairs.
#[derive(Debug)]
#[repr(align(128))]
struct OwnLine<T>(T);

// SAFETY: all fields but `Slot::words` are shared soundly by themselves. `words` is written only by the one
// `Producer` and read only by the one `Consumer`, at different times: see the reasons at both accesses.
unsafe impl<W: Copy + Send> Sync for Ring<W> {}

impl<W> Ring<W> {
    fn new(capacity: usize) -> Ring<W> {
        assert!(capacity.is_power_of_two() && capacity >= 2, "a ring of {capacity} slots");
        Ring {
            slots: (0..capacity).map(|_| Slot::new()).collect(),
            capacity_log2: capacity.ilog2(),
            publish_every: (capacity as u64 / 4).max(1),
            head: OwnLine(AtomicU64::new(0)),
        }
    }

    #[inline(always)]
    fn capacity(&self) -> u64 {
        1 << self.capacity_log2
    }

    #[inline(always)]
    fn slot(&self, position: u64) -> &Slot<W> {
        &self.slots[position as usize & (self.slots.len() - 1)]
    }

    /// The lap to which `position` belongs. A lap number is compared, not the position: from
    /// `if slot.position == head { head += 1 }` compilers make a loop whose next address depends on the value
    /// just loaded, so that cache misses queue up instead of overlapping (65–190 ns per message, not 22).
    #[inline(always)]
    fn lap(&self, position: u64) -> u64 {
        (position >> self.capacity_log2) + 1
    }
}
