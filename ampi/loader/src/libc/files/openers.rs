//! Functions that open files by their paths: others run before, and the descriptor is moved to the rank's range.
//!
//! A rank that does again what it has done finds what it found then: no file that was made only since, and a name that was
//! free is free for it again.

use std::ffi::{CStr, c_char, c_int};

use ::libc::{
    FILE, O_APPEND, O_CLOEXEC, O_CREAT, O_DIRECTORY, O_EXCL, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY, mode_t,
};

use super::appended::{appends, length, opened_anew, remember};
use super::makers::{adopt_opened, adopt_stream, note_made as note_made_file};
use super::stand_ins::stand_in;
use super::stream;
use super::told_contents::{self, Content, note_written};
use super::undo_log::{before_append, before_open, before_stream_writes, note_new};
use crate::libc::made_again::{Identity, Place, host, is_here, is_that, note_replaced};
use crate::libc::outcome::{Outcome, Told, told, told as told_again};
use crate::libc::pause::give_way;
use crate::libc::proc_self::opened_instead;
use crate::libc::process_number::Argument;
use crate::libc::{current, set_errno, with_process_memory};

/// A string of C.
type Path = *const c_char;

/// In the mark of a file that is made if it is not there: it was there.
const WAS_THERE: u64 = 1;

/// Opens a file, with these flags of `open` or others.
fn opened(place: Place, flags: c_int, call: impl Fn(c_int) -> c_int) -> c_int {
    // SAFETY: takes nothing.
    unsafe { give_way() };
    let was_there = before_open(place, flags);
    let descriptor = opened_or_told(place, flags, call);
    note_written(descriptor, flags);
    match was_there {
        false => note_new(descriptor),
        true if appends(flags) => before_append(descriptor),
        true => {}
    }
    descriptor
}

fn opened_or_told(place: Place, flags: c_int, call: impl Fn(c_int) -> c_int) -> c_int {
    let (creates, appends) = (flags & O_CREAT != 0, appends(flags));
    let told = told(|| {
        let was_there = creates && flags & O_EXCL == 0 && place.target().is_some();
        let outcome = Outcome::of(|| call(flags));
        let made = ((creates || appends) && outcome.is_done()).then(|| Identity::of(outcome.result));
        let mark = made.flatten().map_or(0, Identity::mark);
        let mark = if mark != 0 && was_there { mark | WAS_THERE } else { mark };
        let content = Content::of(outcome.result, flags).map(|content| content as u64);
        Outcome { mark: content.unwrap_or(mark), ..outcome }
    });
    if !told.then.is_done() {
        return told.then.give();
    }
    match Content::of_mark(told.then.mark) {
        Some(Content::Kernel) => {
            return told_contents::told_copy(if told.is_again { -1 } else { told.then.result }, flags);
        }
        Some(Content::Own) if told.is_again => return told_contents::told_again(call(flags), flags),
        Some(Content::Own) => told_contents::tell_content(told.then.result),
        None => {}
    }
    if !(creates || appends) {
        return if told.is_again { opened_again(flags, call) } else { told.then.result };
    }
    let then = Made::then(told);
    if appends {
        return opened_to_append(place, told, then, flags, call);
    }
    if told.is_again { make_again(place, then, flags, call) } else { told.then.result }
}

/// What was there then. A folder that has gone since has the entries that it had, in the place of another one's.
fn opened_again(flags: c_int, call: impl Fn(c_int) -> c_int) -> c_int {
    match call(flags) {
        // SAFETY: a string of C.
        ..0 if flags & O_DIRECTORY != 0 => unsafe { ::libc::open(c"/".as_ptr(), flags) },
        opened => opened,
    }
}

/// A file that may have been made when it was opened first.
#[derive(Clone, Copy)]
pub(super) struct Made {
    /// Its mark; 0 if it is none.
    mark: u64,
    /// It was on this host, and had been made before.
    was_there: bool,
}

impl Made {
    fn then(told: Told) -> Made {
        let on = told_again(|| Outcome { result: 0, error: 0, mark: host() }).then.mark;
        let is_here = with_process_memory(|| is_here(on));
        let Told { then: Outcome { mark, .. }, .. } = told;
        Made { mark: mark & !WAS_THERE, was_there: is_here && mark & WAS_THERE != 0 }
    }

    /// It was made just then.
    pub(super) fn anew(mark: u64) -> Made {
        Made { mark, was_there: false }
    }
}

/// Opened to write at its end: what the rank has written there is not written again.
fn opened_to_append(
    place: Place,
    told: Told,
    then: Made,
    flags: c_int,
    call: impl Fn(c_int) -> c_int,
) -> c_int {
    let now = || Outcome { result: 0, error: 0, mark: length(told.then.result) };
    let length = told_again(now).then.mark;
    let descriptor = match told.is_again {
        true => make_again(place, then, flags, call),
        false => told.then.result,
    };
    remember(descriptor);
    note_written(descriptor, flags);
    if !told.is_again {
        return opened_anew(descriptor, flags);
    }
    match then.mark != 0 && Identity::of(descriptor).is_some_and(|now| now.mark() == then.mark) {
        // SAFETY: the running rank's state.
        true => stand_in(descriptor, length, flags, unsafe { &mut (*current()).stand_ins }),
        false => descriptor,
    }
}

/// Opens what was there after it was opened first.
pub(super) fn make_again(place: Place, then: Made, flags: c_int, call: impl Fn(c_int) -> c_int) -> c_int {
    match place.target() {
        // It was removed or renamed later, with what others of its writers and it had written before.
        None if then.was_there => gone(flags),
        None => {
            let descriptor = call(flags);
            if descriptor < 0 {
                // Its folder was removed later, with it.
                return gone(flags);
            }
            note_replaced(then.mark, Identity::of(descriptor));
            descriptor
        }
        Some(there) if then.mark == 0 || is_that(then.mark, there) => call(flags & !O_EXCL),
        // It was removed or renamed later, and what is there was made after that.
        Some(_) => gone(flags),
    }
}

