//! The working folder of a rank. A process has one, so it is changed when a rank that has its own goes on or waits;
//! ranks that never change it cost nothing.

use std::ffi::{CStr, c_char, c_int};
use std::io;
use std::sync::OnceLock;

use super::{current, functions};

/// The longest path that the system takes, with its zero.
const PATH: usize = ::libc::PATH_MAX as usize;

/// The folder that the process was started in. No memory is asked for it, which would be that of the rank that runs.
static HOME: OnceLock<Folder> = OnceLock::new();

/// A rank's own folder: empty if it is the process's.
#[repr(C)]
pub struct Folder([c_char; PATH]);

impl Folder {
    pub const fn new() -> Folder {
        Folder([0; PATH])
    }

    fn is_own(&self) -> bool {
        self.0[0] != 0
    }
}

functions! {
    "chdir" => change,
    "fchdir" => change_to_open,
}

/// `getcwd` is right by itself then.
pub fn enter(folder: &Folder) {
    if folder.is_own() {
        // It may have come from another process, whose folder it has changed.
        remember_home();
        // SAFETY: a string of C. A folder that is gone meanwhile is left as it would be without ranks: calls fail.
        unsafe { ::libc::chdir(folder.0.as_ptr()) };
    }
}

pub fn leave(folder: &Folder) {
    if folder.is_own()
        && let Some(home) = HOME.get()
    {
        // SAFETY: a string of C.
        unsafe { ::libc::chdir(home.0.as_ptr()) };
    }
}

/// The rank that calls is in this folder, before its program begins.
///
/// # Errors
/// If it cannot be there.
pub fn begin_in(folder: &CStr) -> io::Result<()> {
    // SAFETY: a string of C.
    match unsafe { change(folder.as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

unsafe extern "C" fn change(path: *const c_char) -> c_int {
    remember_home();
    // SAFETY: called as C's function is.
    note(unsafe { ::libc::chdir(path) })
}

unsafe extern "C" fn change_to_open(folder: c_int) -> c_int {
    remember_home();
    // SAFETY: called as C's function is.
    note(unsafe { ::libc::fchdir(folder) })
}

/// Where the rank is now is its own from here on.
fn note(result: c_int) -> c_int {
    if result == 0 {
        // SAFETY: the running rank's state, and as many bytes as are said.
        unsafe {
            let folder = &raw mut (*current()).folder.0;
            ::libc::getcwd(folder.cast(), PATH);
        }
    }
    result
}

/// Before any rank has left it.
fn remember_home() {
    HOME.get_or_init(|| {
        let mut home = Folder::new();
        // SAFETY: as many bytes as are said.
        unsafe { ::libc::getcwd(home.0.as_mut_ptr(), PATH) };
        home
    });
}
