//! What the binary interfaces of MPI are made of, besides [`rank::call`]: waiting in the program's
//! call by its name, time, and letting others run.

use std::panic::Location;
use std::time::Duration;

use crate::api::request::{count_look, count_probe};
use crate::comm::World;
use crate::engine::{Actions, Buffer, Condition, Envelope, Mode, Pattern, Status, Token, UnknownRequest};
use crate::process::Process;
use crate::rank::{
    self, CallError, Caller, Command, call_outside_operations, give_way, is_other_thread, outside, state,
    wait_in_call,
};
pub use crate::rank::{Near, TracedCall};
use crate::window::Wanted;

/// Suspends the rank that calls until these requests have ended, in this call of the program.
///
/// # Errors
/// If no rank calls.
#[track_caller]
pub fn wait_all(name: &'static str, requests: &[Token]) -> Result<(), CallError> {
    let condition = || match requests {
        [request] => Condition::One(*request),
        _ => Condition::All(requests.to_vec()),
    };
    wait_in_call(condition, name, Location::caller())
}

/// Works on MPI's state as [`rank::call`] does, but not for an operation of the program.
///
/// # Errors
/// If no rank calls, or one in an operation of its program, or an action cannot be done.
///
/// # Safety
/// As for that.
pub unsafe fn call<T: Copy>(work: impl FnOnce(&mut Process, &mut Actions) -> T) -> Result<T, CallError> {
    // SAFETY: the caller's promise.
    unsafe { call_outside_operations(work) }
}

/// Works on MPI's state of the rank that calls, where that leads to nothing: operations of the program may do so.
///
/// # Errors
/// If no rank calls.
pub fn local<T: Copy>(work: impl FnOnce(&mut Process) -> T) -> Result<T, CallError> {
    state(work)
}

/// Does at once what this wants of the window of another rank, if that one waits on its PE and nothing is in the way. What it wants, if
/// anything, and whether it is done; else that rank is to be asked.
///
/// # Errors
/// If no rank calls, or one in an operation of its program, or the program has no such memory.
///
/// # Safety
/// As for [`rank::call`].
pub unsafe fn access_near<'a, E: Copy>(
    what: impl FnOnce(&mut Process) -> Result<Option<Wanted<'a>>, E>,
) -> Result<Result<Option<(Wanted<'a>, bool)>, E>, CallError> {
    // SAFETY: the caller's promise.
    unsafe { rank::access_near(what) }
}

/// As [`call`], with the ranks that wait on the PE of the one that calls.
///
/// # Errors
/// As for that.
///
/// # Safety
/// As for that.
pub unsafe fn call_near<T: Copy>(
    work: impl FnOnce(&mut Process, &mut Actions, Near<'_>) -> T,
) -> Result<T, CallError> {
    // SAFETY: the caller's promise.
    unsafe { rank::call_near(work) }
}

/// Begins to send what this says, if it says anything: at once, if it can. Else the request that it ends with.
///
/// # Errors
/// If no rank calls, or one in an operation of its program, or the message cannot be read.
///
/// # Safety
/// As for [`rank::call`].
pub unsafe fn send<E: Copy>(
    mode: Mode,
    what: impl FnOnce(&mut Process) -> Result<Option<(Envelope, Buffer)>, E>,
) -> Result<Result<Option<Token>, E>, CallError> {
    // SAFETY: the caller's promise.
    unsafe { crate::rank::send(Caller::Program, mode, what) }
}

/// Receives what this says, if it says anything, in this call of the program. `told` makes of its status what is returned.
///
/// # Errors
/// If no rank calls, or one in an operation of its program, or the message cannot be put there.
///
/// # Safety
/// As for [`rank::call`].
#[track_caller]
pub unsafe fn receive<T: Copy, E: Copy + From<UnknownRequest>>(
    name: &'static str,
    what: impl FnOnce(&mut Process) -> Result<Option<(Pattern, Buffer)>, E>,
    told: impl Fn(&Process, &Status) -> Result<T, E>,
) -> Result<Result<Option<T>, E>, CallError> {
    // SAFETY: the caller's promise.
    unsafe { crate::rank::receive(Caller::Program, what, told, name, Location::caller()) }
}

/// Suspends the rank that calls until one of these requests has ended, in this call of the program.
///
/// # Errors
/// If no rank calls.
#[track_caller]
pub fn wait_any(name: &'static str, requests: &[Token]) -> Result<(), CallError> {
    wait_in_call(|| Condition::Any(requests.to_vec()), name, Location::caller())
}

/// Suspends the rank that calls until a message is there that this accepts, in this call of the program.
///
/// # Errors
/// If no rank calls.
#[track_caller]
pub fn wait_message(name: &'static str, pattern: Pattern) -> Result<(), CallError> {
    wait_in_call(|| Condition::Message(pattern), name, Location::caller())
}

/// Starts ranks of a world that run these commands, in this call of the program: they begin if all of them can; else none does.
///
/// # Errors
/// If no rank calls, or another thread of one. Within that: why one cannot begin.
#[track_caller]
pub fn start(
    name: &'static str,
    world: &World,
    commands: &[Command],
) -> Result<Result<(), String>, CallError> {
    if is_other_thread() {
        return Err(CallError::NoRank);
    }
    crate::rank::start(world, commands, (name, Location::caller()))
}

/// Time since the job started.
///
/// # Errors
/// If no rank calls, or another thread of one: that is not to wait for it.
pub fn now() -> Result<Duration, CallError> {
    if is_other_thread() {
        return Err(CallError::NoRank);
    }
    outside(|outside| outside.now())
}

/// The PE that the rank is on, of so many.
///
/// # Errors
/// If no rank calls.
pub fn pe() -> Result<(u32, u32), CallError> {
    outside(|outside| outside.pe())
}

/// The rank has looked for a message or the end of a request, and has found it or not: who finds nothing again and
/// again lets the others run. Whether it has: then it may look once more.
pub fn has_looked(found: bool) -> bool {
    count_look(found)
}

/// The same of a message: the rank does not look once more if a request of its own has ended meanwhile, which it is to see first.
pub fn has_probed(found: bool) -> bool {
    count_probe(found)
}

/// Lets the other ranks of the PE run.
///
/// # Panics
/// If no rank calls.
pub fn yield_now() {
    give_way();
}
