//! The program's own file and words, which a program finds by `/proc/self`: what the system shows there is of the process. Where links
//! lead else, a rank that does again what it did is told as it was told then.

use std::ffi::{CStr, c_char, c_int, c_ulong};
use std::ptr::null_mut;

use super::outcome::told_size;
use super::process_number::own_path;
use super::{current, functions};
use crate::linker::loaded;

/// A string of C.
type Path = *const c_char;

functions! {
    "readlink" => read_link,
    "__readlink_chk" => read_link_checked,
    "readlinkat" => read_link_at,
    "__readlinkat_chk" => read_link_at_checked,
    "realpath" => real_path,
    "__realpath_chk" => real_path_checked,
    "canonicalize_file_name" => canonical_name,
    "getauxval" => auxiliary_value,
    "__getauxval" => auxiliary_value,
}

mod real {
    use super::{Path, c_char, c_int};

    unsafe extern "C" {
        pub fn __readlink_chk(path: Path, place: *mut c_char, room: usize, most: usize) -> isize;
        pub fn __readlinkat_chk(
            folder: c_int,
            path: Path,
            place: *mut c_char,
            room: usize,
            most: usize,
        ) -> isize;
        pub fn __realpath_chk(path: Path, place: *mut c_char, room: usize) -> *mut c_char;
    }
}

/// What is shown of a process, and each rank has of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// A link to its program.
    File,
    /// The words that it was started with.
    Words,
}

/// What of the rank itself a path names.
fn shown(path: &[u8]) -> Option<Shown> {
    let path = path.strip_prefix(b"/proc/")?;
    let slash = path.iter().position(|byte| *byte == b'/')?;
    let (process, entry) = (&path[..slash], &path[slash + 1..]);
    let number = || std::str::from_utf8(process).ok()?.parse::<u32>().ok();
    if process != b"self" && process != b"thread-self" && number() != Some(std::process::id()) {
        return None;
    }
    match entry {
        b"exe" => Some(Shown::File),
        b"cmdline" => Some(Shown::Words),
        _ => None,
    }
}

/// # Safety
/// The path is null or a string of C.
unsafe fn is_own_file(path: Path) -> bool {
    // SAFETY: the caller's promise.
    !path.is_null() && shown(unsafe { CStr::from_ptr(path) }.to_bytes()) == Some(Shown::File)
}

/// Gives the path of the rank's program, without links.
fn with_own_path<T>(work: impl FnOnce(&CStr) -> T) -> Option<T> {
    // SAFETY: the running rank's state.
    let copy = loaded::at(unsafe { (*current()).base })?;
    let file = copy.objects().next()?.path_text();
    let mut place = [0; ::libc::PATH_MAX as usize];
    // SAFETY: a string that lives, and as much room as the function wants.
    let found = unsafe { ::libc::realpath(file.as_ptr(), place.as_mut_ptr()) };
    // SAFETY: what it has written there.
    (!found.is_null()).then(|| work(unsafe { CStr::from_ptr(found) }))
}

/// A file that was opened by its path: of what is shown of the process, that of the rank has its descriptor.
///
/// # Safety
/// The system has taken the path if the descriptor is one.
pub(super) unsafe fn opened_instead(descriptor: c_int, path: Path, flags: c_int) -> c_int {
    if descriptor < 0 {
        return descriptor;
    }
    // SAFETY: the caller's promise.
    let other = match shown(unsafe { CStr::from_ptr(path) }.to_bytes()) {
        Some(Shown::File) => with_own_path(|own| {
            // SAFETY: a string that lives.
            unsafe { ::libc::open(own.as_ptr(), flags) }
        }),
        Some(Shown::Words) => words(),
        None => None,
    };
    if let Some(other) = other.filter(|other| *other >= 0) {
        // SAFETY: two descriptors that nobody else knows.
        unsafe {
            ::libc::dup3(other, descriptor, flags & ::libc::O_CLOEXEC);
            ::libc::close(other);
        }
    }
    descriptor
}

/// A file in memory with the words of the rank, a zero behind each.
fn words() -> Option<c_int> {
    // SAFETY: a string of C.
    let file = unsafe { ::libc::memfd_create(c"cmdline".as_ptr(), ::libc::MFD_CLOEXEC) };
    // SAFETY: the running rank's state; the program's words are strings, the last of which is followed by null.
    unsafe {
        let mut word = (*current()).late.arguments();
        while file >= 0 && !word.is_null() && !(*word).is_null() {
            let bytes = CStr::from_ptr(*word).to_bytes_with_nul();
            ::libc::write(file, bytes.as_ptr().cast(), bytes.len());
            word = word.add(1);
        }
        ::libc::lseek(file, 0, ::libc::SEEK_SET);
    }
    (file >= 0).then_some(file)
}

/// Reads a link by `call`, unless it is that to the rank's program. Nothing else is written then: a program may have
/// zeroes behind.
///
/// # Safety
/// So many bytes may be written there.
unsafe fn linked(
    (folder, path): (c_int, Path),
    (place, room): (*mut c_char, usize),
    mut call: impl FnMut() -> isize,
) -> isize {
    let mut first = 0;
    // What is no path the system refuses.
    // SAFETY: room for a byte; then what the system has taken is a string of C.
    let is_own = unsafe { ::libc::readlinkat(folder, path, &raw mut first, 1) >= 0 && is_own_file(path) };
    if !is_own {
        if place.is_null() {
            return call();
        }
        // SAFETY: the caller's promise.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(place.cast::<u8>(), room.min(isize::MAX as usize)) };
        return told_size(bytes, |_| call());
    }
    let own = with_own_path(|own| {
        let len = own.to_bytes().len().min(room);
        // SAFETY: the caller's promise.
        unsafe { place.copy_from_nonoverlapping(own.as_ptr(), len) };
        len.cast_signed()
    });
    own.unwrap_or_else(call)
}

