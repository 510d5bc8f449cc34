//! Signals that a rank has blocked, and waits for: those that it sends itself, as no others come.

use std::ffi::{c_int, c_void};
use std::mem::zeroed;
use std::ptr::null_mut;

use ::libc::{sigset_t, timespec};

use super::deadline::Deadline;
use super::signals::{blocked, handle_while, pending, set_blocked, take_pending};
use super::{functions, set_errno};

functions! {
    "sigprocmask" => block,
    "pthread_sigmask" => block_in_thread,
    "sigpending" => say_pending,
    "sigwait" => wait,
    "sigwaitinfo" => wait_for_info,
    "sigtimedwait" => wait_for_a_time,
    "sigsuspend" => suspend,
}

/// The first word of a set has the signals up to 64.
///
/// # Safety
/// There is a set.
unsafe fn read(set: *const sigset_t) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { set.cast::<u64>().read() }
}

/// # Safety
/// There is room for a set.
unsafe fn write(set: *mut sigset_t, signals: u64) {
    // SAFETY: the caller's promise; zeroes are a value of it.
    unsafe {
        set.write(zeroed());
        set.cast::<u64>().write(signals);
    }
}

unsafe extern "C" fn block_in_thread(how: c_int, set: *const sigset_t, former: *mut sigset_t) -> c_int {
    let known = blocked();
    // SAFETY: called as C's function is, as all that follow.
    let set = (!set.is_null()).then(|| unsafe { read(set) });
    let blocks = match (how, set) {
        (_, None) => known,
        (::libc::SIG_BLOCK, Some(set)) => known | set,
        (::libc::SIG_UNBLOCK, Some(set)) => known & !set,
        (::libc::SIG_SETMASK, Some(set)) => set,
        _ => return ::libc::EINVAL,
    };
    if !former.is_null() {
        // SAFETY: as above.
        unsafe { write(former, known) };
    }
    if set.is_some() {
        set_blocked(blocks);
    }
    0
}

unsafe extern "C" fn block(how: c_int, set: *const sigset_t, former: *mut sigset_t) -> c_int {
    // SAFETY: as above.
    match unsafe { block_in_thread(how, set, former) } {
        0 => 0,
        error => {
            set_errno(error);
            -1
        }
    }
}

unsafe extern "C" fn say_pending(set: *mut sigset_t) -> c_int {
    // SAFETY: as above.
    unsafe { write(set, pending()) };
    0
}

/// Others run meanwhile: a thread of the rank may send one.
unsafe extern "C" fn wait(set: *const sigset_t, signal: *mut c_int) -> c_int {
    // SAFETY: as above.
    unsafe {
        let wanted = read(set);
        match Deadline::never().attempt(|| take_pending(wanted)) {
            Some(taken) => {
                signal.write(taken);
                0
            }
            None => ::libc::EAGAIN,
        }
    }
}

unsafe extern "C" fn wait_for_info(set: *const sigset_t, info: *mut c_void) -> c_int {
    // SAFETY: as above.
    unsafe { wait_until(Deadline::never(), set, info) }
}

unsafe extern "C" fn wait_for_a_time(
    set: *const sigset_t,
    info: *mut c_void,
    span: *const timespec,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let deadline = span.as_ref().map_or_else(Deadline::never, |span| Deadline::after(*span));
        wait_until(deadline, set, info)
    }
}

/// # Safety
/// As C's functions.
unsafe fn wait_until(deadline: Deadline, set: *const sigset_t, info: *mut c_void) -> c_int {
    // SAFETY: the caller's promise. What is said begins with the signal.
    unsafe {
        let wanted = read(set);
        let Some(signal) = deadline.attempt(|| take_pending(wanted)) else {
            set_errno(::libc::EAGAIN);
            return -1;
        };
        if !info.is_null() {
            info.cast::<::libc::siginfo_t>().write(zeroed());
            info.cast::<c_int>().write(signal);
        }
        signal
    }
}

/// Until one has been handled that the set has not.
unsafe extern "C" fn suspend(set: *const sigset_t) -> c_int {
    // SAFETY: as above.
    let meanwhile = unsafe { read(set) };
    if let Some(signal) = Deadline::never().attempt(|| take_pending(!meanwhile))
        && !handle_while(signal, null_mut(), meanwhile)
    {
        // SAFETY: needs nothing.
        unsafe { ::libc::raise(signal) };
    }
    set_errno(::libc::EINTR);
    -1
}
