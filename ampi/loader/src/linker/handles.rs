//! `dlopen` and `dlsym` for programs in slots: of libraries that were loaded with the program, are the process's, or
//! are loaded now ([`later`]).

use std::arch::naked_asm;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::{NonNull, null, null_mut};
use std::sync::OnceLock;

use super::find::text;
use super::{Text, late_imports, loaded};
use crate::Imports;
use crate::later;
use crate::libc::{List, add_finalizers, call_initializers, keep_error, with_process_memory};
use crate::shared;

/// What [`answer_names`] was given.
static ANSWERS: OnceLock<fn(&str) -> Option<usize>> = OnceLock::new();

/// Says what `dlsym` finds besides symbols of programs and of the process's libraries: as a rule what
/// [`crate::Imports`] answers. Once for a process: false if it was said before.
pub fn answer_names(answer: fn(&str) -> Option<usize>) -> bool {
    ANSWERS.set(answer).is_ok()
}

pub fn answer(name: &str) -> Option<usize> {
    ANSWERS.get().and_then(|answer| answer(name))
}

/// Handles of a rank's libraries: their number in the program, from here on. No address is that small.
const FIRST: usize = 16;
/// Handles of the process's libraries, by their number among these: each process has handles of its own.
const SHARED: usize = 1 << 15;
const END: usize = 1 << 16;
/// `RTLD_NEXT`.
const NEXT: usize = usize::MAX;

thread_local! {
    /// What `dlerror` says next: a sentence of ours, or a place in the rank's state; it is told before the rank moves.
    static ERROR: Cell<Option<*const c_char>> = const { Cell::new(None) };
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
    if loaded::at(caller).is_none() {
        // SAFETY: called as C's function is.
        return unsafe { libc::dlopen(name, flags) };
    }
    if name.is_null() {
        return FIRST as *mut c_void;
    }
    // SAFETY: called as C's function is.
    let Some(wanted) = (unsafe { text(name) }) else { return refuse(c"the library has no proper name") };
    let file = Path::new(wanted).file_name().unwrap_or_default().to_str().unwrap_or_default();
    if let Some(number) = shared::number(file) {
        return match with_process_memory(|| shared::handle(number, flags)) {
            Some(_) => (SHARED + number) as *mut c_void,
            None => refuse(c"the C library has no such part here"),
        };
    }
    if let Some(number) = find_open(wanted, file, flags, caller) {
        return (FIRST + number) as *mut c_void;
    }
    if flags & libc::RTLD_NOLOAD != 0 {
        return null_mut();
    }
    // SAFETY: a rank runs, which calls.
    match unsafe { load(wanted, flags, caller) } {
        Some((number, initializers)) => {
            // Nothing of the process is held while they run: the rank may move.
            call_initializers(initializers);
            (FIRST + number) as *mut c_void
        }
        None => null_mut(),
    }
}

/// A library that is there by this name, or that the process answers for: then the program has what it has.
fn find_open(wanted: &str, file: &str, flags: c_int, caller: usize) -> Option<usize> {
    let copy = loaded::at(caller)?;
    if with_process_memory(|| late_imports(&copy.program).answers_for(file)) {
        return Some(0);
    }
    // Where it is to be made known to all, more has to be done.
    let known = |number: usize| flags & libc::RTLD_GLOBAL == 0 || copy.is_global(number);
    let mut objects = copy.objects().enumerate();
    let found = objects.find(|(_, object)| object.name == wanted || object.path == Path::new(wanted));
    found.map(|(number, _)| number).filter(|number| known(*number))
}

/// Its number and what is to be called, in the rank's memory.
///
/// # Safety
/// A rank runs on this thread, and calls.
unsafe fn load(wanted: &str, flags: c_int, caller: usize) -> Option<(usize, List<usize>)> {
    let opened = with_process_memory(|| {
        let copy = loaded::at(caller)?;
        let asking = copy.number_at(caller)?;
        // SAFETY: the caller's promise.
        let opened = unsafe { later::open(&copy, wanted, asking, flags & libc::RTLD_GLOBAL != 0) };
        opened.map_err(|error| ERROR.set(Some(keep_error(&error.to_string())))).ok()
    })?;
    let mut initializers = List::new();
    let kept = opened.initializers.iter().all(|function| initializers.push(*function));
    let kept = kept && add_finalizers(&opened.finalizers);
    if !kept {
        refuse(c"no memory is left to remember the library");
    }
    kept.then_some((opened.number, initializers))
}

