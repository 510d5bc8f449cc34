//! One encrypted connection, from its first byte to its last.

use std::fmt;
use std::io::IoSlice;
use std::mem::{MaybeUninit, take};
use std::net::Ipv4Addr;

use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};

use super::window::Window;
use super::{Broken, Credentials, Unavailable};

/// Bytes that fill a record of TLS: there are no larger ones.
const RECORD: usize = 16 << 10;
/// Bytes encrypted at once. What was read and what is to be written stay in the cache.
const SEAL_MOST: usize = 64 << 10;
/// Bytes that a message of the handshake, an alert or the frame of a few records take, or more.
const AROUND: usize = 1 << 10;
/// Bytes read at once.
const READ: usize = 64 << 10;
/// Bytes read at once as long as nobody has proved anything: a handshake is a few hundred.
const READ_AT_FIRST: usize = 4 << 10;
/// No part of a record or handshake message that is kept is as large.
const ARRIVED_MOST: usize = 128 << 10;

/// The state of an encrypted connection. Bytes from the socket go in by [`Session::room`] and [`Session::filled`], those
/// for the socket come out by [`Session::leaving`] and [`Session::left`].
pub struct Session {
    side: Side,
    /// From the socket.
    arrived: Window,
    /// Decrypted before anybody had room for it.
    opened: Window,
    /// Small pieces that share a record.
    staged: Vec<u8>,
    /// For the socket.
    leaving: Window,
    ended: bool,
}

#[allow(clippy::large_enum_variant, reason = "both are as large, and a session is boxed")]
enum Side {
    Dials(UnbufferedClientConnection),
    Accepts(UnbufferedServerConnection),
}

/// What came of one step.
enum Now {
    /// Something was done, and there may be more to do.
    More,
    /// The handshake waits for bytes.
    Greeting,
    /// Ready to write. All that has arrived is decrypted.
    Ready,
}

/// What is to be said as soon as that is possible.
#[derive(Clone, Copy)]
enum Say<'a> {
    Nothing,
    Text(&'a [u8]),
    Farewell,
}

impl Session {
    /// Of the side that dialled.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn dialling(credentials: &Credentials) -> Result<Session, Unavailable> {
        // Nodes have no names; the key is what tells them.
        let nobody = ServerName::from(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let connection = UnbufferedClientConnection::new(credentials.dials.clone(), nobody)?;
        Ok(Session::new(Side::Dials(connection)))
    }

