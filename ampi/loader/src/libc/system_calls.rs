//! System calls that a program makes by their numbers (`syscall`): they are those of the rank as well. Libraries that
//! cannot call the C library by name do so, as what `-fsplit-stack` and `-fsanitize=safe-stack` link to a program.

use std::ffi::c_long;

use super::functions;
use super::thread_waits::in_wait;

functions! {
    "syscall" => system_call,
}

unsafe extern "C-unwind" {
    fn syscall(number: c_long, ...) -> c_long;
}

/// The C library's name of a system call, if the two take the same and give the same.
fn name(number: c_long) -> Option<&'static str> {
    Some(match number {
        ::libc::SYS_mmap => "mmap",
        ::libc::SYS_munmap => "munmap",
        ::libc::SYS_mremap => "mremap",
        ::libc::SYS_mprotect => "mprotect",
        ::libc::SYS_shmat => "shmat",
        ::libc::SYS_shmdt => "shmdt",
        ::libc::SYS_open => "open",
        ::libc::SYS_openat => "openat",
        ::libc::SYS_creat => "creat",
        ::libc::SYS_close => "close",
        ::libc::SYS_dup => "dup",
        ::libc::SYS_dup2 => "dup2",
        ::libc::SYS_dup3 => "dup3",
        ::libc::SYS_fcntl => "fcntl",
        ::libc::SYS_flock => "flock",
        ::libc::SYS_pipe => "pipe",
        ::libc::SYS_pipe2 => "pipe2",
        ::libc::SYS_socket => "socket",
        ::libc::SYS_eventfd2 => "eventfd",
        ::libc::SYS_epoll_create1 => "epoll_create1",
        ::libc::SYS_memfd_create => "memfd_create",
        ::libc::SYS_chdir => "chdir",
        ::libc::SYS_fchdir => "fchdir",
        ::libc::SYS_umask => "umask",
        ::libc::SYS_getpid => "getpid",
        ::libc::SYS_getppid => "getppid",
        ::libc::SYS_gettid => "gettid",
        ::libc::SYS_getcpu => "getcpu",
        ::libc::SYS_sysinfo => "sysinfo",
        ::libc::SYS_uname => "uname",
        ::libc::SYS_getrandom => "getrandom",
        ::libc::SYS_clock_gettime => "clock_gettime",
        ::libc::SYS_gettimeofday => "gettimeofday",
        ::libc::SYS_time => "time",
        ::libc::SYS_getrusage => "getrusage",
        ::libc::SYS_times => "times",
        ::libc::SYS_sched_yield => "sched_yield",
        ::libc::SYS_nanosleep => "nanosleep",
        ::libc::SYS_kill => "kill",
        ::libc::SYS_tgkill => "tgkill",
        ::libc::SYS_fork => "fork",
        ::libc::SYS_exit_group => "_exit",
        _ => return None,
    })
}

/// Waits for a word of memory are made so where the C library has no function for it.
unsafe extern "C-unwind" fn system_call(
    number: c_long,
    one: c_long,
    two: c_long,
    three: c_long,
    four: c_long,
    five: c_long,
    six: c_long,
) -> c_long {
    if let Some(function) = name(number).and_then(super::symbol) {
        // SAFETY: it takes as many of these arguments as the system call, which are all in registers.
        unsafe {
            let function: unsafe extern "C" fn(c_long, c_long, c_long, c_long, c_long, c_long) -> c_long =
                std::mem::transmute(function);
            return widened(number, function(one, two, three, four, five, six));
        }
    }
    // SAFETY: called as C's function is; arguments that are not given are not looked at.
    let call = || unsafe { syscall(number, one, two, three, four, five, six) };
    if number == ::libc::SYS_futex { in_wait(call) } else { call() }
}

/// Functions that give an `int` leave the upper half of the register as it may be.
fn widened(number: c_long, result: c_long) -> c_long {
    match number {
        ::libc::SYS_mmap
        | ::libc::SYS_mremap
        | ::libc::SYS_shmat
        | ::libc::SYS_getrandom
        | ::libc::SYS_time
        | ::libc::SYS_times => result,
        _ => c_long::from(result as i32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_answered_as_functions_of_the_same_name() {
        assert!((0..500).filter_map(name).all(|name| super::super::symbol(name).is_some()));
        assert_eq!(name(::libc::SYS_clone), None);
        let unspecified = 0xffff_ffff_0000_0000_u64 as c_long;
        assert_eq!(widened(::libc::SYS_close, unspecified | 7), 7);
        assert_eq!(widened(::libc::SYS_close, 0xffff_ffff), -1);
        assert_eq!(widened(::libc::SYS_mmap, 0x1_0000_0000), 0x1_0000_0000);
    }
}
