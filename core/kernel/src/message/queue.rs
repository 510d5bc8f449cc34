//! A queue of messages: a ring of pointers that grows, so that those further back can be fetched in time.

use std::cell::{Cell, UnsafeCell};
use std::ptr::NonNull;

use super::envelope::Envelope;

/// First in, first out. Owns what is in it; what is left is emptied by [`Queue::drain`].
pub struct Queue {
    // The functions below read or write single places, and keep no reference; `grow` alone replaces the ring.
    ring: UnsafeCell<Box<[Option<NonNull<Envelope>>]>>,
    /// Messages popped and pushed since the start; their places are these numbers modulo the ring's length.
    head: Cell<usize>,
    tail: Cell<usize>,
}

/// The first ring's length; each further one is twice as long.
const FIRST: usize = 256;

impl Queue {
    pub(crate) fn new() -> Self {
        let ring = UnsafeCell::new(vec![None; FIRST].into_boxed_slice());
        Queue { ring, head: Cell::new(0), tail: Cell::new(0) }
    }

    #[inline(always)]
    pub fn push(&self, envelope: NonNull<Envelope>) {
        if self.waiting() == self.len() {
            self.grow();
        }
        let tail = self.tail.get();
        let place = tail & (self.len() - 1);
        // SAFETY: see `ring`; the place is below its length, a power of two.
        unsafe { *(&mut *self.ring.get()).get_unchecked_mut(place) = Some(envelope) };
        self.tail.set(tail + 1);
    }

    #[inline(always)]
    pub fn pop(&self) -> Option<NonNull<Envelope>> {
        let first = self.ahead(0)?;
        self.head.set(self.head.get() + 1);
        Some(first)
    }

    /// The message that is behind so many others.
    #[inline(always)]
    pub fn ahead(&self, distance: usize) -> Option<NonNull<Envelope>> {
        let position = self.head.get() + distance;
        if position >= self.tail.get() {
            return None;
        }
        let place = position & (self.len() - 1);
        // SAFETY: as in `push`.
        unsafe { *(&*self.ring.get()).get_unchecked(place) }
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.head.get() == self.tail.get()
    }

    /// How many are in it.
    #[inline(always)]
    pub fn waiting(&self) -> usize {
        self.tail.get() - self.head.get()
    }

    /// Takes everything out, in order.
    pub fn drain(&self) -> impl Iterator<Item = NonNull<Envelope>> + '_ {
        std::iter::from_fn(|| self.pop())
    }

    #[inline(always)]
    fn len(&self) -> usize {
        // SAFETY: see `ring`.
        unsafe { &*self.ring.get() }.len()
    }

    #[cold]
    fn grow(&self) {
        let mut longer: Vec<_> = self.drain().map(Some).collect();
        self.head.set(0);
        self.tail.set(longer.len());
        longer.resize((longer.len() * 2).next_power_of_two(), None);
        // SAFETY: see `ring`; `drain` is done with it.
        unsafe { *self.ring.get() = longer.into_boxed_slice() };
    }
}

/// Fetches both lines of a message that will be run soon: with many in flight, each is long out of the cache.
#[inline(always)]
pub fn prefetch<T>(at: NonNull<T>) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address is harmless.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.as_ptr().cast());
        _mm_prefetch::<_MM_HINT_T0>(at.as_ptr().cast::<i8>().wrapping_add(64));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::pool::Pool;

    #[test]
    fn first_in_first_out_through_growth() {
        let pool = Pool::new(Default::default());
        let queue = Queue::new();
        let envelopes: Vec<_> = (0..5 * FIRST).map(|_| pool.take()).collect();
        for envelope in &envelopes[..100] {
            queue.push(*envelope);
        }
        for envelope in &envelopes[..100] {
            assert_eq!(queue.pop(), Some(*envelope));
        }
        envelopes.iter().for_each(|envelope| queue.push(*envelope));
        assert_eq!(queue.ahead(3), Some(envelopes[3]));
        assert_eq!(queue.ahead(envelopes.len()), None);
        assert_eq!(queue.drain().collect::<Vec<_>>(), envelopes);
        assert!(queue.is_empty());
    }
}
