//! Links as benchmarks and fuzz targets reach them. Nothing that programs use.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use super::auth::Secret;
use super::frame::{HEADER, Header, Kind, checksum};
pub use super::handshake::WIRE_VERSION;
use super::handshake::{Acceptor, Dialer, Identity, Incarnations, Shape, Step};
use super::tcp::{Receiver, Sender, Stream, pair};
#[cfg(feature = "tls")]
use super::tls::{self, Credentials};
use super::{Incoming, Peer};
use talisman_pup::Segment;

const PEER: Peer = Peer { node: 1, lane: 0 };

/// One end of a link over TCP.
#[derive(Debug)]
pub struct TcpEnd {
    sender: Sender,
    receiver: Receiver,
}

impl TcpEnd {
    /// Over a connected socket.
    ///
    /// # Errors
    /// It is no TCP socket.
    pub fn new(socket: OwnedFd) -> io::Result<TcpEnd> {
        let (sender, receiver) = pair(Stream::plain(socket)?, PEER);
        Ok(TcpEnd { sender, receiver })
    }

    /// Two of them over connected sockets, with encryption between them.
    ///
    /// # Errors
    /// They are no TCP sockets.
    #[cfg(feature = "tls")]
    pub fn encrypted(sockets: [OwnedFd; 2]) -> io::Result<[TcpEnd; 2]> {
        let credentials = Credentials::of(&Secret::from_bytes([3; 32])).map_err(io::Error::other)?;
        let [a, b] = tls::pair(&credentials).map_err(io::Error::other)?;
        let [to_b, to_a] = sockets;
        let end = |socket, session| {
            let (sender, receiver) = pair(Stream::encrypted(socket, session)?, PEER);
            io::Result::Ok(TcpEnd { sender, receiver })
        };
        Ok([end(to_b, a)?, end(to_a, b)?])
    }

    /// Sends a message, now or when flushed.
    #[inline]
    pub fn send(&mut self, head: &[u8], segments: Vec<Segment>) {
        self.sender.send(0, head, segments);
    }

    /// Writes what goes now; whether anything was written.
    #[inline]
    pub fn flush(&mut self) -> bool {
        self.sender.flush()
    }

    /// Bytes accepted and not sent.
    pub fn unsent(&self) -> usize {
        self.sender.unsent()
    }

    /// Takes in up to `budget` messages; how many, or 1 for a part of one.
    ///
    /// # Errors
    /// What the link cannot go on after, in words.
    #[inline]
    pub fn receive(
        &mut self,
        budget: usize,
        f: &mut dyn FnMut(&[u8], Vec<Segment>),
    ) -> Result<usize, String> {
        let done =
            self.receiver.receive(budget, &mut |message: Incoming<'_>| f(message.head, message.segments));
        done.map_err(|error| error.to_string())
    }
}

/// Gives a receiving half hostile frames, made of `data` as `frames` below tells: it may report an error, and no more.
/// Returns how many messages it took.
pub fn read_frames(data: &[u8]) -> usize {
    let Ok((ours, mut theirs)) = UnixStream::pair() else { return 0 };
    let nonblocking = ours.set_nonblocking(true).and(theirs.set_nonblocking(true));
    let (mut sender, mut receiver) = pair(Stream::Plain(ours.into()), PEER);
    let begin = Header::bare(Kind::Begin, 0).encode(0);
    // What does not fit the socket is left out: the rest is hostile enough.
    let written = nonblocking.and_then(|()| theirs.write(&[&begin[..], &frames(data)].concat()));
    let mut messages = 0;
    let mut turn = || receiver.receive(8, &mut |_| messages += 1);
    while written.is_ok() && matches!(turn(), Ok(1..)) {
        sender.flush();
    }
    messages
}

/// Frames with valid checksums out of anything. Each begins with a byte whose bits say: the body's checksum in the
/// header is to be put right (1), the header is raw bytes without a checksum of its own (2), the length of the body in
/// units of 16 (the others). Then 28 bytes of the header, with its first four put right unless they are raw, and the
/// body.
fn frames(data: &[u8]) -> Vec<u8> {
    let (mut frames, mut rest) = (Vec::new(), data);
    while let Some((&[how], after)) = rest.split_first_chunk()
        && let Some((&fields, after)) = after.split_first_chunk::<28>()
    {
        let (body, after) = after.split_at(after.len().min(usize::from(how >> 2) * 16));
        match how & 2 == 0 {
            true => frames.extend_from_slice(&sealed(fields, body, how & 1 == 1, frames.len() as u64)),
            false => frames.extend_from_slice(&fields),
        }
        frames.extend_from_slice(body);
        rest = after;
    }
    frames
}

fn sealed(fields: [u8; 28], body: &[u8], whole: bool, position: u64) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..28].copy_from_slice(&fields);
    header[..3].copy_from_slice(&Header::bare(Kind::Begin, 0).encode(0)[..3]);
    header[3] %= 6;
    if whole {
        header[24..28].copy_from_slice(&crc32fast::hash(body).to_le_bytes());
    }
    let sum = checksum(&header, position).to_le_bytes();
    header[28..].copy_from_slice(&sum);
    header
}

/// Gives both sides of a handshake hostile bytes, in pieces: nobody must be believed.
///
/// # Panics
/// If somebody is, without knowing the secret.
pub fn read_handshake(data: &[u8]) {
    let (dials, accepts) = (Arc::new(identity(1)), Arc::new(identity(0)));
    let mut acceptor = Acceptor::new(&accepts, [1; 32]);
    let (mut dialer, _) = Dialer::new(&dials, Peer { node: 0, lane: 0 }, [2; 32]);
    let believed = believes(data, |bytes| (acceptor.wants(), acceptor.feed(bytes).ok()));
    assert!(!believed, "the accepting side believed a stranger");
    let believed = believes(data, |bytes| (dialer.wants(), dialer.feed(bytes).ok()));
    assert!(!believed, "the dialling side believed a stranger");
}

/// Whether a side that is fed these bytes, as many at a time as it wants, ends as agreed. `feed` says before how many it
/// wanted.
fn believes(data: &[u8], mut feed: impl FnMut(&[u8]) -> (usize, Option<Step>)) -> bool {
    let mut rest = data;
    loop {
        let wants = feed(&[]).0;
        let (now, later) = rest.split_at(wants.min(rest.len()));
        match feed(now).1 {
            Some(Step::Done(..)) => return true,
            Some(Step::Say(_)) if !later.is_empty() => rest = later,
            _ => return false,
        }
    }
}

fn identity(node: u32) -> Identity {
    Identity {
        job: 0,
        build: 0,
        shape: Shape { nodes: 2, pes: 1 },
        secret: Secret::from_bytes([3; 32]),
        tls: None,
        node,
        incarnation: 0,
        known: Incarnations::new(2),
    }
}
