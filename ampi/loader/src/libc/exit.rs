//! `exit`, and what is to be done at it.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use super::children::is_child;
use super::list::List;
use super::pause::flush;
use super::start::finish;
use super::state::{ABORTED, EXITED};
use super::thread_waits::set_waits_for_threads;
use super::{State, current, functions, late, own_threads, signals};
use crate::linker::loaded;

/// Functions for the end, in the order in which they were registered.
#[repr(C)]
pub struct Exits {
    at_exit: List<Exit>,
    /// Destructors of thread-locals.
    of_thread: List<Exit>,
    at_quick_exit: List<Exit>,
    /// Finalizers of objects that were called.
    finalized: usize,
}

/// A function for the end.
#[derive(Clone, Copy)]
#[repr(C)]
struct Exit {
    function: usize,
    argument: *mut c_void,
    /// The object that it belongs to: the address of its `__dso_handle`.
    object: *mut c_void,
    /// It is given the status, too (`on_exit`).
    with_status: bool,
}

impl Exits {
    pub const fn new() -> Exits {
        Exits { at_exit: List::new(), of_thread: List::new(), at_quick_exit: List::new(), finalized: 0 }
    }
}

functions! {
    "exit" => exit,
    "_exit" => exit_at_once,
    "_Exit" => exit_at_once,
    "abort" => abort,
    "quick_exit" => quick_exit,
    "atexit" => at_exit,
    "on_exit" => on_exit,
    "at_quick_exit" => at_quick_exit,
    "__cxa_atexit" => at_exit_of_object,
    "__cxa_at_quick_exit" => at_quick_exit_of_object,
    "__cxa_thread_atexit_impl" => at_thread_exit,
    "__cxa_finalize" => finalize,
}

/// The running rank's functions. The reference must not be kept while a function is called: it may register others.
fn exits<'a>() -> &'a mut Exits {
    // SAFETY: the running rank's state; nobody else looks at it.
    unsafe { &mut (*current()).exits }
}

fn registered(pushed: bool) -> c_int {
    if pushed { 0 } else { -1 }
}

unsafe extern "C" fn at_exit(function: usize) -> c_int {
    let exit = Exit { function, argument: null_mut(), object: null_mut(), with_status: false };
    registered(exits().at_exit.push(exit))
}

unsafe extern "C" fn on_exit(function: usize, argument: *mut c_void) -> c_int {
    let exit = Exit { function, argument, object: null_mut(), with_status: true };
    registered(exits().at_exit.push(exit))
}

unsafe extern "C" fn at_exit_of_object(function: usize, argument: *mut c_void, object: *mut c_void) -> c_int {
    registered(exits().at_exit.push(Exit { function, argument, object, with_status: false }))
}

unsafe extern "C" fn at_thread_exit(function: usize, argument: *mut c_void, object: *mut c_void) -> c_int {
    if own_threads::is_own_thread() {
        return own_threads::at_exit(function, argument);
    }
    registered(exits().of_thread.push(Exit { function, argument, object, with_status: false }))
}

unsafe extern "C" fn at_quick_exit(function: usize) -> c_int {
    let exit = Exit { function, argument: null_mut(), object: null_mut(), with_status: false };
    registered(exits().at_quick_exit.push(exit))
}

unsafe extern "C" fn at_quick_exit_of_object(function: usize, object: *mut c_void) -> c_int {
    let exit = Exit { function, argument: null_mut(), object, with_status: false };
    registered(exits().at_quick_exit.push(exit))
}

/// Calls what an object has registered; of all objects if it is null.
unsafe extern "C" fn finalize(object: *mut c_void) {
    let meant = |exit: &Exit| object.is_null() || exit.object == object;
    while let Some(exit) = exits().at_exit.take_last(meant) {
        // SAFETY: registered by the program as such a function.
        unsafe { exit.call(0) };
    }
}

/// Thread-locals, `atexit`, finalizers of objects, files: in this order.
pub(super) unsafe extern "C" fn exit(status: c_int) -> ! {
    end_if_child(status);
    while let Some(exit) = exits().of_thread.take_last(|_| true) {
        // SAFETY: registered by the program as such a function.
        unsafe { exit.call(status) };
    }
    while let Some(exit) = exits().at_exit.take_last(|_| true) {
        // SAFETY: as above.
        unsafe { exit.call(status) };
    }
    while let Some(finalizer) = late::next_finalizer().or_else(next_finalizer) {
        // SAFETY: a function without arguments, by the program's own table.
        unsafe { std::mem::transmute::<usize, extern "C" fn()>(finalizer)() };
    }
    flush();
    // SAFETY: null means all files.
    unsafe { ::libc::fflush(null_mut()) };
    end(EXITED, status)
}

/// A finalizer may call `exit` again: each is called once.
fn next_finalizer() -> Option<usize> {
    // SAFETY: the running rank's state.
    let state: &mut State = unsafe { &mut *current() };
    let copy = loaded::at(state.base)?;
    let function = copy.program.finalizer(copy.base, state.exits.finalized)?;
    state.exits.finalized += 1;
    Some(function)
}

unsafe extern "C" fn quick_exit(status: c_int) -> ! {
    end_if_child(status);
    while let Some(exit) = exits().at_quick_exit.take_last(|_| true) {
        // SAFETY: registered by the program as such a function.
        unsafe { exit.call(status) };
    }
    end(EXITED, status)
}

unsafe extern "C" fn exit_at_once(status: c_int) -> ! {
    end(EXITED, status)
}

unsafe extern "C" fn abort() -> ! {
    // A handler may end the program in another way.
    signals::handle(::libc::SIGABRT, std::ptr::null_mut());
    if is_child() {
        // SAFETY: takes nothing.
        unsafe { ::libc::abort() }
    }
    end(ABORTED, 0)
}

/// What is to be done at the end is the rank's, which goes on.
fn end_if_child(status: c_int) {
    if is_child() {
        // SAFETY: a number.
        unsafe { ::libc::_exit(status) }
    }
}

fn end(how: c_int, status: c_int) -> ! {
    end_if_child(status);
    if own_threads::is_own_thread() {
        own_threads::end_rank(how, status);
    }
    end_here(how, status)
}

/// The rank ends that runs on this thread.
pub(super) fn end_here(how: c_int, status: c_int) -> ! {
    // It may have waited for the thread that has asked for this.
    set_waits_for_threads(false);
    let state = current();
    // SAFETY: the running rank's state; its program began with `run`.
    unsafe {
        (*state).ended = how;
        (*state).status = status;
        (*state).locks.release_all();
        (*state).descriptors.close_all();
        finish((*state).stack)
    }
}

impl Exit {
    /// # Safety
    /// The function is one of the program's, of the type that it was registered for.
    unsafe fn call(self, status: c_int) {
        // SAFETY: the caller's promise. A function that takes no argument does not mind one.
        unsafe {
            if self.with_status {
                let function: extern "C" fn(c_int, *mut c_void) = std::mem::transmute(self.function);
                function(status, self.argument);
            } else {
                let function: extern "C" fn(*mut c_void) = std::mem::transmute(self.function);
                function(self.argument);
            }
        }
    }
}
