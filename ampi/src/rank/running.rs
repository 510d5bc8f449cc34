//! Calls of the rank that runs.

use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

use thiserror::Error;

use super::memory::Program;
use super::{Outgoing, RankError};
use crate::engine::{Actions, Condition, Pattern, Token};
use crate::process::{Outcome, PerformError, Process};
use crate::slot::on_process_heap;
use crate::thread::{Resumed, Thread, suspend};

thread_local! {
    /// What the rank that runs on this thread may call; null while none does.
    static RUNNING: Cell<*mut ()> = const { Cell::new(null_mut()) };
}

/// What the rank that runs works on.
pub(super) struct Running<'a> {
    process: &'a mut Process,
    /// Empty between calls.
    actions: &'a mut Actions,
    sent: &'a mut Vec<Outgoing>,
    /// What it waits for has come while it was not suspended yet; or it waits for nothing.
    woken: bool,
}

/// Why a call does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CallError {
    /// No rank calls.
    #[error("only a rank can call MPI, and none runs on this thread, or it is in a call")]
    NoRank,
    /// Something that was given to it is not there.
    #[error(transparent)]
    Perform(#[from] PerformError),
}

impl<'a> Running<'a> {
    pub fn new(
        process: &'a mut Process,
        actions: &'a mut Actions,
        sent: &'a mut Vec<Outgoing>,
    ) -> Running<'a> {
        Running { process, actions, sent, woken: false }
    }

    /// Resumes the thread, which calls this meanwhile.
    pub fn run(&mut self, thread: &mut Thread) -> Result<Resumed, RankError> {
        // Not longer than this call, also if it panics.
        struct Cleared;
        impl Drop for Cleared {
            fn drop(&mut self) {
                RUNNING.set(null_mut());
            }
        }
        let _cleared = Cleared;
        RUNNING.set(std::ptr::from_mut(self).cast());
        Ok(thread.resume()?)
    }

    pub fn is_woken(&self) -> bool {
        self.woken || self.process.engine.waits_for().is_none()
    }

    fn perform(&mut self) -> Result<(), PerformError> {
        // SAFETY: the rank runs, so its slot is in place; addresses are those of calls that have not ended, by
        // `call`'s promise.
        let mut program = unsafe { Program::new() };
        for action in self.actions.drain(..) {
            match self.process.perform(action, &mut program)? {
                Outcome::Done => {}
                Outcome::Send { to, frame } => self.sent.push((to, frame)),
                Outcome::Wake => self.woken = true,
            }
        }
        Ok(())
    }
}

/// Works on MPI's state of the rank that calls, and does what that leads to. What the work allocates is on the
/// process's heap.
///
/// # Errors
/// If no rank calls, or an action cannot be done.
///
/// # Safety
/// Buffers that are given to the engine stay the program's, unused by it, until their requests have ended; those that
/// are written to are borrowed mutably. Functions of operations are `fn(UserCombine<'_>)`. What the state keeps was
/// allocated by the work itself, not by the rank before, and what the rank keeps has nothing of it.
pub unsafe fn call<T: Copy>(work: impl FnOnce(&mut Process, &mut Actions) -> T) -> Result<T, CallError> {
    // Taken while it is used: an operation of the program that calls MPI finds no rank.
    struct Taken(NonNull<Running<'static>>);
    impl Drop for Taken {
        fn drop(&mut self) {
            RUNNING.set(self.0.as_ptr().cast());
        }
    }
    let mut taken = Taken(NonNull::new(RUNNING.replace(null_mut()).cast()).ok_or(CallError::NoRank)?);
    on_process_heap(|| {
        // SAFETY: set by `run`, which has not returned while the rank runs, and has lent it; and it is used once at a
        // time.
        let running = unsafe { taken.0.as_mut() };
        let result = work(running.process, running.actions);
        running.perform()?;
        Ok(result)
    })
}

/// Suspends the rank that calls until all these requests have ended.
///
/// # Errors
/// If no rank calls.
pub fn wait_all(requests: &[Token]) -> Result<(), CallError> {
    match requests {
        [request] => wait_for(|| Condition::One(*request)),
        _ => wait_for(|| Condition::All(requests.to_vec())),
    }
}

/// Suspends the rank that calls until one of these requests has ended.
///
/// # Errors
/// If no rank calls.
pub fn wait_any(requests: &[Token]) -> Result<(), CallError> {
    wait_for(|| Condition::Any(requests.to_vec()))
}

/// Suspends the rank that calls until a message is there that this accepts.
///
/// # Errors
/// If no rank calls.
pub fn wait_message(pattern: Pattern) -> Result<(), CallError> {
    wait_for(|| Condition::Message(pattern))
}

/// The condition is made on the process's heap, where the engine keeps it.
fn wait_for(condition: impl FnOnce() -> Condition) -> Result<(), CallError> {
    // SAFETY: no buffer is given, and what stays was made by the work.
    let holds = unsafe { call(|process, _| process.engine.block_on(condition())) }?;
    if !holds {
        suspend();
    }
    Ok(())
}
