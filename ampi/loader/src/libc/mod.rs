//! What the C library hides from a program, one of it for each rank.
//!
//! The library is the process's, and so are its variables: where `getopt` is, the state of `rand`, the environment,
//! functions for `exit` …. A rank has its own of all that in a [`State`], which is plain data inside of its slot and
//! moves with it. The functions here find the running rank's by a pointer that who resumes it sets ([`enter`]).
//!
//! [`symbol`] is meant for [`crate::Imports::fallback`], so that a program's own `getopt` is used if it has one.

mod accounts;
mod backtrace;
mod child_waits;
mod children;
mod clocks_and_random;
mod cpu_time;
mod deadline;
mod descriptor_waits;
mod environment;
mod error_messages;
mod exit;
mod files;
mod folder;
mod gamma;
mod getaddrinfo;
mod getopt;
mod gprof;
mod hash_table;
mod iconv;
mod jumps;
mod keys;
mod late;
mod list;
mod made_again;
mod mappings;
mod mask;
mod named;
mod number_texts;
mod outcome;
mod own_stack;
mod own_threads;
mod paths;
mod pause;
mod polling;
mod proc_self;
mod process;
mod process_locale;
mod process_number;
mod random;
mod shared_barrier;
mod shared_waits;
mod signal_waits;
mod signals;
mod start;
mod state;
mod system_calls;
mod system_info;
mod system_v_ipc;
mod text;
mod thread_locale;
mod thread_waits;
mod threads;
mod time_stamp_counter;
mod time_zone;
mod timers;

use std::cell::Cell;
use std::ptr::null_mut;

pub use children::{is_child, prepare_children};
pub use descriptor_waits::{write, write_pieces};
pub use files::{
    Departed, FilesError, Numbers, Reason, TooManyDescriptors, UndoLogs, before_shared_write, before_write,
    files_arrive, files_depart, files_end, files_go_on, files_note, files_noted, files_open, files_restored,
    files_settle, keep_undo_logs, prepare_streams, streams_are_known,
};
pub use folder::begin_in;
pub(crate) use late::{add_finalizers, call_initializers, keep_error};
pub(crate) use list::List;
pub(crate) use named::object_at;
pub use named::{function_at, prepare_names};
pub use outcome::let_run_again;
pub(crate) use own_stack::stack_around;
pub(crate) use own_threads::place_in_thread;
pub use own_threads::{
    has_live_threads, has_started_threads, is_own_thread, owner_of_thread, set_end_rank, thread_of_owner,
};
pub use pause::{Hooks, ReadBytes, set_hooks};
pub use start::run;
pub use state::{Ended, State};
pub use thread_waits::{set_waits_for_threads, waits_for_threads};
use time_stamp_counter::TimeStamps;
pub use time_stamp_counter::{answer_time_stamp, trap_time_stamps};

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
    unsafe {
        folder::enter(&(*state).folder);
        (*state).mask.enter();
        (*state).locale.enter();
        files::stand_ins::go_on(&mut *state);
    }
    TimeStamps::enter();
}

/// No rank runs on this thread any more.
pub fn leave() {
    TimeStamps::leave();
    let state = CURRENT.replace(null_mut());
    if !state.is_null() {
        // SAFETY: it has been entered, so it is there until now.
        unsafe {
            folder::leave(&(*state).folder);
            (*state).mask.leave();
            (*state).locale.leave();
        }
    }
}

/// The function that answers for this one of the C library.
pub fn symbol(name: &str) -> Option<usize> {
    let parts: [fn(&str) -> Option<usize>; 45] = [
        start::symbol,
        exit::symbol,
        environment::symbol,
        getopt::symbol,
        random::symbol,
        text::symbol,
        number_texts::symbol,
        time_zone::symbol,
        gamma::symbol,
        hash_table::symbol,
        error_messages::symbol,
        jumps::symbol,
        folder::symbol,
        mask::symbol,
        mappings::symbol,
        files::symbol,
        paths::symbol,
        pause::symbol,
        threads::symbol,
        keys::symbol,
        children::symbol,
        children::replaces,
        child_waits::symbol,
        signals::symbol,
        signal_waits::symbol,
        timers::symbol,
        process::symbol,
        accounts::symbol,
        process_locale::symbol,
        process_number::symbol,
        backtrace::symbol,
        clocks_and_random::symbol,
        proc_self::symbol,
        own_stack::symbol,
        own_threads::symbol,
        thread_waits::symbol,
        system_info::symbol,
        descriptor_waits::symbol,
        polling::symbol,
        system_v_ipc::symbol,
        system_calls::symbol,
        gprof::symbol,
        getaddrinfo::symbol,
        iconv::symbol,
        thread_locale::symbol,
    ];
    parts.iter().find_map(|part| part(name))
}

/// Whether the function that answers for this one of the C library does nothing but fail.
pub fn refuses(name: &str) -> bool {
    threads::refuses(name)
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

/// A table from names to functions here, each with that of the C library that it calls, in the module `real`.
macro_rules! passed_on {
    ($visibility:vis $symbol:ident: $($name:literal => $function:ident,)*) => {
        $visibility fn $symbol(name: &str) -> Option<usize> {
            match name {
                $($name => Some($function as *const () as usize),)*
                _ => None,
            }
        }
        mod real {
            unsafe extern "C" {
                $(#[link_name = $name] pub fn $function();)*
            }
        }
    };
}
use passed_on;

/// All registers that arguments of a function may be in, of whatever number, that has none of floating-point numbers: a function
/// is called in between. The stack is aligned for that.
macro_rules! save_arguments {
    () => {
        "push rdi\n push rsi\n push rdx\n push rcx\n push r8\n push r9\n push rax"
    };
}
use save_arguments;

/// The other way round.
macro_rules! restore_arguments {
    () => {
        "pop rax\n pop r9\n pop r8\n pop rcx\n pop rdx\n pop rsi\n pop rdi"
    };
}
use restore_arguments;

/// A table of functions that others run before, and whose result is handed to a function of ours. All that arguments
/// are in is kept; there are no more than six.
macro_rules! functions_after_giving_way {
    ($($name:literal => $function:ident => $finish:path,)*) => {
        $crate::libc::passed_on!(pub(in crate::libc) symbol: $($name => $function,)*);
        $(
            #[unsafe(naked)]
            unsafe extern "C" fn $function() {
                std::arch::naked_asm!(
                    $crate::libc::save_arguments!(),
                    "call {give_way}",
                    $crate::libc::restore_arguments!(),
                    "sub rsp, 8",
                    "call [rip + {real}@GOTPCREL]",
                    "add rsp, 8",
                    "mov rdi, rax",
                    "jmp {finish}",
                    give_way = sym crate::libc::pause::give_way,
                    real = sym real::$function,
                    finish = sym $finish,
                )
            }
        )*
    };
}
use functions_after_giving_way;

/// Runs with memory of the process, while a rank waits for what it does.
pub(crate) fn with_process_memory<T>(work: impl FnOnce() -> T) -> T {
    pause::process_memory(true);
    let result = work();
    pause::process_memory(false);
    result
}

fn set_errno(value: i32) {
    // SAFETY: the C library's own variable of this thread.
    unsafe { *::libc::__errno_location() = value }
}

fn errno() -> i32 {
    // SAFETY: as above.
    unsafe { *::libc::__errno_location() }
}

/// Whether the thread that calls is the only one that waits with it: a thread that a rank has started, or no rank's.
fn waits_alone() -> bool {
    is_own_thread() || is_child() || CURRENT.get().is_null()
}
