//! Standard streams that a rank has go to files of its own: `freopen`, and `dup2` onto 1 and 2.
//!
//! The process's stay what they are. What a rank writes to its own goes to a descriptor of its range, which moves with it, and
//! is cut back with it, like that of any file.

use std::ffi::{CStr, c_char, c_int};
use std::mem::transmute;
use std::ptr::null_mut;

use talisman_loader::libc::{is_child, symbol as loader_symbol};

use crate::control;
use crate::streams::{self, ERRORS, INPUT, OUTPUT, Target};

/// The functions, by the names that programs ask for.
pub fn symbol(name: &str) -> Option<usize> {
    match name {
        "freopen" | "freopen64" => Some(reopen as *const () as usize),
        "dup" => Some(duplicate as *const () as usize),
        "dup2" | "__dup2" => Some(duplicate_to as *const () as usize),
        "dup3" => Some(duplicate_to_with as *const () as usize),
        _ => None,
    }
}

/// A function for descriptors of ranks.
fn of_loader(name: &str) -> usize {
    loader_symbol(name).expect("the loader has it")
}

fn open(path: *const c_char, flags: c_int) -> c_int {
    type Open = unsafe extern "C" fn(*const c_char, c_int, ...) -> c_int;
    // SAFETY: the function is of this type; a string of the program's.
    unsafe { transmute::<usize, Open>(of_loader("open"))(path, flags, 0o666) }
}

fn close(descriptor: c_int) {
    // SAFETY: the function is of this type; the descriptor is the rank's.
    unsafe { transmute::<usize, unsafe extern "C" fn(c_int) -> c_int>(of_loader("close"))(descriptor) };
}

fn duplicate_own(descriptor: c_int) -> c_int {
    // SAFETY: the function is of this type.
    unsafe { transmute::<usize, unsafe extern "C" fn(c_int) -> c_int>(of_loader("dup"))(descriptor) }
}

