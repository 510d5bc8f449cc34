//! Calls of the rank that runs.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr::{NonNull, null_mut};
use std::thread::panicking;

use talisman_core::cx::Heard;
use thiserror::Error;

use super::lending::Lender;
use super::memory::ProgramMemory;
use super::neighbors::Neighbor;
use super::operations::call_operations;
use super::{Agenda, Outgoing, Outside, Rank, RankError, Site, Texts, give_way, neighbors, other_threads};
use crate::engine::{Actions, Condition, Token, Whole};
use crate::process::{Incoming, PerformError, Process};
use crate::slot::Allocating;
use crate::thread::{Next as NextThread, suspend};

thread_local! {
    /// What the rank that runs on this thread may call; null while none does.
    static RUNNING: Cell<*mut ()> = const { Cell::new(null_mut()) };
}

/// What the rank that runs works on.
pub(super) struct Running<'a> {
    pub slots: Slots<'a>,
    /// The rank that they are of.
    at: NonNull<Rank>,
    /// Frames that were to be sent before it ran.
    had_sent: usize,
    /// On their way to the rank's heap.
    pub(super) copied: Vec<u8>,
    /// Frames that have left while it ran.
    pub(super) left: usize,
    /// Frames that it has got while it ran.
    pub(super) got: usize,
    /// How often it has asked for something of a window that was done at once.
    pub(super) asked: u32,
    /// A panic of the runtime while it was called: it is not the rank's, and does not unwind it.
    panic: Option<Box<dyn Any + Send>>,
}

/// The parts of a rank that its calls work on, and what is outside.
pub(super) struct Slots<'a> {
    pub process: &'a mut Process,
    pub agenda: &'a mut Agenda,
    pub sent: &'a mut Vec<Outgoing>,
    pub outside: &'a mut dyn Outside,
    pub texts: &'a mut Texts,
    pub site: &'a mut Site,
    pub is_paused: &'a mut bool,
    pub looks_again: &'a mut bool,
    pub released: &'a mut u32,
    /// Why it cannot go on.
    pub failure: &'a mut Option<String>,
    /// It, if it lends what it announces.
    pub lender: Option<Lender<'a>>,
}

/// Why a call does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CallError {
    /// No rank calls.
    #[error("only a rank can call MPI, and none runs on this thread, or it is in a call")]
    NoRank,
    /// An operation of the program calls something that waits.
    #[error("an operation of a reduction cannot wait")]
    InOperation,
    /// Something that was given to it is not there.
    #[error(transparent)]
    Perform(#[from] PerformError),
}

