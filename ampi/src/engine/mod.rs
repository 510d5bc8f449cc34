//! The engine of one rank: what its calls and the frames that reach it lead to.
//!
//! A pure state machine. Calls and frames go in, [`Action`]s come out, and all state is [`Pup`] data, so a rank moves
//! and is checkpointed at any moment between two of them. Memory is not looked at: actions name buffers. `README.md`
//! beside this file has the states and the argument for MPI's order.
//!
//! ```
//! use talisman_ampi::engine::{Action, Body, Buffer, Engine, Envelope, Mode, Owner, Pattern};
//!
//! let (mut engine, mut out) = (Engine::new(0), Vec::new());
//! let to = Envelope { context: 0, to: 1, tag: 7 };
//! let request = engine.send(Mode::Standard, to, Buffer::of_bytes(0x1000, 8), Owner::User, &mut out);
//! assert!(matches!(&out[..], [Action::Send { to: 1, frame }] if matches!(frame.body, Body::Eager(_))));
//! assert!(engine.test(request).unwrap().is_some(), "eight bytes have left at once");
//! ```

mod access;
mod action;
mod awaited_receive;
mod blocking;
mod cancel;
mod doing;
mod frame;
mod matching;
mod order;
mod parts;
mod peers;
mod persistent;
mod posted;
mod probe;
mod receive;
mod request;
mod send;
#[cfg(test)]
mod tests;
mod unexpected;
mod wait;
mod whole;

use std::collections::{BTreeMap, VecDeque};

use talisman_pup::Pup;
use thiserror::Error;

pub use action::{Action, Actions, Area, Buffer};
pub use blocking::Begun;
pub use doing::Doing;
pub use frame::{Body, Context, EAGER_MAX, Frame, Head, INLINE_MAX, Inline, Loan, Payload, Rank, Tag, Token};
pub use matching::Pattern;
pub use parts::Offer;
pub use persistent::StartError;
pub use probe::Held;
pub use receive::Met;
pub use request::{Envelope, Owner, Status, Truncated, UnknownRequest};
pub use wait::{AnyOf, Condition};
pub use whole::Whole;

use awaited_receive::Awaited;
use order::Order;
use posted::Posted;
use request::{Requests, State};
use unexpected::{Content, Message, Unexpected};
use wait::Waiting;

/// The mode of a send (MPI-3.1, 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Mode {
    /// Ends when the buffer may be used again.
    Standard,
    /// Ends when it was matched with a receive.
    Synchronous,
    /// The program promises that the receive is posted. Treated as a standard one.
    Ready,
    /// Never waits for the receiver: the bytes are copied, however many.
    Buffered,
}

/// All that MPI knows of the messages of one rank.
#[derive(Debug, PartialEq, Pup)]
pub struct Engine {
    rank: Rank,
    /// Longer messages are announced.
    eager_max: u64,
    requests: Requests,
    posted: Posted,
    unexpected: Unexpected,
    /// Messages that matched probes have taken out.
    held: BTreeMap<Held, Message>,
    next_held: u64,
    order: Order,
    waiting: Option<Waiting>,
    awaited: Awaited,
    /// Requests of collectives that have ended, for who drives those.
    finished: VecDeque<(u32, Status)>,
    /// Messages of operations in parts that have ended, and offers of such operations, for who drives those.
    ended_parts: VecDeque<u32>,
    offers: VecDeque<Offer>,
}

/// A frame that no peer would send. The job ends with this message: state was lost or told twice.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// Its number was used before.
    #[error("frame {number} of rank {source_rank} in context {context} came twice")]
    Repeated {
        /// The sender.
        source_rank: Rank,
        /// Of which communicator.
        context: Context,
        /// Its number.
        number: u32,
    },
    /// Bytes that no receive waits for.
    #[error("rank {source_rank} sent {bytes} bytes that no receive has pulled")]
    NotPulled {
        /// The sender.
        source_rank: Rank,
        /// How many.
        bytes: u64,
    },
    /// The head and the bytes do not agree.
    #[error("rank {source_rank} sent {here} bytes of a message that has {head}")]
    Length {
        /// The sender.
        source_rank: Rank,
        /// Length in the head.
        head: u64,
        /// Length of the bytes.
        here: u64,
    },
}

impl Engine {
    /// Of a rank that has not communicated.
    pub fn new(rank: Rank) -> Engine {
        Engine {
            rank,
            eager_max: EAGER_MAX,
            requests: Requests::default(),
            posted: Posted::default(),
            unexpected: Unexpected::default(),
            held: BTreeMap::new(),
            next_held: 0,
            order: Order::default(),
            waiting: None,
            awaited: Awaited::Nothing,
            finished: VecDeque::new(),
            ended_parts: VecDeque::new(),
            offers: VecDeque::new(),
        }
    }

