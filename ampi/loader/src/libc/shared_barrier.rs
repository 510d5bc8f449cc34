//! Barriers in memory that several ranks have mapped. Nobody can try one, so a thread of the process waits there for a rank, and
//! the rank gives way until that has returned: who is waited for may be a rank of the same process. So long it stays where it is.

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use super::pause::give_way_longer;
use super::thread_waits::{Object, pthread_barrier_wait};
use super::{current, with_process_memory};

/// A call that a thread of the process makes for a rank.
#[derive(Default)]
struct Call {
    result: AtomicI32,
    has_returned: AtomicBool,
}

/// A barrier that is not the rank's alone.
#[derive(Clone, Copy)]
struct Barrier(Object);

// SAFETY: it is for several threads.
unsafe impl Send for Barrier {}

impl Barrier {
    fn wait(self) -> c_int {
        // SAFETY: a barrier, by who has made this.
        unsafe { pthread_barrier_wait(self.0) }
    }
}

/// `pthread_barrier_wait` of a rank that waits for other ranks.
///
/// # Safety
/// It is a barrier.
pub unsafe fn wait_for_ranks(barrier: Object) -> c_int {
    let barrier = Barrier(barrier);
    match with_process_memory(|| start(barrier)) {
        Some(call) => returned(call),
        None => barrier.wait(),
    }
}

fn returned(call: Arc<Call>) -> c_int {
    let waits = |is_so| {
        // SAFETY: the running rank's state.
        unsafe {
            (*current()).waits_elsewhere = is_so;
            (*current()).descriptors.note_change();
        }
    };
    waits(true);
    let mut rounds = 0;
    while !call.has_returned.load(Ordering::Acquire) {
        give_way_longer(&mut rounds);
    }
    waits(false);
    let result = call.result.load(Ordering::Relaxed);
    with_process_memory(|| drop(call));
    result
}

/// None if there is no thread to be had.
fn start(barrier: Barrier) -> Option<Arc<Call>> {
    const STACK: usize = 64 << 10;
    let call = Arc::new(Call::default());
    let own = Arc::clone(&call);
    let run = move || {
        own.result.store(barrier.wait(), Ordering::Relaxed);
        own.has_returned.store(true, Ordering::Release);
    };
    let before = without_signals();
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run);
    // SAFETY: what was there before.
    unsafe { ::libc::pthread_sigmask(::libc::SIG_SETMASK, &raw const before, null_mut()) };
    thread.is_ok().then_some(call)
}

/// Handlers of signals are for the thread that runs ranks. What this thread had.
fn without_signals() -> ::libc::sigset_t {
    // SAFETY: zero is a value of it, and places for them.
    unsafe {
        let (mut all, mut before): (::libc::sigset_t, ::libc::sigset_t) = std::mem::zeroed();
        ::libc::sigfillset(&raw mut all);
        ::libc::pthread_sigmask(::libc::SIG_SETMASK, &raw const all, &raw mut before);
        before
    }
}