    /// Of the side that was dialled.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn accepting(credentials: &Credentials) -> Result<Session, Unavailable> {
        let connection = UnbufferedServerConnection::new(credentials.accepts.clone())?;
        Ok(Session::new(Side::Accepts(connection)))
    }

    fn new(side: Side) -> Session {
        Session {
            side,
            arrived: Window::default(),
            opened: Window::default(),
            staged: Vec::new(),
            leaving: Window::default(),
            ended: false,
        }
    }

    /// Goes on with the handshake: whether it is over, as far as this side is concerned. What is leaving is to be
    /// written in any case: after an error it tells the other side.
    ///
    /// # Errors
    /// The other side does not speak TLS 1.3, or does not have the job's key.
    pub fn greet(&mut self) -> Result<bool, Broken> {
        loop {
            match self.step(&mut Sink::none(), Say::Nothing)? {
                Now::More => {}
                Now::Greeting => return Ok(false),
                Now::Ready => return Ok(!self.is_greeting()),
            }
        }
    }

    fn is_greeting(&self) -> bool {
        match &self.side {
            Side::Dials(connection) => connection.is_handshaking(),
            Side::Accepts(connection) => connection.is_handshaking(),
        }
    }

    /// What has arrived and could not be worked on yet.
    pub fn arrived(&self) -> &[u8] {
        self.arrived.rest()
    }

    /// Where bytes from the socket go.
    ///
    /// # Errors
    /// So many have come and make no whole that nothing will come of it.
    pub fn room(&mut self) -> Result<&mut [u8], Broken> {
        if self.arrived.rest().len() > ARRIVED_MOST {
            return Err(Broken);
        }
        let least = if self.is_greeting() { READ_AT_FIRST } else { READ };
        Ok(&mut self.arrived.room(least)[..least])
    }

    /// Says that the first `n` bytes of [`Session::room`] were filled.
    pub fn filled(&mut self, n: usize) {
        self.arrived.filled(n);
    }

    /// Decrypts what has arrived, as far as there is room: the first bytes of `room` are initialised afterwards, so many.
    /// If those are fewer than there is room for, all of it is.
    ///
    /// # Errors
    /// The connection has ended, or was tampered with; what came before that has been delivered.
    pub fn open(&mut self, room: &mut [MaybeUninit<u8>]) -> Result<usize, Broken> {
        let mut sink = Sink { room, filled: 0 };
        let earlier = sink.take(self.opened.rest());
        self.opened.consume(earlier);
        while !sink.is_full() {
            match self.step(&mut sink, Say::Nothing) {
                Ok(Now::More) => {}
                Err(Broken) if sink.filled == 0 => return Err(Broken),
                Ok(Now::Greeting | Now::Ready) | Err(Broken) => break,
            }
        }
        Ok(sink.filled)
    }

    /// Encrypts the first of these bytes; how many. They are leaving then, and cannot be called back.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn seal(&mut self, slices: &[IoSlice<'_>]) -> Result<usize, Broken> {
        let mut left = SEAL_MOST;
        for slice in slices {
            let bytes = &slice[..slice.len().min(left)];
            left -= bytes.len();
            self.seal_piece(bytes)?;
        }
        self.seal_staged()?;
        Ok(SEAL_MOST - left)
    }

    /// Whole records are encrypted from where they are; smaller pieces are put together.
    fn seal_piece(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (whole, after) = rest.split_at(rest.len() / RECORD * RECORD);
            if self.staged.is_empty() && !whole.is_empty() {
                self.say(Say::Text(whole))?;
                rest = after;
                continue;
            }
            let (now, after) = rest.split_at(rest.len().min(RECORD - self.staged.len()));
            self.staged.extend_from_slice(now);
            rest = after;
            if self.staged.len() == RECORD {
                self.seal_staged()?;
            }
        }
        Ok(())
    }

    fn seal_staged(&mut self) -> Result<(), Broken> {
        let mut staged = take(&mut self.staged);
        if !staged.is_empty() {
            self.say(Say::Text(&staged))?;
        }
        staged.clear();
        self.staged = staged;
        Ok(())
    }

    /// For the socket.
    pub fn leaving(&self) -> &[u8] {
        self.leaving.rest()
    }

    /// Says that the first `n` bytes of [`Session::leaving`] are written.
    pub fn left(&mut self, n: usize) {
        self.leaving.consume(n);
    }

    /// Tells the other side that nothing follows, if there is anything to tell it with.
    pub fn farewell(&mut self) {
        // What cannot be said is not needed either.
        let _ = self.say(Say::Farewell);
        self.ended = true;
    }

    fn say(&mut self, say: Say<'_>) -> Result<(), Broken> {
        loop {
            match self.step(&mut Sink::none(), say)? {
                Now::More => {}
                Now::Ready => return Ok(()),
                Now::Greeting => return Err(Broken),
            }
        }
    }

    /// One step on.
    fn step(&mut self, sink: &mut Sink<'_>, say: Say<'_>) -> Result<Now, Broken> {
        if self.ended {
            return Err(Broken);
        }
        let (used, now) = self.process(sink, say);
        if now.is_err() {
            // What tells the other side of it is leaving then. The bytes that arrived stay where they were: the
            // library may still look at any of them.
            let _ = self.process(&mut Sink::none(), Say::Nothing);
            self.ended = true;
        } else {
            self.arrived.consume(used);
        }
        now
    }

    /// The same; how many bytes of what arrived were used.
    fn process(&mut self, sink: &mut Sink<'_>, say: Say<'_>) -> (usize, Result<Now, Broken>) {
        let mut ends = Ends { opened: &mut self.opened, leaving: &mut self.leaving, sink };
        let arrived = self.arrived.rest_mut();
        match &mut self.side {
            Side::Dials(connection) => ends.handle(connection.process_tls_records(arrived), say),
            Side::Accepts(connection) => ends.handle(connection.process_tls_records(arrived), say),
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("leaving", &self.leaving().len()).finish_non_exhaustive()
    }
}

