//! What the C library hides from a program, one of it for each rank.
//!
//! The library is the process's, and so are its variables: where `getopt` is, the state of `rand`, the environment,
//! functions for `exit` …. A rank has its own of all that in a [`State`], which is plain data inside of its slot and
//! moves with it. The functions here find the running rank's by a pointer that who resumes it sets ([`enter`]).
//!
//! [`symbol`] is meant for [`crate::Imports::fallback`], so that a program's own `getopt` is used if it has one.

mod environment;
mod exit;
mod files;
mod folder;
mod getopt;
mod keys;
mod list;
mod pause;
mod process;
mod random;
mod signals;
mod start;
mod state;
mod text;
mod threads;

use std::cell::Cell;
use std::ptr::null_mut;

pub use files::{Departed, FilesError, files_arrive, files_depart, files_note, files_open, prepare_streams};
pub use pause::{Hooks, set_hooks};
pub use start::run;
pub use state::{Ended, State};

thread_local! {
    /// The state of the rank that runs on this thread.
    static CURRENT: Cell<*mut State> = const { Cell::new(null_mut()) };
}

/// From now on a rank with this state runs on this thread.
///
/// # Safety
/// The state stays there and belongs to nobody else until [`leave`].
pub unsafe fn enter(state: *mut State) {
    CURRENT.set(state);
    // SAFETY: the caller's promise.
    folder::enter(unsafe { &(*state).folder });
}

/// No rank runs on this thread any more.
pub fn leave() {
    let state = CURRENT.replace(null_mut());
    if !state.is_null() {
        // SAFETY: it has been entered, so it is there until now.
        folder::leave(unsafe { &(*state).folder });
    }
}

/// The function that answers for this one of the C library.
pub fn symbol(name: &str) -> Option<usize> {
    let parts: [fn(&str) -> Option<usize>; 12] = [
        start::symbol,
        exit::symbol,
        environment::symbol,
        getopt::symbol,
        random::symbol,
        text::symbol,
        folder::symbol,
        pause::symbol,
        threads::symbol,
        keys::symbol,
        signals::symbol,
        process::symbol,
    ];
    parts.iter().find_map(|part| part(name))
}

/// The running rank's state. Without one a function of this module must not have been called: a program runs only
/// between [`enter`] and [`leave`].
fn current() -> *mut State {
    let state = CURRENT.get();
    assert!(!state.is_null(), "a program called the C library, but no rank is entered");
    state
}

/// A table from names to functions of C.
macro_rules! functions {
    ($($name:literal => $function:path,)*) => {
        pub(super) fn symbol(name: &str) -> Option<usize> {
            match name {
                $($name => Some($function as *const () as usize),)*
                _ => None,
            }
        }
    };
}
use functions;

fn set_errno(value: i32) {
    // SAFETY: the C library's own variable of this thread.
    unsafe { *::libc::__errno_location() = value }
}
