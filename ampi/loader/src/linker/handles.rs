//! `dlopen` and `dlsym` for programs in slots, of libraries that were loaded with the program or are the process's.
//! A library that neither has is not loaded: `dlopen` says so.

use std::arch::naked_asm;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use super::find::text;
use super::{Text, loaded};
use crate::shared::is_shared;

/// What [`answer_names`] was given.
static ANSWERS: OnceLock<fn(&str) -> Option<usize>> = OnceLock::new();

/// Says what `dlsym` finds besides symbols of programs and of the process's libraries: as a rule what
/// [`crate::Imports`] answers. Once for a process: false if it was said before.
pub fn answer_names(answer: fn(&str) -> Option<usize>) -> bool {
    ANSWERS.set(answer).is_ok()
}

/// Handles of a rank's libraries: their number in the program, from here on. No address is that small.
const FIRST: usize = 16;
/// `RTLD_NEXT`.
const NEXT: usize = usize::MAX;

thread_local! {
    /// What `dlerror` says next: one of few sentences, so that nothing of the rank's is kept here.
    static ERROR: Cell<Option<&'static CStr>> = const { Cell::new(None) };
}

/// `dlopen(name, flags)`. The address to which it returns tells whose call it is.
#[unsafe(naked)]
pub unsafe extern "C" fn open(name: Text, flags: c_int) -> *mut c_void {
    naked_asm!("mov rdx, [rsp]", "jmp {}", sym open_for)
}

/// `dlsym(handle, name)`.
#[unsafe(naked)]
pub unsafe extern "C" fn symbol(handle: *mut c_void, name: Text) -> *mut c_void {
    naked_asm!("mov rcx, [rsp]", "xor edx, edx", "jmp {}", sym symbol_for)
}

/// `dlvsym(handle, name, version)`.
#[unsafe(naked)]
pub unsafe extern "C" fn versioned_symbol(handle: *mut c_void, name: Text, version: Text) -> *mut c_void {
    naked_asm!("mov rcx, [rsp]", "jmp {}", sym symbol_for)
}

unsafe extern "C" fn open_for(name: Text, flags: c_int, caller: usize) -> *mut c_void {
    let Some(copy) = loaded::at(caller) else {
        // SAFETY: called as C's function is.
        return unsafe { libc::dlopen(name, flags) };
    };
    if name.is_null() {
        return FIRST as *mut c_void;
    }
    // SAFETY: called as C's function is.
    let Some(wanted) = (unsafe { text(name) }) else { return refuse(c"the library has no proper name") };
    let file = Path::new(wanted).file_name().unwrap_or_default();
    if file.to_str().is_some_and(is_shared) {
        // SAFETY: called as C's function is.
        return unsafe { libc::dlopen(name, flags) };
    }
    let known = copy.program.all_objects().iter().position(|object| {
        object.name == wanted || Path::new(&object.name) == file || object.path == Path::new(wanted)
    });
    match known {
        Some(number) => (FIRST + number) as *mut c_void,
        None => refuse(
            c"a virtual rank cannot load libraries later: link the program with it (-Wl,--no-as-needed)",
        ),
    }
}

unsafe extern "C" fn symbol_for(
    handle: *mut c_void,
    name: Text,
    version: Text,
    caller: usize,
) -> *mut c_void {
    // SAFETY: called as C's function is.
    let wanted = unsafe { text(name) };
    let own = loaded::at(caller).zip(wanted).and_then(|(copy, name)| {
        let objects = copy.program.all_objects();
        let from = match handle as usize {
            0 => 0..objects.len(),
            NEXT => copy.program.number_at(caller - copy.base)? + 1..objects.len(),
            FIRST => 0..objects.len(),
            number if number < FIRST + objects.len() => number - FIRST..number - FIRST + 1,
            _ => return None,
        };
        let find = |object: &crate::object::Object| Some(object.offset + object.names.find(name.as_bytes())?);
        objects[from].iter().find_map(find).map(|offset| copy.base + offset)
    });
    let answered = || {
        let name = wanted?;
        super::symbol(name).or_else(|| ANSWERS.get().and_then(|answer| answer(name)))
    };
    match own.or_else(answered) {
        Some(address) => address as *mut c_void,
        // SAFETY: as above.
        None => unsafe { of_process(handle, name, version) },
    }
}

/// # Safety
/// As for C's functions.
unsafe fn of_process(handle: *mut c_void, name: Text, version: Text) -> *mut c_void {
    let number = handle as usize;
    let handle = if number < 1 << 16 || number == NEXT { libc::RTLD_DEFAULT } else { handle };
    // SAFETY: the caller's promise; the handle is the process's.
    let found = unsafe {
        if version.is_null() { libc::dlsym(handle, name) } else { libc::dlvsym(handle, name, version) }
    };
    if found.is_null() {
        return refuse(c"no library of the program defines this symbol");
    }
    found
}

/// `dlclose`: what came with the program stays.
///
/// # Safety
/// As for C's function.
pub unsafe extern "C" fn close(handle: *mut c_void) -> c_int {
    // SAFETY: a handle of the process's.
    if (handle as usize) < 1 << 16 { 0 } else { unsafe { libc::dlclose(handle) } }
}

/// `dlerror`.
///
/// # Safety
/// As for C's function.
pub unsafe extern "C" fn error() -> *const c_char {
    match ERROR.take() {
        Some(text) => text.as_ptr(),
        None => null(),
    }
}

fn refuse(why: &'static CStr) -> *mut c_void {
    ERROR.set(Some(why));
    null_mut()
}
