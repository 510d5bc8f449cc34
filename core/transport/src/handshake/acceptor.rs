//! The side that was dialled.

use std::sync::Arc;

use super::record::{Challenge, Hello, Inbox, Kind, before_proof, encode, proof};
use super::{Agreed, Identity, Refusal, Step};
use crate::Peer;
use crate::auth::{BYTES, Nonce};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// What the accepting node proves as.
pub(super) const ROLE: &str = "talisman accepts";

/// A handshake that a stranger has begun.
#[derive(Debug)]
pub struct Acceptor {
    identity: Arc<Identity>,
    nonce: Nonce,
    inbox: Inbox,
    /// What the stranger claims to be, once it has said hello.
    claim: Option<Agreed>,
    /// All that was said.
    said: Vec<u8>,
}

impl Acceptor {
    /// `nonce` has never been used.
    pub fn new(identity: &Arc<Identity>, nonce: Nonce) -> Self {
        Acceptor { identity: identity.clone(), nonce, inbox: Inbox::default(), claim: None, said: Vec::new() }
    }

    /// Most bytes that may be given next.
    pub fn wants(&self) -> usize {
        self.inbox.wants()
    }

    /// Whether the stranger has said of the job what others do not know. That it knows the secret is not proved by that.
    pub fn is_claimed(&self) -> bool {
        self.claim.is_some()
    }

    /// Takes bytes in.
    ///
    /// # Errors
    /// Why the connection has to be closed, after [`Refusal::encode`] was sent.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Step, Refusal> {
        let kind = if self.claim.is_none() { Kind::Hello } else { Kind::Proof };
        let Some((_, record)) = self.inbox.feed(bytes, &[kind])? else { return Ok(Step::Say(Vec::new())) };
        match self.claim {
            None => self.hello(&record),
            Some(claim) => self.proof(&record, claim),
        }
    }

    fn hello(&mut self, record: &[u8]) -> Result<Step, Refusal> {
        let hello = Hello::decode(record);
        self.check(&hello)?;
        let peer = Peer { node: hello.from, lane: hello.lane };
        self.claim = Some(Agreed { peer, incarnation: hello.incarnation });
        self.said = record.to_vec();
        Ok(Step::Say(self.challenge()))
    }

    fn check(&self, hello: &Hello) -> Result<(), Refusal> {
        let us = &self.identity;
        let there = hello.from < us.shape.nodes && hello.lane < us.shape.pes && hello.to == us.node;
        let refusals = [
            (hello.job == us.job, Refusal::Job),
            (hello.build == us.build, Refusal::Build),
            (hello.shape == us.shape, Refusal::Shape),
            (there && hello.from != us.node, Refusal::Node),
            (us.known.admits(hello.from, hello.incarnation), Refusal::Incarnation),
            (hello.nonce != self.nonce, Refusal::Reflected),
        ];
        let Some((_, refusal)) = refusals.into_iter().find(|(holds, _)| !holds) else { return Ok(()) };
        match refusal {
            Refusal::Incarnation => sometimes("an earlier life of a node dialled"),
            Refusal::Node => sometimes("a node dialled that cannot be, or looked for another"),
            _ => sometimes("a stranger dialled"),
        }
        Err(refusal)
    }

    fn challenge(&mut self) -> Vec<u8> {
        let us = &self.identity;
        let mut challenge =
            Challenge { node: us.node, incarnation: us.incarnation, nonce: self.nonce, proof: [0; BYTES] };
        let said = [&self.said, before_proof(&challenge.encode())].concat();
        challenge.proof = us.secret.prove(ROLE, &said);
        let record = challenge.encode();
        self.said.extend_from_slice(&record);
        record
    }

    fn proof(&mut self, record: &[u8], claim: Agreed) -> Result<Step, Refusal> {
        let is_proof = self.identity.secret.verify(super::dialer::ROLE, &self.said, &proof(record));
        if !is_proof && !mutated("any-proof-is-believed") {
            sometimes("a node that dialled could not prove what it claimed");
            return Err(Refusal::Secret);
        }
        // Looked at again: it may have been raised since the hello.
        if !self.identity.known.admits(claim.peer.node, claim.incarnation) {
            sometimes("a node was replaced while it shook hands");
            return Err(Refusal::Incarnation);
        }
        self.identity.known.raise(claim.peer.node, claim.incarnation);
        Ok(Step::Done(encode(Kind::Welcome, &[]), claim))
    }
}