unsafe extern "C" fn symbol_for(
    handle: *mut c_void,
    name: Text,
    version: Text,
    caller: usize,
) -> *mut c_void {
    // SAFETY: called as C's function is.
    let wanted = unsafe { text(name) };
    let own = || with_process_memory(|| find(handle as usize, wanted?, caller));
    let answered = || {
        let name = wanted?;
        super::symbol(name).or_else(|| answer(name))
    };
    match own().or_else(answered) {
        Some(address) => address as *mut c_void,
        // SAFETY: as above.
        None => unsafe { of_process(handle, name, version) },
    }
}

/// The address of a symbol of the rank's objects.
fn find(handle: usize, name: &str, caller: usize) -> Option<usize> {
    let copy = loaded::at(caller)?;
    let asking = copy.number_at(caller)?;
    let batch = copy.batch(asking);
    let seen = |number: &usize| copy.is_global(*number) || batch.is_some() && copy.batch(*number) == batch;
    let all = 0..copy.objects().count();
    let place = |number: usize| {
        let object = copy.object(number)?;
        Some(copy.base + object.offset + object.names.find(name.as_bytes())?)
    };
    match handle {
        0 => all.filter(seen).find_map(place),
        NEXT => (asking + 1..all.end).filter(seen).find_map(place),
        FIRST => all.filter(|number| copy.is_global(*number)).find_map(place),
        _ => {
            let number = handle.checked_sub(FIRST).filter(|number| all.contains(number))?;
            copy.with_needed(number).into_iter().find_map(place)
        }
    }
}

/// # Safety
/// As for C's functions.
unsafe fn of_process(handle: *mut c_void, name: Text, version: Text) -> *mut c_void {
    let handle = own_handle(handle).unwrap_or(libc::RTLD_DEFAULT);
    // What went wrong the C library keeps for its thread, longer than the rank is there.
    // SAFETY: the caller's promise; the handle is the process's.
    let found = with_process_memory(|| unsafe {
        if version.is_null() { libc::dlsym(handle, name) } else { libc::dlvsym(handle, name, version) }
    });
    if found.is_null() {
        return refuse(c"no library of the program defines this symbol");
    }
    found
}

/// What the process calls what a rank has by this handle; none of a rank's own libraries.
fn own_handle(handle: *mut c_void) -> Option<*mut c_void> {
    match handle as usize {
        number @ SHARED..END => {
            let opened = with_process_memory(|| shared::handle(number - SHARED, libc::RTLD_NOW));
            opened.map(NonNull::as_ptr)
        }
        NEXT | ..SHARED => None,
        _ => Some(handle),
    }
}

/// `dlinfo`: of the process's libraries alone.
///
/// # Safety
/// As for C's function.
pub unsafe extern "C" fn info(handle: *mut c_void, request: c_int, info: *mut c_void) -> c_int {
    let Some(handle) = own_handle(handle) else {
        refuse(c"nothing is known of a library of the program but its symbols");
        return -1;
    };
    // SAFETY: the caller's promise; the handle is the process's.
    with_process_memory(|| unsafe { libc::dlinfo(handle, request, info) })
}

/// `dlclose`: what a rank has loaded stays.
///
/// # Safety
/// As for C's function.
pub unsafe extern "C" fn close(handle: *mut c_void) -> c_int {
    // SAFETY: a handle of the process's.
    if (handle as usize) < END { 0 } else { with_process_memory(|| unsafe { libc::dlclose(handle) }) }
}

/// `dlerror`.
///
/// # Safety
/// As for C's function.
pub unsafe extern "C" fn error() -> *const c_char {
    ERROR.take().unwrap_or(null())
}

fn refuse(why: &'static CStr) -> *mut c_void {
    ERROR.set(Some(why.as_ptr()));
    null_mut()
}
