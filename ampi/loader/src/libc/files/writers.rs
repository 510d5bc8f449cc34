//! Functions that write over what is in a file, or may have others do so: what is there is kept before (see [`super::undo_log`]).

use std::ffi::{c_int, c_long, c_void};

use ::libc::{FILE, fpos_t, iovec, off_t};

use super::stream;
use super::undo_log::{before_cut, before_stream_writes, before_write};
use crate::libc::functions;

functions! {
    "pwrite" => write_at,
    "pwrite64" => write_at,
    "__pwrite64" => write_at,
    "pwritev" => write_pieces_at,
    "pwritev64" => write_pieces_at,
    "pwritev2" => write_pieces_at_with,
    "pwritev64v2" => write_pieces_at_with,
    "ftruncate" => cut,
    "ftruncate64" => cut,
    "fseek" => seek,
    "fseeko" => seek,
    "fseeko64" => seek,
    "rewind" => rewind,
    "fsetpos" => set_position,
    "fsetpos64" => set_position,
}

unsafe extern "C" fn write_at(to: c_int, bytes: *const c_void, len: usize, offset: off_t) -> isize {
    before_write(to, Some(offset), len);
    // SAFETY: called as C's function is, as all that follow.
    unsafe { ::libc::pwrite(to, bytes, len, offset) }
}

/// How many bytes there are in pieces, as far as the system takes so many.
///
/// # Safety
/// There are so many pieces.
unsafe fn len_of(pieces: *const iovec, count: c_int) -> usize {
    if !(1..=::libc::UIO_MAXIOV).contains(&count) {
        return 0;
    }
    // SAFETY: the caller's promise.
    let pieces = unsafe { std::slice::from_raw_parts(pieces, count as usize) };
    pieces.iter().fold(0, |sum, piece| sum.saturating_add(piece.iov_len))
}

unsafe extern "C" fn write_pieces_at(to: c_int, pieces: *const iovec, count: c_int, offset: off_t) -> isize {
    // SAFETY: as above.
    unsafe {
        before_write(to, Some(offset), len_of(pieces, count));
        ::libc::pwritev(to, pieces, count, offset)
    }
}

/// With an offset of -1 it writes where the file is.
unsafe extern "C" fn write_pieces_at_with(
    to: c_int,
    pieces: *const iovec,
    count: c_int,
    offset: off_t,
    flags: c_int,
) -> isize {
    // SAFETY: as above.
    unsafe {
        before_write(to, Some(offset).filter(|offset| *offset != -1), len_of(pieces, count));
        ::libc::pwritev2(to, pieces, count, offset, flags)
    }
}

unsafe extern "C" fn cut(descriptor: c_int, length: off_t) -> c_int {
    before_cut(descriptor, length);
    // SAFETY: as above.
    unsafe { ::libc::ftruncate(descriptor, length) }
}

/// From here on it may write where it has something.
fn before_writing(file: *mut FILE) {
    if !file.is_null() && stream::is_of_file(file.addr()) {
        before_stream_writes(stream::descriptor(file.addr()));
    }
}

unsafe extern "C" fn seek(file: *mut FILE, offset: c_long, whence: c_int) -> c_int {
    before_writing(file);
    // SAFETY: as above.
    unsafe { ::libc::fseek(file, offset, whence) }
}

unsafe extern "C" fn rewind(file: *mut FILE) {
    before_writing(file);
    // SAFETY: as above.
    unsafe { ::libc::rewind(file) }
}

unsafe extern "C" fn set_position(file: *mut FILE, position: *const fpos_t) -> c_int {
    before_writing(file);
    // SAFETY: as above.
    unsafe { ::libc::fsetpos(file, position) }
}
