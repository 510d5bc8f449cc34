//! Profiles of a program that was compiled with `-pg`. The C library has one for a process, of one program at one place, and
//! writes it to one file: with several ranks it would be of none of them, and in memory of one. So nothing is counted.

use std::arch::naked_asm;
use std::ffi::c_int;

use super::functions;

functions! {
    "mcount" => count,
    "_mcount" => count,
    "__fentry__" => count,
    "monstartup" => begin,
    "__monstartup" => begin,
    "_mcleanup" => end,
    "moncontrol" => switch,
    "profil" => sample,
}

/// Called at the beginning of each function, whose arguments are in any registers.
#[unsafe(naked)]
unsafe extern "C" fn count() {
    naked_asm!("ret")
}

unsafe extern "C" fn begin(_lowest: usize, _highest: usize) {}

unsafe extern "C" fn end() {}

unsafe extern "C" fn switch(_on: c_int) {}

unsafe extern "C" fn sample(_place: usize, _len: usize, _offset: usize, _scale: c_int) -> c_int {
    0
}