fn fail(error: c_int) -> c_int {
    // SAFETY: the thread's own.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// What `fopen` opens a file with.
fn flags_of(mode: &[u8]) -> Option<c_int> {
    let plus = mode.contains(&b'+');
    let (way, more) = match mode.first()? {
        b'r' => (libc::O_RDONLY, 0),
        b'w' => (libc::O_WRONLY, libc::O_CREAT | libc::O_TRUNC),
        b'a' => (libc::O_WRONLY, libc::O_CREAT | libc::O_APPEND),
        _ => return None,
    };
    let exclusive = if mode.contains(&b'x') { libc::O_EXCL } else { 0 };
    Some(if plus { libc::O_RDWR } else { way } | more | exclusive)
}

unsafe extern "C" {
    fn __fpurge(file: *mut libc::FILE);
}

/// C's `freopen`. The stream stays what it is, so that all who have it write to the file, or read it.
unsafe extern "C" fn reopen(
    path: *const c_char,
    mode: *const c_char,
    file: *mut libc::FILE,
) -> *mut libc::FILE {
    type Reopen = unsafe extern "C" fn(*const c_char, *const c_char, *mut libc::FILE) -> *mut libc::FILE;
    let Some(number) = streams::standard(file).filter(|_| !is_child()) else {
        // SAFETY: the function is of this type, and is called as C's is.
        return unsafe { transmute::<usize, Reopen>(of_loader("freopen"))(path, mode, file) };
    };
    // SAFETY: called as C's function is.
    let flags = flags_of(unsafe { CStr::from_ptr(mode) }.to_bytes());
    let writes = flags.is_some_and(|flags| flags & libc::O_ACCMODE != libc::O_RDONLY);
    if flags.is_none() || writes == (number == INPUT) {
        fail(libc::EINVAL);
        return null_mut();
    }
    if path.is_null() {
        // Another mode for what it goes to already: nothing is different in it.
        return file;
    }
    // SAFETY: a stream of the rank, which has not been closed.
    unsafe { if writes { libc::fflush(file) } else { 0 } };
    let descriptor = open(path, flags.unwrap_or_default());
    if descriptor < 0 {
        return null_mut();
    }
    let former = control::with(|control| match number {
        INPUT => control.streams.set_input(descriptor),
        _ => file_of(control.streams.set_target(number, Target::File(descriptor))),
    });
    former.into_iter().for_each(close);
    // SAFETY: as above. What was read ahead is of what was read before; a file gets what is written in larger pieces.
    unsafe {
        match number {
            INPUT => __fpurge(file),
            OUTPUT => drop(libc::setvbuf(file, null_mut(), libc::_IOFBF, 0)),
            _ => {}
        }
        libc::clearerr(file);
    }
    file
}

/// Whether this is not the system's business.
fn is_redirectable(descriptor: c_int) -> bool {
    matches!(descriptor, OUTPUT | ERRORS) && !is_child()
}

fn file_of(target: Target) -> Option<c_int> {
    if let Target::File(descriptor) = target { Some(descriptor) } else { None }
}

/// POSIX's `dup`, of what a standard stream goes to.
unsafe extern "C" fn duplicate(old: c_int) -> c_int {
    duplicate_own(redirected(old).unwrap_or(old))
}

fn redirected(descriptor: c_int) -> Option<c_int> {
    let is_written = is_redirectable(descriptor);
    is_written.then(|| control::with(|control| file_of(control.streams.target(descriptor)))).flatten()
}

/// POSIX's `dup2`.
unsafe extern "C" fn duplicate_to(old: c_int, new: c_int) -> c_int {
    if !is_redirectable(new) || old == new {
        // SAFETY: the function is of this type.
        let function =
            unsafe { transmute::<usize, unsafe extern "C" fn(c_int, c_int) -> c_int>(of_loader("dup2")) };
        // SAFETY: called as C's function is.
        return unsafe { function(redirected(old).unwrap_or(old), new) };
    }
    let job = control::with(|control| match old {
        OUTPUT | ERRORS => Some(control.streams.target(old)).filter(|target| file_of(*target).is_none()),
        _ => control.state.standard_of(old).filter(|number| *number != INPUT).map(Target::Job),
    });
    let target = match job {
        Some(target) => target,
        None => match duplicate_own(redirected(old).unwrap_or(old)) {
            descriptor @ 0.. => Target::File(descriptor),
            _ => return -1,
        },
    };
    let former = control::with(|control| control.streams.set_target(new, target));
    file_of(former).into_iter().for_each(close);
    new
}

unsafe extern "C" fn duplicate_to_with(old: c_int, new: c_int, flags: c_int) -> c_int {
    if is_redirectable(new) && old != new {
        // SAFETY: called as C's function is.
        return unsafe { duplicate_to(old, new) };
    }
    // SAFETY: the function is of this type, and is called as C's is.
    unsafe {
        let function =
            transmute::<usize, unsafe extern "C" fn(c_int, c_int, c_int) -> c_int>(of_loader("dup3"));
        function(redirected(old).unwrap_or(old), new, flags)
    }
}

/// The rank is alone in a copy of the process: standard streams are there what they are for the rank.
pub fn begin_child() {
    let descriptors = control::with(|control| control.streams.descriptors());
    for (number, descriptor) in (0..).zip(descriptors).filter(|(number, descriptor)| number != descriptor) {
        // SAFETY: descriptors of this process, which is to become another program.
        unsafe { libc::dup2(descriptor, number) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_opened_as_fopen_does() {
        let write = libc::O_WRONLY | libc::O_CREAT;
        assert_eq!(flags_of(b"w"), Some(write | libc::O_TRUNC));
        assert_eq!(flags_of(b"ab"), Some(write | libc::O_APPEND));
        assert_eq!(flags_of(b"r+"), Some(libc::O_RDWR));
        assert_eq!(flags_of(b"wx"), Some(write | libc::O_TRUNC | libc::O_EXCL));
        assert_eq!((flags_of(b""), flags_of(b"q")), (None, None));
    }
}
