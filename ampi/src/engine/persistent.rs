//! Requests that are started again and again (MPI-3.1, 3.9), that others finish, or that nobody waits for.

use thiserror::Error;

use super::request::{Owner, Plan, State, UnknownRequest};
use super::{Actions, Engine, Status, Token};

/// Why a request cannot be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StartError {
    /// There is none.
    #[error(transparent)]
    Unknown(#[from] UnknownRequest),
    /// It is not persistent.
    #[error("only persistent requests are started")]
    NotPersistent,
    /// It has not ended.
    #[error("the request is active: it is started again when it was waited for")]
    Active,
}

impl Engine {
    /// Starts a persistent request (`MPI_Start`). Returns whether it is one that its owner carries out: a collective.
    ///
    /// # Errors
    /// If it is not there, not persistent or active.
    pub fn start(&mut self, token: Token, out: &mut Actions) -> Result<bool, StartError> {
        let request = self.requests.known(token)?;
        let plan = request.plan.ok_or(StartError::NotPersistent)?;
        if request.state != State::Inactive {
            return Err(StartError::Active);
        }
        match plan {
            Plan::Send { mode, envelope, buffer } => self.begin_send(token, mode, envelope, buffer, out),
            Plan::Receive { pattern, buffer } => self.begin_receive(token, pattern, buffer, out),
            Plan::Opened => request.state = State::Opened,
        }
        Ok(plan == Plan::Opened)
    }

    /// A request that ends when [`Engine::finish`] is called: a collective, or one of the program's own
    /// (`MPI_Grequest_start`).
    pub fn open(&mut self, owner: Owner) -> Token {
        self.requests.insert(owner, None, State::Opened)
    }

    /// As [`Engine::open`], for one that [`Engine::start`] starts.
    pub fn open_init(&mut self, owner: Owner) -> Token {
        self.requests.insert(owner, Some(Plan::Opened), State::Inactive)
    }

    /// Ends a request that was opened.
    pub fn finish(&mut self, token: Token, status: Status, out: &mut Actions) {
        if self.requests.get(token).is_some_and(|request| request.state == State::Opened) {
            self.complete(token, status, out);
        }
    }

    /// A request that has ended, for messages to and from no process (`MPI_PROC_NULL`).
    pub fn null(&mut self) -> Token {
        self.requests.insert(Owner::User, None, State::Complete(Status::EMPTY))
    }

    /// Nobody will wait for this request (`MPI_Request_free`): it is gone when it has ended.
    ///
    /// # Errors
    /// If there is no such request.
    pub fn free(&mut self, token: Token) -> Result<(), UnknownRequest> {
        let request = self.requests.known(token)?;
        request.owner = Owner::Nobody;
        if matches!(request.state, State::Complete(_) | State::Inactive) {
            self.requests.remove(token);
        }
        Ok(())
    }
}
