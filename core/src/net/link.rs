//! A PE's link to one other node.

use std::cell::{Cell, RefCell};
use std::os::fd::BorrowedFd;

use crate::pup::Segment;
use crate::transport::{Incoming, LinkError, shm};

/// The two halves of a link, each reached by itself: what is received may be answered at once.
pub(crate) struct Link {
    halves: Halves,
    /// It is on its PE's list of links with something to write.
    listed: Cell<bool>,
}

enum Halves {
    Shm(RefCell<shm::Sender>, RefCell<shm::Receiver>),
}

/// Calls the same method of whichever half it is.
macro_rules! either {
    ($link:expr, $Half:ident => $call:expr) => {
        match &$link.halves {
            Halves::Shm($Half, _) => $call,
        }
    };
}

impl Link {
    pub(crate) fn through_memory((sender, receiver): (shm::Sender, shm::Receiver)) -> Self {
        Link { halves: Halves::Shm(sender.into(), receiver.into()), listed: Cell::new(false) }
    }

    /// What to watch for what arrives; none if that is seen in memory.
    pub(crate) fn socket(&self) -> Option<BorrowedFd<'_>> {
        match &self.halves {
            Halves::Shm(..) => None,
        }
    }

    /// Takes a message to be sent. Whether something of it is left for [`Link::flush`].
    #[inline]
    pub(crate) fn send(&self, rank: u16, head: &[u8], segments: Vec<Segment>) -> bool {
        match &self.halves {
            Halves::Shm(sender, _) => {
                let mut sender = sender.borrow_mut();
                sender.send(rank, head, segments);
                sender.unsent() > 0
            }
        }
    }

    /// Writes what goes now; whether that was anything.
    pub(crate) fn flush(&self) -> bool {
        either!(self, sender => sender.borrow_mut().flush())
    }

    /// Bytes that are not with the peer, nor on their way.
    pub(crate) fn unsent(&self) -> usize {
        either!(self, sender => sender.borrow().unsent())
    }

    /// Puts it on the list, as the caller will; whether it was not there.
    pub(crate) fn list(&self) -> bool {
        !self.listed.replace(true)
    }

    /// Takes it from the list if nothing is left to write; whether it stays.
    pub(crate) fn stays_listed(&self) -> bool {
        let stays = self.unsent() > 0;
        self.listed.set(stays);
        stays
    }

    /// Whether anything may have come, as far as memory shows.
    #[inline]
    pub(crate) fn has_work(&self) -> bool {
        match &self.halves {
            Halves::Shm(_, receiver) => receiver.borrow().has_work(),
        }
    }

    /// Takes in messages that have come.
    ///
    /// # Errors
    /// What came is not of the protocol.
    #[inline]
    pub(crate) fn receive(&self, budget: usize, f: &mut dyn FnMut(Incoming<'_>)) -> Result<usize, LinkError> {
        match &self.halves {
            Halves::Shm(_, receiver) => receiver.borrow_mut().receive(budget, f),
        }
    }

    /// Why nothing can be sent any more.
    pub(crate) fn error(&self) -> Option<LinkError> {
        match &self.halves {
            Halves::Shm(sender, _) => sender.borrow().error(),
        }
    }

    /// Tells the peer how far this side has read, before it sleeps.
    pub(crate) fn publish(&self) {
        match &self.halves {
            Halves::Shm(_, receiver) => receiver.borrow_mut().publish(),
        }
    }
}
