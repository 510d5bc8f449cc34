//! Functions that open files by their paths: others run before, and the descriptor is moved to the rank's range.
//!
//! A rank that does again what it has done finds what it found then: no file that was made only since, and a name that was
//! free is free for it again.

use std::ffi::{CStr, c_char, c_int};

use ::libc::{EEXIST, FILE, O_CREAT, O_EXCL, O_TRUNC, O_WRONLY, mode_t};

use super::makers::{adopt, adopt_stream};
use super::stream;
use crate::libc::made_again::{Identity, Place, note_made};
use crate::libc::outcome::{Outcome, told};
use crate::libc::pause::give_way;

/// A string of C.
type Path = *const c_char;

/// What is asked for.
#[derive(Clone, Copy)]
struct Asked {
    place: Place,
    /// A file, if there is none.
    creates: bool,
    /// A new one only.
    is_exclusive: bool,
}

/// How it is opened.
#[derive(Clone, Copy)]
enum Way {
    Asked,
    /// Also if there is one, as it is.
    Kept,
    /// Also if there is one, which is empty then.
    Emptied,
}

/// What is opened.
trait Handle: Copy {
    const NONE: Self;

    /// Negative if there is none.
    fn descriptor(self) -> c_int;
    fn close(self);
}

impl Handle for c_int {
    const NONE: Self = -1;

    fn descriptor(self) -> c_int {
        self
    }

    fn close(self) {
        // SAFETY: it was opened, and nobody has heard of it.
        unsafe { ::libc::close(self) };
    }
}

impl Handle for *mut FILE {
    const NONE: Self = std::ptr::null_mut();

    fn descriptor(self) -> c_int {
        if self.is_null() { -1 } else { stream::descriptor(self.addr()) }
    }

    fn close(self) {
        // SAFETY: as above.
        unsafe { ::libc::fclose(self) };
    }
}

fn opened<H: Handle>(asked: Asked, call: impl Fn(Way) -> H) -> H {
    // SAFETY: takes nothing.
    unsafe { give_way() };
    let was_there = asked.creates && asked.place.identity().is_some();
    let handle = call(Way::Asked);
    let mut now = Outcome::of(|| handle.descriptor().min(0));
    if asked.is_exclusive && now.is_done() {
        now.mark = mark(Identity::of(handle.descriptor()));
    }
    let told = told(|| now);
    match told.then.is_done() {
        _ if !told.is_again => {
            now.give();
            handle
        }
        false => {
            if now.is_done() {
                handle.close();
            }
            told.then.give();
            H::NONE
        }
        true if now.is_done() => {
            if asked.creates && !was_there {
                note_made(Identity::of(handle.descriptor()));
            }
            handle
        }
        // It was new then. If it is the same one, others may have written to it since.
        true if asked.is_exclusive && now.error == EEXIST => {
            let is_same = mark(asked.place.identity()) == told.then.mark;
            call(if is_same { Way::Kept } else { Way::Emptied })
        }
        true => {
            now.give();
            handle
        }
    }
}

fn mark(identity: Option<Identity>) -> u64 {
    identity.map_or(0, Identity::mark)
}

/// With flags as `open` has them.
fn by_flags(folder: c_int, path: Path, flags: c_int, call: impl Fn(c_int) -> c_int) -> c_int {
    let creates = flags & O_CREAT != 0;
    let asked =
        Asked { place: Place { folder, path }, creates, is_exclusive: creates && flags & O_EXCL != 0 };
    adopt(opened(asked, |way| {
        call(match way {
            Way::Asked => flags,
            Way::Kept => flags & !O_EXCL,
            Way::Emptied => flags & !O_EXCL | O_TRUNC,
        })
    }))
}

