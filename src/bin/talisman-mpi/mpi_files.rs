//! Files of MPI are opened as the program itself would open them: they get numbers of the rank's, move with it, and are cut
//! back to a checkpoint. So is memory mapped that ranks share.

use std::ffi::{c_char, c_int, c_void};
use std::mem::transmute;

use talisman_loader::libc::symbol;

/// What stands in for a function of the C library in programs.
fn stand_in(name: &str) -> usize {
    symbol(name).expect("ranks have files of their own")
}

/// `open` with a mode.
pub fn open() -> unsafe extern "C" fn(*const c_char, c_int, c_int) -> c_int {
    // SAFETY: it is called as C's function is.
    unsafe { transmute(stand_in("open")) }
}

/// `close`.
pub fn close() -> unsafe extern "C" fn(c_int) -> c_int {
    // SAFETY: it is called as C's function is.
    unsafe { transmute(stand_in("close")) }
}

/// `unlink`.
pub fn delete() -> unsafe extern "C" fn(*const c_char) -> c_int {
    // SAFETY: it is called as C's function is.
    unsafe { transmute(stand_in("unlink")) }
}

/// `mmap`.
pub fn map() -> unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, c_int, i64) -> *mut c_void {
    // SAFETY: it is called as C's function is.
    unsafe { transmute(stand_in("mmap")) }
}

/// `munmap`.
pub fn unmap() -> unsafe extern "C" fn(*mut c_void, usize) -> c_int {
    // SAFETY: it is called as C's function is.
    unsafe { transmute(stand_in("munmap")) }
}
