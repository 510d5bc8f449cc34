//! Two links over real sockets.

mod broken;
mod connect;
mod traffic;

use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::LazyLock;

use super::{Receiver, Sender, Stream, pair};
use crate::pup::Segment;
use crate::transport::{LinkError, Peer};

/// What arrived: rank, head, and the segments' alignments and bytes.
type Message = (u16, Vec<u8>, Vec<(usize, Vec<u8>)>);

/// One end of a link, and what arrived there.
struct End {
    sender: Sender,
    receiver: Receiver,
    arrived: Vec<Message>,
}

impl End {
    fn new(socket: OwnedFd, node: u32) -> End {
        let (sender, receiver) = pair(Stream::plain(socket).unwrap(), Peer { node, lane: 0 });
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
fn ends() -> (End, End) {
    let (a, b) = sockets();
    (End::new(a.into(), 1), End::new(b.into(), 0))
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
