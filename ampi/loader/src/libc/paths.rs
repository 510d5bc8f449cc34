//! Functions that look at files by their paths or descriptors, or change folders: others run before. Ranks wait for each other's files
//! so, and a rank that begins by removing files has to do it before another one has come far.
//!
//! A rank that does again what it has done is told what it was told then: see [`super::outcome`].

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::size_of;

use ::libc::{mode_t, off_t, stat as Stat, statx as Statx, timespec, timeval, utimbuf};

use super::current;
use super::files::{before_cut_at, before_loss, before_rename, note_made_at};
use super::made_again::{Place, is_made_again, note_made};
use super::outcome::{Outcome, told, told_with};
use super::pause::give_way;
use super::process_number::Argument;

/// A string of C.
type Path = *const c_char;

/// What a function does, as far as it matters to who does it again.
#[derive(Clone, Copy)]
enum Does {
    /// It looks: what it saw then is what counts.
    Look,
    /// It looks, and writes what it sees to so many bytes: they are as they were then.
    Fill(*mut c_void, usize),
    /// It changes something, and does so again.
    Change,
    /// After it, there is something new of this name.
    Make(Place),
    /// After it, there is nothing of this name any more. It does so again if that was made again; what is there otherwise was
    /// made by others since.
    Take(Place),
    /// The same, and there is another thing of the second name.
    Rename(Place, Place),
    /// A file is as long as this.
    Cut(Place, off_t),
}

/// Others run, then it is done.
fn run(does: Does, call: impl Fn() -> c_int) -> c_int {
    // SAFETY: takes nothing.
    unsafe { give_way() };
    does.keep_what_is_there();
    let call = || Outcome::of(&call);
    let then = match does {
        Does::Fill(place, _) if place.is_null() => call(),
        Does::Fill(place, len) => {
            // SAFETY: who calls such a function of the C library has so many bytes there.
            let bytes = unsafe { std::slice::from_raw_parts_mut(place.cast::<u8>(), len) };
            told_with(bytes, || call().result)
        }
        _ => {
            let told = told(call);
            if told.is_again && told.then.is_done() {
                does.again(call);
            }
            told.then
        }
    };
    if let Does::Make(place) = does
        && then.is_done()
    {
        note_made_at(place);
    }
    if let Does::Take(_) | Does::Rename(..) = does {
        // A file that the rank has open may have lost its name, without which it cannot be opened again.
        // SAFETY: the running rank's state.
        unsafe { (*current()).descriptors.note_change() };
    }
    then.give()
}

impl Does {
    /// Not before others have run: meanwhile the rank may have been copied.
    fn keep_what_is_there(self) {
        match self {
            Does::Look | Does::Fill(..) | Does::Change | Does::Make(_) => {}
            Does::Take(place) => before_loss(place),
            Does::Rename(place, new) => before_rename(place, new),
            Does::Cut(place, length) => before_cut_at(place, length),
        }
    }

    /// What has been done is done again. What had failed is not.
    fn again(self, call: impl Fn() -> Outcome) {
        match self {
            Does::Look | Does::Fill(..) => {}
            Does::Change | Does::Cut(..) => _ = call(),
            Does::Make(place) => {
                if call().is_done() {
                    note_made(place.identity());
                }
            }
            Does::Take(place) | Does::Rename(place, _) => {
                if is_made_again(place) {
                    call();
                }
            }
        }
    }
}

fn fills<T>(place: *mut T) -> Does {
    Does::Fill(place.cast(), size_of::<T>())
}

fn makes(folder: c_int, path: Path) -> Does {
    Does::Make(Place { folder, path })
}

fn takes(folder: c_int, path: Path) -> Does {
    Does::Take(Place { folder, path })
}

/// The second name is that of the first one's file then.
fn renames(folder: c_int, path: Path, to: c_int, new: Path) -> Does {
    Does::Rename(Place { folder, path }, Place { folder: to, path: new })
}

fn cuts(path: Path, length: off_t) -> Does {
    Does::Cut(Place::at(path), length)
}

/// From where paths begin.
const HERE: c_int = ::libc::AT_FDCWD;

