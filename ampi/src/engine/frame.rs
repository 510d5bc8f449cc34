//! Frames: what ranks send each other.

use talisman_pup::{Packer, Pup, PupError, Segment, Unpacker};

use crate::ports::Ask;
use crate::window::Access;

/// A rank of the world: 0 to the number of ranks - 1. Communicators number their members anew; frames do not.
pub type Rank = u32;

/// Keeps the messages of communicators apart. Each communicator has two: one for its user, one for its collectives.
pub type Context = u32;

/// A tag of the user's: 0 to 2^31 - 1.
pub type Tag = i32;

/// Up to so many bytes travel in the frame itself: with the head and the kind that fills two cache lines less what an
/// envelope of the runtime needs.
pub const INLINE_MAX: usize = 40;

/// Up to so many bytes are copied and sent at once. Above, a receiver that is not ready would have to keep them, and a
/// second copy costs more than the two small frames of a rendezvous.
pub const EAGER_MAX: u64 = 8 << 10;

/// What every frame begins with: 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Head {
    /// Of which communicator.
    pub context: Context,
    /// Who sends the frame.
    pub source: Rank,
    /// Of the message; 0 in frames that no receive is matched with.
    pub tag: Tag,
    /// Counts the numbered frames of this sender to this receiver in this context, from 0, modulo 2^32.
    pub number: u32,
    /// Length of the message in bytes.
    pub bytes: u64,
}

/// Names a request of one rank. A number is used again with another generation, so an old name finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pup)]
pub struct Token {
    /// Its place in the table.
    pub index: u32,
    /// How often that place was used before.
    pub generation: u32,
}

/// Where the bytes of an announced message lie, for a process of the same host that may read them there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Loan {
    /// Names the host.
    pub host: u64,
    /// The process, by the system's number.
    pub process: u32,
    /// The bytes are there as long as there is this number at this address.
    pub mark: u64,
    /// Where that is.
    pub mark_at: u64,
    /// Where the bytes begin.
    pub at: u64,
    /// How many they are.
    pub len: u64,
}

/// A frame. `P` is how the bytes of a message are given: as [`Payload`] on the way, and as
/// [`Buffer`](super::Buffer) in what the engine says is to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub struct Frame<P> {
    /// The same in all frames.
    pub head: Head,
    /// What the frame is for.
    pub body: Body<P>,
}

/// What a frame is for. The first five and the last two are numbered: a receiver acts on them in the order in which they were sent.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub enum Body<P> {
    /// A whole message.
    Eager(P),
    /// A message whose bytes stay with the sender until they are pulled.
    Announce {
        /// The sender's request.
        send: Token,
        /// Whether the sender wants to know that it was matched.
        synchronous: bool,
        /// Where the bytes may be read.
        loan: Option<Loan>,
    },
    /// The bytes of an announced message that were not asked for: its sender leaves for another place.
    Paid {
        /// The sender's request.
        send: Token,
        /// The bytes.
        payload: P,
    },
    /// The sender would take an announced message back.
    CancelAsk {
        /// The sender's request.
        send: Token,
    },
    /// Something is to be done with a window of the receiver, which has the frame's context.
    Access {
        /// What.
        access: Box<Access>,
        /// What it needs.
        payload: P,
    },
    /// A receive was matched with an announced message and wants its bytes.
    Pull {
        /// The sender's request.
        send: Token,
        /// The receiver's request.
        receive: Token,
    },
    /// The bytes of an announced message.
    Data {
        /// The receiver's request.
        receive: Token,
        /// The bytes.
        payload: P,
    },
    /// Whether an announced message was taken back; if not, it is or will be received.
    CancelAnswer {
        /// The sender's request.
        send: Token,
        /// Whether it was.
        granted: bool,
    },
    /// A receive was matched with an announced message, whose bytes were read from where the sender has them.
    Taken {
        /// The sender's request.
        send: Token,
    },
    /// The sender has made a send in parts (`MPI_Psend_init`): the receive of the frame's tag that was made first of those
    /// without a sender gets it, and its messages have the tags from this one on. The length of all is the head's.
    Offer {
        /// The tag of the first part.
        first: Tag,
        /// How many parts.
        parts: u32,
    },
    /// Something is asked of the receiver's ports, or of the names that it keeps.
    Ask(Box<Ask>),
}

