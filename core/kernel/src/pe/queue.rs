//! What waits to run on a PE: which of its queues a message goes into, and which is next.

use std::ptr::NonNull;

use super::Pe;
use crate::message::envelope::{Envelope, Extra};
use crate::message::queue::prefetch;
use crate::message::send_options::EXPEDITED;
use crate::witness::Seen;
use talisman_sched::priority::Priority;

/// So many messages before its turn an object is fetched: the time that memory takes, over that of a message.
const FETCH_OBJECT: usize = 5;
/// The message itself is needed then, and fetched as much earlier.
const FETCH_MESSAGE: usize = 10;

impl Pe {
    /// Puts a message into this PE's queue.
    #[inline(always)]
    pub fn enqueue(&self, envelope: NonNull<Envelope>) {
        // SAFETY: the sender owns the envelope.
        let message = unsafe { envelope.as_ref() };
        self.see_message(message.shadow, |message, pe| Seen::Queued { message, pe });
        if message.is_plain() {
            self.queue.push(envelope);
        } else {
            self.enqueue_ranked(envelope);
        }
    }

    #[cold]
    fn enqueue_ranked(&self, envelope: NonNull<Envelope>) {
        // SAFETY: the sender owns the envelope.
        let message = unsafe { envelope.as_ref() };
        match message.extra.as_deref() {
            Some(extra) if extra.expedited => self.expedited.push(envelope),
            _ if message.priority == EXPEDITED => self.expedited.push(envelope),
            _ if message.priority != 0 => {
                self.ranked.borrow_mut().push(envelope, &Priority::int(message.priority.into()));
            }
            Some(Extra { priority: Some(priority), .. }) if priority.to_int() != Some(0) => {
                self.ranked.borrow_mut().push(envelope, priority);
            }
            _ => return self.queue.push(envelope),
        }
        self.non_fifo.set(self.non_fifo.get() + 1);
    }

    /// Puts a message into this PE's queue that waits for no entry but the one that runs.
    pub fn enqueue_expedited(&self, envelope: NonNull<Envelope>) {
        // SAFETY: the sender owns the envelope.
        let shadow = unsafe { envelope.as_ref() }.shadow;
        self.see_message(shadow, |message, pe| Seen::Queued { message, pe });
        self.expedited.push(envelope);
        self.non_fifo.set(self.non_fifo.get() + 1);
    }

    /// Puts a message that was taken out of the queue back into it, behind all others.
    pub fn put_back(&self, envelope: NonNull<Envelope>) {
        // SAFETY: the caller gives the envelope away.
        match unsafe { envelope.as_ref() }.is_plain() {
            true => self.queue.push(envelope),
            false => self.enqueue_ranked(envelope),
        }
    }

    /// The next message to run: expedited, then urgent, then in order of arrival, then the others.
    #[inline(always)]
    pub fn next_message(&self) -> Option<NonNull<Envelope>> {
        if self.non_fifo.get() > 0 {
            return self.next_ranked();
        }
        self.fetch_ahead();
        self.queue.pop()
    }

    /// Fetches messages, and then their objects, some time before their turn.
    #[inline(always)]
    fn fetch_ahead(&self) {
        if let Some(soon) = self.queue.ahead(FETCH_OBJECT) {
            // SAFETY: what is in the queue is a live envelope.
            self.slots.prefetch(unsafe { soon.as_ref() }.slot);
            if let Some(later) = self.queue.ahead(FETCH_MESSAGE) {
                prefetch(later);
            }
        }
    }

    #[cold]
    fn next_ranked(&self) -> Option<NonNull<Envelope>> {
        let urgent = self.expedited.pop().or_else(|| self.ranked.borrow_mut().pop_urgent());
        if urgent.is_none()
            && let Some(envelope) = self.queue.pop()
        {
            return Some(envelope);
        }
        let next = urgent.or_else(|| self.ranked.borrow_mut().pop_background());
        self.non_fifo.set(self.non_fifo.get() - u32::from(next.is_some()));
        next
    }

    /// Whether nothing waits to run here.
    pub fn is_queue_empty(&self) -> bool {
        self.queue.is_empty() && self.non_fifo.get() == 0
    }

    /// How many messages wait to run here.
    pub fn waiting_messages(&self) -> usize {
        self.queue.waiting()
    }
}
