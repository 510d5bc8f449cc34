//! Two links over real sockets.

mod broken;
mod connect;
#[cfg(feature = "tls")]
mod encrypted;
mod traffic;

use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::LazyLock;

use super::{Receiver, Sender, Stream, pair};
use crate::connector::Connector;
use crate::unix::Unix;
use crate::{LinkError, Peer};
use talisman_pup::Segment;

/// What arrived: rank, head, and the segments' alignments and bytes.
type Message = (u16, Vec<u8>, Vec<(usize, Vec<u8>)>);

/// One end of a link, and what arrived there.
struct End {
    sender: Sender,
    receiver: Receiver,
    arrived: Vec<Message>,
}

/// What a link goes over.
#[derive(Clone, Copy)]
enum Over {
    Plain,
    #[cfg(feature = "tls")]
    Tls,
    /// No TCP, and the same frames.
    Unix,
}

impl Over {
    /// The streams of a new connection, which goes over these sockets if it is one of TCP.
    fn streams(self, [a, b]: [TcpStream; 2]) -> [Stream; 2] {
        match self {
            Over::Plain => [a, b].map(|socket| Stream::plain(socket.into()).unwrap()),
            #[cfg(feature = "tls")]
            Over::Tls => encrypted::streams([a, b]),
            Over::Unix => Unix::pair().unwrap(),
        }
    }
}

/// Tests for links over plain connections and over encrypted ones.
macro_rules! over_both {
    ($($test:ident)*) => {
        mod plain {
            $(#[test] fn $test() { super::$test(super::Over::Plain) })*
        }
        #[cfg(feature = "tls")]
        mod tls {
            $(#[test] fn $test() { super::$test(super::Over::Tls) })*
        }
    };
}
use over_both;

/// The same, and over Unix-domain sockets.
macro_rules! over_all {
    ($($test:ident)*) => {
        over_both! { $($test)* }
        mod unix {
            $(#[test] fn $test() { super::$test(super::Over::Unix) })*
        }
    };
}
use over_all;

impl End {
    fn new(socket: OwnedFd, node: u32) -> End {
        End::over(Stream::plain(socket).unwrap(), node)
    }

    fn over(stream: Stream, node: u32) -> End {
        let (sender, receiver) = pair(stream, Peer { node, lane: 0 });
        End { sender, receiver, arrived: Vec::new() }
    }

    /// One turn of a PE's loop; how much was done.
    fn turn(&mut self) -> Result<usize, LinkError> {
        let arrived = &mut self.arrived;
        let done = self.receiver.receive(64, &mut |message| {
            let segments = message.segments.iter();
            let segments = segments.map(|segment| (segment.align(), segment.bytes().to_vec())).collect();
            arrived.push((message.rank, message.head.to_vec(), segments));
        })?;
        Ok(done + usize::from(self.sender.flush()))
    }
}

impl std::fmt::Debug for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}, {:?}, {} messages", self.sender, self.receiver, self.arrived.len())
    }
}

/// Two connected sockets.
fn sockets() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let dialled = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (dialled, listener.accept().unwrap().0)
}

/// Two ends of one link.
fn ends(over: Over) -> (End, End) {
    let [a, b] = over.streams(sockets().into());
    (End::over(a, 1), End::over(b, 0))
}

/// Turns of both until `done`.
fn run(a: &mut End, b: &mut End, mut done: impl FnMut(&End, &End) -> bool) {
    for turn in 0.. {
        if done(a, b) {
            return;
        }
        assert!(turn < 2_000_000, "nothing comes of it: {a:?} and {b:?}");
        a.turn().unwrap();
        b.turn().unwrap();
    }
}

/// Bytes that a seed decides: a window into a block that does not repeat.
fn bytes(len: usize, seed: u64) -> Vec<u8> {
    static BLOCK: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let words = (0..(10u64 << 20) / 8).map(|at| (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        words.flat_map(u64::to_le_bytes).collect()
    });
    BLOCK[(seed % 65_537) as usize..][..len].to_vec()
}

fn segment(len: usize, seed: u64) -> Segment {
    Segment::of_vec(bytes(len, seed))
}
