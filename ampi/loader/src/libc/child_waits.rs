//! Waiting for programs that a rank has started: for its own only, and others run meanwhile.

use std::ffi::c_int;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ::libc::{id_t, idtype_t, pid_t, rusage, siginfo_t};

use super::children::{children, fail, is_child};
use super::functions;
use super::pause::sleep;

/// So often it is looked whether a child has ended, in nanoseconds.
const PERIOD: u64 = 50_000;
/// So long others may have to wait for what `system` starts.
const WHILE: Duration = Duration::from_millis(100);

/// Options of `waitpid`; those of `waitid`; and what the latter may wait for, at least one of which is wanted.
const OF_WAITPID: c_int = ::libc::WNOHANG
    | ::libc::WUNTRACED
    | ::libc::WCONTINUED
    | ::libc::__WNOTHREAD
    | ::libc::__WALL
    | ::libc::__WCLONE;
const CHANGES: c_int = ::libc::WEXITED | ::libc::WSTOPPED | ::libc::WCONTINUED;
const OF_WAITID: c_int = OF_WAITPID | ::libc::WNOWAIT | CHANGES;

functions! {
    "wait" => wait,
    "waitpid" => wait_for,
    "__waitpid" => wait_for,
    "wait3" => wait_with_usage,
    "wait4" => wait_for_with_usage,
    "waitid" => wait_by_kind,
}

/// What there is to say of a child.
struct Told {
    child: siginfo_t,
    usage: rusage,
}

impl Told {
    fn nothing() -> Told {
        // SAFETY: zeroes are values of both.
        unsafe { zeroed() }
    }
}

/// What there is to say of children.
enum Look {
    /// One has ended, was stopped, or goes on.
    Told,
    /// Nothing yet.
    Nothing,
    /// There are none of those that are meant.
    Nobody,
}

/// Looks, with `waitid`'s options.
fn look(meant: pid_t, options: c_int, told: &mut Told) -> Look {
    let mut look = Look::Nobody;
    let forgets = options & ::libc::WNOWAIT == 0;
    for (place, process, ended) in children().meant(meant) {
        *told = Told::nothing();
        let is_there = match ended {
            Some(status) => {
                told.child = told_of(process, status);
                true
            }
            None => has_looked(process, options | ::libc::WNOHANG, told),
        };
        // SAFETY: of a child, or zeroes.
        let is_told = is_there && unsafe { told.child.si_pid() } != 0;
        let is_over =
            matches!(told.child.si_code, ::libc::CLD_EXITED | ::libc::CLD_KILLED | ::libc::CLD_DUMPED);
        if !is_there || is_told && is_over && forgets {
            place.store(0, Ordering::Release);
        }
        if is_told {
            return Look::Told;
        }
        if is_there {
            look = Look::Nothing;
        }
    }
    look
}

/// Asks the system about a child; false if this process has none such. The system's call takes one place more than the C library's.
fn has_looked(process: pid_t, options: c_int, told: &mut Told) -> bool {
    let (child, usage) = (&raw mut told.child, &raw mut told.usage);
    // SAFETY: places for what is told.
    unsafe { ::libc::syscall(::libc::SYS_waitid, ::libc::P_PID, process, child, options, usage) == 0 }
}

/// What `waitid` says of a child for which `waitpid` says this status.
fn told_of(process: pid_t, status: c_int) -> siginfo_t {
    let (code, value) = match ::libc::WIFEXITED(status) {
        true => (::libc::CLD_EXITED, ::libc::WEXITSTATUS(status)),
        false if ::libc::WCOREDUMP(status) => (::libc::CLD_DUMPED, ::libc::WTERMSIG(status)),
        false => (::libc::CLD_KILLED, ::libc::WTERMSIG(status)),
    };
    // SAFETY: zeroes are a value of it. Of what is told of children there are in it, as words: the signal (0), the code (2), the
    // process (4), its user (5) and the status (6).
    unsafe {
        let mut told: siginfo_t = zeroed();
        let words = (&raw mut told).cast::<c_int>();
        words.write(::libc::SIGCHLD);
        words.add(2).write(code);
        words.add(4).write(process);
        words.add(5).write(::libc::getuid().cast_signed());
        words.add(6).write(value);
        told
    }
}

