//! Operations that go on while the program does (MPI-3.1, 3.7).
//!
//! What is begun in a [`scope`] has ended when the scope does, so it may borrow whatever lives longer:
//!
//! ```no_run
//! # use talisman_ampi::api::{self as mpi, Communicator, Error, traits::*};
//! # fn exchange(world: Communicator, left: i32, right: i32) -> Result<f64, Error> {
//! let (mine, mut theirs) = (1.5, 0.0);
//! mpi::scope(|scope| {
//!     let received = world.process_at_rank(left).immediate_receive_into(scope, &mut theirs)?;
//!     let sent = world.process_at_rank(right).immediate_send(scope, &mine)?;
//!     received.wait()?;
//!     sent.wait()
//! })?;
//! # Ok(theirs)
//! # }
//! ```

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::panic::Location;

use super::point_to_point::wait;
use super::{Communicator, Error, Status};
use crate::engine::{AnyOf, Condition, Token};
use crate::rank::{call, give_way, hear_all, outside, state, wait_for};

/// Where requests are made that borrow for `'a`.
#[derive(Debug)]
pub struct Scope<'a> {
    /// Those that were not waited for.
    open: RefCell<Vec<Token>>,
    place: &'static Location<'static>,
    buffers: PhantomData<Cell<&'a ()>>,
}

/// An operation that was begun. Dropping it leaves it to its scope, which waits for it.
#[derive(Debug)]
pub struct Request<'s> {
    token: Token,
    communicator: Communicator,
    open: &'s RefCell<Vec<Token>>,
}

/// Runs `work`, and waits for what that has begun in the scope. A rank that panics in it does not go on: its buffers
/// stay as they are.
#[track_caller]
pub fn scope<'a, R>(work: impl FnOnce(&Scope<'a>) -> R) -> R {
    let scope = Scope { open: RefCell::default(), place: Location::caller(), buffers: PhantomData };
    work(&scope)
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        for token in self.open.take() {
            // A message that was too long is told to who waits for its request, and nobody has.
            let _status = wait(token, "scope", self.place);
            // A persistent one is there still.
            // SAFETY: no buffer is given.
            let _gone = unsafe { call(|process, _| process.free(token).is_ok()) };
        }
    }
}

impl<'a> Scope<'a> {
    pub(super) fn add(&self, token: Token, communicator: Communicator) -> Request<'_> {
        self.open(token);
        Request { token, communicator, open: &self.open }
    }

    /// Waits for a request in the end.
    pub(super) fn open(&self, token: Token) {
        self.open.borrow_mut().push(token);
    }

    /// Somebody has waited for it.
    pub(super) fn close(&self, token: Token) {
        self.open.borrow_mut().retain(|open| *open != token);
    }
}

impl Request<'_> {
    /// Waits until it has ended (`MPI_Wait`).
    ///
    /// # Errors
    /// If a message was longer than the buffer.
    #[track_caller]
    pub fn wait(self) -> Result<Status, Error> {
        self.wait_at("wait", Location::caller())
    }

    pub(super) fn wait_at(
        self,
        name: &'static str,
        place: &'static Location<'static>,
    ) -> Result<Status, Error> {
        let status = wait(self.token, name, place)?;
        self.close();
        Status::of(&status, self.communicator)
    }

    /// Whether it has ended (`MPI_Test`); if not, it is given back. Who only asks lets other ranks run now and then.
    ///
    /// # Errors
    /// If a message was longer than the buffer.
    pub fn test(self) -> Result<Result<Status, Self>, Error> {
        let token = self.token;
        // SAFETY: no buffer is given.
        let look = || unsafe { call(|process, _| process.engine.test(token)) };
        let mut status = look()??;
        if count_look(status.is_some()) {
            status = look()??;
        }
        let Some(status) = status else { return Ok(Err(self)) };
        self.close();
        Status::of(&status, self.communicator).map(Ok)
    }

    /// Asks to take it back (`MPI_Cancel`). It is to be waited for as ever; the status says whether it was.
    ///
    /// # Errors
    /// If it is not there.
    pub fn cancel(&self) -> Result<(), Error> {
        let token = self.token;
        // SAFETY: no buffer is given.
        Ok(unsafe { call(|process, out| process.engine.cancel(token, out)) }??)
    }

    fn close(&self) {
        self.open.borrow_mut().retain(|open| *open != self.token);
    }
}

