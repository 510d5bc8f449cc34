//! Streams of stdio.
//!
//! A `FILE` is in the rank's heap, but the C library has it in a list of the process. So it is taken from the list
//! when the rank leaves. Of the library's insides two offsets and three names are relied on, which have been the same
//! since glibc 2.1; [`prepare_streams`] checks them.

use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::OnceLock;

use ::libc::FILE;

use super::stand_ins::before_close;
use crate::libc::{current, functions};

functions! {
    "fclose" => close,
}

/// What is in its buffer is written before the rank's locks of the file are gone, and what stood in for it.
unsafe extern "C" fn close(file: *mut FILE) -> c_int {
    // SAFETY: the running rank's state, and called as C's function is.
    unsafe {
        let state = current();
        (*state).descriptors.note_change();
        if (*state).locks.are_there() || (*state).stand_ins.len() > 0 {
            ::libc::fflush(file);
            (*state).locks.release(::libc::fileno(file));
            before_close(::libc::fileno(file));
        }
        ::libc::fclose(file)
    }
}

/// Offsets in the library's `FILE`.
const NEXT: usize = 0x68;
const DESCRIPTOR: usize = 0x70;
/// Positive in a stream of wide characters.
const MODE: usize = 0xc0;
/// In the flags, its first word: it is in the list.
const LINKED: c_int = 0x80;
/// In the flags: it is the stream of a descriptor.
const OF_FILE: c_int = 0x2000;
/// Of the process's own streams: what the library takes for files.
const BUFFER: usize = 4096;

/// Gives the process's own streams their buffers, which the C library would allocate when a rank first uses them. To be
/// called once, before programs run. False if streams are not as this module expects: then ranks with open files
/// cannot move.
pub fn prepare_streams() -> bool {
    for name in [c"stdin", c"stdout"] {
        // SAFETY: a string of C, and the library's variable of this name.
        unsafe {
            let stream = ::libc::dlsym(::libc::RTLD_DEFAULT, name.as_ptr()).cast::<*mut FILE>();
            // Lines appear whole where ranks take turns.
            let mode = if name == c"stdin" { ::libc::_IOFBF } else { ::libc::_IOLBF };
            let buffer = Box::leak(vec![0u8; BUFFER].into_boxed_slice());
            ::libc::setvbuf(*stream, buffer.as_mut_ptr().cast(), mode, buffer.len());
        }
    }
    streams_are_known()
}

/// Whether streams of this C library are as this module expects. Looks once.
pub fn streams_are_known() -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(look)
}

fn look() -> bool {
    // SAFETY: a stream of our own.
    unsafe {
        let file = ::libc::fopen(c"/dev/null".as_ptr(), c"r".as_ptr());
        if file.is_null() {
            return false;
        }
        let at = file as usize;
        let flags = (at as *const c_int).read();
        let listed = flags & LINKED != 0 && flags & OF_FILE != 0 && streams_in(&(at..at + 1)) == [at];
        let mode = ((at + MODE) as *const c_int).read();
        let is_wide = mode == 0 && fwide(file, 1) > 0 && ((at + MODE) as *const c_int).read() > 0;
        let known = listed && is_wide && descriptor(at) == ::libc::fileno(file);
        ::libc::fclose(file);
        known
    }
}

pub fn descriptor(file: usize) -> c_int {
    // SAFETY: a stream of the library's.
    unsafe { ((file + DESCRIPTOR) as *const c_int).read() }
}

/// Whether there is a descriptor behind a stream: not if it is one of memory, or of functions.
pub fn is_of_file(file: usize) -> bool {
    // SAFETY: a stream of the library's; its flags are its first word.
    unsafe { (file as *const c_int).read() & OF_FILE != 0 }
}

/// # Safety
/// A stream of the library's, which has no other descriptor that is open.
pub unsafe fn set_descriptor(file: usize, descriptor: c_int) {
    // SAFETY: the caller's promise.
    unsafe { ((file + DESCRIPTOR) as *mut c_int).write(descriptor) };
}

/// Streams whose memory begins in these addresses.
pub fn streams_in(range: &Range<usize>) -> Vec<usize> {
    let mut found = Vec::new();
    // SAFETY: the list of the library, which changes only when streams are opened or closed: not now.
    unsafe {
        let mut file = (&raw const _IO_list_all).read();
        while !file.is_null() {
            if range.contains(&(file as usize)) {
                found.push(file as usize);
            }
            file = ((file as usize + NEXT) as *const *mut c_void).read();
        }
    }
    found
}

/// Writes a stream out that nobody uses. After this its position is that of the descriptor.
pub fn write_out(file: usize) {
    // SAFETY: a stream of the library's list.
    unsafe { ::libc::fflush(file as *mut FILE) };
}

/// # Safety
/// A stream of the library's list, which nobody uses.
pub unsafe fn take_from_list(file: usize) {
    // SAFETY: the caller's promise.
    unsafe { _IO_un_link(file as *mut c_void) };
}

/// # Safety
/// A stream that was taken from the list, or a copy of one, at the same address.
pub unsafe fn put_into_list(file: usize, descriptor: c_int) {
    // SAFETY: the caller's promise.
    unsafe {
        // A copy believes that it is in the list.
        *(file as *mut c_int) &= !LINKED;
        set_descriptor(file, descriptor);
        _IO_link_in(file as *mut c_void);
        renew_conversion(file);
    }
}

/// A stream of wide characters has tables of its process's locale. Nothing is in its buffers now.
///
/// # Safety
/// A stream that is in the list.
unsafe fn renew_conversion(file: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let mode = (file + MODE) as *mut c_int;
        if *mode > 0 {
            // As of one that has not been used yet.
            *mode = 0;
            fwide(file as *mut FILE, 1);
        }
    }
}

#[allow(non_upper_case_globals, reason = "the C library's names")]
unsafe extern "C" {
    static _IO_list_all: *mut c_void;
    fn _IO_un_link(file: *mut c_void);
    fn _IO_link_in(file: *mut c_void);
    fn fwide(file: *mut FILE, mode: c_int) -> c_int;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_c_library_is_known() {
        assert!(prepare_streams());
    }

    #[test]
    fn no_stream_is_elsewhere() {
        assert_eq!(streams_in(&(0..16)), [0; 0]);
    }
}