impl<'a> Running<'a> {
    /// # Safety
    /// The rank is there as long as this, and nobody else uses it.
    pub unsafe fn new(
        mut at: NonNull<Rank>,
        outside: &'a mut dyn Outside,
        sent: &'a mut Vec<Outgoing>,
    ) -> Running<'a> {
        let had_sent = sent.len();
        // SAFETY: the caller's promise.
        let slots = unsafe { at.as_mut() }.slots(outside, sent);
        Running { slots, at, had_sent, copied: Vec::new(), left: 0, got: 0, asked: 0, panic: None }
    }

    /// The rank that runs, or has run at last.
    pub fn at(&self) -> NonNull<Rank> {
        self.at
    }

    /// Frames that it has got while it ran.
    pub fn got(&self) -> usize {
        self.got
    }

    /// Frames that it has sent while it ran.
    pub fn has_sent(&self) -> usize {
        self.left + self.slots.sent.len() - self.had_sent
    }

    /// Resumes the thread, which calls this meanwhile.
    /// Returns whether it waits; else its program is over.
    pub fn run(&mut self) -> Result<bool, RankError> {
        // Not longer than this call, also if it panics.
        struct Cleared;
        impl Drop for Cleared {
            fn drop(&mut self) {
                RUNNING.set(null_mut());
            }
        }
        let _cleared = Cleared;
        RUNNING.set(std::ptr::from_mut(self).cast());
        // SAFETY: the promise of `new`; what is lent of the rank to its calls is something else.
        let is_suspended = unsafe { &mut (*self.at.as_ptr()).thread }.run()?;
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
        Ok(is_suspended)
    }

    /// The rank waits. If all that it has done is that one other of its PE is ready by what it has given to that, which nobody else
    /// comes before, it has had its turn, and what runs is that one from now on: it goes on where it waits.
    #[inline(never)]
    pub(super) fn pass_on(&mut self) -> Option<NextThread> {
        let given = neighbors::only_ready()?;
        let Slots { process, agenda, sent, outside, failure, .. } = &mut self.slots;
        let waits = process.engine.waits_for().is_some() && agenda.is_empty();
        if !waits || !sent.is_empty() || failure.is_some() || self.panic.is_some() || panicking() {
            return None;
        }
        let Neighbor { rank: mut next, seat } = given.receiver;
        // SAFETY: the rank that runs; what calls borrow of it is something else.
        let (place, thread) = unsafe { (&(*self.at.as_ptr()).place, &(*self.at.as_ptr()).thread) };
        // SAFETY: it waits on this PE, so nobody uses it but entries of its own, of which none runs now.
        let rank = unsafe { next.as_mut() };
        let can_be = place.is_set() && !thread.is_held_anew() && rank.thread.can_have_turn();
        // SAFETY: it waits on this PE, and is ready by what it has been given.
        if !can_be || !unsafe { outside.pass_turn(seat) } {
            return None;
        }
        neighbors::take_only();
        let sent = self.has_sent();
        // SAFETY: the rank that runs; what calls borrow of it is not used any more.
        let former = unsafe { self.at.as_mut() };
        former.waits_on(sent, self.got);
        rank.is_called = false;
        rank.activity.runs();
        let thread = rank.thread.begin_turn_of(&former.thread);
        (self.at, self.had_sent, self.left, self.got, self.asked) = (next, 0, 0, 0, 0);
        self.slots.are_of(rank);
        Some(thread)
    }

    /// Does what is to be done, up to an operation of the program.
    pub fn perform(&mut self) -> Result<(), PerformError> {
        let done = loop {
            let Slots { process, agenda, sent, outside, lender, .. } = &mut self.slots;
            // SAFETY: the rank runs, so its slot is in place, as are those of all that lend; addresses are those of calls
            // that have not ended, by `call`'s promise.
            let mut program = unsafe { ProgramMemory::of_running(*lender, &**outside) };
            // One that is woken looks itself whether what it waits for has come.
            let done = agenda.perform(process, &mut program, sent).map(|_is_woken| ());
            self.left += program.left();
            if done.is_err() || !self.give_now() {
                break done;
            }
        };
        let Slots { sent, outside, .. } = &mut self.slots;
        // The program may compute before it waits again.
        if !sent.is_empty() {
            let all = sent.len();
            outside.send_now(sent);
            self.left += all - sent.len();
        }
        done
    }

    /// Work on MPI's state, and what it leads to.
    fn work<T>(&mut self, work: impl FnOnce(&mut Process, &mut Actions) -> T) -> Result<T, PerformError> {
        let result = work(self.slots.process, &mut self.slots.agenda.actions);
        self.perform()?;
        Ok(result)
    }

    /// Takes in what comes for the rank while it waits, as long as its PE has nothing else to do and that is for some microseconds:
    /// what it waits for is mostly on its way, and neither is the rank suspended for it, nor a frame made of it. Whether it is to go on.
    pub(super) fn hear_until(&mut self, holds: impl Fn(&Slots<'_>) -> bool) -> bool {
        while self.hear_for_posted(true) {
            if holds(&self.slots) || self.slots.agenda.has_due() {
                return true;
            }
        }
        false
    }

    /// Takes in what has come for the rank, if its PE has nothing else to do. Whether that was anything.
    fn hear_all(&mut self) -> bool {
        let mut any = false;
        while self.hear_for_posted(false) {
            any = true;
        }
        any
    }

    fn hear_for_posted(&mut self, waits: bool) -> bool {
        self.hear(waits, |process, message, program, actions| {
            process.receive_whole(message, program, actions)
        })
    }

    /// Takes in a message that comes for the rank, before anything else comes, if `receive` finds a receive that waits for it. If it
    /// `waits`, that is for some microseconds.
    pub(super) fn hear(
        &mut self,
        waits: bool,
        mut receive: impl FnMut(
            &mut Process,
            Incoming<'_>,
            &mut ProgramMemory<'_>,
            &mut Actions,
        ) -> Result<bool, PerformError>,
    ) -> bool {
        let Slots { process, agenda, sent, outside, lender, failure, .. } = &mut self.slots;
        // Others wait for what it has sent, and come first.
        if !agenda.is_empty() || !sent.is_empty() || neighbors::has_given() || failure.is_some() {
            return false;
        }
        let mut received = Ok(false);
        let heard = outside.hear(waits, &mut |packed, rest| {
            let Some(whole) = Whole::read(packed, rest.len()) else { return false };
            // SAFETY: as in `perform`.
            let mut program = unsafe { ProgramMemory::new(*lender) };
            received = receive(process, Incoming { whole, rest }, &mut program, &mut agenda.actions);
            received != Ok(false)
        });
        if heard != Heard::Taken {
            return false;
        }
        self.got += 1;
        let done = received.and_then(|_is_taken| self.perform());
        if let Err(error) = done {
            // Said where it is suspended, as of a message that comes then.
            *self.slots.failure = Some(error.to_string());
        }
        self.slots.failure.is_none()
    }

    /// The rank waits for this in this call of the program; unless it has to look at operations first.
    pub(super) fn block_on_one(
        &mut self,
        request: Token,
        call: &'static str,
        place: &'static Location<'static>,
    ) -> Next {
        if !self.slots.agenda.is_without_operation() {
            return Next::Ask;
        }
        match self.block_on(Condition::One(request), call, place) {
            true => Next::GoOn,
            false => Next::Wait,
        }
    }

    /// Whether this holds; else the rank waits for it in this call of the program.
    pub(super) fn block_on(
        &mut self,
        condition: Condition,
        call: &'static str,
        place: &'static Location<'static>,
    ) -> bool {
        let holds = self.slots.process.engine.block_on(condition);
        if !holds {
            *self.slots.site = Site::at(call, place);
        }
        holds
    }

    /// Whether this holds, for one of its threads that waits for it.
    pub(super) fn holds(&self, condition: &Condition) -> bool {
        self.slots.process.engine.holds(condition)
    }

    /// Whether operations of the program are to be called.
    pub(super) fn has_due(&self) -> bool {
        self.slots.agenda.has_due()
    }

    /// Whether all that messages have led to is done, and no operation of the program is called.
    pub(super) fn is_without_operation(&self) -> bool {
        self.slots.agenda.is_without_operation()
    }

    /// It gives the PE back, and goes on when others have had their turns, whatever it waits for.
    pub(super) fn keeps_looking(&mut self) {
        *self.slots.looks_again = true;
    }

    /// An operation that was called has this result.
    pub fn end_operation(&mut self, result: &[u8]) -> Result<(), PerformError> {
        // SAFETY: as in `perform`.
        let mut program = unsafe { ProgramMemory::new(self.slots.lender) };
        self.slots.agenda.end(result, self.slots.process, &mut program)?;
        self.perform()
    }
}

