//! Windows of ranks that wait on this PE: the rank that runs does with them itself what it would ask the others for. None of them runs
//! meanwhile, so what it does is done between two things that they do, and nobody else is at it.
//!
//! Where entries run again (`--ft logging`), and where several nodes are in one process, all goes by frames.

use std::marker::PhantomData;

use super::memory::ProgramMemory;
use super::running::{Caller, Slots, call_from, in_turn, with};
use super::{CallError, neighbors};
use crate::engine::{Actions, Context, Rank};
use crate::process::Process;
use crate::window::{Wanted, Window};

/// The ranks that wait on the PE of the rank that calls, and itself, during a call.
#[derive(Clone, Copy, Debug)]
pub struct Near<'a> {
    /// Whether anything is done but by frames.
    is_open: bool,
    call: PhantomData<&'a ()>,
}

impl Near<'_> {
    /// Takes the lock of the window of a rank that is near, if nobody is in the way. Whether it has it; else that rank is to be asked.
    pub fn takes_lock(&self, process: &mut Process, whom: (Rank, Context), is_exclusive: bool) -> bool {
        let own = process.engine.rank();
        self.at_window(process, whom, |window| window.lock.take(own, is_exclusive)) == Some(true)
    }

    /// Gives it back, if nobody waits for that. Whether it is given back; else that rank is to be told.
    pub fn puts_lock_back(&self, process: &mut Process, whom: (Rank, Context)) -> bool {
        let own = process.engine.rank();
        self.at_window(process, whom, |window| window.lock.put_back(own)) == Some(true)
    }

    fn at_window<T>(
        &self,
        process: &mut Process,
        (target, context): (Rank, Context),
        look: impl FnOnce(&mut Window) -> T,
    ) -> Option<T> {
        if !self.is_open {
            return None;
        }
        if target == process.engine.rank() {
            return process.windows.of_context(context).map(look);
        }
        let mut neighbor = neighbors::look_for(target)?;
        // SAFETY: it waits, so nobody uses it but entries of its own, of which none runs during a call of another one.
        let rank = unsafe { neighbor.rank.as_mut() };
        // One that has come here and has not run is not in place yet.
        rank.thread.slot_mut().put_back_in_turn().ok()?;
        rank.process.windows.of_context(context).map(look)
    }
}

/// As [`call`](super::call), not for an operation of the program, with the ranks that are near.
///
/// # Errors
/// As for that, and if an operation of the program calls.
///
/// # Safety
/// As for that.
pub(crate) unsafe fn call_near<T: Copy>(
    work: impl FnOnce(&mut Process, &mut Actions, Near<'_>) -> T,
) -> Result<T, CallError> {
    let is_open = with(|running| running.slots.lender.is_some())?;
    // SAFETY: the caller's promise.
    unsafe {
        call_from(Caller::Program, |process, out| work(process, out, Near { is_open, call: PhantomData }))
    }
}

/// Does at once what this wants of the window of another rank, if that is near and nothing is in the way. What it wants, if anything, and
/// whether it is done.
///
/// # Errors
/// If no rank calls, or one in an operation of its program, or the program has no such memory.
///
/// # Safety
/// As for [`call`](super::call).
pub(crate) unsafe fn access_near<'a, E: Copy>(
    what: impl FnOnce(&mut Process) -> Result<Option<Wanted<'a>>, E>,
) -> Result<Result<Option<(Wanted<'a>, bool)>, E>, CallError> {
    in_turn(Caller::Program, |running| {
        let Slots { process, lender, .. } = &mut running.slots;
        let wanted = match what(process) {
            Ok(Some(wanted)) => wanted,
            other => return Ok(other.map(|_| None)),
        };
        let (near, own) = (Near { is_open: lender.is_some(), call: PhantomData }, process.engine.rank());
        let span = wanted.span(&process.datatypes).unwrap_or_default();
        let whom = (wanted.target, wanted.context);
        let at = near.at_window(process, whom, |window| wanted.address_in(window, own, span)).flatten();
        if let Some(at) = at {
            // SAFETY: as in `perform`; and the slot of the rank whose window it is is in place, by `at_window`.
            let mut program = unsafe { ProgramMemory::new(*lender) };
            process.access_near(&wanted, at, &mut program)?;
        }
        Ok(Ok(Some((wanted, at.is_some()))))
    })
}
