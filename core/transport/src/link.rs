//! A PE's link to one other node.

use std::cell::{Cell, RefCell};

use talisman_ft::Epoch;

use crate::{Incoming, LinkError, shm, tcp};
use talisman_observe::sometimes::sometimes;
use talisman_pup::Segment;

/// The two halves of a link, each reached by itself: what is received may be answered at once.
pub struct Link {
    halves: Halves,
    /// It is on its PE's list of links with something to write.
    listed: Cell<bool>,
    /// Its PE knows that its connection broke.
    missed: Cell<bool>,
    /// The period between two failures that what comes now was sent in, as the peer has said.
    epoch: Cell<Epoch>,
    /// It is not read before its PE is in another epoch.
    left_alone: Cell<bool>,
}

#[allow(clippy::large_enum_variant, reason = "a PE has a few, which stay where they are")]
enum Halves {
    Shm(RefCell<shm::Sender>, RefCell<shm::Receiver>),
    Tcp(RefCell<tcp::Sender>, RefCell<tcp::Receiver>),
}

impl Link {
    pub fn through_memory((sender, receiver): (shm::Sender, shm::Receiver)) -> Self {
        Link::of(Halves::Shm(sender.into(), receiver.into()))
    }

    pub fn over_tcp((sender, receiver): (tcp::Sender, tcp::Receiver)) -> Self {
        Link::of(Halves::Tcp(sender.into(), receiver.into()))
    }

    fn of(halves: Halves) -> Self {
        Link {
            halves,
            listed: Cell::new(false),
            missed: Cell::new(false),
            epoch: Cell::new(0),
            left_alone: Cell::new(false),
        }
    }

    /// The epoch that what comes now was sent in.
    pub fn epoch(&self) -> Epoch {
        self.epoch.get()
    }

    /// What comes from now on was sent in this epoch.
    pub fn enter(&self, epoch: Epoch) {
        self.epoch.set(epoch);
    }

    /// It is not read, or read again. While it is not, it shows nothing to read either.
    pub fn leave_alone(&self, left_alone: bool) {
        self.left_alone.set(left_alone);
    }

    pub fn is_left_alone(&self) -> bool {
        self.left_alone.get()
    }

    pub fn is_on_socket(&self) -> bool {
        matches!(self.halves, Halves::Tcp(..))
    }

    /// Calls `f` with what to watch for what arrives, if that is not seen in memory.
    pub fn with_socket<R>(&self, f: impl FnOnce(&tcp::Stream) -> R) -> Option<R> {
        match &self.halves {
            Halves::Shm(..) => None,
            Halves::Tcp(_, receiver) => Some(f(receiver.borrow().stream())),
        }
    }

    /// Takes a message to be sent. Whether something of it is left for [`Link::flush`].
    #[inline]
    pub fn send(&self, rank: u16, head: &[u8], segments: Vec<Segment>) -> bool {
        match &self.halves {
            Halves::Shm(sender, _) => {
                let mut sender = sender.borrow_mut();
                sender.send(rank, head, segments);
                sender.unsent() > 0
            }
            Halves::Tcp(sender, _) => {
                sender.borrow_mut().send(rank, head, segments);
                true
            }
        }
    }

    /// Writes what goes now; whether that was anything.
    #[inline]
    pub fn flush(&self) -> bool {
        match &self.halves {
            Halves::Shm(sender, _) => sender.borrow_mut().flush(),
            Halves::Tcp(sender, _) => sender.borrow_mut().flush(),
        }
    }

    /// Writes what goes now; whether nothing is left.
    pub fn is_written(&self) -> bool {
        self.flush();
        match &self.halves {
            Halves::Shm(sender, _) => sender.borrow().unsent() == 0,
            Halves::Tcp(sender, _) => !sender.borrow().has_unwritten(),
        }
    }

    /// Bytes that are not with the peer, nor on their way.
    pub fn unsent(&self) -> usize {
        match &self.halves {
            Halves::Shm(sender, _) => sender.borrow().unsent(),
            Halves::Tcp(sender, _) => sender.borrow().unsent(),
        }
    }

