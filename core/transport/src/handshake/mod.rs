//! How two nodes make sure of each other before a connection carries frames: see `docs/src/reference/wire.md`, "Handshake".
//!
//! Pure: bytes in, bytes out; [`super::connect`] has the sockets and the deadline. Four records: the dialling
//! node's `Hello`, the accepting node's `Challenge`, with a proof that it knows the job's secret, the dialling node's
//! `Proof`, and `Welcome`. Both proofs cover all that was said, with a nonce of either side, so that neither a
//! repetition of an old handshake nor one's own words sent back prove anything.

mod acceptor;
mod dialer;
mod record;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};

pub use acceptor::Acceptor;
pub use dialer::{Dialer, Failure};
pub use record::is_ours;

use record::{HEADER, Inbox};

use super::Peer;
use super::auth::Secret;
use super::tls::Credentials;
use talisman_observe::mutations::mutated;

/// Of handshake, frames and messages together. Both ends have the same.
pub const WIRE_VERSION: u16 = 4;

/// What somebody who dials may say where its proof has to come: simulated strangers guess.
pub fn guessed_proof(proof: [u8; super::auth::BYTES]) -> Vec<u8> {
    record::encode(record::Kind::Proof, &proof)
}

/// How many nodes a job has, with how many PEs each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub nodes: u32,
    pub pes: u32,
}

/// What a node tells the others of itself, and what they must agree on.
#[derive(Debug)]
pub struct Identity {
    /// The job, by a random number.
    pub job: u128,
    /// The executable, by a hash of what matters for talking to it.
    pub build: u128,
    pub shape: Shape,
    pub secret: Secret,
    /// How connections are encrypted, if they are to be.
    pub tls: Option<Credentials>,
    /// This node.
    pub node: u32,
    /// Which life of this node number this process is.
    pub incarnation: u64,
    /// The lives of the other nodes.
    pub known: Incarnations,
}

/// The latest incarnation of each node that is known: earlier ones are refused.
#[derive(Debug)]
pub struct Incarnations(Vec<AtomicU64>);

impl Incarnations {
    /// Of so many nodes, any of which may be in its first life.
    pub fn new(nodes: u32) -> Incarnations {
        Incarnations((0..nodes).map(|_| AtomicU64::new(0)).collect())
    }

    /// From now on, lives of `node` before `incarnation` are refused.
    pub fn raise(&self, node: u32, incarnation: u64) {
        if let Some(known) = self.0.get(node as usize) {
            known.fetch_max(incarnation, Ordering::Relaxed);
        }
    }

    fn admits(&self, node: u32, incarnation: u64) -> bool {
        let is_latest = |known: &AtomicU64| incarnation >= known.load(Ordering::Relaxed);
        self.0.get(node as usize).is_some_and(|known| is_latest(known) || mutated("old-life-admitted"))
    }
}

/// The other node has proved itself: this lane of it, in this life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    pub peer: Peer,
    pub incarnation: u64,
}

/// What is to be done after some bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Send these, if any, and read on.
    Say(Vec<u8>),
    /// Send these, if any; the next byte either way is that of a frame.
    Done(Vec<u8>, Agreed),
}

/// Why a node does not talk to who is at the other end. Its number crosses the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[repr(u8)]
pub enum Refusal {
    #[error("it does not speak Talisman's protocol")]
    Stranger = 1,
    #[error(
        "it speaks another version of the protocol than {WIRE_VERSION}: use one build of the program everywhere"
    )]
    Version = 2,
    #[error("it sent a record of a kind or length that does not belong there")]
    Record = 3,
    #[error("it belongs to another job")]
    Job = 4,
    #[error("it is another build of the program: use one build everywhere")]
    Build = 5,
    #[error("it was started with another number of nodes or PEs")]
    Shape = 6,
    #[error("it names a node or a lane that is not there, or looks for another node than this")]
    Node = 7,
    #[error("it is an earlier incarnation of a node that has been replaced")]
    Incarnation = 8,
    #[error("it sent back this node's own challenge")]
    Reflected = 9,
    #[error("it does not know the job's secret, or repeats an old handshake")]
    Secret = 10,
    #[error("it said no more before the deadline")]
    Silent = 11,
    #[error("it closed the connection before it had proved who it is")]
    Closed = 12,
    #[error("too many connections wait to be authenticated; this one was the oldest")]
    Crowd = 13,
    #[error("it does not encrypt its connections, and this job does (--tls)")]
    Plain = 14,
    #[error("it encrypts its connections (--tls), and this job does not")]
    Encrypted = 15,
    #[error("it does not know the job's secret, from which the key for encrypted connections (--tls) comes")]
    Key = 16,
}

impl Refusal {
    const ALL: [Refusal; 16] = [
        Refusal::Stranger,
        Refusal::Version,
        Refusal::Record,
        Refusal::Job,
        Refusal::Build,
        Refusal::Shape,
        Refusal::Node,
        Refusal::Incarnation,
        Refusal::Reflected,
        Refusal::Secret,
        Refusal::Silent,
        Refusal::Closed,
        Refusal::Crowd,
        Refusal::Plain,
        Refusal::Encrypted,
        Refusal::Key,
    ];

    /// The one of this number; an unknown number is a record that does not belong there.
    fn of(code: u8) -> Refusal {
        Self::ALL.into_iter().find(|&refusal| refusal as u8 == code).unwrap_or(Refusal::Record)
    }

    /// The record that tells the other end.
    pub fn encode(self) -> Vec<u8> {
        record::encode(record::Kind::Refusal, &[self as u8])
    }

    /// The reason in a record that came where TLS was expected, once it is complete.
    ///
    /// # Errors
    /// It is no record of ours.
    pub fn decode(bytes: &[u8]) -> Result<Option<Refusal>, Refusal> {
        let found = Inbox::default().feed(&bytes[..bytes.len().min(HEADER)], &[record::Kind::Refusal])?;
        debug_assert!(found.is_none(), "a refusal is longer than its header");
        Ok(bytes.get(HEADER..=HEADER).map(|reason| Refusal::of(reason[0])))
    }
}
