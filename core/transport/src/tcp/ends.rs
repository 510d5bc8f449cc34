//! Both halves of a link over a stream, as a PE has them.

use std::cell::RefCell;

use super::{Receiver, Sender, Stream, pair, replace};
use crate::ends::Ends;
use crate::{Incoming, LinkError, Peer};
use talisman_pup::Segment;

/// The two halves, each reached by itself.
pub struct StreamEnds {
    sender: RefCell<Sender>,
    receiver: RefCell<Receiver>,
}

impl StreamEnds {
    /// Over its first connection.
    pub(crate) fn new(stream: Stream, peer: Peer) -> Self {
        let (sender, receiver) = pair(stream, peer);
        StreamEnds { sender: sender.into(), receiver: receiver.into() }
    }
}

impl Ends for StreamEnds {
    #[inline]
    fn send(&self, rank: u16, head: &[u8], segments: Vec<Segment>) -> bool {
        self.sender.borrow_mut().send(rank, head, segments);
        true
    }

    #[inline]
    fn flush(&self) -> bool {
        self.sender.borrow_mut().flush()
    }

    fn unsent(&self) -> usize {
        self.sender.borrow().unsent()
    }

    fn has_unwritten(&self) -> bool {
        self.sender.borrow().has_unwritten()
    }

    fn may_write(&self) -> bool {
        self.sender.borrow().may_write()
    }

    #[inline]
    fn receive(&self, budget: usize, f: &mut dyn FnMut(Incoming<'_>)) -> Result<usize, LinkError> {
        let received = self.receiver.borrow_mut().receive(budget, f)?;
        self.sender.borrow_mut().flush();
        Ok(received)
    }

    fn is_watched(&self) -> bool {
        true
    }

    fn with_stream<R>(&self, f: impl FnOnce(&Stream) -> R) -> Option<R> {
        Some(f(self.receiver.borrow().stream()))
    }

    fn waits_for_room(&self) -> bool {
        self.sender.borrow().blocked()
    }

    #[inline]
    fn has_more(&self) -> bool {
        self.receiver.borrow().has_more()
    }

    #[inline]
    fn is_broken(&self) -> bool {
        self.receiver.borrow().broken()
    }

    fn is_ended(&self) -> bool {
        self.receiver.borrow().ended()
    }

    fn replace(&self, stream: Stream) -> bool {
        replace(&mut self.sender.borrow_mut(), &mut self.receiver.borrow_mut(), stream);
        true
    }

    fn goodbye(&self) {
        let mut sender = self.sender.borrow_mut();
        sender.goodbye();
        sender.flush();
    }
}
