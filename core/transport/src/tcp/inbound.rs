//! The receiving half.

use std::fmt;
use std::sync::Arc;

use super::assembly::Assembly;
use super::buffer::Buffer;
use super::shared::Shared;
use super::stream::{Stop, Stream};
use crate::frame::{FrameError, HEADER, Header, Kind};
use crate::{Incoming, LinkError, Peer};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// The peer hears of so many bytes at the latest, so that what it keeps is bounded.
const TELL_AT: u64 = 256 << 10;
/// When nothing comes it hears of so many: what it keeps of less does not matter to it.
const TELL_IDLE_AT: u64 = 16 << 10;
/// "Nothing comes": so many looks in vain.
const IDLE_LOOKS: u32 = 64;
/// Bytes of large frames that one [`Receiver::receive`] reads before the PE looks at something else.
const READ_MOST: usize = 1 << 20;
/// A frame damaged so often in a row is not the network's doing.
const DAMAGED_MOST: u32 = 3;

/// The receiving half of a link. See [`super`].
pub struct Receiver {
    stream: Arc<Stream>,
    shared: Arc<Shared>,
    peer: Peer,
    buffer: Buffer,
    /// The large frame that is arriving.
    large: Option<Box<Assembly>>,
    connection: Connection,
    /// Bytes that arrived on a former connection and come again on this one.
    again: u64,
    looks_in_vain: u32,
    ended: bool,
    /// How often in a row the present frame arrived damaged.
    damaged: u32,
    /// Something may be left in the memory of this process, of which the socket says nothing.
    has_more: bool,
}

/// Where the connection is in its life. That it broke is told by [`Shared::broken`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connection {
    /// It has not said where in the stream it goes on.
    New,
    Begun,
    /// Ended after goodbyes of both sides.
    Closed,
}

/// What was found in the buffer.
enum Found {
    Message,
    /// Something that is no message.
    Other,
    /// Not enough.
    Nothing,
}

/// Why the buffer's content cannot be gone on with.
enum Fault {
    Frame(FrameError),
    /// A frame that can be, at a place where it cannot.
    Order(&'static str),
    Lost(u64),
}

impl From<FrameError> for Fault {
    fn from(error: FrameError) -> Fault {
        Fault::Frame(error)
    }
}

impl Receiver {
    pub(super) fn new(stream: Arc<Stream>, shared: Arc<Shared>, peer: Peer) -> Receiver {
        Receiver {
            stream,
            shared,
            peer,
            buffer: Buffer::new(),
            large: None,
            connection: Connection::New,
            again: 0,
            looks_in_vain: 0,
            ended: false,
            damaged: 0,
            has_more: true,
        }
    }

