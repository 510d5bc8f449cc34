//! Functions that wait until something has happened to one of several descriptors. A rank looks again and again, and others run in
//! between: who is waited for may be a rank of the same process. Of no descriptors, these are ways to sleep.

use std::ffi::c_int;

use ::libc::{EINVAL, epoll_event, fd_set, nfds_t, pollfd, sigset_t, size_t, timespec, timeval};

use super::deadline::Deadline;
use super::descriptor_waits::within;
use super::pause::{give_way, nanoseconds, sleep};
use super::{functions, set_errno, waits_alone};

functions! {
    "poll" => poll,
    "__poll_chk" => poll_checked,
    "ppoll" => poll_with_mask,
    "__ppoll_chk" => poll_with_mask_checked,
    "select" => select,
    "pselect" => select_with_mask,
    "epoll_wait" => epoll_wait,
    "epoll_pwait" => epoll_wait_with_mask,
}

static AT_ONCE: timespec = timespec { tv_sec: 0, tv_nsec: 0 };

/// Looks until something has happened, or there is no time left.
fn happened(until: Deadline, look: impl Fn() -> c_int) -> c_int {
    let attempt = || match look() {
        0 => None,
        result => Some(result),
    };
    until.attempt(attempt).unwrap_or_else(|| {
        // Who does not wait here may ask again and again.
        // SAFETY: takes nothing.
        unsafe { give_way() };
        0
    })
}

/// # Safety
/// As for a function that takes a time, or none for ever.
unsafe fn span(time: *const timespec) -> Deadline {
    // SAFETY: the caller's promise.
    unsafe { time.as_ref() }.map_or(Deadline::never(), |time| Deadline::after(*time))
}

/// Lets time pass, if it is one.
fn pass(time: &timespec) -> c_int {
    match nanoseconds(time) {
        Some(wait) => {
            sleep(wait);
            0
        }
        None => {
            set_errno(EINVAL);
            -1
        }
    }
}

unsafe extern "C" fn poll(places: *mut pollfd, count: nfds_t, milliseconds: c_int) -> c_int {
    // SAFETY: called as C's function is, as in all that follow.
    let look = |time| unsafe { ::libc::poll(places, count, time) };
    match u64::try_from(milliseconds) {
        Ok(wait) if count == 0 => {
            sleep(wait * 1_000_000);
            0
        }
        _ if waits_alone() => look(milliseconds),
        _ => happened(Deadline::after_milliseconds(milliseconds), || look(0)),
    }
}

/// A program that was compiled to look at bounds calls this, as those that follow.
unsafe extern "C" fn poll_checked(places: *mut pollfd, count: nfds_t, time: c_int, room: size_t) -> c_int {
    within((count as usize).saturating_mul(size_of::<pollfd>()), room);
    // SAFETY: as above.
    unsafe { poll(places, count, time) }
}

unsafe extern "C" fn poll_with_mask(
    places: *mut pollfd,
    count: nfds_t,
    time: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        if waits_alone() {
            return ::libc::ppoll(places, count, time, mask);
        }
        happened(span(time), || ::libc::ppoll(places, count, &raw const AT_ONCE, mask))
    }
}

unsafe extern "C" fn poll_with_mask_checked(
    places: *mut pollfd,
    count: nfds_t,
    time: *const timespec,
    mask: *const sigset_t,
    room: size_t,
) -> c_int {
    within((count as usize).saturating_mul(size_of::<pollfd>()), room);
    // SAFETY: as above.
    unsafe { poll_with_mask(places, count, time, mask) }
}

/// Sets of descriptors as they were: who looks at them changes them, also where nothing has happened.
struct Sets {
    at: [*mut u64; 3],
    before: [[u64; Sets::WORDS]; 3],
    words: usize,
}

impl Sets {
    /// Of so many descriptors, at most.
    const WORDS: usize = 64;

    /// None of more than that.
    ///
    /// # Safety
    /// There are sets of so many descriptors, or none.
    unsafe fn of(sets: [*mut fd_set; 3], count: c_int) -> Option<Sets> {
        let words = usize::try_from(count).ok()?.div_ceil(u64::BITS as usize);
        if words > Sets::WORDS {
            return None;
        }
        let at = sets.map(|set| set.cast::<u64>());
        let mut before = [[0; Sets::WORDS]; 3];
        for (at, before) in at.iter().zip(&mut before).filter(|(at, _)| !at.is_null()) {
            // SAFETY: the caller's promise.
            unsafe { at.copy_to_nonoverlapping(before.as_mut_ptr(), words) };
        }
        Some(Sets { at, before, words })
    }

    /// They are as they were.
    ///
    /// # Safety
    /// The sets are there.
    unsafe fn put_back(&self) {
        for (at, before) in self.at.iter().zip(&self.before).filter(|(at, _)| !at.is_null()) {
            // SAFETY: the caller's promise.
            unsafe { at.copy_from_nonoverlapping(before.as_ptr(), self.words) };
        }
    }
}

/// Looks at these sets with a function that changes them.
///
/// # Safety
/// There are sets of so many descriptors, or none.
unsafe fn select_until(
    sets: [*mut fd_set; 3],
    count: c_int,
    until: Deadline,
    look: impl Fn() -> c_int,
) -> Option<c_int> {
    // SAFETY: the caller's promise.
    let before = unsafe { Sets::of(sets, count)? };
    let attempt = || {
        // SAFETY: the caller's promise.
        unsafe { before.put_back() };
        look()
    };
    Some(happened(until, attempt))
}

unsafe extern "C" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    others: *mut fd_set,
    time: *mut timeval,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let at_once = || {
            let mut none = timeval { tv_sec: 0, tv_usec: 0 };
            ::libc::select(count, read, write, others, &raw mut none)
        };
        let span = time
            .as_ref()
            .map(|time| timespec { tv_sec: time.tv_sec, tv_nsec: time.tv_usec.saturating_mul(1_000) });
        let until = match span {
            Some(span) if count == 0 => return pass(&span),
            // What is no time is refused by the C library.
            Some(span) if nanoseconds(&span).is_none() => None,
            Some(span) => Some(Deadline::after(span)),
            None => Some(Deadline::never()),
        };
        let until = until.filter(|_| !waits_alone());
        until
            .and_then(|until| select_until([read, write, others], count, until, at_once))
            .unwrap_or_else(|| ::libc::select(count, read, write, others, time))
    }
}

unsafe extern "C" fn select_with_mask(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    others: *mut fd_set,
    time: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let look = |time| ::libc::pselect(count, read, write, others, time, mask);
        match time.as_ref() {
            Some(time) if count == 0 => return pass(time),
            Some(span) if nanoseconds(span).is_none() => return look(time),
            _ if waits_alone() => return look(time),
            _ => {}
        }
        select_until([read, write, others], count, span(time), || look(&raw const AT_ONCE))
            .unwrap_or_else(|| look(time))
    }
}

unsafe extern "C" fn epoll_wait(at: c_int, events: *mut epoll_event, most: c_int, time: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { epoll_wait_with_mask(at, events, most, time, std::ptr::null()) }
}

unsafe extern "C" fn epoll_wait_with_mask(
    at: c_int,
    events: *mut epoll_event,
    most: c_int,
    time: c_int,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as above.
    let look = |time| unsafe { ::libc::epoll_pwait(at, events, most, time, mask) };
    if waits_alone() {
        return look(time);
    }
    happened(Deadline::after_milliseconds(time), || look(0))
}