impl<'a> Slots<'a> {
    /// They are those of another rank of the same PE from now on.
    fn are_of(&mut self, rank: &'a mut Rank) {
        let Rank { process, is_paused, looks_again, released, texts, site, agenda, failure, lending, .. } =
            rank;
        self.looks_again = looks_again;
        (self.process, self.agenda, self.texts, self.site) = (process, agenda, texts, site);
        (self.is_paused, self.released, self.failure) = (is_paused, released, failure);
        self.lender = lending.lender();
    }
}

impl Rank {
    /// What its calls work on.
    fn slots<'a>(&'a mut self, outside: &'a mut dyn Outside, sent: &'a mut Vec<Outgoing>) -> Slots<'a> {
        let Rank { process, is_paused, looks_again, released, texts, site, agenda, failure, lending, .. } =
            self;
        let lender = lending.lender();
        Slots {
            process,
            agenda,
            sent,
            outside,
            texts,
            site,
            is_paused,
            looks_again,
            released,
            failure,
            lender,
        }
    }
}

/// Works on MPI's state of the rank that calls, and does what that leads to: operations of the program are called by
/// it. What the work allocates is on the process's heap. In an operation of the program only work that leads to nothing
/// is done at once, and what else it leads to when the operation has returned.
///
/// # Errors
/// If no rank calls, or an action cannot be done.
///
/// # Safety
/// Buffers that are given to the engine stay the program's, unused by it, until their requests have ended; those that
/// are written to are borrowed mutably. Functions of operations are `fn(UserCombine<'_>)`. What the state keeps was
/// allocated by the work itself, not by the rank before, and what the rank keeps has nothing of it.
pub unsafe fn call<T: Copy>(work: impl FnOnce(&mut Process, &mut Actions) -> T) -> Result<T, CallError> {
    // SAFETY: the caller's promise.
    unsafe { call_from(Caller::Any, work) }
}

