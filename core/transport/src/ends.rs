//! What each kind of link does for its PE.

use crate::tcp::Stream;
use crate::{Arrived, Incoming, LinkError, Rest};
use talisman_pup::Segment;

/// What the two halves of a link do for its PE. Each kind has its own in its folder; the halves are reached by
/// themselves, since what is received may be answered at once.
pub trait Ends {
    /// Takes a message to be sent. Whether something of it is left for [`Ends::flush`].
    fn send(&self, rank: u16, head: &[u8], segments: Vec<Segment>) -> bool;

    /// The same of a message without segments whose head is in two parts.
    fn send_parts(&self, rank: u16, parts: [&[u8]; 2]) -> bool {
        self.send(rank, &parts.concat(), Vec::new())
    }

    /// Writes what goes now; whether that was anything.
    fn flush(&self) -> bool;

    /// Bytes that are not with the peer, nor on their way.
    fn unsent(&self) -> usize;

    /// Whether anything is left for [`Ends::flush`].
    fn has_unwritten(&self) -> bool;

    /// Whether [`Ends::flush`] may write something, as far as is known without trying.
    fn may_write(&self) -> bool;

    /// Takes in messages that have come, and says so to the peer where that is due.
    fn receive(&self, budget: usize, f: &mut dyn FnMut(Incoming<'_>)) -> Result<usize, LinkError>;

    /// The same of one message: it is given to `take` as it came, and if that does not take it, to `f`.
    fn hear(
        &self,
        take: &mut dyn FnMut(&Arrived<'_>) -> bool,
        f: &mut dyn FnMut(Incoming<'_>),
    ) -> Result<usize, LinkError> {
        self.receive(1, &mut |message| {
            let is_short = message.segments.is_empty();
            let arrived = Arrived { rank: message.rank, start: message.head, rest: Rest::NOTHING };
            if !(is_short && take(&arrived)) {
                f(message);
            }
        })
    }

    /// Whether a poller tells what has come. Else the PE looks itself: [`Ends::has_work`].
    fn is_watched(&self) -> bool {
        false
    }

    /// Calls `f` with what a poller is to watch, if it is.
    fn with_stream<R>(&self, _f: impl FnOnce(&Stream) -> R) -> Option<R> {
        None
    }

    /// Whether it waits for a poller to say that there is room.
    fn waits_for_room(&self) -> bool {
        false
    }

    /// Whether anything may have come, as far as memory shows.
    #[inline]
    fn has_work(&self) -> bool {
        false
    }

    /// Whether [`Ends::receive`] may find something that a poller says nothing of.
    #[inline]
    fn has_more(&self) -> bool {
        false
    }

    /// Why nothing can be sent any more.
    fn error(&self) -> Option<LinkError> {
        None
    }

    /// Whether its connection is broken.
    #[inline]
    fn is_broken(&self) -> bool {
        false
    }

    /// Whether the peer has said that nothing follows.
    fn is_ended(&self) -> bool {
        false
    }

    /// Goes on over another connection; whether it is of a kind that does.
    fn replace(&self, _stream: Stream) -> bool {
        false
    }

    /// Tells the peer how far this side has read, before it sleeps.
    fn publish(&self) {}

    /// Says that nothing follows.
    fn goodbye(&self) {}
}
