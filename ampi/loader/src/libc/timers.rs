//! Timers that send signals: none comes. A program is told that its timer is set.

use std::ffi::{c_int, c_void};
use std::mem::zeroed;
use std::sync::Once;

use ::libc::{clockid_t, itimerval, sigevent};

use super::{functions, with_process_memory};

functions! {
    "alarm" => alarm,
    "ualarm" => alarm_microseconds,
    "setitimer" => set_timer,
    "timer_create" => make_timer,
}

/// Timers are not there: whoever relies on one is told, once in a process.
fn warn_of_timers(is_set: bool) {
    static WARNED: Once = Once::new();
    if is_set {
        with_process_memory(|| {
            WARNED.call_once(|| {
                eprintln!(
                    "a rank has set a timer (`alarm`, `setitimer`, `timer_create`), whose signal never comes"
                )
            });
        });
    }
}

/// No signal comes: there was none before, either.
unsafe extern "C" fn alarm(seconds: u32) -> u32 {
    warn_of_timers(seconds > 0);
    0
}

unsafe extern "C" fn alarm_microseconds(first: u32, _interval: u32) -> u32 {
    warn_of_timers(first > 0);
    0
}

/// As above.
unsafe extern "C" fn set_timer(_which: c_int, new: *const itimerval, former: *mut itimerval) -> c_int {
    // SAFETY: called as C's function is.
    let first = unsafe { new.as_ref() }.map(|new| new.it_value);
    warn_of_timers(first.is_some_and(|first| first.tv_sec != 0 || first.tv_usec != 0));
    if !former.is_null() {
        // SAFETY: called as C's function is; zeroes are a value of it.
        unsafe { former.write(zeroed()) };
    }
    0
}

/// One that would send a signal does nothing: it would end the process.
unsafe extern "C" fn make_timer(clock: clockid_t, event: *mut sigevent, timer: *mut *mut c_void) -> c_int {
    // SAFETY: called as C's function is; zeroes are a value of it.
    unsafe {
        let notify = event.as_ref().map_or(::libc::SIGEV_SIGNAL, |event| event.sigev_notify);
        if notify == ::libc::SIGEV_NONE || notify == ::libc::SIGEV_THREAD {
            // The thread that calls is the process's.
            return with_process_memory(|| ::libc::timer_create(clock, event, timer.cast()));
        }
        warn_of_timers(true);
        let mut silent: sigevent = zeroed();
        silent.sigev_notify = ::libc::SIGEV_NONE;
        ::libc::timer_create(clock, &raw mut silent, timer.cast())
    }
}