    /// Announces messages from another length on, in bytes. All ranks may differ in it: the receiver takes what comes.
    #[must_use]
    pub fn with_eager_max(mut self, bytes: u64) -> Engine {
        self.eager_max = bytes;
        self
    }

    /// Up to so many bytes a message is not announced.
    pub fn eager_max(&self) -> u64 {
        self.eager_max
    }

    /// Whose engine it is.
    pub fn rank(&self) -> Rank {
        self.rank
    }

    /// A frame has reached the rank.
    ///
    /// # Errors
    /// If no peer would send it.
    pub fn on_frame(&mut self, frame: Frame<Payload>, out: &mut Actions) -> Result<(), FrameError> {
        check_length(&frame)?;
        if !frame.body.is_numbered() {
            return self.act_on(frame, out);
        }
        let (context, source) = (frame.head.context, frame.head.source);
        let Some((frame, is_awaited)) = self.order.admit(frame)? else { return Ok(()) };
        self.act_on(frame, out)?;
        while is_awaited && let Some(frame) = self.order.next_ready(context, source) {
            self.act_on(frame, out)?;
        }
        Ok(())
    }

    /// The next request of a collective that has ended: the collective's number and the status.
    pub fn next_finished(&mut self) -> Option<(u32, Status)> {
        self.finished.pop_front()
    }

    /// Posted receives, in order: for the report of a job that is stuck.
    pub fn posted(&self) -> Vec<(Pattern, Token)> {
        self.posted.patterns()
    }

    /// Heads of messages that nobody has received: for the report of a job that is stuck.
    pub fn unexpected(&self) -> impl Iterator<Item = &Head> {
        self.unexpected.heads()
    }

    /// Operations of the program that are under way in one of these contexts, those that it has freed among them. Not
    /// collectives.
    pub fn under_way_in(&self, is_one: impl Fn(Context) -> bool) -> impl Iterator<Item = Token> {
        self.requests.iter().filter_map(move |(token, request)| {
            let context = match request.state {
                State::Announced(announced) => announced.envelope.context,
                State::Posted { pattern, .. } => pattern.context,
                State::Pulling { context, .. } => context,
                State::Inactive | State::Opened | State::Complete(_) => return None,
            };
            let is_of_program = matches!(request.owner, Owner::User | Owner::Nobody);
            (is_of_program && is_one(context)).then_some(token)
        })
    }

    /// Whether no operation is under way, and none can be started again.
    pub fn is_idle(&self) -> bool {
        let awaits = matches!(self.waits_for(), Some(Condition::Receive(..)));
        !awaits
            && self.requests.iter().all(|(_, request)| matches!(request.state, request::State::Complete(_)))
    }

    /// Frames that came before earlier ones.
    pub fn early(&self) -> usize {
        self.order.early()
    }

    /// A deliberate mistake: a message that nobody has received is gone.
    pub(crate) fn forget_a_message(&mut self) {
        self.unexpected.forget_one();
    }

    /// A deliberate mistake: frames are numbered from 0 again.
    pub(crate) fn forget_numbers(&mut self) {
        self.order.forget_sent();
    }

    fn act_on(&mut self, frame: Frame<Payload>, out: &mut Actions) -> Result<(), FrameError> {
        let head = frame.head;
        match frame.body {
            Body::Eager(payload) => self.arrived(Message { head, content: Content::Here(payload) }, out),
            Body::Announce { send, synchronous, .. } => {
                let content = Content::Announced { send, synchronous, paid: None };
                self.arrived(Message { head, content }, out);
            }
            Body::Paid { send, payload } => self.paid(&head, send, payload, out),
            Body::CancelAsk { send } => self.cancel_asked(&head, send, out),
            Body::Access { access, payload } => {
                let Head { source, context, .. } = head;
                out.push(Action::Access { source, context, access, payload });
            }
            Body::Pull { send, receive } => self.pulled(&head, send, receive, out),
            Body::Data { receive, payload } => return self.data(&head, receive, payload, out),
            Body::Taken { send } => self.taken(&head, send, out),
            Body::CancelAnswer { send, granted } => self.cancel_answered(&head, send, granted, out),
            Body::Offer { first, parts } => self.offers.push_back(Offer { head, first, parts }),
            Body::Ask(ask) => out.push(Action::Ask { source: head.source, ask }),
        }
        Ok(())
    }
}

/// The length in the head is what statuses and truncation go by, so the bytes have to be as many.
fn check_length(frame: &Frame<Payload>) -> Result<(), FrameError> {
    let here = match &frame.body {
        Body::Eager(payload)
        | Body::Paid { payload, .. }
        | Body::Data { payload, .. }
        | Body::Access { payload, .. } => payload.len(),
        _ => return Ok(()),
    };
    let Head { source, bytes, .. } = frame.head;
    if here == bytes { Ok(()) } else { Err(FrameError::Length { source_rank: source, head: bytes, here }) }
}
