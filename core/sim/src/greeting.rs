//! Two simulated processes making sure of each other, with the real machines of the handshake.

use std::sync::Arc;

use talisman_base::auth::Nonce;
use talisman_transport::Peer;
use talisman_transport::handshake::{Acceptor, Agreed, Dialer, Failure, Identity, Refusal, Step};

/// One side of a handshake.
pub(super) struct Greeting {
    side: Side,
    /// Bytes that came before they were wanted.
    early: Vec<u8>,
}

enum Side {
    Dialling(Box<Dialer>),
    Accepting(Box<Acceptor>),
}

/// What comes of some bytes.
pub(super) enum Progress {
    /// Say these, if any, and read on.
    Say(Vec<u8>),
    /// Say these, if any; whose connection it is; what came after.
    Done(Vec<u8>, Agreed, Vec<u8>),
    /// Say these, if any, and close the connection.
    Refused(Vec<u8>, Failure),
}

impl Greeting {
    /// With the node that was dialled; what to say first.
    pub(super) fn dialling(identity: &Arc<Identity>, to: Peer, nonce: Nonce) -> (Self, Vec<u8>) {
        let (dialer, hello) = Dialer::new(identity, to, nonce);
        (Greeting { side: Side::Dialling(Box::new(dialer)), early: Vec::new() }, hello)
    }

    /// With whoever has dialled.
    pub(super) fn accepting(identity: &Arc<Identity>, nonce: Nonce) -> Self {
        Greeting { side: Side::Accepting(Box::new(Acceptor::new(identity, nonce))), early: Vec::new() }
    }

    /// Takes in what came.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Progress {
        self.early.extend_from_slice(bytes);
        let mut say = Vec::new();
        loop {
            let count = self.wants().min(self.early.len());
            if count == 0 {
                return Progress::Say(say);
            }
            let next: Vec<u8> = self.early.drain(..count).collect();
            match self.feed(&next) {
                Ok(Step::Say(more)) => say.extend(more),
                Ok(Step::Done(more, agreed)) => {
                    say.extend(more);
                    return Progress::Done(say, agreed, std::mem::take(&mut self.early));
                }
                Err(failure) => return Progress::Refused(self.last_words(say, failure), failure),
            }
        }
    }

    fn wants(&self) -> usize {
        match &self.side {
            Side::Dialling(dialer) => dialer.wants(),
            Side::Accepting(acceptor) => acceptor.wants(),
        }
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<Step, Failure> {
        match &mut self.side {
            Side::Dialling(dialer) => dialer.feed(bytes),
            Side::Accepting(acceptor) => Ok(acceptor.feed(bytes)?),
        }
    }

    /// Whoever was dialled says why it refuses, unless it is a stranger's connection.
    fn last_words(&self, mut say: Vec<u8>, failure: Failure) -> Vec<u8> {
        if let (Side::Accepting(_), Failure::Refused(refusal)) = (&self.side, failure)
            && !matches!(refusal, Refusal::Stranger | Refusal::Key)
        {
            say.extend(refusal.encode());
        }
        say
    }
}
