//! Thread-specific data: a rank is one thread, which has its own keys and values. The process has 1,024 keys for all,
//! and the values would stay behind with the thread.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use super::{current, functions};

/// POSIX wants 128 at least.
const KEYS: usize = 128;

/// Keys and values.
#[repr(C)]
pub struct Keys([Key; KEYS]);

#[derive(Clone, Copy)]
#[repr(C)]
struct Key {
    used: bool,
    value: *mut c_void,
}

impl Keys {
    pub const fn new() -> Keys {
        Keys([Key { used: false, value: null_mut() }; KEYS])
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

/// Destructors are called when a thread ends, which the only one does not: `exit` does not call them either.
unsafe extern "C" fn create(number: *mut u32, _destructor: usize) -> c_int {
    let Some(free) = keys().iter().position(|key| !key.used) else { return ::libc::EAGAIN };
    keys()[free] = Key { used: true, value: null_mut() };
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
    key(number).map_or(null_mut(), |key| key.value)
}

unsafe extern "C" fn set(number: u32, value: *mut c_void) -> c_int {
    match key(number) {
        Some(key) => {
            key.value = value;
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