/// What `waitpid` says of a child of which `waitid` says this.
fn status_told(told: &siginfo_t) -> c_int {
    // SAFETY: of a child.
    let value = unsafe { told.si_status() };
    match told.si_code {
        ::libc::CLD_EXITED => (value & 0xff) << 8,
        ::libc::CLD_KILLED => value,
        ::libc::CLD_DUMPED => value | 0x80,
        ::libc::CLD_CONTINUED => 0xffff,
        _ => value << 8 | 0x7f,
    }
}

/// Looks until there is something to say, once if that is an option.
fn look_until_told(meant: pid_t, options: c_int, told: &mut Told) -> Look {
    loop {
        match look(meant, options, told) {
            Look::Nothing if options & ::libc::WNOHANG == 0 => sleep(PERIOD),
            found => return found,
        }
    }
}

/// Waits for a child with its thread, for a while: what lasts not longer is over before the rank could be asked to move, or is copied.
pub(super) fn wait_alone(process: pid_t) {
    let begun = Instant::now();
    let options = ::libc::WEXITED | ::libc::WNOWAIT | ::libc::WNOHANG;
    let mut told = Told::nothing();
    while matches!(look(process, options, &mut told), Look::Nothing) && begun.elapsed() < WHILE {
        std::thread::sleep(Duration::from_nanos(PERIOD));
    }
}

unsafe extern "C" fn wait(status: *mut c_int) -> pid_t {
    // SAFETY: called as C's function is.
    unsafe { wait_for_with_usage(-1, status, 0, null_mut()) }
}

pub(super) unsafe extern "C" fn wait_for(meant: pid_t, status: *mut c_int, options: c_int) -> pid_t {
    // SAFETY: called as C's function is.
    unsafe { wait_for_with_usage(meant, status, options, null_mut()) }
}

unsafe extern "C" fn wait_with_usage(status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t {
    // SAFETY: called as C's function is.
    unsafe { wait_for_with_usage(-1, status, options, usage) }
}

unsafe extern "C" fn wait_for_with_usage(
    meant: pid_t,
    status: *mut c_int,
    options: c_int,
    usage: *mut rusage,
) -> pid_t {
    if is_child() {
        // SAFETY: called as C's function is.
        return unsafe { ::libc::wait4(meant, status, options, usage) };
    }
    if options & !OF_WAITPID != 0 {
        return fail(::libc::EINVAL);
    }
    let mut told = Told::nothing();
    match look_until_told(meant, options | ::libc::WEXITED, &mut told) {
        // SAFETY: places of the program's; what is told is of a child.
        Look::Told => unsafe {
            if !status.is_null() {
                status.write(status_told(&told.child));
            }
            if !usage.is_null() {
                usage.write(told.usage);
            }
            told.child.si_pid()
        },
        Look::Nothing => 0,
        Look::Nobody => fail(::libc::ECHILD),
    }
}

/// Of descriptors of processes (`P_PIDFD`) it is the system's.
unsafe extern "C" fn wait_by_kind(kind: idtype_t, id: id_t, place: *mut siginfo_t, options: c_int) -> c_int {
    let meant = match kind {
        ::libc::P_ALL => -1,
        ::libc::P_PID => id.cast_signed(),
        ::libc::P_PGID => id.cast_signed().wrapping_neg(),
        _ => 0,
    };
    if is_child() || meant == 0 {
        // SAFETY: called as C's function is.
        return unsafe { ::libc::waitid(kind, id, place, options) };
    }
    if options & !OF_WAITID != 0 || options & CHANGES == 0 {
        return fail(::libc::EINVAL);
    }
    let mut told = Told::nothing();
    if matches!(look_until_told(meant, options, &mut told), Look::Nobody) {
        return fail(::libc::ECHILD);
    }
    if !place.is_null() {
        // SAFETY: a place of the program's.
        unsafe { place.write(told.child) };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_tell_how_a_child_has_ended_say_the_same() {
        for status in [0, 3 << 8, 255 << 8, ::libc::SIGKILL, ::libc::SIGSEGV | 0x80] {
            assert_eq!(status_told(&told_of(77, status)), status);
            // SAFETY: of a child.
            assert_eq!(unsafe { told_of(77, status).si_pid() }, 77);
        }
    }
}