/// As [`call`], where an operation of the program must not call.
///
/// # Errors
/// As for [`call`], and if an operation of the program calls.
///
/// # Safety
/// As for [`call`].
pub(crate) unsafe fn call_outside_operations<T: Copy>(
    work: impl FnOnce(&mut Process, &mut Actions) -> T,
) -> Result<T, CallError> {
    // SAFETY: the caller's promise.
    unsafe { call_from(Caller::Program, work) }
}

/// Who may make a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// The program, also in an operation.
    Any,
    /// The program, but in no operation.
    Program,
}

/// # Safety
/// As for [`call`].
pub(super) unsafe fn call_from<T: Copy>(
    caller: Caller,
    work: impl FnOnce(&mut Process, &mut Actions) -> T,
) -> Result<T, CallError> {
    let (result, has_due) = in_turn(caller, |running| {
        let result = running.work(work)?;
        Ok((result, running.slots.agenda.has_due()))
    })?;
    if has_due {
        call_operations()?;
    }
    Ok(result)
}

/// Work on the rank that calls, when no operation of the program comes before it: mostly at once.
#[inline]
pub(super) fn in_turn<T: Copy>(
    caller: Caller,
    work: impl FnOnce(&mut Running<'_>) -> Result<T, CallError>,
) -> Result<T, CallError> {
    let mut work = Some(work);
    loop {
        let done = with(|running| {
            let agenda = &running.slots.agenda;
            // Mostly there is none at all.
            let is_first = agenda.is_without_operation() || caller == Caller::Any && !agenda.has_due();
            match work.take_if(|_| is_first) {
                Some(work) => Turn::Done(work(running)),
                None if caller == Caller::Program && running.slots.agenda.is_in_operation() => {
                    Turn::InOperation
                }
                None => Turn::AfterOperation,
            }
        })?;
        match done {
            Turn::Done(result) => return result,
            Turn::InOperation => return Err(CallError::InOperation),
            Turn::AfterOperation => call_operations()?,
        }
    }
}

/// Whether work could be done.
#[derive(Clone, Copy)]
enum Turn<T> {
    Done(T),
    InOperation,
    AfterOperation,
}

/// Works on MPI's state of the rank that calls, where that leads to nothing. Operations of the program may do so, and
/// those that are due do not come before.
///
/// # Errors
/// If no rank calls.
pub(crate) fn state<T: Copy>(work: impl FnOnce(&mut Process) -> T) -> Result<T, CallError> {
    with(|running| work(running.slots.process))
}

/// How a rank goes on that has begun something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It has ended.
    GoOn,
    /// It is waited for.
    Wait,
    /// Operations of the program come before it.
    Ask,
}

