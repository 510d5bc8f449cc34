//! Functions for descriptors that are open. Standard streams, 0, 1 and 2, are who embeds us to answer for: they can be
//! duplicated, but nothing can be put in their place.

use std::ffi::{c_int, c_uint};
use std::ops::Range;

use ::libc::off_t;

use super::stand_ins::before_close;
use super::{Descriptors, locks};
use crate::libc::pause::world;
use crate::libc::{current, errno, functions, set_errno};

functions! {
    "lseek" => seek,
    "lseek64" => seek,
    "close" => close,
    "__close" => close,
    "close_range" => close_range,
    "closefrom" => close_from,
    "dup" => duplicate,
    "dup2" => duplicate_to,
    "__dup2" => duplicate_to,
    "dup3" => duplicate_to_with,
    "fcntl" => control,
    "fcntl64" => control,
    "__fcntl" => control,
    "pipe" => pipe,
    "__pipe" => pipe,
    "pipe2" => pipe_with,
    "socketpair" => socket_pair,
}

/// Standard streams.
const STANDARD: Range<c_int> = 0..3;

fn descriptors<'a>() -> &'a mut Descriptors {
    // SAFETY: the running rank's state; nobody else looks at it.
    unsafe { &mut (*current()).descriptors }
}

pub(super) fn fail(error: c_int) -> c_int {
    set_errno(error);
    -1
}

/// How far the end of a file is, which others write to, is said again to a rank that does again what it did.
unsafe extern "C" fn seek(descriptor: c_int, offset: off_t, whence: c_int) -> off_t {
    // SAFETY: called as C's function is.
    let seek = |offset, whence| unsafe { ::libc::lseek(descriptor, offset, whence) };
    if whence != ::libc::SEEK_END {
        return seek(offset, whence);
    }
    let mut is_again = true;
    let [position, error] = world(&mut || {
        is_again = false;
        let position = seek(offset, whence);
        [position.cast_unsigned(), if position < 0 { errno() as u64 } else { 0 }]
    });
    let position = position.cast_signed();
    if position < 0 {
        set_errno(error as c_int);
    } else if is_again {
        seek(position, ::libc::SEEK_SET);
    }
    position
}

/// A standard stream that a rank closes stays open for others; other numbers are the process's own.
unsafe extern "C" fn close(descriptor: c_int) -> c_int {
    let own = descriptors();
    // SAFETY: the running rank's state.
    unsafe { (*current()).locks.release(descriptor) };
    before_close(descriptor);
    match own.number(descriptor) {
        Some(number) => own.forget(number),
        None if own.are_own() && STANDARD.contains(&descriptor) => return 0,
        None if own.are_own() => return fail(::libc::EBADF),
        None => {}
    }
    // SAFETY: called as C's function is.
    unsafe { ::libc::close(descriptor) }
}

unsafe extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    let own = descriptors();
    if !own.are_own() {
        // SAFETY: called as C's function is.
        return unsafe { ::libc::close_range(first, last, flags) };
    }
    if flags != 0 || first > last {
        return fail(::libc::EINVAL);
    }
    for descriptor in own.range().filter(|own| (first..=last).contains(&own.unsigned_abs())) {
        // SAFETY: the rank's own; it fails where nothing is open.
        unsafe { close(descriptor) };
    }
    0
}

unsafe extern "C" fn close_from(first: c_int) {
    // SAFETY: called as C's function is.
    unsafe { close_range(first.max(0).unsigned_abs(), c_uint::MAX, 0) };
}

unsafe extern "C" fn duplicate(old: c_int) -> c_int {
    let own = descriptors();
    if !own.are_own() {
        // SAFETY: called as C's function is.
        return unsafe { ::libc::dup(old) };
    }
    let new = own.duplicate(old, 0);
    if new >= 0 {
        // SAFETY: a new descriptor, which stays open when a program is started.
        unsafe { ::libc::fcntl(new, ::libc::F_SETFD, 0) };
    }
    new
}

/// `EBUSY` for a number that is not the rank's.
unsafe extern "C" fn duplicate_to(old: c_int, new: c_int) -> c_int {
    let own = descriptors();
    if !own.are_own() {
        // SAFETY: called as C's function is.
        return unsafe { ::libc::dup2(old, new) };
    }
    match own.number(new) {
        // SAFETY: asks about a descriptor; `EBADF` if it is none.
        _ if old == new => unsafe { ::libc::dup2(old, new) },
        Some(number) => own.duplicate_to(old, number, 0),
        None => fail(if new < 0 { ::libc::EBADF } else { ::libc::EBUSY }),
    }
}

unsafe extern "C" fn duplicate_to_with(old: c_int, new: c_int, flags: c_int) -> c_int {
    let own = descriptors();
    match own.number(new) {
        // SAFETY: called as C's function is.
        _ if !own.are_own() => unsafe { ::libc::dup3(old, new, flags) },
        _ if old == new => fail(::libc::EINVAL),
        Some(number) => own.duplicate_to(old, number, flags),
        None => fail(if new < 0 { ::libc::EBADF } else { ::libc::EBUSY }),
    }
}

unsafe extern "C" fn control(descriptor: c_int, command: c_int, argument: usize) -> c_int {
    let own = descriptors();
    if own.are_own() {
        // SAFETY: called as C's function is.
        if let Some(result) = unsafe { locks::control(descriptor, command, argument) } {
            return result;
        }
    }
    if !own.are_own() || !matches!(command, ::libc::F_DUPFD | ::libc::F_DUPFD_CLOEXEC) {
        // SAFETY: called as C's function is.
        return unsafe { ::libc::fcntl(descriptor, command, argument) };
    }
    let new = own.duplicate(descriptor, argument as c_int);
    if new >= 0 {
        let flags = if command == ::libc::F_DUPFD { 0 } else { ::libc::FD_CLOEXEC };
        // SAFETY: a new descriptor.
        unsafe { ::libc::fcntl(new, ::libc::F_SETFD, flags) };
    }
    new
}

unsafe extern "C" fn pipe(ends: *mut [c_int; 2]) -> c_int {
    // SAFETY: called as C's function is.
    unsafe { pipe_with(ends, 0) }
}

unsafe extern "C" fn pipe_with(ends: *mut [c_int; 2], flags: c_int) -> c_int {
    // SAFETY: called as C's function is.
    unsafe { adopt_pair(ends, ::libc::pipe2(ends.cast(), flags)) }
}

unsafe extern "C" fn socket_pair(
    family: c_int,
    kind: c_int,
    protocol: c_int,
    ends: *mut [c_int; 2],
) -> c_int {
    // SAFETY: called as C's function is.
    unsafe { adopt_pair(ends, ::libc::socketpair(family, kind, protocol, ends.cast())) }
}

/// Both, or none.
///
/// # Safety
/// If `result` is 0, `ends` are two new descriptors.
unsafe fn adopt_pair(ends: *mut [c_int; 2], result: c_int) -> c_int {
    if result != 0 {
        return result;
    }
    // SAFETY: the caller's promise.
    let [first, second] = unsafe { *ends };
    let own = descriptors();
    let new = [own.adopt(first), own.adopt(second)];
    if new.contains(&-1) {
        for end in new.into_iter().filter(|end| *end >= 0) {
            // SAFETY: nobody has it yet.
            unsafe { close(end) };
        }
        return fail(::libc::EMFILE);
    }
    // SAFETY: the caller's promise.
    unsafe { ends.write(new) };
    0
}
