//! Backtraces, which programs print when something is wrong: the C library's own ends at the first function of a rank, whose
//! code it does not know.

use std::arch::naked_asm;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::slice::from_raw_parts;

use ::libc::Dl_info;

use super::{current, functions, own_threads, with_process_memory};
use crate::debugging::{Registers, Stack, returns};
use crate::linker::name_of_address;

functions! {
    "backtrace" => backtrace,
    "backtrace_symbols" => symbols,
}

mod real {
    use std::ffi::{c_int, c_void};

    unsafe extern "C" {
        pub fn backtrace(places: *mut *mut c_void, room: c_int) -> c_int;
    }
}

/// Registers that a function gives back as they were, in the order in which `backtrace` puts them onto the stack, by the
/// numbers of tables for unwinding (System V ABI for x86-64, figure 3.36).
const SAVED: [u16; 6] = [15, 14, 13, 12, 3, 6];
const STACK_POINTER: u16 = 7;

/// Hands over the caller's registers, and where the address is that it goes on at.
#[unsafe(naked)]
unsafe extern "C" fn backtrace(places: *mut *mut c_void, room: c_int) -> c_int {
    naked_asm!(
        "mov rcx, rsp",
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov rdx, rsp",
        "sub rsp, 8",
        "call {walk}",
        "add rsp, 56",
        "ret",
        walk = sym walk,
    )
}

extern "C" fn walk(
    places: *mut *mut c_void,
    room: c_int,
    saved: *const [usize; SAVED.len()],
    at: *const usize,
) -> c_int {
    // SAFETY: the running rank's state.
    let own = unsafe { &(*current()).own_stack };
    let begin = at as usize;
    if own_threads::is_own_thread() || !own.contains(&begin) {
        // SAFETY: called as C's function is.
        return with_process_memory(|| unsafe { real::backtrace(places, room) });
    }
    // SAFETY: what `backtrace` has put onto the stack, which is there up to its end.
    let (saved, goes_on_at, bytes) =
        unsafe { (*saved, *at, from_raw_parts(begin as *const u8, own.end - begin)) };
    let mut registers: Vec<(u16, usize)> = SAVED.into_iter().zip(saved).collect();
    registers.push((STACK_POINTER, begin + size_of::<usize>()));
    let registers = Registers::new(goes_on_at, &registers);
    with_process_memory(|| {
        let found = returns(&registers, &Stack::new(bytes));
        let count = found.len().min(usize::try_from(room).unwrap_or(0));
        for (number, address) in found.into_iter().take(count).enumerate() {
            // SAFETY: the caller has room for so many.
            unsafe { places.add(number).write(address as *mut c_void) };
        }
        count as c_int
    })
}

/// A list of strings, in one block of `malloc`; null if there is no memory.
unsafe extern "C" fn symbols(places: *const *mut c_void, count: c_int) -> *mut *mut c_char {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: called as C's function is.
    let texts: Vec<String> = (0..count).map(|number| described(unsafe { *places.add(number) })).collect();
    let bytes: usize = texts.iter().map(|text| text.len() + 1).sum();
    // SAFETY: as many bytes as are written: addresses, and behind them the strings, each with a zero.
    unsafe {
        let list = ::libc::malloc(count * size_of::<usize>() + bytes).cast::<*mut c_char>();
        if list.is_null() {
            return null_mut();
        }
        let mut end = list.add(count).cast::<u8>();
        for (number, text) in texts.iter().enumerate() {
            list.add(number).write(end.cast());
            end.copy_from_nonoverlapping(text.as_ptr(), text.len());
            end.add(text.len()).write(0);
            end = end.add(text.len() + 1);
        }
        list
    }
}

/// As the C library has it: `program(function+0x12) [0x3456]`.
fn described(address: *mut c_void) -> String {
    let mut found = MaybeUninit::<Dl_info>::zeroed();
    // SAFETY: a place for what is found; all zeroes is a value of it.
    let found = unsafe { (name_of_address(address, found.as_mut_ptr()), found.assume_init()) };
    let (true, found) = (found.0 != 0, found.1) else { return format!("[{address:p}]") };
    // SAFETY: strings that live as long as the rank's program, or null.
    let text =
        |text: *const c_char| (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy());
    let file = text(found.dli_fname).unwrap_or_default();
    let (name, from) = match text(found.dli_sname) {
        Some(name) => (name, found.dli_saddr),
        None => ("".into(), found.dli_fbase),
    };
    format!("{file}({name}+{:#x}) [{address:p}]", address.addr() - from.addr())
}