/// Waits until all have ended (`MPI_Waitall`); their statuses, in order.
///
/// # Errors
/// If a message was longer than its buffer. All have ended then, too.
#[track_caller]
pub fn wait_all(requests: Vec<Request<'_>>) -> Result<Vec<Status>, Error> {
    let place = Location::caller();
    wait_for(|| Condition::All(requests.iter().map(|request| request.token).collect()), "wait_all", place)?;
    let ended: Vec<_> = requests.into_iter().map(|request| request.wait_at("wait_all", place)).collect();
    ended.into_iter().collect()
}

/// Waits until one has ended (`MPI_Waitany`), and takes it out; its place, and its status. `None` if there is none.
///
/// # Errors
/// If a message was longer than its buffer.
#[track_caller]
pub fn wait_any(requests: &mut Vec<Request<'_>>) -> Result<Option<(usize, Status)>, Error> {
    let place = Location::caller();
    wait_for(|| Condition::Any(requests.iter().map(|request| request.token).collect()), "wait_any", place)?;
    test_any(requests)
}

/// One of those that have ended (`MPI_Testany`), taken out; its place, and its status.
///
/// # Errors
/// If a message was longer than its buffer.
pub fn test_any(requests: &mut Vec<Request<'_>>) -> Result<Option<(usize, Status)>, Error> {
    // SAFETY: no buffer is given; the list is made and gone in the call.
    let look = || unsafe {
        call(|process, _| {
            let tokens: Vec<_> = requests.iter().map(|request| Some(request.token)).collect();
            process.engine.test_any(&tokens)
        })
    };
    let mut found = look()??;
    if count_look(matches!(found, AnyOf::Done(..))) {
        found = look()??;
    }
    let AnyOf::Done(at, status) = found else { return Ok(None) };
    let request = requests.remove(at);
    request.close();
    Ok(Some((at, Status::of(&status, request.communicator)?)))
}

/// Waits until at least one has ended (`MPI_Waitsome`), and takes those out that have: their places, and their statuses.
///
/// # Errors
/// If a message was longer than its buffer. Those that have ended are taken out then, too.
#[track_caller]
pub fn wait_some(requests: &mut Vec<Request<'_>>) -> Result<Vec<(usize, Status)>, Error> {
    let place = Location::caller();
    wait_for(|| Condition::Any(requests.iter().map(|request| request.token).collect()), "wait_some", place)?;
    let mut ended = Vec::new();
    let mut open = Vec::new();
    for (at, request) in requests.drain(..).enumerate() {
        match request.test() {
            Ok(Ok(status)) => ended.push(Ok((at, status))),
            Ok(Err(request)) => open.push(request),
            Err(error) => ended.push(Err(error)),
        }
    }
    *requests = open;
    ended.into_iter().collect()
}

/// Fruitless looks after which a rank lets the others run.
const LOOKS: u32 = 64;

/// A rank has looked for a message. As [`count_look`]; but it does not look again if a request of its own has ended meanwhile: a message
/// that was sent because of that would be found before the program has seen the request end. Who agrees twice by a barrier, with
/// one tag, would take it for one of the first time.
pub(crate) fn count_probe(found: bool) -> bool {
    count_look(found) && state(|process| process.engine.has_unseen_end()) == Ok(false)
}

/// A rank has looked for a message or the end of a request. Who finds nothing lets the others run if there is anything for them to do, or
/// to be heard: what it looks for may be there, or depend on them. Else it does so now and then. Whether it has: then it looks again.
pub(crate) fn count_look(found: bool) -> bool {
    // SAFETY: no buffer is given.
    let looks = unsafe {
        call(|process, _| {
            process.fruitless_looks = if found { 0 } else { (process.fruitless_looks + 1) % LOOKS };
            !found && process.fruitless_looks == 0
        })
    };
    // What it looks for may have come to the PE already: then it need not give way for it.
    if !found && hear_all() {
        return true;
    }
    let may_have_come = || outside(|outside| outside.may_have_come());
    let gives_way = looks == Ok(true) || !found && may_have_come() == Ok(true);
    if gives_way {
        give_way();
    }
    gives_way
}
