//! POSIX's `write` and `writev`: what goes to the standard streams is the rank's, and comes out in whole lines, once whatever is done
//! again. Also by another descriptor of what the job prints, while the stream itself goes to a file.

use std::ffi::{c_int, c_void};

use talisman_loader::libc::{is_child, is_own_thread};

use crate::control;
use crate::streams::{self, ERRORS, INPUT, OUTPUT, Target};

/// The functions, by the names that programs ask for.
pub fn symbol(name: &str) -> Option<usize> {
    match name {
        "write" | "__write" => Some(write as *const () as usize),
        "writev" => Some(write_pieces as *const () as usize),
        _ => None,
    }
}

/// Where a rank writes to.
#[derive(Clone, Copy)]
enum Place {
    /// One of its standard streams.
    Stream(c_int),
    /// What the job prints.
    Job(c_int),
}

/// None of what is not the rank's, or is a file or the like.
fn place(descriptor: c_int) -> Option<Place> {
    if is_child() {
        return None;
    }
    if matches!(descriptor, OUTPUT | ERRORS) {
        return Some(Place::Stream(descriptor));
    }
    if is_own_thread() {
        return None;
    }
    let standard = control::try_with(|control| control.state.standard_of(descriptor))??;
    (standard != INPUT).then_some(Place::Job(standard))
}

fn put(place: Place, bytes: &[u8]) -> isize {
    match place {
        Place::Stream(number) if is_own_thread() => {
            let target = control::with(|control| control.streams.target(number));
            let (Target::Job(descriptor) | Target::File(descriptor)) = target;
            streams::write_at_once(descriptor, bytes)
        }
        Place::Stream(number) => control::with(|control| control.streams.write(number, bytes)),
        Place::Job(number) => control::with(|control| control.streams.write_to_job(number, bytes)),
    }
}

unsafe extern "C" fn write(descriptor: c_int, bytes: *const c_void, count: usize) -> isize {
    match place(descriptor) {
        // SAFETY: called as C's function is.
        None => unsafe { talisman_loader::libc::write(descriptor, bytes, count) },
        Some(_) if count == 0 => 0,
        // SAFETY: so many bytes of the program's.
        Some(place) => put(place, unsafe { std::slice::from_raw_parts(bytes.cast(), count) }),
    }
}

unsafe extern "C" fn write_pieces(descriptor: c_int, pieces: *const libc::iovec, count: c_int) -> isize {
    let many = usize::try_from(count).ok().filter(|many| (1..=libc::UIO_MAXIOV as usize).contains(many));
    let (Some(place), Some(many)) = (place(descriptor), many) else {
        // SAFETY: called as C's function is.
        return unsafe { talisman_loader::libc::write_pieces(descriptor, pieces, count) };
    };
    let mut all = Vec::new();
    // SAFETY: so many pieces of the program's, each of so many bytes.
    for piece in unsafe { std::slice::from_raw_parts(pieces, many) } {
        if piece.iov_len > 0 {
            // SAFETY: as above.
            all.extend_from_slice(unsafe {
                std::slice::from_raw_parts(piece.iov_base.cast(), piece.iov_len)
            });
        }
    }
    put(place, &all)
}
