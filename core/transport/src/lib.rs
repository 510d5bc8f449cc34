//! Links between the PEs of different nodes: TCP, and memory that processes of one host share.
//!
//! A link carries messages (a head of packed bytes, and any number of large segments) from one PE to one PE of another
//! node, in order, each once. Nothing here knows what a message is for. The two halves of a link are separate objects:
//! what arrives may make the runtime send something on the same link.

#![allow(missing_docs, reason = "the runtime's own interface, where names say it")]

pub mod admission;
pub mod channel;
pub mod connect;
pub mod connector;
mod ends;
mod epoll;
pub mod frame;
pub mod handshake;
pub mod inherited;
pub mod link;
pub mod pending;
pub mod poller;
pub mod probe;
pub mod reconnect;
pub mod refusals;
pub mod shm;
pub mod sim;
pub mod sim_wait;
pub mod socket;
pub mod tcp;
#[cfg_attr(not(feature = "tls"), path = "tls/absent.rs")]
pub mod tls;
pub mod unix;

pub use shm::{Arrived, Rest};
pub use talisman_base::auth;
pub use talisman_base::limits::{HEAD_MAX, SEGMENT_BYTES_MAX, SEGMENTS_MAX};
pub use talisman_base::topology::Peer;
use talisman_pup::Segment;

/// The rank of what is for no PE but for the other end of the link itself: a marker, whose head is the epoch from there on.
pub const TO_LINK: u16 = u16::MAX;
/// The rank of what is for what holds parts of checkpoints at the other end.
pub const TO_STORE: u16 = TO_LINK - 1;

impl LinkError {
    /// Whether the bytes came as they were sent, so that they would come so again from any other process: nobody is to be blamed for the
    /// way that they took.
    pub fn is_well_formed(&self) -> bool {
        matches!(self, LinkError::Refused { .. } | LinkError::Memory { .. })
    }
}

/// A message as it arrives.
#[derive(Debug)]
pub struct Incoming<'a> {
    /// The PE it is for, by its rank in this node; the largest number stands for the link itself.
    pub rank: u16,
    /// Its packed bytes.
    pub head: &'a [u8],
    /// The large slices that travel beside them.
    pub segments: Vec<Segment>,
}

/// What a link cannot go on after.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// The bytes that came are not those of this protocol.
    #[error("node {} sent what cannot be read: {what}; is something else writing to this connection?", peer.node)]
    Garbage {
        /// Who.
        peer: Peer,
        /// What was wrong.
        what: String,
    },
    /// What came is in order, and more than this node takes. Its sender should have seen that.
    #[error("node {} sends what this node does not take: {what}", peer.node)]
    Refused {
        /// Who.
        peer: Peer,
        /// What it was.
        what: String,
    },
    /// What came is in order, but the system has no memory for it, or what came is not what it seems.
    #[error(
        "there is no memory for what node {} sends: {what}; use smaller messages, or give the nodes more memory \
         (`ulimit -v`, fewer nodes on a host)",
        peer.node
    )]
    Memory {
        /// Who.
        peer: Peer,
        /// How much it was.
        what: String,
    },
    /// What was sent again arrives damaged again: not the network's doing.
    #[error("node {} sent the same frame damaged {times} times; is its memory or the network faulty?", peer.node)]
    Damaged {
        /// Who.
        peer: Peer,
        /// How often in a row.
        times: u32,
    },
    /// After a broken connection the peer goes on behind what has arrived: something between is lost.
    #[error(
        "the connection to node {} goes on at byte {offset} where {received} have arrived: messages are lost",
        peer.node
    )]
    Lost {
        /// Who.
        peer: Peer,
        /// Where it goes on.
        offset: u64,
        /// What has arrived.
        received: u64,
    },
}
