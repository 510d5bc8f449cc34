//! Requests that a program has handles of.

use talisman_pup::Pup;

use crate::engine::Token;

/// What is known of a request besides what the engine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Record {
    /// The engine's request.
    pub token: Token,
    /// The communicator, by its handle: the source of a message is a number in it.
    pub communicator: u32,
    /// Whether it stays when it has ended, to be started again.
    pub is_persistent: bool,
    /// What kind it is.
    pub kind: Kept,
}

/// Requests with statuses of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Kept {
    /// A send, or a collective.
    Send,
    /// A receive.
    Receive,
    /// A receive from no process (`MPI_PROC_NULL`).
    Nobody,
    /// The program's own (`MPI_Grequest_start`).
    Own(Asks),
}

/// The functions of a request of the program's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Asks {
    /// Fills in the status.
    pub query: u64,
    /// Is called when it is gone.
    pub free: u64,
    /// Is called when it is to be taken back.
    pub cancel: u64,
    /// What each is given.
    pub extra: u64,
    /// Whether they are Fortran's.
    pub is_fortran: bool,
}
