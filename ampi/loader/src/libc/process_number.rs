//! The number of a rank's process, which is that of others too: programs make names of files and first random numbers of it, and each rank
//! of theirs has another one. So it is a number that no process of the system has, and moves with the rank.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use ::libc::{
    id_t, off_t, pid_t, rlimit, sched_param, stat as Stat, statx as Statx, timespec, timeval, utimbuf,
};

use super::children::is_child;
use super::pause::world;
use super::{current, functions};

/// The system gives no process a number from here on.
const FIRST: u64 = 1 << 22;
/// Bits of a rank's number; above them are some of the process in which it has first asked, which are another job's mostly.
const RANK: u32 = 15;
const PROCESS: u64 = 0x7f;

/// Nothing is there below.
const PAGE: usize = 4096;

/// More has no path of `/proc` that is of use.
const PATH: usize = 256;

/// A rank's own: plain data.
#[repr(C)]
pub struct ProcessNumber {
    /// 0 before it has asked.
    number: pid_t,
    path: [c_char; PATH],
}

impl ProcessNumber {
    pub const fn new() -> ProcessNumber {
        ProcessNumber { number: 0, path: [0; PATH] }
    }
}

functions! {
    "getpid" => process,
    "__getpid" => process,
    "getpgid" => group,
    "setpgid" => set_group,
    "getsid" => session,
    "sched_getscheduler" => scheduler,
    "sched_setscheduler" => set_scheduler,
    "sched_getparam" => parameters,
    "sched_setparam" => set_parameters,
    "getpriority" => priority,
    "setpriority" => set_priority,
    "prlimit" => limits,
    "prlimit64" => limits,
}

/// A child that has not become another program has one of the system's.
pub(super) extern "C" fn process() -> pid_t {
    if is_child() {
        // SAFETY: takes nothing.
        return unsafe { ::libc::getpid() };
    }
    // SAFETY: the running rank's state.
    let (own, rank) = unsafe { (&mut (*current()).process_number, (*current()).owner) };
    if own.number == 0 {
        // SAFETY: takes nothing.
        let of_process = world(&mut || [unsafe { ::libc::getpid() } as u64, 0])[0];
        own.number = number(of_process, rank);
    }
    own.number
}

fn number(of_process: u64, rank: u32) -> pid_t {
    match u64::from(rank) {
        // Nobody has said which rank it is.
        rank if rank >> RANK != 0 => of_process as pid_t,
        rank => (FIRST + ((of_process & PROCESS) << RANK | rank)) as pid_t,
    }
}

/// A number of the rank's own for the system: 0, which is who calls.
pub(super) fn for_system(other: pid_t) -> pid_t {
    // SAFETY: the running rank's state.
    if other != 0 && other == unsafe { (*current()).process_number.number } { 0 } else { other }
}

/// What a path says of the rank's process it says of the one that calls.
///
/// # Safety
/// A string of C, or no address at all.
pub(super) unsafe fn own_path(path: *const c_char) -> *const c_char {
    // SAFETY: the running rank's state.
    let own = unsafe { &mut (*current()).process_number };
    // What is no address the system refuses.
    if own.number == 0 || path.addr() < PAGE {
        return path;
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(path) }.to_bytes();
    let Some(rest) = of_number(text, own.number) else { return path };
    let begin = b"/proc/self";
    if begin.len() + rest.len() >= PATH {
        return path;
    }
    let bytes = begin.iter().chain(rest).chain(b"\0");
    own.path.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte as c_char);
    own.path.as_ptr()
}

/// What follows the number in a path of `/proc`, if it is this one.
fn of_number(path: &[u8], number: pid_t) -> Option<&[u8]> {
    let path = path.strip_prefix(b"/proc/")?;
    let digits = path.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (said, rest) = path.split_at(digits);
    let is_whole = rest.is_empty() || rest[0] == b'/';
    let said: pid_t = std::str::from_utf8(said).ok()?.parse().ok()?;
    (is_whole && said == number).then_some(rest)
}

