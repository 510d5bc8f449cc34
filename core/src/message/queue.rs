//! A queue of envelopes, linked through themselves: pushing and popping allocate nothing.

use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

use super::envelope::Envelope;

/// First in, first out. Owns what is in it; what is left is emptied by [`Queue::drain`].
pub(crate) struct Queue {
    head: Cell<*mut Envelope>,
    tail: Cell<*mut Envelope>,
}

impl Queue {
    pub(crate) const fn new() -> Self {
        Queue { head: Cell::new(null_mut()), tail: Cell::new(null_mut()) }
    }

    #[inline(always)]
    pub(crate) fn push(&self, envelope: NonNull<Envelope>) {
        // SAFETY: the caller gives the envelope to the queue; those in the queue are live and the queue's.
        unsafe { envelope.as_ref() }.next.set(null_mut());
        match NonNull::new(self.tail.replace(envelope.as_ptr())) {
            // SAFETY: as above.
            Some(last) => unsafe { last.as_ref() }.next.set(envelope.as_ptr()),
            None => self.head.set(envelope.as_ptr()),
        }
    }

    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<NonNull<Envelope>> {
        let first = NonNull::new(self.head.get())?;
        // SAFETY: what is in the queue is a live envelope.
        let next = unsafe { first.as_ref() }.next.get();
        self.head.set(next);
        if next.is_null() {
            self.tail.set(null_mut());
        }
        Some(first)
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.head.get().is_null()
    }

    /// Takes everything out, in order.
    pub(crate) fn drain(&self) -> impl Iterator<Item = NonNull<Envelope>> + '_ {
        std::iter::from_fn(|| self.pop())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::pool::{Depot, Pool};

    #[test]
    fn first_in_first_out() {
        let pool = Pool::new(Default::default());
        let _keep: &Depot = &Default::default();
        let queue = Queue::new();
        let envelopes: Vec<_> = (0..5).map(|_| pool.take()).collect();
        envelopes.iter().for_each(|envelope| queue.push(*envelope));
        assert_eq!(queue.pop(), Some(envelopes[0]));
        queue.push(envelopes[0]);
        assert_eq!(queue.drain().count(), 5);
        assert!(queue.is_empty());
    }
}
