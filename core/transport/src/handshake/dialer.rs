//! The side that dials.

use std::sync::Arc;

use super::record::{Challenge, Hello, Inbox, Kind, before_proof, encode, reason};
use super::{Agreed, Identity, Refusal, Step};
use crate::Peer;
use crate::auth::Nonce;
use talisman_observe::sometimes::sometimes;

/// What the dialling node proves as.
pub(super) const ROLE: &str = "talisman dials";

/// A handshake that this node has begun.
#[derive(Debug)]
pub struct Dialer {
    identity: Arc<Identity>,
    to: Peer,
    nonce: Nonce,
    inbox: Inbox,
    /// What the other side has proved to be, once it has.
    proved: Option<Agreed>,
    /// All that was said.
    said: Vec<u8>,
}

/// Why a handshake came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// This node does not believe the other.
    #[error("{0}")]
    Refused(Refusal),
    /// The other node does not believe this one. What it says of "it" is this node.
    #[error("it refuses this node: {0}")]
    RefusedBy(Refusal),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::Refused(refusal)
    }
}

impl Dialer {
    /// To this lane of another node, and the bytes to send first. `nonce` has never been used.
    pub fn new(identity: &Arc<Identity>, to: Peer, nonce: Nonce) -> (Self, Vec<u8>) {
        let hello = Hello {
            job: identity.job,
            build: identity.build,
            shape: identity.shape,
            from: identity.node,
            to: to.node,
            lane: to.lane,
            incarnation: identity.incarnation,
            nonce,
        };
        let said = hello.encode();
        let dialer = Dialer {
            identity: identity.clone(),
            to,
            nonce,
            inbox: Inbox::default(),
            proved: None,
            said: said.clone(),
        };
        (dialer, said)
    }

    /// Most bytes that may be given next.
    pub fn wants(&self) -> usize {
        self.inbox.wants()
    }

    /// Takes bytes in.
    ///
    /// # Errors
    /// Why the connection has to be closed.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Step, Failure> {
        let kind = if self.proved.is_none() { Kind::Challenge } else { Kind::Welcome };
        match (self.inbox.feed(bytes, &[kind, Kind::Refusal])?, self.proved) {
            (None, _) => Ok(Step::Say(Vec::new())),
            (Some((Kind::Refusal, record)), _) => {
                sometimes("a node was refused by the one that it dialled");
                Err(Failure::RefusedBy(reason(&record)))
            }
            (Some((_, record)), None) => Ok(self.challenge(&record)?),
            (Some(_), Some(agreed)) => Ok(Step::Done(Vec::new(), agreed)),
        }
    }

    fn challenge(&mut self, record: &[u8]) -> Result<Step, Refusal> {
        let challenge = Challenge::decode(record);
        if challenge.nonce == self.nonce {
            return Err(Refusal::Reflected);
        }
        if challenge.node != self.to.node {
            return Err(Refusal::Node);
        }
        let said = [&self.said, before_proof(record)].concat();
        if !self.identity.secret.verify(super::acceptor::ROLE, &said, &challenge.proof) {
            sometimes("a node that was dialled could not prove what it claimed");
            return Err(Refusal::Secret);
        }
        if !self.identity.known.admits(challenge.node, challenge.incarnation) {
            sometimes("an earlier life of a node was dialled");
            return Err(Refusal::Incarnation);
        }
        self.identity.known.raise(challenge.node, challenge.incarnation);
        self.proved = Some(Agreed { peer: self.to, incarnation: challenge.incarnation });
        self.said.extend_from_slice(record);
        Ok(Step::Say(encode(Kind::Proof, &self.identity.secret.prove(ROLE, &self.said))))
    }
}