/// An argument of a function with paths, as it is handed on.
pub(super) trait Argument {
    /// # Safety
    /// A path is a string of C, or null.
    unsafe fn own(self) -> Self;
}

impl Argument for *const c_char {
    unsafe fn own(self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { own_path(self) }
    }
}

macro_rules! as_they_are {
    ($($type:ty),*) => {
        $(impl Argument for $type {
            unsafe fn own(self) -> Self {
                self
            }
        })*
    };
}

as_they_are!(
    c_int,
    c_uint,
    off_t,
    *mut Stat,
    *mut Statx,
    *const utimbuf,
    *const [timeval; 2],
    *const [timespec; 2]
);

unsafe extern "C" fn group(other: pid_t) -> pid_t {
    // SAFETY: called as C's function is, as all that follow.
    unsafe { ::libc::getpgid(for_system(other)) }
}

unsafe extern "C" fn set_group(other: pid_t, group: pid_t) -> c_int {
    // SAFETY: as above.
    unsafe { ::libc::setpgid(for_system(other), for_system(group)) }
}

unsafe extern "C" fn session(other: pid_t) -> pid_t {
    // SAFETY: as above.
    unsafe { ::libc::getsid(for_system(other)) }
}

unsafe extern "C" fn scheduler(other: pid_t) -> c_int {
    // SAFETY: as above.
    unsafe { ::libc::sched_getscheduler(for_system(other)) }
}

unsafe extern "C" fn set_scheduler(other: pid_t, how: c_int, parameters: *const sched_param) -> c_int {
    // SAFETY: as above.
    unsafe { ::libc::sched_setscheduler(for_system(other), how, parameters) }
}

unsafe extern "C" fn parameters(other: pid_t, place: *mut sched_param) -> c_int {
    // SAFETY: as above.
    unsafe { ::libc::sched_getparam(for_system(other), place) }
}

unsafe extern "C" fn set_parameters(other: pid_t, parameters: *const sched_param) -> c_int {
    // SAFETY: as above.
    unsafe { ::libc::sched_setparam(for_system(other), parameters) }
}

/// What is asked about may be a process, a group or a user.
fn whose(which: c_uint, who: id_t) -> id_t {
    if which == ::libc::PRIO_USER { who } else { for_system(who as pid_t) as id_t }
}

unsafe extern "C" fn priority(which: c_uint, who: id_t) -> c_int {
    // SAFETY: as above.
    unsafe { ::libc::getpriority(which, whose(which, who)) }
}

unsafe extern "C" fn set_priority(which: c_uint, who: id_t, to: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { ::libc::setpriority(which, whose(which, who), to) }
}

unsafe extern "C" fn limits(other: pid_t, which: c_uint, new: *const rlimit, former: *mut rlimit) -> c_int {
    unsafe extern "C" {
        fn prlimit(process: pid_t, which: c_uint, new: *const c_void, former: *mut c_void) -> c_int;
    }
    // SAFETY: as above.
    unsafe { prlimit(for_system(other), which, new.cast(), former.cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_has_another_number_than_all_processes() {
        let all: Vec<_> = (0..100).map(|rank| number(77, rank)).collect();
        assert!(all.windows(2).all(|two| two[0] < two[1]) && all[0] > 4_194_304);
        assert_ne!(number(77, 3), number(78, 3));
        assert!(number(u64::MAX, (1 << RANK) - 1) < 1 << 23);
        assert_eq!(number(77, u32::MAX), 77);
    }

    #[test]
    fn a_path_is_of_a_number_as_a_whole() {
        for (path, rest) in [
            ("/proc/4194305/status", Some("/status")),
            ("/proc/4194305", Some("")),
            ("/proc/41943050/status", None),
            ("/proc/419430/status", None),
            ("/proc/4194305x", None),
            ("/proc/self/status", None),
            ("/tmp/proc/4194305", None),
        ] {
            assert_eq!(of_number(path.as_bytes(), 4_194_305), rest.map(str::as_bytes), "{path}");
        }
    }
}
