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
/// In the flags, its first word: it is in the list.
const LINKED: c_int = 0x80;
/// Of the process's own streams: what the library takes for files.
const BUFFER: usize = 4096;
const PATH: usize = ::libc::PATH_MAX as usize;

/// A stream that was closed for a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Departed {
    file: usize,
    flags: c_int,
    position: i64,
    path: [c_char; PATH],
    /// What is behind this length was written after a copy was made; -1 if it was none.
    length: i64,
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

/// The streams that lie in these addresses, a rank's, for a copy of the rank: it finds them as they are now, and files
/// that they write to as long as they are now. Such as are no files are passed over: the copy has none. The rank does
/// not run.
pub fn files_open(slot: Range<usize>) -> Vec<Departed> {
    let with_length = |stream: Departed| {
        let descriptor = descriptor(stream.file);
        // SAFETY: asks about a descriptor, and puts it back to where it was.
        let length = unsafe {
            let length = ::libc::lseek(descriptor, 0, ::libc::SEEK_END);
            ::libc::lseek(descriptor, stream.position, ::libc::SEEK_SET);
            length
        };
        Departed { length, ..stream }
    };
    streams_in(&slot).into_iter().filter_map(|file| look(file).ok()).map(with_length).collect()
}

/// Notes these streams in a rank that is about to be copied. If they have been noted before, nothing is changed.
/// `malloc` gives memory of the rank while this is called.
///
/// # Safety
/// The state is that of the rank, which does not run.
pub unsafe fn files_note(state: *mut State, open: &[Departed]) {
    // SAFETY: the caller's promise.
    let departed = unsafe { &mut (*state).departed };
    let is_noted =
        departed.len() == open.len() && (0..).zip(open).all(|(i, one)| departed.get(i) == Some(*one));
    if !is_noted {
        departed.clear();
        // What there is no memory for is not opened in the copy.
        let _all = open.iter().all(|stream| departed.push(*stream));
    }
}

/// Opens again what [`files_depart`] has closed, or [`files_note`] has noted for this copy.
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
    Ok(Departed { file, flags, position, path, length: -1 })
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
        if stream.length >= 0 && stream.flags & ::libc::O_ACCMODE != ::libc::O_RDONLY {
            ::libc::ftruncate(descriptor, stream.length);
        }
        ::libc::lseek(descriptor, stream.position, ::libc::SEEK_SET);
        // A copy believes that it is in the list.
        *(stream.file as *mut c_int) &= !LINKED;
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
