//! The environment of a rank: `environ` and the functions that look at it.
//!
//! As in the C library, `setenv` replaces the array by one of its own when it first adds something, and texts that
//! are replaced are not given back, since somebody may still look at them.

use std::ffi::{CStr, c_char, c_int};
use std::ptr::null_mut;

use super::{State, current, functions, set_errno};

functions! {
    "getenv" => get,
    "secure_getenv" => get,
    "setenv" => set,
    "unsetenv" => unset,
    "putenv" => put,
    "clearenv" => clear,
}

/// The running rank's environment.
struct Environment(*mut State);

impl Environment {
    fn current() -> Environment {
        Environment(current())
    }

    fn array(&self) -> *mut *mut c_char {
        // SAFETY: the running rank's state, and its variable.
        unsafe { *(*self.0).variables.environ }
    }

    fn replace(&self, array: *mut *mut c_char) {
        // SAFETY: as above.
        unsafe { *(*self.0).variables.environ = array }
    }

    /// The place of the entry of a name.
    fn find(&self, name: &[u8]) -> Option<*mut *mut c_char> {
        let mut place = self.array();
        if place.is_null() {
            return None;
        }
        // SAFETY: an array of strings that ends with null, as programs keep it.
        unsafe {
            while !(*place).is_null() {
                if value_of(*place, name).is_some() {
                    return Some(place);
                }
                place = place.add(1);
            }
        }
        None
    }

    fn len(&self) -> usize {
        let array = self.array();
        let mut len = 0;
        // SAFETY: as above.
        while !array.is_null() && unsafe { !(*array.add(len)).is_null() } {
            len += 1;
        }
        len
    }

    /// Sets or adds an entry, `NAME=VALUE`. False if there is no memory.
    fn put(&self, name: &[u8], entry: *mut c_char) -> bool {
        if let Some(place) = self.find(name) {
            // SAFETY: an entry of the array.
            unsafe { *place = entry };
            return true;
        }
        let len = self.len();
        if !self.make_room(len + 2) {
            return false;
        }
        let array = self.array();
        // SAFETY: there is room for the entry and the null after it.
        unsafe {
            *array.add(len) = entry;
            *array.add(len + 1) = null_mut();
        }
        true
    }

    /// Makes the array one of our own, of so many places.
    fn make_room(&self, places: usize) -> bool {
        // SAFETY: the running rank's state.
        let state = unsafe { &mut *self.0 };
        let array = self.array();
        let own = array == state.environment && !array.is_null();
        if own && places <= state.environment_room {
            return true;
        }
        let room = places * 2;
        let former = if own { array } else { null_mut() };
        // SAFETY: memory of `realloc`, or null.
        let new = unsafe { ::libc::realloc(former.cast(), room * size_of::<*mut c_char>()) };
        if new.is_null() {
            return false;
        }
        let new = new.cast::<*mut c_char>();
        if !own {
            // SAFETY: the array has as many entries, and the new one has room for them.
            unsafe {
                std::ptr::copy_nonoverlapping(array, new, if array.is_null() { 0 } else { self.len() })
            };
        }
        (state.environment, state.environment_room) = (new, room);
        self.replace(new);
        true
    }
}

/// The value of an entry, if it is that of this name.
///
/// # Safety
/// `entry` is a string.
unsafe fn value_of(entry: *mut c_char, name: &[u8]) -> Option<*mut c_char> {
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(entry) }.to_bytes();
    let rest = text.strip_prefix(name)?;
    // SAFETY: the `=` is inside of the string.
    rest.starts_with(b"=").then(|| unsafe { entry.add(name.len() + 1) })
}

/// A name that an entry may have.
///
/// # Safety
/// `name` is null or a string.
unsafe fn valid<'a>(name: *const c_char) -> Option<&'a [u8]> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    (!name.is_empty() && !name.contains(&b'=')).then_some(name)
}

unsafe extern "C" fn get(name: *const c_char) -> *mut c_char {
    // SAFETY: called as C's function is.
    let Some(name) = (unsafe { valid(name) }) else { return null_mut() };
    match Environment::current().find(name) {
        // SAFETY: an entry of the array.
        Some(place) => unsafe { value_of(*place, name) }.unwrap_or(null_mut()),
        None => null_mut(),
    }
}

unsafe extern "C" fn set(name: *const c_char, value: *const c_char, replace: c_int) -> c_int {
    // SAFETY: called as C's function is.
    let Some(name) = (unsafe { valid(name) }) else { return fail(::libc::EINVAL) };
    let environment = Environment::current();
    if replace == 0 && environment.find(name).is_some() {
        return 0;
    }
    // SAFETY: called as C's function is.
    let entry = unsafe { join(name, CStr::from_ptr(value).to_bytes_with_nul()) };
    if entry.is_null() || !environment.put(name, entry) { fail(::libc::ENOMEM) } else { 0 }
}

/// `NAME=VALUE` in memory of `malloc`; null if there is none. The value ends with a zero.
fn join(name: &[u8], value: &[u8]) -> *mut c_char {
    // SAFETY: as many bytes as are asked for are written.
    unsafe {
        let entry = ::libc::malloc(name.len() + 1 + value.len()).cast::<u8>();
        if !entry.is_null() {
            std::ptr::copy_nonoverlapping(name.as_ptr(), entry, name.len());
            entry.add(name.len()).write(b'=');
            std::ptr::copy_nonoverlapping(value.as_ptr(), entry.add(name.len() + 1), value.len());
        }
        entry.cast()
    }
}

unsafe extern "C" fn unset(name: *const c_char) -> c_int {
    // SAFETY: called as C's function is.
    let Some(name) = (unsafe { valid(name) }) else { return fail(::libc::EINVAL) };
    let environment = Environment::current();
    while let Some(place) = environment.find(name) {
        remove(place);
    }
    0
}

/// Moves the entries after this one down, with the null that ends them.
fn remove(place: *mut *mut c_char) {
    let mut place = place;
    // SAFETY: an entry of an array that ends with null.
    unsafe {
        while !(*place).is_null() {
            *place = *place.add(1);
            place = place.add(1);
        }
    }
}

/// The text itself becomes an entry; without `=` it is a name to be removed.
unsafe extern "C" fn put(entry: *mut c_char) -> c_int {
    // SAFETY: called as C's function is.
    let text = unsafe { CStr::from_ptr(entry) }.to_bytes();
    match text.iter().position(|byte| *byte == b'=') {
        Some(len) => {
            if Environment::current().put(&text[..len], entry) {
                0
            } else {
                fail(::libc::ENOMEM)
            }
        }
        // SAFETY: called as C's function is.
        None => unsafe { unset(entry) },
    }
}

unsafe extern "C" fn clear() -> c_int {
    Environment::current().replace(null_mut());
    0
}

fn fail(error: c_int) -> c_int {
    set_errno(error);
    -1
}

/// Whether the running rank's environment has this name.
pub(super) fn has(name: &str) -> bool {
    Environment::current().find(name.as_bytes()).is_some()
}

/// The value of a variable of the running rank's environment.
pub(super) fn value<'a>(name: &CStr) -> Option<&'a CStr> {
    let place = Environment::current().find(name.to_bytes())?;
    // SAFETY: an entry of the array, which is a string; it lives until the rank changes its environment.
    unsafe { value_of(*place, name.to_bytes()).map(|value| CStr::from_ptr(value)) }
}