/// With a mode as `fopen` has it.
///
/// # Safety
/// Both are strings.
unsafe fn by_mode(path: Path, mode: Path, call: impl Fn(Path) -> *mut FILE) -> *mut FILE {
    // SAFETY: the caller's promise.
    let letters = unsafe { CStr::from_ptr(mode) }.to_bytes();
    let creates = matches!(letters.first(), Some(b'w' | b'a'));
    let flags = letters.split(|letter| *letter == b',').next().unwrap_or_default();
    let asked = Asked { place: Place::at(path), creates, is_exclusive: creates && flags.contains(&b'x') };
    let reads = flags.contains(&b'+');
    let file = opened(asked, |way| match (way, letters.first(), reads) {
        (Way::Asked, ..) => call(mode),
        (_, Some(b'a'), false) => call(c"a".as_ptr()),
        (_, Some(b'a'), true) => call(c"a+".as_ptr()),
        (Way::Kept, ..) => call(c"r+".as_ptr()),
        (Way::Emptied, _, false) => call(c"w".as_ptr()),
        (Way::Emptied, _, true) => call(c"w+".as_ptr()),
    });
    adopt_stream(file.addr());
    file
}

/// The functions, each with the one of the C library that it calls.
macro_rules! openers {
    ($($name:literal => $function:ident($($argument:ident: $type:ty),*) $folder:expr, $path:ident, $flags:ident;)*) => {
        pub fn symbol(name: &str) -> Option<usize> {
            match name {
                $($name => Some($function as *const () as usize),)*
                "creat" | "creat64" => Some(create as *const () as usize),
                "fopen" => Some(fopen as *const () as usize),
                "fopen64" => Some(fopen64 as *const () as usize),
                _ => None,
            }
        }
        mod real {
            use super::*;
            unsafe extern "C" {
                $(#[link_name = $name] pub fn $function($($argument: $type),*) -> c_int;)*
                pub fn fopen(path: Path, mode: Path) -> *mut FILE;
                pub fn fopen64(path: Path, mode: Path) -> *mut FILE;
            }
        }
        $(
            unsafe extern "C" fn $function($($argument: $type),*) -> c_int {
                // SAFETY: called as C's function is; one that is given no mode does not look at it.
                by_flags($folder, $path, $flags, |$flags| unsafe { real::$function($($argument),*) })
            }
        )*
    };
}

/// From where paths begin.
const HERE: c_int = ::libc::AT_FDCWD;

openers! {
    "open" => open(path: Path, flags: c_int, mode: mode_t) HERE, path, flags;
    "open64" => open64(path: Path, flags: c_int, mode: mode_t) HERE, path, flags;
    "__open" => open_of_library(path: Path, flags: c_int, mode: mode_t) HERE, path, flags;
    "__open64" => open64_of_library(path: Path, flags: c_int, mode: mode_t) HERE, path, flags;
    "__open_2" => open_checked(path: Path, flags: c_int) HERE, path, flags;
    "__open64_2" => open64_checked(path: Path, flags: c_int) HERE, path, flags;
    "openat" => openat(folder: c_int, path: Path, flags: c_int, mode: mode_t) folder, path, flags;
    "openat64" => openat64(folder: c_int, path: Path, flags: c_int, mode: mode_t) folder, path, flags;
    "__openat_2" => openat_checked(folder: c_int, path: Path, flags: c_int) folder, path, flags;
    "__openat64_2" => openat64_checked(folder: c_int, path: Path, flags: c_int) folder, path, flags;
}

unsafe extern "C" fn create(path: Path, mode: mode_t) -> c_int {
    // SAFETY: called as C's function is.
    unsafe { open64(path, O_CREAT | O_WRONLY | O_TRUNC, mode) }
}

unsafe extern "C" fn fopen(path: Path, mode: Path) -> *mut FILE {
    // SAFETY: called as C's function is.
    unsafe { by_mode(path, mode, |mode| real::fopen(path, mode)) }
}

unsafe extern "C" fn fopen64(path: Path, mode: Path) -> *mut FILE {
    // SAFETY: called as C's function is.
    unsafe { by_mode(path, mode, |mode| real::fopen64(path, mode)) }
}
