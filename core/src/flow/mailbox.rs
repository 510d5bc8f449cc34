//! Messages to an entry without a body that no async entry has received yet.

use std::collections::VecDeque;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::{Lender, Packer, Pup, PupError, Unpacker};

/// Messages in the order they arrived, each as the tuple of its arguments.
///
/// Looked at from the front: what a running entry wants next is nearly always there or close by, behind messages of
/// neighbours that are an iteration ahead.
#[derive(Debug)]
pub struct Mailbox<A> {
    messages: VecDeque<A>,
}

impl<A> Default for Mailbox<A> {
    fn default() -> Self {
        Mailbox { messages: VecDeque::new() }
    }
}

impl<A> Mailbox<A> {
    /// A message has arrived.
    #[inline]
    pub fn push(&mut self, message: A) {
        self.messages.push_back(message);
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Whether any message passes the test.
    #[inline]
    pub fn has(&self, test: impl FnMut(&A) -> bool) -> bool {
        self.messages.iter().any(test)
    }

    /// The oldest message.
    #[inline]
    pub fn take_first(&mut self) -> Option<A> {
        self.messages.pop_front()
    }

    /// The oldest message that passes the test.
    #[inline]
    pub fn take_where(&mut self, test: impl FnMut(&A) -> bool) -> Option<A> {
        let at = self.find(test)?;
        Some(self.remove(at))
    }

    /// Where the oldest message that passes the test is.
    #[inline]
    pub fn find(&self, test: impl FnMut(&A) -> bool) -> Option<usize> {
        self.messages.iter().position(test)
    }

    /// The message at a place that [`find`](Self::find) gave.
    #[inline]
    pub fn remove(&mut self, at: usize) -> A {
        let message = if at == 0 { self.messages.pop_front() } else { self.messages.remove(at) };
        message.expect("`find` gives places of messages")
    }

    /// What `test` makes of the oldest message that it takes; it gives back the ones it does not. Moves every message:
    /// only for tests that need the message itself.
    pub fn take<T>(&mut self, mut test: impl FnMut(A) -> Result<T, A>) -> Option<T> {
        let mut taken = None;
        for message in std::mem::take(&mut self.messages) {
            if taken.is_some() {
                self.messages.push_back(message);
                continue;
            }
            match test(message) {
                Ok(value) => taken = Some(value),
                Err(message) => self.messages.push_back(message),
            }
        }
        taken
    }
}

impl<A: Pup> Pup for Mailbox<A> {
    fn pack(&self, p: &mut Packer) {
        if mutated("mailbox-stays-behind") {
            return VecDeque::<A>::new().pack(p);
        }
        self.messages.pack(p);
    }

    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        if !self.is_empty() {
            sometimes("an object was packed with messages that no async entry had received");
        }
        if mutated("mailbox-stays-behind") {
            return VecDeque::<A>::new().pack(l.packer());
        }
        self.messages.lend(l);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Ok(Mailbox { messages: Pup::unpack(u)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mailbox(keys: &[u32]) -> Mailbox<(u32, String)> {
        let mut mailbox = Mailbox::default();
        for (at, key) in keys.iter().enumerate() {
            mailbox.push((*key, format!("{key}/{at}")));
        }
        mailbox
    }

    fn rest(mut mailbox: Mailbox<(u32, String)>) -> Vec<String> {
        std::iter::from_fn(|| mailbox.take_first()).map(|m| m.1).collect()
    }

    #[test]
    fn takes_the_oldest_that_matches_and_keeps_the_order() {
        let mut m = mailbox(&[5, 6, 5, 7]);
        assert!(m.has(|m| m.0 == 7));
        assert!(!m.has(|m| m.0 == 8));
        assert_eq!(m.take_where(|m| m.0 == 6).unwrap().1, "6/1");
        assert_eq!(m.take_where(|m| m.0 == 8), None);
        assert_eq!(m.take_where(|m| m.0 == 5).unwrap().1, "5/0");
        assert_eq!(rest(m), ["5/2", "7/3"]);
    }

    #[test]
    fn gives_back_what_is_not_taken() {
        let mut m = mailbox(&[1, 2, 3, 2]);
        let mut seen = vec![];
        let taken = m.take(|m| {
            seen.push(m.0);
            if m.0 == 2 { Ok(m.1) } else { Err(m) }
        });
        assert_eq!(taken.as_deref(), Some("2/1"));
        assert_eq!(seen, [1, 2], "no message after the one that is taken is looked at");
        assert_eq!(rest(m), ["1/0", "3/2", "2/3"]);
    }

    #[test]
    fn gives_everything_back() {
        let mut m = mailbox(&[1, 2]);
        assert_eq!(m.take(Err::<(), _>), None);
        assert_eq!(rest(m), ["1/0", "2/1"]);
    }
}
