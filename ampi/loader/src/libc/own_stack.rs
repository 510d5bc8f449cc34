//! Where the stack of a rank is. Interpreters ask for it (R, Ruby, collectors of garbage): to end a recursion before the
//! stack does, or to look for what is still in use. That of the process's thread would be another one.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;

use ::libc::{pthread_attr_t, pthread_t, rlimit};

use super::{CURRENT, current, functions, own_threads};

functions! {
    "pthread_getattr_np" => attributes,
    "getrlimit" => limit,
    "getrlimit64" => limit,
}

unsafe extern "C" fn attributes(thread: pthread_t, attributes: *mut pthread_attr_t) -> c_int {
    // SAFETY: called as C's function is.
    let result = unsafe { ::libc::pthread_getattr_np(thread, attributes) };
    if result != 0 || !is_rank(thread) {
        return result;
    }
    // SAFETY: the running rank's state.
    let stack = unsafe { &(*current()).own_stack };
    match stack.is_empty() {
        true => 0,
        // SAFETY: attributes that were just filled in; the stack is the rank's.
        false => unsafe {
            ::libc::pthread_attr_setstack(attributes, stack.start as *mut c_void, stack.len())
        },
    }
}

/// The stack of the rank that runs on this thread, if the address is in it.
pub fn stack_around(address: usize) -> Option<Range<usize>> {
    let state = CURRENT.get();
    if state.is_null() {
        return None;
    }
    // SAFETY: the running rank's state.
    let stack = unsafe { &(*state).own_stack };
    stack.contains(&address).then(|| stack.clone())
}

/// Whether the rank itself calls, and means itself.
fn is_rank(thread: pthread_t) -> bool {
    // SAFETY: takes nothing.
    !own_threads::is_own_thread() && thread == unsafe { ::libc::pthread_self() }
}

/// The stack of a rank does not grow beyond what it has.
unsafe extern "C" fn limit(resource: ::libc::__rlimit_resource_t, place: *mut rlimit) -> c_int {
    let mut found = MaybeUninit::<rlimit>::uninit();
    // SAFETY: room for what is asked for; then called as C's function is.
    unsafe {
        let result = ::libc::getrlimit(resource, found.as_mut_ptr());
        if result != 0 {
            return result;
        }
        let mut found = found.assume_init();
        let stack = &(*current()).own_stack;
        if resource == ::libc::RLIMIT_STACK && !stack.is_empty() {
            found.rlim_cur = found.rlim_max.min(stack.len() as u64);
        }
        place.write(found);
    }
    0
}
