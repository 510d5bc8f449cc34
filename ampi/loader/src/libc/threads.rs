//! What a rank cannot do: a second process would not be in its slot, and could not move with it, unless it becomes another
//! program (`children.rs`); nor can it bind the thread that it shares.

use std::ffi::{c_int, c_void};

use super::{functions, set_errno};

functions! {
    "fork" => fork,
    "_Fork" => fork,
    "__register_atfork" => at_fork,
    "pthread_atfork" => at_fork,
    "sched_setaffinity" => bind,
    "pthread_setaffinity_np" => bind,
}

/// Those that always fail.
pub(super) fn refuses(name: &str) -> bool {
    symbol(name) == Some(fork as *const () as usize)
}

/// `ENOSYS`: programs know it from systems without processes.
unsafe extern "C" fn fork() -> c_int {
    set_errno(::libc::ENOSYS);
    -1
}

/// Never called, as there is no fork. The C library would keep them for the process.
unsafe extern "C" fn at_fork(_before: usize, _in_parent: usize, _in_child: usize) -> c_int {
    0
}

/// Which processor a rank runs on is the runtime's business: its thread is that of others, too.
unsafe extern "C" fn bind(_thread: usize, _len: usize, _processors: *const c_void) -> c_int {
    0
}