impl<P> Body<P> {
    /// Whether a receiver has to act on it after all numbered frames sent before.
    pub fn is_numbered(&self) -> bool {
        use Body::{Access, Announce, Ask, CancelAnswer, CancelAsk, Data, Eager, Offer, Paid, Pull, Taken};
        match self {
            Eager(_)
            | Announce { .. }
            | Paid { .. }
            | CancelAsk { .. }
            | Access { .. }
            | Offer { .. }
            | Ask(_) => true,
            Pull { .. } | Data { .. } | Taken { .. } | CancelAnswer { .. } => false,
        }
    }

    /// Whether something is to be done with a window of the receiver.
    #[inline]
    pub fn is_access(&self) -> bool {
        matches!(self, Body::Access { .. })
    }

    /// The same with its bytes given in another way.
    pub fn map<Q>(self, change: impl FnOnce(P) -> Q) -> Body<Q> {
        match self {
            Body::Eager(payload) => Body::Eager(change(payload)),
            Body::Announce { send, synchronous, loan } => Body::Announce { send, synchronous, loan },
            Body::Paid { send, payload } => Body::Paid { send, payload: change(payload) },
            Body::CancelAsk { send } => Body::CancelAsk { send },
            Body::Access { access, payload } => Body::Access { access, payload: change(payload) },
            Body::Pull { send, receive } => Body::Pull { send, receive },
            Body::Data { receive, payload } => Body::Data { receive, payload: change(payload) },
            Body::Taken { send } => Body::Taken { send },
            Body::Offer { first, parts } => Body::Offer { first, parts },
            Body::Ask(ask) => Body::Ask(ask),
            Body::CancelAnswer { send, granted } => Body::CancelAnswer { send, granted },
        }
    }
}

impl<P> Frame<P> {
    /// The same with its bytes given in another way.
    pub fn map<Q>(self, change: impl FnOnce(P) -> Q) -> Frame<Q> {
        Frame { head: self.head, body: self.body.map(change) }
    }
}

impl Body<Payload> {
    /// How many bytes of a message it has with it.
    pub fn payload_len(&self) -> u64 {
        match self {
            Body::Eager(payload)
            | Body::Paid { payload, .. }
            | Body::Data { payload, .. }
            | Body::Access { payload, .. } => payload.len(),
            _ => 0,
        }
    }
}

/// Bytes of a message on their way.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub enum Payload {
    /// In the frame.
    Inline(Inline),
    /// Copied.
    Copied(Vec<u8>),
    /// Lent by who sends, or of the memory into which they were received.
    Segment(Segment),
}

impl Payload {
    /// A copy of these bytes, in the frame if they are few.
    pub fn of(bytes: &[u8]) -> Payload {
        Inline::of(bytes).map_or_else(|| Payload::Copied(bytes.to_vec()), Payload::Inline)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Payload::Inline(inline) => inline.bytes(),
            Payload::Copied(bytes) => bytes,
            Payload::Segment(segment) => segment.bytes(),
        }
    }

    /// How many they are.
    pub fn len(&self) -> u64 {
        self.bytes().len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }
}

/// Up to [`INLINE_MAX`] bytes without an allocation.
/// Aligned as the words that it is copied by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(8))]
pub struct Inline {
    len: u8,
    bytes: [u8; INLINE_MAX],
}

impl Inline {
    /// `None` if they are too many.
    pub fn of(given: &[u8]) -> Option<Inline> {
        let mut bytes = [0; INLINE_MAX];
        bytes.get_mut(..given.len())?.copy_from_slice(given);
        Some(Inline { len: given.len() as u8, bytes })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// Written by hand: only the bytes that are there travel, and a length from outside is checked.
impl Pup for Inline {
    const MIN_SIZE: usize = 1;

    fn pack(&self, p: &mut Packer) {
        self.len.pack(p);
        p.bytes(self.bytes());
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let len = u8::unpack(u)?;
        if usize::from(len) > INLINE_MAX {
            return Err(u.invalid(format!("{len} bytes inline, where {INLINE_MAX} have room")));
        }
        let mut bytes = [0; INLINE_MAX];
        bytes[..usize::from(len)].copy_from_slice(u.bytes(usize::from(len))?);
        Ok(Inline { len, bytes })
    }
}