/// In the place of a file that is no more where it was: what is written now has been written already.
fn gone(flags: c_int) -> c_int {
    let flag = if flags & O_CLOEXEC == 0 { 0 } else { ::libc::MFD_CLOEXEC };
    // SAFETY: a string of C.
    unsafe { ::libc::memfd_create(c"gone".as_ptr(), flag) }
}

/// The flags of `open` that a mode of `fopen` stands for; none if it is no mode, or is for characters of a certain coding.
fn flags_of(mode: &[u8]) -> Option<c_int> {
    let (first, others) = mode.split_first()?;
    let flags = match first {
        b'r' => O_RDONLY,
        b'w' => O_WRONLY | O_CREAT | O_TRUNC,
        b'a' => O_WRONLY | O_CREAT | O_APPEND,
        _ => return None,
    };
    others.iter().try_fold(flags, |flags, other| match other {
        b'+' => Some(flags & !O_WRONLY | O_RDWR),
        b'x' => Some(flags | O_EXCL),
        b'e' => Some(flags | O_CLOEXEC),
        b',' => None,
        _ => Some(flags),
    })
}

/// A stream, as `fopen` makes it: a descriptor, and the stream of that.
unsafe extern "C" fn open_stream(path: Path, mode: Path) -> *mut FILE {
    // SAFETY: called as C's function is.
    let path = unsafe { path.own() };
    // SAFETY: called as C's function is.
    let Some(flags) = flags_of(unsafe { CStr::from_ptr(mode) }.to_bytes()) else {
        // SAFETY: as above.
        let file = unsafe {
            give_way();
            ::libc::fopen(path, mode)
        };
        adopt_stream(file.addr());
        return file;
    };
    // SAFETY: as above.
    let open = |flags| unsafe { opened_instead(real::open64(path, flags, 0o666), path, flags) };
    let descriptor = opened(Place::at(path), flags, open);
    if descriptor < 0 {
        return std::ptr::null_mut();
    }
    // SAFETY: as above, and a descriptor of which nobody has heard. As of `fopen` one that only appends is at its end.
    let file = unsafe {
        if flags & (O_APPEND | O_RDWR) == O_APPEND {
            ::libc::lseek(descriptor, 0, ::libc::SEEK_END);
        }
        ::libc::fdopen(descriptor, mode)
    };
    if file.is_null() {
        let error = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        // SAFETY: as above.
        unsafe { ::libc::close(descriptor) };
        set_errno(error);
    }
    adopt_stream(file.addr());
    if !file.is_null() {
        note_made_file(stream::descriptor(file.addr()), flags);
        if flags & (O_RDWR | O_TRUNC | O_APPEND) == O_RDWR {
            before_stream_writes(stream::descriptor(file.addr()));
        }
    }
    file
}

/// The functions, each with the one of the C library that it calls.
macro_rules! openers {
    ($($name:literal => $function:ident($($argument:ident: $type:ty),*) $folder:expr, $path:ident, $flags:ident;)*) => {
        pub fn symbol(name: &str) -> Option<usize> {
            match name {
                $($name => Some($function as *const () as usize),)*
                "creat" | "creat64" => Some(create as *const () as usize),
                "fopen" | "fopen64" => Some(open_stream as *const () as usize),
                _ => None,
            }
        }
        mod real {
            use super::*;
            unsafe extern "C" {
                $(#[link_name = $name] pub fn $function($($argument: $type),*) -> c_int;)*
            }
        }
        $(
            unsafe extern "C" fn $function($($argument: $type),*) -> c_int {
                // SAFETY: called as C's function is; one that is given no mode does not look at it.
                $(let $argument = unsafe { $argument.own() };)*
                // SAFETY: as above.
                let open = |$flags| unsafe { opened_instead(real::$function($($argument),*), $path, $flags) };
                adopt_opened(opened(Place { folder: $folder, path: $path }, $flags, open), $flags)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A checkpoint was taken while there was a folder, which has gone since with the file in it.
    #[test]
    fn what_went_with_its_folder_is_written_nowhere() {
        let path = c"/nowhere/of/this/name";
        let flags = O_WRONLY | O_CREAT | O_EXCL;
        // SAFETY: a string of C; then what was opened, and bytes that live.
        unsafe {
            let opened = make_again(Place::at(path.as_ptr()), Made::anew(8), flags, |flags| {
                ::libc::open(path.as_ptr(), flags, 0o600)
            });
            assert!(opened >= 0 && ::libc::write(opened, b"line".as_ptr().cast(), 4) == 4);
            ::libc::close(opened);
        }
    }

    #[test]
    fn modes_stand_for_flags() {
        let made = O_CREAT | O_TRUNC;
        for (mode, flags) in [
            ("r", O_RDONLY),
            ("rb+", O_RDWR),
            ("w", O_WRONLY | made),
            ("w+b", O_RDWR | made),
            ("wxe", O_WRONLY | made | O_EXCL | O_CLOEXEC),
            ("a", O_WRONLY | O_CREAT | O_APPEND),
            ("a+", O_RDWR | O_CREAT | O_APPEND),
        ] {
            assert_eq!(flags_of(mode.as_bytes()), Some(flags), "{mode}");
        }
        for mode in ["", "x", "+r", "r,ccs=UTF-8"] {
            assert_eq!(flags_of(mode.as_bytes()), None, "{mode}");
        }
    }
}
