//! How a rank waits in a call of its program: others have their turns until what it waits for has come.

use std::panic::Location;

use super::operations::call_operations;
use super::running::{CallError, Slots, look, state, with};
use super::{TracedCall, neighbors, other_threads};
use crate::engine::{Condition, Pattern, Token};
use crate::process::Process;
use crate::thread::{Next as NextThread, suspend, suspend_for};

/// Suspends the rank that calls until all these requests have ended.
///
/// # Errors
/// If no rank calls.
#[track_caller]
pub fn wait_all(requests: &[Token]) -> Result<(), CallError> {
    let place = Location::caller();
    match requests {
        [request] => wait_for(|| Condition::One(*request), "wait", place),
        _ => wait_for(|| Condition::All(requests.to_vec()), "wait_all", place),
    }
}

/// Suspends the rank that calls until one of these requests has ended.
///
/// # Errors
/// If no rank calls.
#[track_caller]
pub fn wait_any(requests: &[Token]) -> Result<(), CallError> {
    wait_for(|| Condition::Any(requests.to_vec()), "wait_any", Location::caller())
}

/// Suspends the rank that calls until a message is there that this accepts.
///
/// # Errors
/// If no rank calls.
#[track_caller]
pub fn wait_message(pattern: Pattern) -> Result<(), CallError> {
    wait_for(|| Condition::Message(pattern), "probe", Location::caller())
}

/// Suspends the rank that calls until the condition holds, in this call of the program. The condition is made on the
/// process's heap, where the engine keeps it.
///
/// # Errors
/// If no rank calls.
pub(crate) fn wait_for(
    condition: impl FnOnce() -> Condition,
    call: &'static str,
    place: &'static Location<'static>,
) -> Result<(), CallError> {
    let _traced = TracedCall::begin(call);
    wait_in_call(condition, call, place)
}

/// The same within a call that tells a trace of itself.
///
/// # Errors
/// If no rank calls.
pub(crate) fn wait_in_call(
    condition: impl FnOnce() -> Condition,
    call: &'static str,
    place: &'static Location<'static>,
) -> Result<(), CallError> {
    if other_threads::is_other_thread() {
        return other_threads::wait_until(&condition());
    }
    not_in_operation()?;
    call_operations()?;
    let holds = with(|running| running.block_on(condition(), call, place))?;
    if holds { Ok(()) } else { wait_until_come() }
}

/// Waits until that has come which the engine says that the rank waits for.
fn wait_until_come() -> Result<(), CallError> {
    wait_until(has_come, || with(|running| running.hear_until(has_come)))
}

/// The same for a rank that has waited for it where it called: others have their turns first. Then `end` is done.
pub(super) fn wait_until_come_later<T: Copy>(end: impl Fn(&mut Process) -> T) -> Result<T, CallError> {
    wait_for_turn()?;
    end_wait(end)
}

/// The same when it is resumed.
pub(super) fn end_wait<T: Copy>(end: impl Fn(&mut Process) -> T) -> Result<T, CallError> {
    // Mostly it is resumed for just that.
    let ended = with(|running| {
        let is_over = !running.slots.agenda.has_due() && has_come(&running.slots);
        is_over.then(|| end(running.slots.process))
    })?;
    match ended {
        Some(ended) => return Ok(ended),
        None => call_operations()?,
    }
    if look(|running| !has_come(&running.slots)).ok_or(CallError::NoRank)? {
        wait_until_come()?;
    }
    state(end)
}

/// The rank that calls waits: it is suspended, and the one that it has given something to goes on, or the PE.
fn wait_for_turn() -> Result<(), CallError> {
    if other_threads::may_ask() {
        return other_threads::wait_a_turn();
    }
    let next = if neighbors::has_given() { with(|running| running.pass_on())? } else { None };
    suspend_until_turn(next);
    Ok(())
}

/// The same of one that has passed its turn on, or has not.
#[inline]
pub(super) fn suspend_until_turn(next: Option<NextThread>) {
    next.map_or_else(suspend, suspend_for);
}

/// Whether what the rank waits for has come.
fn has_come(slots: &Slots<'_>) -> bool {
    slots.process.engine.waits_for().is_none()
}

/// Gives the PE back until this holds. Operations of the program that are due meanwhile are called.
pub(super) fn suspend_until(holds: impl Fn(&Slots<'_>) -> bool) -> Result<(), CallError> {
    wait_until(holds, || Ok(false))
}

/// The same, unless something of it comes before: whether it has is said by `hear`.
fn wait_until(
    holds: impl Fn(&Slots<'_>) -> bool,
    hear: impl Fn() -> Result<bool, CallError>,
) -> Result<(), CallError> {
    loop {
        if !hear()? {
            wait_for_turn()?;
        }
        let seen = look(|running| (running.slots.agenda.has_due(), holds(&running.slots)));
        match seen.ok_or(CallError::NoRank)? {
            (true, _) => call_operations()?,
            (false, true) => return Ok(()),
            (false, false) => continue,
        }
        if look(|running| holds(&running.slots)).ok_or(CallError::NoRank)? {
            return Ok(());
        }
    }
}

/// Who is in an operation would wait for what comes after it.
pub(super) fn not_in_operation() -> Result<(), CallError> {
    match look(|running| running.slots.agenda.is_in_operation()) {
        Some(true) => Err(CallError::InOperation),
        _ => Ok(()),
    }
}
