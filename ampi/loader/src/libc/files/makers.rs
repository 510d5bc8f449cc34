//! Functions that open something that is no file of a known name: others run before, and its descriptor is moved to the rank's range.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use super::stream;
use crate::libc::{current, functions_after_giving_way};

functions_after_giving_way! {
    "memfd_create" => memfd_create => adopt,
    "socket" => socket => adopt,
    "eventfd" => eventfd => adopt,
    "epoll_create" => epoll_create => adopt,
    "epoll_create1" => epoll_create1 => adopt,
    "timerfd_create" => timerfd_create => adopt,
    "inotify_init" => inotify_init => adopt,
    "inotify_init1" => inotify_init1 => adopt,
    "freopen" => freopen => adopt_stream,
    "freopen64" => freopen64 => adopt_stream,
    "tmpfile" => tmpfile => adopt_stream,
    "tmpfile64" => tmpfile64 => adopt_stream,
}

pub(in crate::libc) extern "C" fn adopt(descriptor: c_int) -> c_int {
    // SAFETY: the running rank's state.
    unsafe { (*current()).descriptors.adopt(descriptor) }
}

/// The same of a file that was opened with these flags: if it was made so, nobody else has it.
pub(super) fn adopt_opened(descriptor: c_int, flags: c_int) -> c_int {
    let descriptor = adopt(descriptor);
    note_made(descriptor, flags);
    descriptor
}

pub(super) fn note_made(descriptor: c_int, flags: c_int) {
    const MADE: c_int = ::libc::O_CREAT | ::libc::O_EXCL;
    if flags & MADE == MADE {
        // SAFETY: the running rank's state.
        unsafe { (*current()).descriptors.note_own(descriptor) };
    }
}

/// What is in a stream stays there: only its number is another one. The process's own streams keep theirs.
pub(in crate::libc) extern "C" fn adopt_stream(file: usize) -> usize {
    if file != 0 && stream::streams_are_known() {
        let number = stream::descriptor(file);
        // SAFETY: the running rank's state.
        let descriptors = unsafe { &mut (*current()).descriptors };
        if descriptors.number(number).is_some() {
            descriptors.adopt(number);
        } else if number > 2 {
            replace(number, |new| {
                // SAFETY: a stream that is open, whose former descriptor was closed.
                unsafe { stream::set_descriptor(file, new) };
            });
        }
    }
    file
}

/// Its descriptor is its first word.
pub(super) fn adopt_folder(folder: usize) -> usize {
    if folder != 0 && folders_are_known() {
        let number = folder as *mut c_int;
        // SAFETY: a folder that is open.
        unsafe { replace(number.read(), |new| number.write(new)) };
    }
    folder
}

/// A stream or folder for which there is no number of the rank's keeps its own, and does not move.
fn replace(number: c_int, with: impl FnOnce(c_int)) {
    // SAFETY: the running rank's state.
    let descriptors = unsafe { &mut (*current()).descriptors };
    let new = if descriptors.are_own() { descriptors.duplicate(number, 0) } else { -1 };
    if new >= 0 && new != number {
        // SAFETY: what had it has the new one.
        unsafe { ::libc::close(number) };
        with(new);
    }
}

fn folders_are_known() -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        // SAFETY: a folder of our own; its first word is in it.
        unsafe {
            let folder = ::libc::opendir(c"/".as_ptr());
            if folder.is_null() {
                return false;
            }
            let number = ::libc::dirfd(folder);
            let known = folder.cast::<c_void>().cast::<c_int>().read() == number;
            ::libc::closedir(folder);
            known
        }
    })
}