/// A table of functions of the C library that take paths: what each does.
macro_rules! functions_of_paths {
    ($($name:literal => $function:ident($($argument:ident: $type:ty),*) $does:expr;)*) => {
        pub(super) fn symbol(name: &str) -> Option<usize> {
            match name {
                $($name => Some($function as *const () as usize),)*
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
                // SAFETY: called as C's function is.
                $(let $argument = unsafe { $argument.own() };)*
                // SAFETY: as above.
                run($does, || unsafe { real::$function($($argument),*) })
            }
        )*
    };
}

functions_of_paths! {
    "access" => access(path: Path, mode: c_int) Does::Look;
    "faccessat" => faccessat(folder: c_int, path: Path, mode: c_int, flags: c_int) Does::Look;
    "euidaccess" => euidaccess(path: Path, mode: c_int) Does::Look;
    "stat" => stat(path: Path, place: *mut Stat) fills(place);
    "stat64" => stat64(path: Path, place: *mut Stat) fills(place);
    "lstat" => lstat(path: Path, place: *mut Stat) fills(place);
    "lstat64" => lstat64(path: Path, place: *mut Stat) fills(place);
    "fstat" => fstat(descriptor: c_int, place: *mut Stat) fills(place);
    "fstat64" => fstat64(descriptor: c_int, place: *mut Stat) fills(place);
    "__fxstat" => fxstat(version: c_int, descriptor: c_int, place: *mut Stat) fills(place);
    "__fxstat64" => fxstat64(version: c_int, descriptor: c_int, place: *mut Stat) fills(place);
    "fstatat" => fstatat(folder: c_int, path: Path, place: *mut Stat, flags: c_int) fills(place);
    "fstatat64" => fstatat64(folder: c_int, path: Path, place: *mut Stat, flags: c_int) fills(place);
    "__xstat" => xstat(version: c_int, path: Path, place: *mut Stat) fills(place);
    "__xstat64" => xstat64(version: c_int, path: Path, place: *mut Stat) fills(place);
    "__lxstat" => lxstat(version: c_int, path: Path, place: *mut Stat) fills(place);
    "__lxstat64" => lxstat64(version: c_int, path: Path, place: *mut Stat) fills(place);
    "__fxstatat" => fxstatat(version: c_int, folder: c_int, path: Path, place: *mut Stat, flags: c_int) fills(place);
    "__fxstatat64" =>
        fxstatat64(version: c_int, folder: c_int, path: Path, place: *mut Stat, flags: c_int) fills(place);
    "statx" => statx(folder: c_int, path: Path, flags: c_int, mask: c_uint, place: *mut Statx) fills(place);
    "unlink" => unlink(path: Path) takes(HERE, path);
    "unlinkat" => unlinkat(folder: c_int, path: Path, flags: c_int) takes(folder, path);
    "remove" => remove(path: Path) takes(HERE, path);
    "rmdir" => rmdir(path: Path) takes(HERE, path);
    "rename" => rename(path: Path, new: Path) renames(HERE, path, HERE, new);
    "renameat" => renameat(folder: c_int, path: Path, to: c_int, new: Path) renames(folder, path, to, new);
    "renameat2" =>
        renameat2(folder: c_int, path: Path, to: c_int, new: Path, flags: c_uint) renames(folder, path, to, new);
    "link" => link(path: Path, new: Path) makes(HERE, new);
    "linkat" => linkat(folder: c_int, path: Path, to: c_int, new: Path, flags: c_int) makes(to, new);
    "symlink" => symlink(text: Path, new: Path) makes(HERE, new);
    "symlinkat" => symlinkat(text: Path, to: c_int, new: Path) makes(to, new);
    "mkdir" => mkdir(path: Path, mode: mode_t) makes(HERE, path);
    "mkdirat" => mkdirat(folder: c_int, path: Path, mode: mode_t) makes(folder, path);
    "mkfifo" => mkfifo(path: Path, mode: mode_t) makes(HERE, path);
    "truncate" => truncate(path: Path, length: off_t) cuts(path, length);
    "truncate64" => truncate64(path: Path, length: off_t) cuts(path, length);
    "chmod" => chmod(path: Path, mode: mode_t) Does::Change;
    "utime" => utime(path: Path, times: *const utimbuf) Does::Change;
    "utimes" => utimes(path: Path, times: *const [timeval; 2]) Does::Change;
    "utimensat" => utimensat(folder: c_int, path: Path, times: *const [timespec; 2], flags: c_int) Does::Change;
}
