//! Semaphores and queues of System V. A rank that has to wait there tries again and again, and others run in between: who is waited
//! for may be a rank of the same process.

use std::ffi::{c_int, c_long, c_void};

use ::libc::{EAGAIN, ENOMSG, IPC_NOWAIT, c_short, sembuf, size_t, timespec};

use super::deadline::Deadline;
use super::pause::give_way;
use super::{errno, functions, set_errno, waits_alone};

functions! {
    "semop" => operate,
    "semtimedop" => operate_in_time,
    "msgsnd" => send,
    "msgrcv" => receive,
}

unsafe extern "C" {
    fn semtimedop(id: c_int, operations: *mut sembuf, count: size_t, time: *const timespec) -> c_int;
}

static AT_ONCE: timespec = timespec { tv_sec: 0, tv_nsec: 0 };

/// Makes attempts that give -1, and this error, as long as they would have to wait.
fn tried(would_wait: c_int, waits: bool, until: Deadline, call: impl Fn() -> isize) -> isize {
    let attempt = || {
        let result = call();
        (result != -1 || errno() != would_wait).then_some(result)
    };
    if !waits {
        let result = attempt();
        return result.unwrap_or_else(|| {
            // Who does not wait here may ask again and again.
            // SAFETY: takes nothing.
            unsafe { give_way() };
            set_errno(would_wait);
            -1
        });
    }
    until.attempt(attempt).unwrap_or_else(|| {
        set_errno(would_wait);
        -1
    })
}

unsafe extern "C" fn operate(id: c_int, operations: *mut sembuf, count: size_t) -> c_int {
    // SAFETY: called as C's function is, as in all that follow.
    unsafe { operate_in_time(id, operations, count, std::ptr::null()) }
}

unsafe extern "C" fn operate_in_time(
    id: c_int,
    operations: *mut sembuf,
    count: size_t,
    time: *const timespec,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        if waits_alone() || operations.is_null() || count == 0 {
            return semtimedop(id, operations, count, time);
        }
        // More than the system has room for is refused by it, and not looked at here.
        const MOST: size_t = 32_000;
        let all = std::slice::from_raw_parts(operations, count.min(MOST));
        let waits = all.iter().all(|operation| operation.sem_flg & IPC_NOWAIT as c_short == 0);
        let until = if time.is_null() { Deadline::never() } else { Deadline::after(*time) };
        tried(EAGAIN, waits, until, || semtimedop(id, operations, count, &raw const AT_ONCE) as isize)
            as c_int
    }
}

unsafe extern "C" fn send(id: c_int, message: *const c_void, len: size_t, flags: c_int) -> c_int {
    // SAFETY: as above.
    unsafe {
        if waits_alone() {
            return ::libc::msgsnd(id, message, len, flags);
        }
        let attempt = || ::libc::msgsnd(id, message, len, flags | IPC_NOWAIT) as isize;
        tried(EAGAIN, flags & IPC_NOWAIT == 0, Deadline::never(), attempt) as c_int
    }
}

unsafe extern "C" fn receive(
    id: c_int,
    message: *mut c_void,
    len: size_t,
    kind: c_long,
    flags: c_int,
) -> isize {
    // SAFETY: as above.
    unsafe {
        if waits_alone() {
            return ::libc::msgrcv(id, message, len, kind, flags);
        }
        let attempt = || ::libc::msgrcv(id, message, len, kind, flags | IPC_NOWAIT);
        tried(ENOMSG, flags & IPC_NOWAIT == 0, Deadline::never(), attempt)
    }
}
