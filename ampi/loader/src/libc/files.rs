//! Streams of stdio that a rank has open, when it moves.
//!
//! A `FILE` is in the rank's heap, but the C library has it in a list of the process, and its descriptor is the
//! process's. So a stream is written out, taken from the list and closed before the rank leaves, and opened again by
//! its path where it arrives. Of the library's insides two offsets and three names are relied on, which have been the
//! same since glibc 2.1; [`prepare_streams`] checks them.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io;
use std::ops::Range;

use ::libc::FILE;

use super::State;

/// Offsets in the library's `FILE`.
const NEXT: usize = 0x68;
const DESCRIPTOR: usize = 0x70;
/// Of the process's own streams: what the library takes for files.
const BUFFER: usize = 4096;
const PATH: usize = ::libc::PATH_MAX as usize;

/// A stream that was closed for a move.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Departed {
    file: usize,
    flags: c_int,
    position: i64,
    path: [c_char; PATH],
}

/// A stream that cannot move with its rank.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// It is no file: a pipe or a socket.
    #[error("a stream of a pipe or socket (descriptor {descriptor}) cannot move with its rank")]
    NoFile {
        /// Its descriptor.
        descriptor: i32,
    },
    /// It cannot be opened again.
    #[error("cannot open {path} again after a move: {error}")]
    Gone {
        /// The file.
        path: String,
        /// The system's reason.
        error: io::Error,
    },
    /// There is no memory for what has to be remembered.
    #[error("no memory is left to remember open files")]
    Memory,
}

/// Closes the streams that lie in these addresses, the rank's. The rank does not run; `malloc` gives memory of the
/// rank while this is called.
///
/// # Errors
/// If one of them is no file. Then none is closed.
///
/// # Safety
/// The state is that of a rank whose streams these are; none of them is in use.
pub unsafe fn files_depart(state: *mut State, slot: Range<usize>) -> Result<(), FilesError> {
    // SAFETY: the caller's promise.
    let departed = unsafe { &mut (*state).departed };
    departed.clear();
    let streams = streams_in(&slot);
    for file in &streams {
        let stream = look(*file)?;
        if !departed.push(stream) {
            return Err(FilesError::Memory);
        }
    }
    for file in streams {
        // SAFETY: a stream of the library's list, which nobody uses; its memory stays as it is.
        unsafe {
            _IO_un_link(file as *mut c_void);
            ::libc::close(descriptor(file));
        }
    }
    Ok(())
}

/// Opens again what [`files_depart`] has closed.
///
/// # Errors
/// If a file is not there any more.
///
/// # Safety
/// The state has arrived at its addresses with all its memory. `malloc` gives memory of the rank.
pub unsafe fn files_arrive(state: *mut State) -> Result<(), FilesError> {
    // SAFETY: the caller's promise.
    let departed = unsafe { &mut (*state).departed };
    for index in 0..departed.len() {
        let Some(stream) = departed.get(index) else { break };
        // SAFETY: a stream that has departed.
        unsafe { open_again(&stream) }?;
    }
    departed.clear();
    Ok(())
}

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

fn streams_are_known() -> bool {
    // SAFETY: a stream of our own.
    unsafe {
        let file = ::libc::fopen(c"/dev/null".as_ptr(), c"r".as_ptr());
        if file.is_null() {
            return false;
        }
        let at = file as usize;
        let known = descriptor(at) == ::libc::fileno(file) && streams_in(&(at..at + 1)) == [at];
        ::libc::fclose(file);
        known
    }
}

fn descriptor(file: usize) -> c_int {
    // SAFETY: a stream of the library's list.
    unsafe { ((file + DESCRIPTOR) as *const c_int).read() }
}

/// Streams whose memory begins in these addresses.
fn streams_in(range: &Range<usize>) -> Vec<usize> {
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

/// Writes a stream out and notes what is needed to open it again.
fn look(file: usize) -> Result<Departed, FilesError> {
    // SAFETY: a stream that nobody uses. After this its position is that of the descriptor.
    unsafe { ::libc::fflush(file as *mut FILE) };
    let descriptor = descriptor(file);
    // SAFETY: asks about a descriptor.
    let (position, flags) = unsafe {
        (::libc::lseek(descriptor, 0, ::libc::SEEK_CUR), ::libc::fcntl(descriptor, ::libc::F_GETFL))
    };
    if position < 0 || flags < 0 {
        return Err(FilesError::NoFile { descriptor });
    }
    let mut path = [0; PATH];
    let link = format!("/proc/self/fd/{descriptor}\0");
    // SAFETY: a string of C, and one byte less than there is room for, so that a zero is left.
    let len = unsafe { ::libc::readlink(link.as_ptr().cast(), path.as_mut_ptr(), PATH - 1) };
    if len <= 0 || path[0] != b'/' as c_char {
        return Err(FilesError::NoFile { descriptor });
    }
    Ok(Departed { file, flags, position, path })
}

/// # Safety
/// The stream has departed, and its memory is there again.
unsafe fn open_again(stream: &Departed) -> Result<(), FilesError> {
    // It exists, and has what was written.
    let flags = stream.flags & !(::libc::O_CREAT | ::libc::O_TRUNC | ::libc::O_EXCL) | ::libc::O_CLOEXEC;
    // SAFETY: a string of C.
    let descriptor = unsafe { ::libc::open(stream.path.as_ptr(), flags) };
    if descriptor < 0 {
        let error = io::Error::last_os_error();
        // SAFETY: a string of C.
        let path = unsafe { CStr::from_ptr(stream.path.as_ptr()) }.to_string_lossy().into_owned();
        return Err(FilesError::Gone { path, error });
    }
    // SAFETY: the stream's own place for it; the library's function for a stream that is in no list.
    unsafe {
        ::libc::lseek(descriptor, stream.position, ::libc::SEEK_SET);
        ((stream.file + DESCRIPTOR) as *mut c_int).write(descriptor);
        _IO_link_in(stream.file as *mut c_void);
    }
    Ok(())
}

#[allow(non_upper_case_globals, reason = "the C library's names")]
unsafe extern "C" {
    static _IO_list_all: *mut c_void;
    fn _IO_un_link(file: *mut c_void);
    fn _IO_link_in(file: *mut c_void);
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
