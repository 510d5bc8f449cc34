//! Blocking calls of the rank that runs. What comes or leaves while it calls needs no request: most short messages between ranks that
//! wait for each other.

use std::cell::Cell;
use std::panic::Location;

use super::memory::ProgramMemory;
use super::operations::call_operations;
use super::running::{Next, Running, in_turn, state};
use super::waiting::{end_wait, suspend_until_turn, wait_in_call, wait_until_come_later};
use super::{CallError, Caller, TracedCall, neighbors, other_threads};
use crate::engine::{Buffer, Condition, Envelope, Mode, Owner, Pattern, Status, Token, UnknownRequest};
use crate::process::{PerformError, Process};
use crate::thread::Next as NextThread;

/// Begins to send what this says, if it says anything: at once, if it can. Else the request that it ends with.
///
/// # Errors
/// If no rank calls, or an action cannot be done.
///
/// # Safety
/// As for [`call`](super::call).
pub(crate) unsafe fn send<E: Copy>(
    caller: Caller,
    mode: Mode,
    what: impl FnOnce(&mut Process) -> Result<Option<(Envelope, Buffer)>, E>,
) -> Result<Result<Option<Token>, E>, CallError> {
    let (pending, has_due) = in_turn(caller, |running| {
        let pending = match what(running.slots.process) {
            Ok(Some(message)) => Ok(running.begin_send(mode, message)?),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        Ok((pending, running.slots.agenda.has_due()))
    })?;
    if has_due {
        call_operations()?;
    }
    Ok(pending)
}

/// Receives what this says, if it says anything, in this call of the program. `told` makes of its status what is returned.
///
/// # Errors
/// If no rank calls, or an action cannot be done.
///
/// # Safety
/// As for [`call`](super::call).
pub(crate) unsafe fn receive<T: Copy, E: Copy + From<UnknownRequest>>(
    caller: Caller,
    what: impl FnOnce(&mut Process) -> Result<Option<(Pattern, Buffer)>, E>,
    told: impl Fn(&Process, &Status) -> Result<T, E>,
    call: &'static str,
    place: &'static Location<'static>,
) -> Result<Result<Option<T>, E>, CallError> {
    let _traced = TracedCall::begin(call);
    let is_other = other_threads::is_other_thread();
    let begun = in_turn(caller, |running| {
        let (pattern, into) = match what(running.slots.process) {
            Ok(Some(what)) => what,
            Ok(None) => return Ok(Receiving::Over(Ok(None))),
            Err(error) => return Ok(Receiving::Over(Err(error))),
        };
        // What the rank waits for, where it calls or suspended, its first thread waits for.
        if is_other {
            return Ok(Receiving::Begun(running.begin_receive(pattern, into)?, Next::Ask));
        }
        Ok(match running.receive_now(&pattern, &into)? {
            Some(status) => Receiving::Over(told(running.slots.process, &status).map(Some)),
            None if running.awaits_message(pattern, into) => {
                running.slots.site.be_at(call, place);
                Receiving::Awaited(running.pass_on())
            }
            None => {
                let request = running.begin_receive(pattern, into)?;
                Receiving::Begun(request, running.block_on_one(request, call, place))
            }
        })
    })?;
    let end = |process: &mut Process, ended: Result<Status, UnknownRequest>| match ended {
        Ok(status) => told(process, &status).map(Some),
        Err(unknown) => Err(E::from(unknown)),
    };
    let end_awaited = |process: &mut Process| {
        if let Some(status) = process.engine.received() {
            let told = told(process, status).map(Some);
            process.engine.forget_received();
            return told;
        }
        let ended = process.engine.end_awaited();
        end(process, ended)
    };
    let (request, next) = match begun {
        Receiving::Over(result) => return Ok(result),
        Receiving::Awaited(next) => {
            suspend_until_turn(next);
            return end_wait(end_awaited);
        }
        Receiving::Begun(request, next) => (request, next),
    };
    let end_request = |process: &mut Process| {
        let status = process.engine.test(request);
        end(process, status.and_then(|status| status.ok_or(UnknownRequest(request))))
    };
    match next {
        Next::Wait => return wait_until_come_later(end_request),
        Next::GoOn => {}
        Next::Ask => wait_in_call(|| Condition::One(request), call, place)?,
    }
    state(end_request)
}

/// How a receive goes on.
#[derive(Clone, Copy)]
enum Receiving<T> {
    /// It has ended so.
    Over(T),
    /// The rank waits for it, and has passed its turn to this one, or to none.
    Awaited(Option<NextThread>),
    /// It ends with this request.
    Begun(Token, Next),
}

impl Running<'_> {
    /// Begins to send. What leaves at once does so without a look at what else is to be done, if that is nothing.
    fn begin_send(&mut self, mode: Mode, message: (Envelope, Buffer)) -> Result<Option<Token>, PerformError> {
        let slots = &mut self.slots;
        let is_first = slots.agenda.is_empty();
        let actions = &mut slots.agenda.actions;
        // SAFETY: as in `perform`.
        let mut program = unsafe { ProgramMemory::of_running(slots.lender, &*slots.outside) };
        let pending = match is_first {
            true => slots.process.begin_blocking_send(mode, message, &mut program, actions)?,
            false => slots.process.engine.begin_blocking_send(mode, message.0, message.1, actions).pending(),
        };
        let left = program.left();
        self.left += left;
        // What has left leads to nothing.
        if left == 0 {
            self.perform()?;
        }
        Ok(pending)
    }

    /// Receives a message that is here, or that comes while the rank waits for it where it calls.
    fn receive_now(&mut self, pattern: &Pattern, into: &Buffer) -> Result<Option<Status>, PerformError> {
        let slots = &mut self.slots;
        if !slots.process.engine.has_for(pattern) {
            return Ok(self.receive_next(pattern, into));
        }
        let status = slots.process.engine.receive_here(pattern, *into, &mut slots.agenda.actions);
        self.perform()?;
        Ok(status)
    }

    /// Waits for a message, and takes in others meanwhile, as long as the PE has nothing else to do and that is for some microseconds.
    fn receive_next(&mut self, pattern: &Pattern, into: &Buffer) -> Option<Status> {
        // Others wait for what it has sent, and come first.
        if neighbors::has_given() {
            return None;
        }
        let status = Cell::new(None);
        loop {
            let is_on = self.hear(true, |process, message, program, actions| {
                status.set(process.receive_unposted((pattern, into), message, program)?);
                if status.get().is_some() {
                    Ok(true)
                } else {
                    process.receive_whole(message, program, actions)
                }
            });
            if status.get().is_some() || !is_on || self.slots.agenda.has_due() {
                return status.get();
            }
        }
    }

    /// Whether the rank waits for such a message from now on, without a request: not if one is announced, or something comes before.
    fn awaits_message(&mut self, pattern: Pattern, into: Buffer) -> bool {
        let slots = &mut self.slots;
        let awaits = slots.agenda.is_without_operation()
            && !slots.process.engine.has_for(&pattern)
            // Their receives come in the order in which they are posted.
            && !other_threads::may_ask();
        if awaits {
            slots.process.engine.await_message(pattern, into);
        }
        awaits
    }

    fn begin_receive(&mut self, pattern: Pattern, into: Buffer) -> Result<Token, PerformError> {
        let slots = &mut self.slots;
        let request = slots.process.engine.receive(pattern, into, Owner::User, &mut slots.agenda.actions);
        self.perform()?;
        Ok(request)
    }
}
