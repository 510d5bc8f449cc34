//! Both halves of a link through memory, as a PE has them.

use std::cell::RefCell;

use super::{Arrived, Incoming, LinkError, Receiver, Segment, Sender};
use crate::ends::Ends;

/// The two halves, each reached by itself.
pub struct ShmEnds {
    sender: RefCell<Sender>,
    receiver: RefCell<Receiver>,
}

impl ShmEnds {
    pub(crate) fn new((sender, receiver): (Sender, Receiver)) -> Self {
        ShmEnds { sender: sender.into(), receiver: receiver.into() }
    }
}

impl Ends for ShmEnds {
    #[inline]
    fn send(&self, rank: u16, head: &[u8], segments: Vec<Segment>) -> bool {
        let mut sender = self.sender.borrow_mut();
        sender.send(rank, head, segments);
        sender.unsent() > 0
    }

    #[inline]
    fn send_parts(&self, rank: u16, parts: [&[u8]; 2]) -> bool {
        let mut sender = self.sender.borrow_mut();
        sender.send_parts(rank, parts);
        sender.unsent() > 0
    }

    #[inline]
    fn flush(&self) -> bool {
        self.sender.borrow_mut().flush()
    }

    fn unsent(&self) -> usize {
        self.sender.borrow().unsent()
    }

    fn has_unwritten(&self) -> bool {
        self.unsent() > 0
    }

    fn may_write(&self) -> bool {
        self.unsent() > 0
    }

    #[inline]
    fn receive(&self, budget: usize, f: &mut dyn FnMut(Incoming<'_>)) -> Result<usize, LinkError> {
        self.receiver.borrow_mut().receive(budget, f)
    }

    #[inline]
    fn hear(
        &self,
        take: &mut dyn FnMut(&Arrived<'_>) -> bool,
        f: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<usize, LinkError> {
        self.receiver.borrow_mut().hear(take, f)
    }

    #[inline]
    fn has_work(&self) -> bool {
        self.receiver.borrow().has_work()
    }

    fn error(&self) -> Option<LinkError> {
        self.sender.borrow().error()
    }

    fn publish(&self) {
        self.receiver.borrow_mut().publish();
    }
}