/// From where paths begin.
const HERE: c_int = ::libc::AT_FDCWD;

unsafe extern "C" fn read_link(path: Path, place: *mut c_char, room: usize) -> isize {
    // SAFETY: called as C's function is.
    unsafe {
        let path = own_path(path);
        linked((HERE, path), (place, room), || ::libc::readlink(path, place, room))
    }
}

unsafe extern "C" fn read_link_checked(path: Path, place: *mut c_char, room: usize, most: usize) -> isize {
    // SAFETY: called as C's function is.
    unsafe {
        let path = own_path(path);
        let call = || real::__readlink_chk(path, place, room, most);
        linked((HERE, path), (place, room.min(most)), call)
    }
}

unsafe extern "C" fn read_link_at(folder: c_int, path: Path, place: *mut c_char, room: usize) -> isize {
    // SAFETY: called as C's function is.
    unsafe {
        let path = own_path(path);
        linked((folder, path), (place, room), || ::libc::readlinkat(folder, path, place, room))
    }
}

unsafe extern "C" fn read_link_at_checked(
    folder: c_int,
    path: Path,
    place: *mut c_char,
    room: usize,
    most: usize,
) -> isize {
    // SAFETY: called as C's function is.
    unsafe {
        let path = own_path(path);
        let call = || real::__readlinkat_chk(folder, path, place, room, most);
        linked((folder, path), (place, room.min(most)), call)
    }
}

/// A path without links; that to the rank's program is its own. Null if there is none.
///
/// # Safety
/// The path is null or a string of C. The place is null, or has room for a path.
unsafe fn resolved(path: Path, place: *mut c_char) -> *mut c_char {
    const ROOM: usize = ::libc::PATH_MAX as usize;
    // SAFETY: the caller's promise.
    let path = unsafe { own_path(path) };
    let mut text = [0; ROOM];
    let find = |text: &mut [u8], path| {
        // SAFETY: the caller's promise, and room for a path.
        let found = unsafe { ::libc::realpath(path, text.as_mut_ptr().cast()) };
        // SAFETY: what it has written there.
        if found.is_null() { -1 } else { unsafe { CStr::from_ptr(found) }.count_bytes().cast_signed() + 1 }
    };
    // SAFETY: the caller's promise.
    let own =
        unsafe { is_own_file(path) }.then(|| with_own_path(|own| find(&mut text, own.as_ptr()))).flatten();
    let size = own.unwrap_or_else(|| told_size(&mut text, |text| find(text, path)));
    let Ok(size) = usize::try_from(size) else { return null_mut() };
    // SAFETY: a string of C; the caller's promise.
    unsafe {
        if place.is_null() {
            return ::libc::strdup(text.as_ptr().cast());
        }
        place.copy_from_nonoverlapping(text.as_ptr().cast(), size);
    }
    place
}

unsafe extern "C" fn real_path(path: Path, place: *mut c_char) -> *mut c_char {
    // SAFETY: called as C's function is.
    unsafe { resolved(path, place) }
}

unsafe extern "C" fn real_path_checked(path: Path, place: *mut c_char, room: usize) -> *mut c_char {
    // SAFETY: called as C's function is; a place that is too small is reported by the C library.
    unsafe {
        if room < ::libc::PATH_MAX as usize {
            return real::__realpath_chk(path, place, room);
        }
        resolved(path, place)
    }
}

unsafe extern "C" fn canonical_name(path: Path) -> *mut c_char {
    // SAFETY: called as C's function is.
    unsafe { resolved(path, null_mut()) }
}

/// Of a program the system says where it is.
extern "C" fn auxiliary_value(kind: c_ulong) -> c_ulong {
    // SAFETY: the running rank's state, and its variable.
    let (base, name) = unsafe { ((*current()).base, *(*current()).variables.program_name) };
    let copy = || loaded::at(base);
    let headers = || copy()?.objects().next()?.headers;
    let own = match kind {
        ::libc::AT_EXECFN => Some(name.addr()),
        ::libc::AT_PHDR => headers().map(|(at, _)| base + at),
        ::libc::AT_PHNUM => headers().map(|(_, count)| count),
        ::libc::AT_ENTRY => copy().map(|copy| copy.program.entry(base)),
        _ => None,
    };
    // SAFETY: takes a number.
    own.map_or_else(|| unsafe { ::libc::getauxval(kind) }, |own| own as c_ulong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_named_by_itself_and_by_its_number() {
        let own = format!("/proc/{}/exe", std::process::id());
        for path in ["/proc/self/exe", "/proc/thread-self/exe", &own] {
            assert_eq!(shown(path.as_bytes()), Some(Shown::File), "{path}");
        }
        assert_eq!(shown(b"/proc/self/cmdline"), Some(Shown::Words));
        for path in
            ["/proc/1/exe", "/proc/self", "/proc/self/exe/", "/proc/self/maps", "exe", "/proc/exe", ""]
        {
            assert_eq!(shown(path.as_bytes()), None, "{path}");
        }
    }
}
