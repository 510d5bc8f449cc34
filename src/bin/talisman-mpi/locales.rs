//! Locales that a rank makes: objects that point to tables of the C library.
//!
//! Tables that were read from files are where this process has put them, and a rank that moves would not find them. Those
//! of the locale "C" are in the library itself, at the same addresses everywhere. So all locales of ranks are "C", in the
//! rank's memory.

use std::ffi::{c_char, c_int};

/// POSIX's `newlocale`, whatever the name.
///
/// # Safety
/// As in C.
unsafe extern "C" fn new_locale(
    categories: c_int,
    _name: *const c_char,
    base: libc::locale_t,
) -> libc::locale_t {
    // SAFETY: the caller's promise.
    unsafe { libc::newlocale(categories, c"C".as_ptr(), base) }
}

/// The functions, by the names that programs ask for.
pub fn symbol(name: &str) -> Option<usize> {
    let function = match name {
        "newlocale" | "__newlocale" => new_locale as *const (),
        "duplocale" | "__duplocale" => libc::duplocale as *const (),
        "freelocale" | "__freelocale" => libc::freelocale as *const (),
        _ => return None,
    };
    Some(function.addr())
}
