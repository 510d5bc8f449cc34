//! A PE's link to one other node.

use std::cell::Cell;

use talisman_ft::Epoch;

use crate::ends::Ends;
use crate::shm::{self, ShmEnds};
use crate::tcp::{Stream, StreamEnds};
use crate::{Arrived, Incoming, LinkError, Peer};
use talisman_observe::sometimes::sometimes;
use talisman_pup::Segment;

/// A link: what links of every transport have in common, and the two ends of one.
pub struct Link {
    kind: Kind,
    /// It is on its PE's list of links with something to write.
    listed: Cell<bool>,
    /// Its PE knows that its connection broke.
    missed: Cell<bool>,
    /// The period between two failures that what comes now was sent in, as the peer has said.
    epoch: Cell<Epoch>,
    /// It is not read before its PE is in another epoch.
    left_alone: Cell<bool>,
}

/// How links carry frames. Transports whose connections are streams of bytes have one way in common.
#[allow(clippy::large_enum_variant, reason = "a PE has a few, which stay where they are")]
enum Kind {
    Shm(ShmEnds),
    Stream(StreamEnds),
}

/// Calls the ends of a link, of whichever kind.
macro_rules! with_ends {
    ($link:expr, $ends:ident => $call:expr) => {
        match &$link.kind {
            Kind::Shm($ends) => $call,
            Kind::Stream($ends) => $call,
        }
    };
}

impl Link {
    /// Through memory that both nodes have.
    pub fn through_memory(halves: (shm::Sender, shm::Receiver)) -> Self {
        Link::of(Kind::Shm(ShmEnds::new(halves)))
    }

    /// Over a connection with this peer, of any transport.
    pub fn over(stream: Stream, peer: Peer) -> Self {
        Link::of(Kind::Stream(StreamEnds::new(stream, peer)))
    }

    fn of(kind: Kind) -> Self {
        Link {
            kind,
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

    /// Whether a poller tells what has come. Else it is seen in memory: [`Link::has_work`].
    pub fn is_watched(&self) -> bool {
        with_ends!(self, ends => ends.is_watched())
    }

    /// Calls `f` with what a poller is to watch for what arrives, if that is not seen in memory.
    pub fn with_stream<R>(&self, f: impl FnOnce(&Stream) -> R) -> Option<R> {
        with_ends!(self, ends => ends.with_stream(f))
    }

    /// Takes a message to be sent. Whether something of it is left for [`Link::flush`].
    #[inline]
    pub fn send(&self, rank: u16, head: &[u8], segments: Vec<Segment>) -> bool {
        with_ends!(self, ends => ends.send(rank, head, segments))
    }

    /// The same of a message without segments whose head is in two parts: through memory, both are copied from where they are.
    #[inline]
    pub fn send_parts(&self, rank: u16, parts: [&[u8]; 2]) -> bool {
        with_ends!(self, ends => ends.send_parts(rank, parts))
    }

    /// Writes what goes now; whether that was anything.
    #[inline]
    pub fn flush(&self) -> bool {
        with_ends!(self, ends => ends.flush())
    }

    /// Writes what goes now; whether nothing is left.
    pub fn is_written(&self) -> bool {
        with_ends!(self, ends => {
            ends.flush();
            !ends.has_unwritten()
        })
    }

    /// Bytes that are not with the peer, nor on their way.
    pub fn unsent(&self) -> usize {
        with_ends!(self, ends => ends.unsent())
    }

    /// Puts it on the list, as the caller will; whether it was not there.
    pub fn list(&self) -> bool {
        !self.listed.replace(true)
    }

    /// Takes it from the list if nothing is left to write; whether it stays.
    pub fn stays_listed(&self) -> bool {
        let stays = with_ends!(self, ends => ends.has_unwritten());
        self.listed.set(stays);
        stays
    }

    /// Whether it waits for a poller to say that there is room.
    pub fn waits_for_room(&self) -> bool {
        with_ends!(self, ends => ends.waits_for_room())
    }

    /// Whether [`Link::flush`] may write something, as far as is known without trying.
    pub fn may_write(&self) -> bool {
        with_ends!(self, ends => ends.may_write())
    }

    /// Whether anything may have come, as far as memory shows.
    #[inline]
    pub fn has_work(&self) -> bool {
        with_ends!(self, ends => ends.has_work() && !self.left_alone.get())
    }

    /// Whether [`Link::receive`] may find something that a poller says nothing of.
    #[inline]
    pub fn has_more(&self) -> bool {
        with_ends!(self, ends => ends.has_more() && !self.left_alone.get())
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
        with_ends!(self, ends => ends.receive(budget, f))
    }

    /// The same of one message: it is given to `take` as it came, and if that does not take it, to `f`.
    ///
    /// # Errors
    /// As for [`Link::receive`].
    #[inline]
    pub fn hear(
        &self,
        take: &mut dyn FnMut(&Arrived<'_>) -> bool,
        f: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<usize, LinkError> {
        if self.left_alone.get() {
            return Ok(0);
        }
        with_ends!(self, ends => ends.hear(take, f))
    }

    /// Why nothing can be sent any more.
    pub fn error(&self) -> Option<LinkError> {
        with_ends!(self, ends => ends.error())
    }

    /// Whether its connection broke, the first time that this is asked.
    #[inline]
    pub fn is_newly_broken(&self) -> bool {
        with_ends!(self, ends => ends.is_broken() && !self.missed.replace(true))
    }

    /// Whether its PE knows that it has no connection.
    pub fn is_missed(&self) -> bool {
        self.missed.get()
    }

    /// Whether the peer has said that nothing follows.
    pub fn is_ended(&self) -> bool {
        with_ends!(self, ends => ends.is_ended())
    }

    /// Goes on over another connection.
    pub fn replace(&self, stream: Stream) {
        if with_ends!(self, ends => ends.replace(stream)) && !self.missed.replace(false) {
            sometimes("a new connection came before its PE knew that the former one was broken");
        }
    }

    /// Tells the peer how far this side has read, before it sleeps.
    pub fn publish(&self) {
        with_ends!(self, ends => ends.publish());
    }

    /// Says that nothing follows.
    pub fn goodbye(&self) {
        with_ends!(self, ends => ends.goodbye());
    }
}
