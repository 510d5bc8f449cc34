//! What a rank waits for, in words of messages: for the report of a job that is stuck.

use talisman_pup::Pup;

use super::request::State;
use super::{Condition, Context, Engine, Pattern, Rank, Tag, Token};

/// What a request that has not ended does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Doing {
    /// Waits for a message.
    Receive(Pattern),
    /// Waits for a message without receiving it.
    Probe(Pattern),
    /// Waits for the bytes of a message that it has.
    Pull {
        /// Who sends them.
        from: Rank,
        /// Of which communicator.
        context: Context,
    },
    /// Waits until a message is received.
    Send {
        /// By whom.
        to: Rank,
        /// Of which communicator.
        context: Context,
        /// Its tag.
        tag: Tag,
        /// Its length.
        bytes: u64,
    },
    /// Is a collective, or something of the program's own.
    Opened(Token),
}

impl Doing {
    /// Of which communicator it is, if that is known.
    pub fn context(&self) -> Option<Context> {
        match self {
            Doing::Receive(pattern) | Doing::Probe(pattern) => Some(pattern.context),
            Doing::Pull { context, .. } | Doing::Send { context, .. } => Some(*context),
            Doing::Opened(_) => None,
        }
    }
}

impl Engine {
    /// What a request does; none if it has ended or is inactive.
    pub fn doing(&self, token: Token) -> Option<Doing> {
        match self.requests.get(token)?.state {
            State::Posted { pattern, .. } => Some(Doing::Receive(pattern)),
            State::Pulling { status, context, .. } => Some(Doing::Pull { from: status.source?, context }),
            State::Announced(announced) => {
                let super::Envelope { context, to, tag } = announced.envelope;
                Some(Doing::Send { to, context, tag, bytes: announced.buffer.bytes })
            }
            State::Opened => Some(Doing::Opened(token)),
            State::Inactive | State::Complete(_) => None,
        }
    }

    /// What the rank is suspended for: each of these if it waits for all, one of them if it waits for any.
    pub fn blocked_on(&self) -> Vec<Doing> {
        match self.waits_for() {
            None => Vec::new(),
            Some(Condition::Message(pattern)) => vec![Doing::Probe(*pattern)],
            Some(Condition::Receive(pattern, _)) => vec![Doing::Receive(*pattern)],
            Some(Condition::One(request)) => self.doing(*request).into_iter().collect(),
            Some(Condition::All(requests) | Condition::Any(requests)) => {
                requests.iter().filter_map(|request| self.doing(*request)).collect()
            }
        }
    }
}