/// Where a step puts what it makes.
struct Ends<'a, 'b> {
    opened: &'a mut Window,
    leaving: &'a mut Window,
    sink: &'a mut Sink<'b>,
}

impl Ends<'_, '_> {
    /// What is to be done in this state; how many bytes of what arrived were used.
    fn handle<D>(
        &mut self,
        status: UnbufferedStatus<'_, '_, D>,
        say: Say<'_>,
    ) -> (usize, Result<Now, Broken>) {
        let mut used = status.discard;
        let now = match status.state {
            Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                while let Some(Ok(record)) = traffic.next_record() {
                    used += record.discard;
                    let taken = self.sink.take(record.payload);
                    self.opened.push(&record.payload[taken..]);
                }
                Ok(Now::More)
            }
            Ok(ConnectionState::EncodeTlsData(mut data)) => self.put(AROUND, |room| data.encode(room)),
            Ok(ConnectionState::TransmitTlsData(data)) => {
                // It leaves before anything that comes later.
                data.done();
                Ok(Now::More)
            }
            Ok(ConnectionState::BlockedHandshake) => Ok(Now::Greeting),
            Ok(ConnectionState::WriteTraffic(mut traffic)) => match say {
                Say::Nothing => Ok(Now::Ready),
                Say::Text(text) => {
                    self.put(text.len() + AROUND, |room| traffic.encrypt(text, room)).and(Ok(Now::Ready))
                }
                Say::Farewell => {
                    self.put(AROUND, |room| traffic.queue_close_notify(room)).and(Ok(Now::Ready))
                }
            },
            Ok(_) | Err(_) => Err(Broken),
        };
        (used, now)
    }

    /// Has something written to what is leaving, of about this size.
    fn put<E: Into<TooSmall>>(
        &mut self,
        size: usize,
        mut write: impl FnMut(&mut [u8]) -> Result<usize, E>,
    ) -> Result<Now, Broken> {
        let mut least = size;
        loop {
            match write(self.leaving.room(least)).map_err(E::into) {
                Ok(n) => {
                    self.leaving.filled(n);
                    return Ok(Now::More);
                }
                Err(TooSmall(Some(required))) if required > least => least = required,
                Err(_) => return Err(Broken),
            }
        }
    }
}

/// There must be room for so many bytes; `None` if that would not help.
struct TooSmall(Option<usize>);

impl From<EncodeError> for TooSmall {
    fn from(error: EncodeError) -> TooSmall {
        match error {
            EncodeError::InsufficientSize(size) => TooSmall(Some(size.required_size)),
            EncodeError::AlreadyEncoded => TooSmall(None),
        }
    }
}

impl From<EncryptError> for TooSmall {
    fn from(error: EncryptError) -> TooSmall {
        match error {
            EncryptError::InsufficientSize(size) => TooSmall(Some(size.required_size)),
            EncryptError::EncryptExhausted => TooSmall(None),
        }
    }
}

/// Memory that is filled from its beginning.
struct Sink<'a> {
    room: &'a mut [MaybeUninit<u8>],
    filled: usize,
}

impl Sink<'_> {
    fn none() -> Self {
        Sink { room: &mut [], filled: 0 }
    }

    fn is_full(&self) -> bool {
        self.filled == self.room.len()
    }

    /// Takes the first of these bytes, as many as there is room for; how many.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let room = &mut self.room[self.filled..];
        let n = bytes.len().min(room.len());
        // SAFETY: both have so many bytes, and they are not the same: one is borrowed for writing.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), room.as_mut_ptr().cast(), n) };
        self.filled += n;
        n
    }
}