    /// Puts it on the list, as the caller will; whether it was not there.
    pub fn list(&self) -> bool {
        !self.listed.replace(true)
    }

    /// Takes it from the list if nothing is left to write; whether it stays.
    pub fn stays_listed(&self) -> bool {
        let stays = match &self.halves {
            Halves::Shm(sender, _) => sender.borrow().unsent() > 0,
            Halves::Tcp(sender, _) => sender.borrow().has_unwritten(),
        };
        self.listed.set(stays);
        stays
    }

    /// Whether it waits for the system to say that there is room.
    pub fn waits_for_room(&self) -> bool {
        match &self.halves {
            Halves::Shm(..) => false,
            Halves::Tcp(sender, _) => sender.borrow().blocked(),
        }
    }

    /// Whether [`Link::flush`] may write something, as far as is known without trying.
    pub fn may_write(&self) -> bool {
        match &self.halves {
            Halves::Shm(sender, _) => sender.borrow().unsent() > 0,
            Halves::Tcp(sender, _) => sender.borrow().may_write(),
        }
    }

    /// Whether anything may have come, as far as memory shows.
    #[inline]
    pub fn has_work(&self) -> bool {
        match &self.halves {
            Halves::Shm(_, receiver) => receiver.borrow().has_work() && !self.left_alone.get(),
            Halves::Tcp(..) => false,
        }
    }

    /// Whether [`Link::receive`] may find something that its socket says nothing of.
    #[inline]
    pub fn has_more(&self) -> bool {
        match &self.halves {
            Halves::Shm(..) => false,
            Halves::Tcp(_, receiver) => receiver.borrow().has_more() && !self.left_alone.get(),
        }
    }

    /// Takes in messages that have come, and says so to the peer where that is due.
    ///
    /// # Errors
    /// What came is not of the protocol.
    #[inline]
    pub fn receive(&self, budget: usize, f: &mut dyn FnMut(Incoming<'_>)) -> Result<usize, LinkError> {
        if self.left_alone.get() {
            return Ok(0);
        }
        match &self.halves {
            Halves::Shm(_, receiver) => receiver.borrow_mut().receive(budget, f),
            Halves::Tcp(sender, receiver) => {
                let received = receiver.borrow_mut().receive(budget, f)?;
                sender.borrow_mut().flush();
                Ok(received)
            }
        }
    }

    /// Why nothing can be sent any more.
    pub fn error(&self) -> Option<LinkError> {
        match &self.halves {
            Halves::Shm(sender, _) => sender.borrow().error(),
            Halves::Tcp(..) => None,
        }
    }

    /// Whether its connection broke, the first time that this is asked.
    #[inline]
    pub fn is_newly_broken(&self) -> bool {
        let Halves::Tcp(_, receiver) = &self.halves else { return false };
        receiver.borrow().broken() && !self.missed.replace(true)
    }

    /// Whether its PE knows that it has no connection.
    pub fn is_missed(&self) -> bool {
        self.missed.get()
    }

    /// Whether the peer has said that nothing follows.
    pub fn is_ended(&self) -> bool {
        matches!(&self.halves, Halves::Tcp(_, receiver) if receiver.borrow().ended())
    }

    /// Goes on over another connection.
    pub fn replace(&self, stream: tcp::Stream) {
        if let Halves::Tcp(sender, receiver) = &self.halves {
            if !self.missed.get() {
                sometimes("a new connection came before its PE knew that the former one was broken");
            }
            tcp::replace(&mut sender.borrow_mut(), &mut receiver.borrow_mut(), stream);
            self.missed.set(false);
        }
    }

    /// Tells the peer how far this side has read, before it sleeps.
    pub fn publish(&self) {
        if let Halves::Shm(_, receiver) = &self.halves {
            receiver.borrow_mut().publish();
        }
    }

    /// Says that nothing follows.
    pub fn goodbye(&self) {
        if let Halves::Tcp(sender, _) = &self.halves {
            let mut sender = sender.borrow_mut();
            sender.goodbye();
            sender.flush();
        }
    }
}
