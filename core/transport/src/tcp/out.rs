//! The sending half.

use std::fmt;
use std::sync::Arc;

use super::large::Large;
use super::retained::{Next, Retained};
use super::shared::Shared;
use super::stream::{Stop, Stream};
use crate::frame::{Header, Kind, SMALL_MAX};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::Segment;

/// What waits to be written is written by [`Sender::send`] itself from so many bytes on: the kernel then works on it
/// while the PE goes on.
const WRITE_AT: usize = 64 << 10;
/// Bytes that one [`Sender::flush`] writes, or a little more, before the PE looks at something else.
const WRITE_MOST: usize = 1 << 20;
/// Bytes that may be on their way to the peer without counting as unsent.
const IN_FLIGHT: u64 = 1 << 20;

/// The sending half of a link. See [`super`].
pub struct Sender {
    stream: Arc<Stream>,
    shared: Arc<Shared>,
    retained: Retained,
    /// The socket took no more when last written to.
    blocked: bool,
    /// Where the goodbye ends, once it is said. Only acknowledgements follow.
    last: Option<u64>,
}

impl Sender {
    pub(super) fn new(stream: Arc<Stream>, shared: Arc<Shared>) -> Sender {
        let sender = Sender { stream, shared, retained: Retained::default(), blocked: false, last: None };
        sender.begin();
        sender
    }

    /// Says where in the stream this connection goes on. A new socket has room for that.
    fn begin(&self) {
        let header = Header::bare(Kind::Begin, self.retained.written()).encode(0);
        if self.stream.send(&header) != Ok(header.len()) {
            sometimes("a connection broke before its first frame");
            self.break_off();
        }
    }

    /// Sends a message to the PE `rank` of the peer: now, or when flushed. Copies `head`; keeps the segments until the
    /// peer has them.
    #[inline]
    pub fn send(&mut self, rank: u16, head: &[u8], segments: Vec<Segment>) {
        self.trim();
        let (offset, position) = (self.shared.received(), self.retained.end());
        if segments.is_empty() && head.len() <= SMALL_MAX {
            let (len, sum) = (head.len() as u32, crc32fast::hash(head));
            let header = Header { kind: Kind::Small, rank, head: len, segments: 0, offset, sum };
            self.retained.push_small(&header.encode(position), head);
        } else {
            self.retained.push_large(Large::new(rank, head, segments, offset, position));
        }
        self.pushed(offset);
        if self.retained.unwritten() >= WRITE_AT {
            self.flush();
        }
    }

    fn pushed(&self, offset: u64) {
        self.shared.set_told(offset);
        self.shared.set_end(self.retained.end());
    }

    /// Lets go of what the peer has.
    #[inline]
    fn trim(&mut self) {
        let had = if mutated("let-go-when-written") { u64::MAX } else { self.shared.acknowledged() };
        self.retained.trim(had);
    }

    /// Says that nothing follows. The peer's [`Receiver::ended`](super::Receiver::ended) tells it.
    pub fn goodbye(&mut self) {
        if self.last.is_none() {
            self.shared.set_said_goodbye(true);
            self.push_bare(Kind::Goodbye);
            self.last = Some(self.retained.end());
        }
    }

    fn push_bare(&mut self, kind: Kind) {
        let offset = self.shared.received();
        let header = Header::bare(kind, offset).encode(self.retained.end());
        self.retained.push_small(&header, &[]);
        self.pushed(offset);
    }

    /// Writes what the socket takes now, and an acknowledgement if one is due; whether anything was written.
    ///
    /// It may stop at about a MiB, so that the PE sees to other things; it is called again then.
    #[inline]
    pub fn flush(&mut self) -> bool {
        if self.shared.due() {
            self.acknowledge();
        }
        if self.retained.unwritten() == 0 {
            self.trim();
            return false;
        }
        self.write()
    }

    #[cold]
    fn acknowledge(&mut self) {
        self.shared.set_due(false);
        if self.shared.untold() > 0 {
            sometimes("an acknowledgement went out by itself");
            self.push_bare(Kind::Acknowledge);
        }
    }

    fn write(&mut self) -> bool {
        if self.shared.broken() {
            return false;
        }
        let (mut wrote, mut stop) = (0, None);
        while stop.is_none() && wrote < WRITE_MOST && self.retained.unwritten() > 0 {
            match self.write_once() {
                Ok(n) => wrote += n,
                Err(why) => stop = Some(why),
            }
        }
        self.blocked = stop == Some(Stop::Wait);
        if self.blocked {
            sometimes("a socket took no more");
        }
        if stop == Some(Stop::Broken) {
            self.break_off();
        }
        wrote > 0
    }

    fn write_once(&mut self) -> Result<usize, Stop> {
        let n = match self.retained.next() {
            Next::Nothing => return Ok(0),
            Next::One(bytes) => self.stream.send(bytes)?,
            Next::Several(slices) => self.stream.send_slices(slices.as_slice())?,
        };
        self.retained.advance(n);
        Ok(n)
    }

    fn break_off(&self) {
        self.shared.set_broken(true);
        self.stream.cut();
    }

    /// Bytes accepted that the kernel has not taken, and those it has taken and the peer not acknowledged, beyond the
    /// MiB that may be on its way. What a PE compares with its limit before it accepts more work that sends.
    pub fn unsent(&self) -> usize {
        let flying = self.retained.written().saturating_sub(self.shared.acknowledged());
        self.retained.unwritten() + flying.saturating_sub(IN_FLIGHT) as usize
    }

    /// Whether something waits to be written.
    pub fn has_unwritten(&self) -> bool {
        self.retained.unwritten() > 0
    }

    /// Bytes kept for a connection that might break.
    #[cfg(test)]
    pub(super) fn kept(&self) -> u64 {
        self.retained.kept()
    }

    /// Whether the socket takes no more at present, so that a PE about to sleep has to watch its
    /// [`Stream`] for room.
    pub fn blocked(&self) -> bool {
        self.blocked && !self.shared.broken()
    }

    /// Whether [`Sender::flush`] may write something, as far as a simulated connection tells.
    pub fn may_write(&self) -> bool {
        let has_room = || match &*self.stream {
            Stream::Simulated(pipe) => pipe.hand().is_writable(),
            _ => !self.blocked,
        };
        self.has_unwritten() && !self.shared.broken() && has_room()
    }

    /// Whether the peer has said that it has everything, the goodbye included.
    #[cfg(test)]
    pub fn settled(&self) -> bool {
        self.last.is_some_and(|last| self.shared.acknowledged() >= last)
    }

    /// Whether the connection ended without goodbyes, so that the link waits for [`super::replace`].
    pub fn broken(&self) -> bool {
        self.shared.broken()
    }

    /// Goes on over another connection, with the first frame that the peer has not acknowledged.
    pub(super) fn replace(&mut self, stream: Arc<Stream>) {
        self.trim();
        if !mutated("not-resent") {
            self.retained.seek(self.shared.acknowledged());
        }
        self.stream = stream;
        self.blocked = false;
        self.shared.set_broken(false);
        // What the former connection carried of acknowledgements may be lost.
        self.shared.set_told(0);
        self.shared.set_due(true);
        self.begin();
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("unsent", &self.unsent()).field("broken", &self.broken()).finish()
    }
}
