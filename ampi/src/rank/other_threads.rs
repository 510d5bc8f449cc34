//! MPI for threads that a rank has started, beside its first one (`MPI_THREAD_MULTIPLE`; MPI-3.1, 12.4).
//!
//! A PE's thread alone works on a rank and on the runtime. So another thread of the rank leaves on the *desk* of the
//! process what it wants to be done, and waits for it: the rank does it wherever it gives way, between two calls of its
//! first thread as it were. What has to wait, such as a receive, stays on the desk until it can be done.
//!
//! ```text
//!   another thread   asks ─► desk ─────────────────────────┐                     ┌─► goes on
//!   first thread     computes ──── interrupted, or waits ──┴─► serves ─► lets    ─┘   others of the PE run ─► goes on
//! ```
//!
//! While a rank has threads that may call MPI, it is not suspended until what it waits for has come: it lets others run,
//! and looks again. One that computes, or that waits for its own threads, is [interrupted](Threads::interrupt).

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{park_timeout, yield_now};
use std::time::{Duration, Instant};

use super::CallError;
use super::operations::call_operations;
use super::running::{Running, is_running, look, outside, with};
use crate::engine::Condition;
use crate::slot::on_process_heap;
use crate::thread::{OtherThreads, running as running_slot, set_other_threads, suspend};

/// What is known of threads of ranks by whoever lets programs start them.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    /// Whether the rank that runs has threads beside its first one that have not ended.
    pub are_live: fn() -> bool,
    /// The rank that has started the thread that calls, if it is such a thread.
    pub rank_of_caller: fn() -> Option<u32>,
    /// Such a thread has its rank end the job with this exit status, and say why. It does not go on.
    pub end_job: fn(u8, &str) -> !,
    /// Has the rank that runs in this process [give way](give_way), if it is in its own code or waits for its threads.
    pub interrupt: fn(),
}

static THREADS: OnceLock<Threads> = OnceLock::new();

/// A program of this process was granted it, or does so.
static MAY_CALL: AtomicBool = AtomicBool::new(false);

/// What is asked for and not done, how much that is, and how often something was asked for.
static DESK: Mutex<Vec<Asked>> = Mutex::new(Vec::new());
static ASKED: AtomicUsize = AtomicUsize::new(0);
static TIMES: AtomicU64 = AtomicU64::new(0);
static HAS_COME: Condvar = Condvar::new();

/// How long a thread waits until it has its rank interrupted, at first and at most.
const PATIENCE: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(1)];

/// So often it looks before it sleeps.
const LOOKS: u32 = 500;

/// For so long a rank that has done something for a thread waits for what that asks for next.
const LINGER: Duration = Duration::from_micros(5);

/// A rank that waits for others looks for so long whether anything has come, and sleeps for so long if not.
const LOOKS_FOR: Duration = Duration::from_micros(20);
const NAP: Duration = Duration::from_micros(50);

/// Says what is known of threads of ranks. Once in a process: later calls change nothing.
pub fn set_threads(threads: Threads) {
    let _first = THREADS.set(threads);
    set_other_threads(OtherThreads { rank_of_caller: threads.rank_of_caller, end_job: threads.end_job });
}

/// From now on threads that ranks of this process have started may call MPI.
pub fn let_threads_call() {
    MAY_CALL.store(true, Ordering::Relaxed);
}

