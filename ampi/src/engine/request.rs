//! Requests: operations that have begun, in one table per rank.

use talisman_pup::Pup;
use thiserror::Error;

use super::{Buffer, Context, Mode, Pattern, Rank, Tag, Token};

/// How an operation ended (MPI-3.1, 3.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Status {
    /// Who sent the message; none if nobody did: an empty status, or one of no process.
    pub source: Option<Rank>,
    /// Its tag; none in an empty status.
    pub tag: Option<Tag>,
    /// Its length in bytes, whatever the buffer had room for.
    pub bytes: u64,
    /// Whether the operation was taken back.
    pub cancelled: bool,
    /// The message was longer than the buffer.
    pub truncated: Option<Truncated>,
}

/// A message was longer than the buffer of its receive (`MPI_ERR_TRUNCATE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup, Error)]
#[error("a message of {message} bytes does not fit into a buffer of {buffer} bytes")]
pub struct Truncated {
    /// Length of the message in bytes.
    pub message: u64,
    /// Length of the buffer in bytes.
    pub buffer: u64,
}

impl Status {
    /// Of what is not active, and of sends.
    pub const EMPTY: Status = Status { source: None, tag: None, bytes: 0, cancelled: false, truncated: None };

    /// Of an operation that was taken back.
    pub const CANCELLED: Status = Status { cancelled: true, ..Status::EMPTY };
}

/// Who waits for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Owner {
    /// The program.
    User,
    /// A collective, by its number: it is told at once, and the request is gone.
    Schedule(u32),
    /// An operation in parts, by the number of the message: as for a collective.
    Part(u32),
    /// Nobody any more: the program has freed it (`MPI_Request_free`).
    Nobody,
}

/// What a persistent request does each time it is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Plan {
    /// Sends.
    Send {
        /// In which mode.
        mode: Mode,
        /// To whom.
        envelope: Envelope,
        /// What.
        buffer: Buffer,
    },
    /// Receives.
    Receive {
        /// From whom.
        pattern: Pattern,
        /// Where to.
        buffer: Buffer,
    },
    /// Something that who opened it starts and finishes: a persistent collective.
    Opened,
}

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Envelope {
    /// Of which communicator.
    pub context: Context,
    /// The receiver.
    pub to: Rank,
    /// The tag.
    pub tag: Tag,
}

/// A send whose bytes are still in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Announced {
    /// Where it goes.
    pub envelope: Envelope,
    /// What.
    pub buffer: Buffer,
    /// Whether it ends only when it was matched.
    pub synchronous: bool,
    /// The bytes have been sent without being asked for.
    pub paid: bool,
    /// The receiver was asked to give the message back, and has not answered.
    pub cancelling: bool,
}

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum State {
    /// Persistent, and not started.
    Inactive,
    /// A send that waits for its receiver.
    Announced(Announced),
    /// A receive without a message.
    Posted {
        /// What it accepts.
        pattern: Pattern,
        /// Where to.
        buffer: Buffer,
    },
    /// A receive that has a message and waits for its bytes.
    Pulling {
        /// The status that it will have.
        status: Status,
        /// Where to.
        buffer: Buffer,
        /// The sender's request.
        send: Token,
        /// Of which communicator.
        context: Context,
    },
    /// Under way outside this table: a collective.
    Opened,
    /// Ended.
    Complete(Status),
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Request {
    /// Who waits for it.
    pub owner: Owner,
    /// What it does when it is started again; none if it is not persistent.
    pub plan: Option<Plan>,
    /// How far it is.
    pub state: State,
    /// Whether the rank is suspended until it ends, maybe among others.
    pub awaited: bool,
}

/// The table.
#[derive(Debug, Default, PartialEq, Pup)]
pub struct Requests {
    slots: Vec<Slot>,
    /// Places without a request, the last freed one last.
    free: Vec<u32>,
}

#[derive(Debug, PartialEq, Pup)]
struct Slot {
    generation: u32,
    request: Option<Request>,
}

/// There is no such request: it has ended and was waited for, or was freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("request {}.{} is not there: it was waited for or freed before", .0.index, .0.generation)]
pub struct UnknownRequest(pub Token);

impl Requests {
    /// Adds one.
    pub fn insert(&mut self, owner: Owner, plan: Option<Plan>, state: State) -> Token {
        let request = Some(Request { owner, plan, state, awaited: false });
        if let Some(index) = self.free.pop()
            && let Some(slot) = self.slots.get_mut(index as usize)
        {
            slot.request = request;
            return Token { index, generation: slot.generation };
        }
        self.slots.push(Slot { generation: 0, request });
        Token { index: self.slots.len() as u32 - 1, generation: 0 }
    }

    /// The request of this name.
    pub fn get(&self, token: Token) -> Option<&Request> {
        let slot = self.slots.get(token.index as usize)?;
        slot.request.as_ref().filter(|_| slot.generation == token.generation)
    }

    /// The request of this name.
    pub fn get_mut(&mut self, token: Token) -> Option<&mut Request> {
        let slot = self.slots.get_mut(token.index as usize)?;
        slot.request.as_mut().filter(|_| slot.generation == token.generation)
    }

    /// As [`Requests::get_mut`], for a name that comes from the program.
    ///
    /// # Errors
    /// If there is none.
    pub fn known(&mut self, token: Token) -> Result<&mut Request, UnknownRequest> {
        self.get_mut(token).ok_or(UnknownRequest(token))
    }

    /// Takes one out.
    pub fn remove(&mut self, token: Token) {
        if self.get(token).is_some() {
            let slot = &mut self.slots[token.index as usize];
            slot.request = None;
            slot.generation = slot.generation.wrapping_add(1);
            self.free.push(token.index);
        }
    }

    /// All, in the order of their places.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Token, &mut Request)> {
        self.slots.iter_mut().enumerate().filter_map(|(index, slot)| {
            let token = Token { index: index as u32, generation: slot.generation };
            slot.request.as_mut().map(|request| (token, request))
        })
    }

    /// All, in the order of their places.
    pub fn iter(&self) -> impl Iterator<Item = (Token, &Request)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let token = Token { index: index as u32, generation: slot.generation };
            slot.request.as_ref().map(|request| (token, request))
        })
    }
}
