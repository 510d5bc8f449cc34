//! Thread-specific data: a rank has its own keys, and its values are with it. The process has 1,024 keys for all, and the
//! values would stay behind with the thread. Threads that a rank starts have values of their own.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use super::{current, functions, own_threads};

/// POSIX wants 128 at least.
pub(super) const KEYS: usize = 128;

/// Keys and values.
#[repr(C)]
pub struct Keys([Key; KEYS]);

#[derive(Clone, Copy)]
#[repr(C)]
struct Key {
    used: bool,
    value: *mut c_void,
    /// For the values of threads that end; 0 if there is none.
    destructor: usize,
}

impl Keys {
    pub const fn new() -> Keys {
        Keys([Key { used: false, value: null_mut(), destructor: 0 }; KEYS])
    }
}

functions! {
    "pthread_key_create" => create,
    "__pthread_key_create" => create,
    "pthread_key_delete" => delete,
    "pthread_getspecific" => get,
    "__pthread_getspecific" => get,
    "pthread_setspecific" => set,
    "__pthread_setspecific" => set,
    "tss_create" => create_of_c,
    "tss_delete" => delete,
    "tss_get" => get,
    "tss_set" => set_of_c,
}

fn keys<'a>() -> &'a mut [Key] {
    // SAFETY: the running rank's state; nobody else looks at it.
    unsafe { &mut (*current()).keys.0 }
}

fn key<'a>(number: u32) -> Option<&'a mut Key> {
    keys().get_mut(number as usize).filter(|key| key.used)
}

/// Of the thread that calls.
fn value<'a>(number: u32) -> Option<&'a mut *mut c_void> {
    let key = key(number)?;
    Some(own_threads::value(number as usize).unwrap_or(&mut key.value))
}

/// The destructor of a key that is in use, if it has one.
pub(super) fn destructor(number: usize) -> Option<usize> {
    keys().get(number).filter(|key| key.used && key.destructor != 0).map(|key| key.destructor)
}

/// Destructors are called when a thread ends, which the first one of a rank does not: `exit` does not call them either.
unsafe extern "C" fn create(number: *mut u32, destructor: usize) -> c_int {
    let Some(free) = keys().iter().position(|key| !key.used) else { return ::libc::EAGAIN };
    keys()[free] = Key { used: true, value: null_mut(), destructor };
    // SAFETY: called as C's function is.
    unsafe { *number = free as u32 };
    0
}

unsafe extern "C" fn delete(number: u32) -> c_int {
    match key(number) {
        Some(key) => {
            key.used = false;
            0
        }
        None => ::libc::EINVAL,
    }
}

unsafe extern "C" fn get(number: u32) -> *mut c_void {
    value(number).map_or(null_mut(), |value| *value)
}

unsafe extern "C" fn set(number: u32, new: *mut c_void) -> c_int {
    match value(number) {
        Some(value) => {
            *value = new;
            0
        }
        None => ::libc::EINVAL,
    }
}

/// `thrd_success` and `thrd_error` of C11.
fn of_c(error: c_int) -> c_int {
    if error == 0 { 0 } else { 2 }
}

unsafe extern "C" fn create_of_c(number: *mut u32, destructor: usize) -> c_int {
    // SAFETY: called as C's function is.
    of_c(unsafe { create(number, destructor) })
}

unsafe extern "C" fn set_of_c(number: u32, value: *mut c_void) -> c_int {
    // SAFETY: called as C's function is.
    of_c(unsafe { set(number, value) })
}
