//! MPI for programs in Rust, in the manner of the crate `mpi`: ported programs change their `use` lines, and ask
//! results whether calls went well.
//!
//! | module | is |
//! |---|---|
//! | [`communicator`] | who there is: universe, communicators, processes |
//! | [`point_to_point`] | sending, receiving, probing |
//! | [`request`] | operations that go on while the program does |
//! | [`persistent`] | the same, begun again and again |
//! | [`view`] | values that do not follow each other |
//! | [`collective`] | what all members of a communicator do together |
//! | [`topology`] | grids and graphs of members |
//! | [`attribute`] | what a program attaches to communicators |
//! | [`op`] | operations of reductions |
//! | [`datatype`] | which values can be sent |
//! | [`chares`] | calls between ranks and other chares |
//! | [`error`] | why a call does nothing |
//!
//! All calls are the caller's turn to let other ranks run: who waits gives the PE to them.

mod alone;
pub mod attribute;
pub mod chares;
pub mod collective;
pub mod communicator;
pub mod datatype;
pub mod error;
pub mod op;
pub mod persistent;
pub mod point_to_point;
pub mod request;
pub mod topology;
mod universe;
pub mod view;

/// What a program of ranks imports.
pub mod traits {
    pub use super::collective::{CommunicatorCollectives, ImmediateCollectives, ImmediateRoot, Root};
    pub use super::datatype::{Buffer, BufferMut, Equivalence};
    pub use super::point_to_point::{Destination, Source};
    pub use talisman_core_macros::Equivalence;
}

pub use alone::run_alone;
pub use attribute::Key;
pub use chares::Mailbox;
pub use collective::{InterCommunicator, Sided};
pub use communicator::{AnyProcess, Color, Communicator, Process};
pub use error::Error;
pub use op::{SystemOperation, UserOperation};
pub use persistent::Persistent;
pub use point_to_point::{Message, Status};
pub use request::{Request, Scope, scope};
pub use universe::{Errors, Output, Universe};
pub use view::{Strides, View, ViewMut};

/// A rank in a communicator.
pub type Rank = i32;
/// A tag of a message.
pub type Tag = i32;
