//! Why a call does nothing, or not what was asked for.

use thiserror::Error;

use crate::comm::{TooMany, UnknownCommunicator};
use crate::engine::{Truncated, UnknownRequest};
use crate::process::PerformError;
use crate::rank::CallError;

/// An error of a call of MPI (MPI-3.1, 8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// A message was longer than the buffer (`MPI_ERR_TRUNCATE`). The buffer has what it has room for.
    #[error(transparent)]
    Truncated(#[from] Truncated),
    /// A rank that the communicator does not have (`MPI_ERR_RANK`).
    #[error("there is no rank {rank} in a communicator of {size}")]
    Rank {
        /// The rank.
        rank: i32,
        /// How many the communicator has.
        size: i32,
    },
    /// A negative tag (`MPI_ERR_TAG`).
    #[error("tag {0}: tags are not negative")]
    Tag(i32),
    /// Buffers that do not fit together (`MPI_ERR_COUNT`).
    #[error("the {buffer} buffer has {here} values where {wanted} are needed")]
    Count {
        /// Which one.
        buffer: &'static str,
        /// How many values it has.
        here: usize,
        /// How many are needed.
        wanted: usize,
    },
    /// A message of other values: its length is no multiple of theirs (`MPI_ERR_TYPE`).
    #[error("a message of {bytes} bytes is no sequence of values of {size} bytes")]
    Type {
        /// Bytes of the message.
        bytes: u64,
        /// Bytes of a value.
        size: usize,
    },
    /// A communicator that was freed (`MPI_ERR_COMM`).
    #[error(transparent)]
    Communicator(#[from] UnknownCommunicator),
    /// Too many communicators were made.
    #[error(transparent)]
    Contexts(#[from] TooMany),
    /// A request that has ended, or a message that was received (`MPI_ERR_REQUEST`).
    #[error("the request or message is not there any more")]
    Request,
    /// A persistent operation that was begun and not waited for (`MPI_ERR_REQUEST`).
    #[error("the operation was begun, and was not waited for")]
    Active,
    /// A communicator without such a topology, or members that it does not fit (`MPI_ERR_TOPOLOGY`).
    #[error("the communicator has no such topology, or too few members for it")]
    Topology,
    /// A key of attributes that was freed (`MPI_ERR_KEYVAL`).
    #[error("the key of an attribute is not there: it was freed")]
    Key,
    /// A collective of one group, called on two (`MPI_ERR_COMM`).
    #[error("the communicator is of two groups, which have collectives of their own")]
    TwoGroups,
    /// A chare has sent something else to the rank's mailbox than it takes out, or a value cannot be packed.
    #[error("what a chare has sent is no value of the kind that the rank takes")]
    Post,
    /// No rank calls, or something that was given to the call is not there.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl From<PerformError> for Error {
    fn from(error: PerformError) -> Error {
        CallError::from(error).into()
    }
}

impl From<UnknownRequest> for Error {
    fn from(_: UnknownRequest) -> Error {
        Error::Request
    }
}
