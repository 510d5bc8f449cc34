//! Calls of the rank that runs.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr::{NonNull, null_mut};

use talisman_core::cx::Heard;
use thiserror::Error;

use super::lending::Lender;
use super::memory::ProgramMemory;
use super::operations::call_operations;
use super::{Agenda, Outgoing, Outside, RankError, Site, Texts, TracedCall, neighbors};
use crate::engine::{Actions, Condition, Pattern, Token, Whole};
use crate::process::{Incoming, PerformError, Process};
use crate::slot::on_process_heap;
use crate::thread::{Thread, suspend};

thread_local! {
    /// What the rank that runs on this thread may call; null while none does.
    static RUNNING: Cell<*mut ()> = const { Cell::new(null_mut()) };
}

/// What the rank that runs works on.
pub(super) struct Running<'a> {
    pub slots: Slots<'a>,
    /// On their way to the rank's heap.
    copied: Vec<u8>,
    /// Frames that have left while it ran.
    pub(super) left: usize,
    /// Frames that it has got while it ran.
    got: usize,
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
    pub fn new(slots: Slots<'a>) -> Running<'a> {
        Running { slots, copied: Vec::new(), left: 0, got: 0, panic: None }
    }

    /// Frames that it has got while it ran.
    pub fn got(&self) -> usize {
        self.got
    }

    /// Frames that have left while it ran.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Resumes the thread, which calls this meanwhile.
    /// Returns whether it waits; else its program is over.
    pub fn run(&mut self, thread: &mut Thread) -> Result<bool, RankError> {
        // Not longer than this call, also if it panics.
        struct Cleared;
        impl Drop for Cleared {
            fn drop(&mut self) {
                RUNNING.set(null_mut());
            }
        }
        let _cleared = Cleared;
        RUNNING.set(std::ptr::from_mut(self).cast());
        let is_suspended = thread.run()?;
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
        Ok(is_suspended)
    }

    /// Does what is to be done, up to an operation of the program.
    pub fn perform(&mut self) -> Result<(), PerformError> {
        let Slots { process, agenda, sent, outside, lender, .. } = &mut self.slots;
        // SAFETY: the rank runs, so its slot is in place, as are those of all that lend; addresses are those of calls
        // that have not ended, by `call`'s promise.
        let mut program = unsafe { ProgramMemory::of_running(*lender, &**outside) };
        // One that is woken looks itself whether what it waits for has come.
        let done = agenda.perform(process, &mut program, sent).map(|_is_woken| ());
        self.left += program.left();
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
    fn hear_until(&mut self, holds: impl Fn(&Slots<'_>) -> bool) -> bool {
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
    fn block_on(
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

    /// An operation that was called has this result.
    pub fn end_operation(&mut self, result: &[u8]) -> Result<(), PerformError> {
        // SAFETY: as in `perform`.
        let mut program = unsafe { ProgramMemory::new(self.slots.lender) };
        self.slots.agenda.end(result, self.slots.process, &mut program)?;
        self.perform()
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
unsafe fn call_from<T: Copy>(
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
pub(super) fn in_turn<T: Copy>(
    caller: Caller,
    work: impl FnOnce(&mut Running<'_>) -> Result<T, CallError>,
) -> Result<T, CallError> {
    let (mut work, mut done) = (Some(work), None);
    loop {
        let is_in_operation = with(|running| {
            let agenda = &running.slots.agenda;
            let is_in_operation = caller == Caller::Program && agenda.is_in_operation();
            if !is_in_operation && !agenda.has_due() {
                done = work.take().map(|work| work(running));
            }
            is_in_operation
        })?;
        match done {
            Some(result) => return result,
            None if is_in_operation => return Err(CallError::InOperation),
            None => call_operations()?,
        }
    }
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
        suspend();
    }
}

/// The values that go into the program of the rank that calls, and come out of it.
pub(super) fn texts<T: Copy>(work: impl FnOnce(&mut Texts) -> T) -> Result<T, CallError> {
    with(|running| work(running.slots.texts))
}

/// Looks at what the rank that calls works on, if one does.
pub(super) fn look<T>(at: impl FnOnce(&Running<'_>) -> T) -> Option<T> {
    let running = NonNull::new(RUNNING.get().cast::<Running<'static>>())?;
    // SAFETY: set by `run`, which has not returned while the rank runs; `with` takes it away while it is lent.
    Some(at(unsafe { running.as_ref() }))
}

/// Works on the rank that calls, on the process's heap.
pub(super) fn with<T: Copy>(work: impl FnOnce(&mut Running<'_>) -> T) -> Result<T, CallError> {
    let (mut work, mut result) = (Some(work), None);
    lend(&mut |running| result = work.take().map(|work| work(running)))?;
    // It has been called.
    result.ok_or(CallError::NoRank)
}

/// The same of what keeps its result where that is wanted: results are not small, and would be copied several times.
fn lend(work: &mut dyn FnMut(&mut Running<'_>)) -> Result<(), CallError> {
    // Taken while it is used: nothing that is called meanwhile finds it.
    struct Taken(NonNull<Running<'static>>);
    impl Drop for Taken {
        fn drop(&mut self) {
            RUNNING.set(self.0.as_ptr().cast());
        }
    }
    let mut taken = Taken(NonNull::new(RUNNING.replace(null_mut()).cast()).ok_or(CallError::NoRank)?);
    // SAFETY: set by `run`, which has not returned while the rank runs, and has lent it; and it is used once at a time.
    let running = unsafe { taken.0.as_mut() };
    let result = on_process_heap(|| {
        // What is broken belongs to the job, which ends.
        let result = catch_unwind(AssertUnwindSafe(|| work(running)));
        result.map_err(|panic| running.panic = Some(panic))
    });
    drop(taken);
    match result {
        Ok(result) => Ok(result),
        Err(()) => loop {
            suspend();
        },
    }
}

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
    suspend();
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

/// Takes in what has come for the rank that calls, if its PE has nothing else to do; whether that was anything.
pub(crate) fn hear_all() -> bool {
    with(|running| running.hear_all()).unwrap_or(false)
}

/// Whether what the rank waits for has come.
fn has_come(slots: &Slots<'_>) -> bool {
    slots.process.engine.waits_for().is_none()
}

/// Gives the PE back until this holds. Operations of the program that are due meanwhile are called.
fn suspend_until(holds: impl Fn(&Slots<'_>) -> bool) -> Result<(), CallError> {
    wait_until(holds, || Ok(false))
}

/// The same, unless something of it comes before: whether it has is said by `hear`.
fn wait_until(
    holds: impl Fn(&Slots<'_>) -> bool,
    hear: impl Fn() -> Result<bool, CallError>,
) -> Result<(), CallError> {
    loop {
        if !hear()? {
            suspend();
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
fn not_in_operation() -> Result<(), CallError> {
    match look(|running| running.slots.agenda.is_in_operation()) {
        Some(true) => Err(CallError::InOperation),
        _ => Ok(()),
    }
}

/// Waits until a chare has sent something, and takes the first.
///
/// # Errors
/// If no rank calls.
pub(crate) fn next_post(call: &'static str, place: &'static Location<'static>) -> Result<Vec<u8>, CallError> {
    not_in_operation()?;
    loop {
        let is_there = with(|running| {
            *running.slots.site = Site::at(call, place);
            running.slots.texts.awaits_post = running.slots.texts.posts.is_empty();
            !running.slots.texts.awaits_post
        })?;
        if is_there {
            return bytes_of(|running| running.slots.texts.posts.pop_front().unwrap_or_default());
        }
        suspend_until(|slots| !slots.texts.awaits_post)?;
    }
}

/// What this rank is called by from outside, packed.
///
/// # Errors
/// If no rank calls.
pub(crate) fn mailbox() -> Result<Vec<u8>, CallError> {
    bytes_of(|running| running.slots.outside.mailbox())
}

/// Bytes that are made on the process's heap, on the rank's.
fn bytes_of(work: impl FnOnce(&mut Running<'_>) -> Vec<u8>) -> Result<Vec<u8>, CallError> {
    let length = with(|running| {
        running.copied = work(running);
        running.copied.len()
    })?;
    let mut bytes = vec![0; length];
    with(|running| bytes.copy_from_slice(&std::mem::take(&mut running.copied)))?;
    Ok(bytes)
}

/// Suspends the rank that calls until it is released.
///
/// # Errors
/// If no rank calls.
pub(crate) fn pause(call: &'static str, place: &'static Location<'static>) -> Result<(), CallError> {
    not_in_operation()?;
    with(|running| {
        *running.slots.is_paused = std::mem::take(running.slots.released) == 0;
        *running.slots.site = Site::at(call, place);
    })?;
    suspend_until(|slots| !*slots.is_paused)
}