    /// Takes in what has come, up to `budget` messages, and gives them to `f`. How much was done: the messages, or 1 if
    /// only a part of one has come; 0 means that nothing has.
    ///
    /// A connection that breaks is no error: see [`Receiver::broken`].
    ///
    /// # Errors
    /// What the link cannot go on after.
    #[inline]
    pub fn receive(&mut self, budget: usize, f: &mut dyn FnMut(Incoming<'_>)) -> Result<usize, LinkError> {
        let mut done = self.deliver(budget, f)?;
        let (mut bytes, mut more) = (0, true);
        while more && done < budget && bytes < READ_MOST {
            let Some(read) = self.read()? else {
                more = false;
                break;
            };
            bytes += read.bytes;
            done += self.deliver(budget - done, f)?;
            more = read.full || self.large.is_some();
        }
        self.has_more = more || done >= budget;
        self.tell(bytes > 0);
        Ok(done.max(usize::from(bytes > 0)))
    }

    /// Reads once; `None` if nothing has come, or nothing can.
    #[inline]
    fn read(&mut self) -> Result<Option<Read>, LinkError> {
        if self.shared.broken() || self.connection == Connection::Closed {
            return Ok(None);
        }
        let read = match &mut self.large {
            Some(large) if large.wants_much() => read_straight(&self.stream, large),
            _ => read_some(&self.stream, &mut self.buffer),
        };
        match read {
            Ok(read) => Ok(Some(read)),
            Err(Failure::Stop(Stop::Wait)) => Ok(None),
            Err(Failure::Stop(Stop::Broken)) => {
                self.lost_connection();
                Ok(None)
            }
            Err(Failure::Frame(error)) => self.fault(error.into()).map(|()| None),
        }
    }

    /// Gives `f` up to `budget` messages of what has been read; how many.
    #[inline]
    fn deliver(&mut self, budget: usize, f: &mut dyn FnMut(Incoming<'_>)) -> Result<usize, LinkError> {
        let mut done = 0;
        while done < budget {
            match self.find(f) {
                Ok(Found::Message) => done += 1,
                Ok(Found::Other) => {}
                Ok(Found::Nothing) => break,
                Err(fault) => {
                    self.fault(fault)?;
                    break;
                }
            }
        }
        Ok(done)
    }

    #[inline]
    fn find(&mut self, f: &mut dyn FnMut(Incoming<'_>)) -> Result<Found, Fault> {
        if self.again > 0 {
            return Ok(self.skip());
        }
        if self.large.is_some() {
            return self.go_on(f);
        }
        let Some(header) = self.header()? else { return Ok(Found::Nothing) };
        match header.kind {
            Kind::Begin => return self.begin(header.offset),
            _ if self.connection == Connection::New => {
                return Err(Fault::Order("a connection does not say where it goes on"));
            }
            Kind::Small | Kind::Large if self.ended => {
                return Err(Fault::Order("a message after the goodbye"));
            }
            Kind::Small => return self.small(&header, f),
            Kind::Large => {
                self.large = Some(Box::new(Assembly::new(header)?));
                self.note(header.offset)?;
                self.buffer.consume(HEADER);
                return Ok(Found::Other);
            }
            Kind::Acknowledge => {}
            Kind::Goodbye => {
                self.ended = true;
                self.shared.set_due(true);
            }
        }
        self.note(header.offset)?;
        self.arrived(HEADER, HEADER as u64);
        Ok(Found::Other)
    }

    /// Passes over what had arrived on a former connection.
    #[cold]
    fn skip(&mut self) -> Found {
        let here = self.again.min(self.buffer.rest().len() as u64);
        self.again -= here;
        self.buffer.consume(here as usize);
        if here > 0 { Found::Other } else { Found::Nothing }
    }

    #[inline]
    fn header(&self) -> Result<Option<Header>, FrameError> {
        // The first frame of a connection has no place in the stream.
        let position = if self.connection == Connection::New { 0 } else { self.shared.received() };
        self.buffer.rest().first_chunk().map(|bytes| Header::decode(bytes, position)).transpose()
    }

    fn begin(&mut self, offset: u64) -> Result<Found, Fault> {
        if self.connection != Connection::New {
            return Err(Fault::Order("a connection begins twice"));
        }
        self.again = self.shared.received().checked_sub(offset).ok_or(Fault::Lost(offset))?;
        if mutated("duplicates-not-skipped") {
            self.again = 0;
        }
        if self.again > 0 {
            sometimes("a peer sent again what had arrived");
        }
        self.connection = Connection::Begun;
        self.buffer.consume(HEADER);
        Ok(Found::Other)
    }

    #[inline]
    fn small(&mut self, header: &Header, f: &mut dyn FnMut(Incoming<'_>)) -> Result<Found, Fault> {
        let len = HEADER + header.head as usize;
        let Some(head) = self.buffer.rest().get(HEADER..len) else { return Ok(Found::Nothing) };
        if crc32fast::hash(head) != header.sum && !mutated("checksum-ignored") {
            return Err(FrameError::Damaged.into());
        }
        f(Incoming { rank: header.rank, head, segments: Vec::new() });
        self.note(header.offset)?;
        self.arrived(len, len as u64);
        Ok(Found::Message)
    }

    /// Goes on with the large frame that is arriving.
    fn go_on(&mut self, f: &mut dyn FnMut(Incoming<'_>)) -> Result<Found, Fault> {
        let Some(large) = &mut self.large else { return Ok(Found::Nothing) };
        while !large.complete() {
            match large.take(self.buffer.rest())? {
                0 => return Ok(Found::Nothing),
                n => self.buffer.consume(n),
            }
        }
        if let Some(large) = self.large.take() {
            let (rank, head, segments, len) = large.finish();
            f(Incoming { rank, head: &head, segments });
            self.arrived(0, len);
        }
        Ok(Found::Message)
    }

    /// The peer says that so much of ours has arrived.
    #[inline]
    fn note(&mut self, acknowledged: u64) -> Result<(), Fault> {
        if acknowledged > self.shared.end() {
            return Err(Fault::Order("more is acknowledged than was sent"));
        }
        // Frames that are sent again say what was true before.
        if acknowledged > self.shared.acknowledged() {
            self.shared.set_acknowledged(acknowledged);
        }
        Ok(())
    }

    /// A frame of `len` bytes is complete, of which `here` are the first in the buffer.
    #[inline]
    fn arrived(&mut self, here: usize, len: u64) {
        self.buffer.consume(here);
        self.shared.set_received(self.shared.received() + len);
        self.damaged = 0;
    }

    /// Has the sending half acknowledge when it is time.
    #[inline]
    fn tell(&mut self, came: bool) {
        self.looks_in_vain = if came { 0 } else { self.looks_in_vain.saturating_add(1) };
        let untold = self.shared.untold();
        if mutated("never-acknowledges") {
            return;
        }
        if untold >= TELL_AT {
            self.shared.set_due(true);
        } else if untold >= TELL_IDLE_AT && self.looks_in_vain == IDLE_LOOKS {
            sometimes("what had arrived was acknowledged because nothing more came");
            self.shared.set_due(true);
        }
    }

    #[cold]
    fn fault(&mut self, fault: Fault) -> Result<(), LinkError> {
        self.break_off();
        let peer = self.peer;
        match fault {
            Fault::Frame(FrameError::Damaged) if self.damaged + 1 < DAMAGED_MOST => {
                sometimes("a damaged frame was noticed");
                self.damaged += 1;
                Ok(())
            }
            Fault::Frame(FrameError::Damaged) => {
                sometimes("a frame was damaged each time that it came");
                Err(LinkError::Damaged { peer, times: DAMAGED_MOST })
            }
            Fault::Frame(error @ FrameError::Memory(_)) => {
                Err(LinkError::Memory { peer, what: error.to_string() })
            }
            Fault::Frame(error) if error.is_too_large() => {
                Err(LinkError::Refused { peer, what: error.to_string() })
            }
            Fault::Frame(error) => Err(LinkError::Garbage { peer, what: error.to_string() }),
            Fault::Order(what) => Err(LinkError::Garbage { peer, what: what.into() }),
            Fault::Lost(offset) => Err(LinkError::Lost { peer, offset, received: self.shared.received() }),
        }
    }

    #[cold]
    fn lost_connection(&mut self) {
        if self.ended && self.shared.said_goodbye() {
            self.connection = Connection::Closed;
        } else {
            if self.ended || self.shared.said_goodbye() {
                sometimes("a connection broke after one goodbye of two");
            }
            // Not in a row, then.
            self.damaged = 0;
            self.break_off();
        }
    }

    /// The connection is of no more use. What is not a whole frame will come again.
    pub(super) fn break_off(&mut self) {
        if self.large.is_some() {
            sometimes("a connection broke in the middle of a large frame");
        } else if !self.buffer.rest().is_empty() {
            sometimes("a connection broke in the middle of a small frame");
        }
        if mutated("half-a-frame-counts") {
            self.shared.set_received(self.shared.received() + self.buffer.rest().len() as u64);
        }
        self.shared.set_broken(true);
        self.stream.cut();
        self.clear_buffer();
        self.large = None;
    }

    fn clear_buffer(&mut self) {
        if !mutated("half-a-frame-survives") {
            self.buffer.clear();
        }
    }

    /// Whether the peer has said that it sends no more messages, and all of them have been delivered.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Whether the connection ended without goodbyes, so that the link waits for [`super::replace`].
    pub fn broken(&self) -> bool {
        self.shared.broken()
    }

    /// Whether another [`Receiver::receive`] may find something even if nothing more arrives at [`Receiver::stream`].
    #[inline]
    pub fn has_more(&self) -> bool {
        self.has_more
    }

    /// What to watch for something to read. Another one after [`super::replace`].
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Goes on over another connection.
    pub(super) fn replace(&mut self, stream: Arc<Stream>) {
        self.stream = stream;
        self.clear_buffer();
        self.large = None;
        self.again = 0;
        // What was read while the nodes authenticated each other may be a frame already.
        self.has_more = true;
        self.connection = Connection::New;
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("peer", &self.peer)
            .field("received", &self.shared.received())
            .field("broken", &self.broken())
            .finish()
    }
}

/// What one read brought.
struct Read {
    bytes: usize,
    /// As many as there was room for, so that there may be more.
    full: bool,
}

/// Why one read brought nothing.
enum Failure {
    Stop(Stop),
    Frame(FrameError),
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Failure {
        Failure::Stop(stop)
    }
}

#[inline]
fn read_some(stream: &Stream, buffer: &mut Buffer) -> Result<Read, Failure> {
    let room = buffer.room();
    let size = room.len();
    let bytes = stream.receive(room)?;
    buffer.filled(bytes);
    Ok(Read { bytes, full: bytes == size })
}

/// Straight into where the bytes of a large frame belong.
fn read_straight(stream: &Stream, large: &mut Assembly) -> Result<Read, Failure> {
    let room = large.room();
    let size = room.len();
    let bytes = stream.receive_straight(room)?;
    // SAFETY: so many were read.
    unsafe { large.filled(bytes) }.map_err(Failure::Frame)?;
    Ok(Read { bytes, full: bytes == size })
}
