//! Links over TCP: between hosts, and between nodes of one host when asked for.
//!
//! A link outlives its connection. Both directions are streams of frames ([`super::frame`]); the sending half keeps
//! what the peer has not acknowledged, and when the connection breaks while both nodes live, [`replace`] goes on over
//! a new one at a frame boundary. `docs/src/reference/wire.md` has the protocol byte by byte.
//!
//! The PE that owns a link calls [`Receiver::receive`] and [`Sender::flush`] from its loop; nothing blocks. It flushes
//! after receiving, too, since what has arrived may have to be acknowledged: that is a look into memory when nothing is.

mod assembly;
mod buffer;
mod connect;
mod encrypted;
mod ends;
mod inbound;
mod large;
mod out;
mod retained;
mod shared;
mod stream;
mod talk;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub(crate) use connect::Tcp;
pub(crate) use ends::StreamEnds;
pub use inbound::Receiver;
pub use out::Sender;
pub use stream::{Stop, Stream};
pub use talk::Talk;

use super::Peer;

/// The halves of a new link over its first connection.
pub fn pair(stream: Stream, peer: Peer) -> (Sender, Receiver) {
    let (stream, shared) = (Arc::new(stream), Arc::default());
    let sender = Sender::new(Arc::clone(&stream), Arc::clone(&shared));
    (sender, Receiver::new(stream, shared, peer))
}

/// Goes on over another connection, whether the former one is known to be broken or not.
pub fn replace(sender: &mut Sender, receiver: &mut Receiver, stream: Stream) {
    let stream = Arc::new(stream);
    receiver.replace(Arc::clone(&stream));
    sender.replace(stream);
}