/// What the rank that calls can ask of the runtime, besides MPI.
///
/// # Errors
/// If no rank calls.
pub(crate) fn outside<T: Copy>(work: impl FnOnce(&mut dyn Outside) -> T) -> Result<T, CallError> {
    with(|running| work(running.slots.outside))
}

/// Ends the job with this exit status, and says why. The rank that calls does not go on.
///
/// # Panics
/// If no rank calls.
pub fn end_job(status: u8, why: &str) -> ! {
    outside(|outside| outside.end_job(status, why)).expect("a rank calls");
    loop {
        give_way();
    }
}

/// Looks at what the rank that calls works on, if one does.
pub(super) fn look<T>(at: impl FnOnce(&Running<'_>) -> T) -> Option<T> {
    let Some(running) = NonNull::new(running().cast::<Running<'static>>()) else {
        let mut at = Some(at);
        return other_threads::ask(|running| at.take().map(|at| at(running)));
    };
    // SAFETY: set by `run`, which has not returned while the rank runs; `with` takes it away while it is lent.
    Some(at(unsafe { running.as_ref() }))
}

/// Works on the rank that calls, on the process's heap.
#[inline]
pub(super) fn with<T: Copy>(work: impl FnOnce(&mut Running<'_>) -> T) -> Result<T, CallError> {
    let Some(mut taken) = take() else {
        let mut work = Some(work);
        return other_threads::ask(|running| work.take().map(|work| work(running))).ok_or(CallError::NoRank);
    };
    // SAFETY: set by `run`, which has not returned while the rank runs, and has lent it; and it is used once at a time.
    let running = unsafe { taken.running.as_mut() };
    let mut result = None;
    // What is broken belongs to the job, which ends.
    let done = catch_unwind(AssertUnwindSafe(|| result = Some(work(running))));
    put_back(taken);
    match (done, result) {
        (Ok(()), Some(result)) => Ok(result),
        (Err(panic), _) => break_off(taken.running, panic),
        // It has been called.
        (Ok(()), None) => Err(CallError::NoRank),
    }
}

/// What the rank that calls works on, while it does: nothing that is called meanwhile finds it, and what is allocated is the process's.
#[derive(Clone, Copy)]
struct Taken {
    running: NonNull<Running<'static>>,
    rank: Allocating,
}

// None of these three is inlined: a rank may be on another thread, in another process, after it was suspended, and compilers that take
// threads to stay would keep the address of a thread-local over that.

#[inline(never)]
fn take() -> Option<Taken> {
    let running = NonNull::new(RUNNING.replace(null_mut()).cast())?;
    Some(Taken { running, rank: Allocating::suspend() })
}

#[inline(never)]
fn put_back(taken: Taken) {
    taken.rank.resume();
    RUNNING.set(taken.running.as_ptr().cast());
}

/// Whether a rank runs on this thread, and is not worked on.
#[inline]
pub(super) fn is_running() -> bool {
    !running().is_null()
}

#[inline(never)]
fn running() -> *mut () {
    RUNNING.get()
}

/// The runtime has panicked in a call of the rank that runs: this is told when the PE has its thread back, and the rank does not go on.
#[cold]
fn break_off(mut running: NonNull<Running<'static>>, panic: Box<dyn Any + Send>) -> ! {
    // SAFETY: as in `with`, where nobody uses it any more.
    unsafe { running.as_mut() }.panic = Some(panic);
    loop {
        suspend();
    }
}

/// Takes in what has come for the rank that calls, if its PE has nothing else to do; whether that was anything.
pub(crate) fn hear_all() -> bool {
    with(|running| running.hear_all()).unwrap_or(false)
}