/// Something that a thread waits for.
struct Asked {
    rank: u32,
    /// Whether it is done.
    work: *mut dyn FnMut(&mut Running<'_>) -> bool,
    done: *const AtomicBool,
    thread: std::thread::Thread,
}

// SAFETY: what is pointed to is of a thread that waits until it is done, and does not look at it before.
unsafe impl Send for Asked {}

fn desk() -> MutexGuard<'static, Vec<Asked>> {
    // Nobody panics with it.
    DESK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a rank has started the thread that calls.
#[inline]
pub fn is_other_thread() -> bool {
    !is_running() && rank_of_caller().is_some()
}

fn rank_of_caller() -> Option<u32> {
    THREADS.get().and_then(|threads| (threads.rank_of_caller)())
}

/// Whether the rank that runs has threads that may ask for something.
#[inline]
pub(super) fn may_ask() -> bool {
    MAY_CALL.load(Ordering::Relaxed) && THREADS.get().is_some_and(|threads| (threads.are_live)())
}

/// Has the rank of the thread that calls do this, as soon as it can be done: what has to wait returns nothing. It is done
/// while no operation of the program is due or called. None if the thread is not one that a rank has started.
#[cold]
pub(super) fn ask<T>(mut work: impl FnMut(&mut Running<'_>) -> Option<T>) -> Option<T> {
    let rank = rank_of_caller()?;
    // Programs do so, though they were granted less.
    let_threads_call();
    let mut result = None;
    let done = AtomicBool::new(false);
    let mut work = |running: &mut Running<'_>| {
        result = work(running);
        result.is_some()
    };
    let work: *mut (dyn FnMut(&mut Running<'_>) -> bool + '_) = &raw mut work;
    // SAFETY: the same type, of something that is there until `done` says so.
    let work: *mut (dyn FnMut(&mut Running<'_>) -> bool + 'static) = unsafe { std::mem::transmute(work) };
    let asked = Asked { rank, work, done: &raw const done, thread: std::thread::current() };
    {
        let mut desk = desk();
        desk.push(asked);
        ASKED.fetch_add(1, Ordering::Relaxed);
        TIMES.fetch_add(1, Ordering::Relaxed);
        HAS_COME.notify_all();
    }
    wait_for(&done);
    result
}

fn wait_for(done: &AtomicBool) {
    let is_done = || done.load(Ordering::Acquire);
    for _ in 0..LOOKS {
        if is_done() {
            return;
        }
        std::hint::spin_loop();
    }
    let [mut patience, most] = PATIENCE;
    while !is_done() {
        park_timeout(patience);
        if !is_done()
            && let Some(threads) = THREADS.get()
        {
            (threads.interrupt)();
            patience = (patience * 2).min(most);
        }
    }
}

/// Waits until this holds, in a thread that a rank has started.
pub(super) fn wait_until(condition: &Condition) -> Result<(), CallError> {
    ask(|running| running.holds(condition).then_some(())).ok_or(CallError::NoRank)
}

/// Whether a thread of any rank of this process has asked for something that is not done.
#[inline]
pub fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed) > 0
}

/// The rank that runs lets the others of its PE run, and does what its other threads ask for. Another thread lets
/// others run.
pub fn give_way() {
    if running_slot().is_none() {
        return yield_now();
    }
    serve();
    suspend();
    serve();
}

/// The rank that runs does what its other threads ask for, as far as it can be done.
fn serve() {
    while is_asked() {
        let Some(rank) = running_slot() else { return };
        let (any, times) = on_process_heap(|| serve_once(rank));
        // What that has led to.
        if look(|running| running.has_due()) == Some(true) && call_operations().is_err() {
            return;
        }
        if let Some(Ending { end, how, status, .. }) = take_ending(rank) {
            end(how, status);
        }
        if !any || !comes_more(times) {
            return;
        }
    }
}

/// How the first thread of a rank is to end it.
struct Ending {
    rank: u32,
    end: fn(i32, i32) -> !,
    how: i32,
    status: i32,
}

static ENDINGS: Mutex<Vec<Ending>> = Mutex::new(Vec::new());

/// Has the first thread of the rank call this function that has started the thread that calls: it ends the rank, as of its own. Returns
/// when that is about to.
///
/// # Errors
/// If no rank has started the thread.
pub fn end_by_thread(end: fn(i32, i32) -> !, how: i32, status: i32) -> Result<(), CallError> {
    let rank = rank_of_caller().ok_or(CallError::NoRank)?;
    ask(|_| {
        let mut endings = ENDINGS.lock().unwrap_or_else(PoisonError::into_inner);
        endings.push(Ending { rank, end, how, status });
        Some(())
    })
    .ok_or(CallError::NoRank)
}

fn take_ending(rank: u32) -> Option<Ending> {
    on_process_heap(|| {
        let mut endings = ENDINGS.lock().unwrap_or_else(PoisonError::into_inner);
        let at = endings.iter().position(|ending| ending.rank == rank)?;
        Some(endings.swap_remove(at))
    })
}

/// Whether anything could be done, and how often something had been asked for before.
fn serve_once(rank: u32) -> (bool, u64) {
    let (of_rank, times) = {
        let mut desk = desk();
        let of_rank: Vec<Asked> = desk.extract_if(.., |asked| asked.rank == rank).collect();
        (of_rank, TIMES.load(Ordering::Relaxed))
    };
    let mut any = false;
    for asked in of_rank {
        // Operations of the program, and what comes behind them, are for the first thread.
        // SAFETY: its thread waits, and nobody else has it.
        match with(|running| running.is_without_operation() && unsafe { (*asked.work)(running) }) {
            Ok(true) => {
                any = true;
                ASKED.fetch_sub(1, Ordering::Relaxed);
                // SAFETY: as above; from here on it is gone.
                unsafe { (*asked.done).store(true, Ordering::Release) };
                asked.thread.unpark();
            }
            _ => desk().push(asked),
        }
    }
    (any, times)
}

/// Whether something is asked for shortly: a call of MPI asks several times.
fn comes_more(times: u64) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < LINGER {
        if TIMES.load(Ordering::Relaxed) != times {
            return true;
        }
        std::hint::spin_loop();
    }
    false
}

/// The rank that runs waits for something, and has threads: others have their turns, and then it looks again.
pub(super) fn wait_a_turn() -> Result<(), CallError> {
    serve();
    let times = TIMES.load(Ordering::Relaxed);
    with(|running| running.keeps_looking())?;
    suspend();
    serve();
    let begun = Instant::now();
    while begun.elapsed() < LOOKS_FOR {
        // What was asked for before and could not be done waits for what comes.
        if TIMES.load(Ordering::Relaxed) != times || outside(|outside| outside.may_have_come())? {
            return Ok(());
        }
    }
    nap(NAP);
    Ok(())
}

/// The PE's thread sleeps for so long, or until a thread of a rank asks for something. Returns for how long: if nobody has asked
/// that is what it was to be, so that who does this again does it as often.
pub fn nap(time: Duration) -> Duration {
    let begun = Instant::now();
    on_process_heap(|| {
        let desk = desk();
        let times = TIMES.load(Ordering::Relaxed);
        let is_as_before = |_: &mut Vec<Asked>| TIMES.load(Ordering::Relaxed) == times;
        let waited = HAS_COME.wait_timeout_while(desk, time, is_as_before);
        match waited.is_ok_and(|(_, waited)| waited.timed_out()) {
            true => time,
            false => begun.elapsed(),
        }
    })
}
