//! The locale that a rank has chosen for its thread (`uselocale`). The thread is that of all ranks of the PE, so it is chosen anew when a
//! rank that has its own goes on.

use ::libc::locale_t;

use super::is_own_thread;
use super::{current, functions};

/// The process's, as the C library says it (`LC_GLOBAL_LOCALE`).
const GLOBAL: locale_t = std::ptr::without_provenance_mut(usize::MAX);

/// A rank's own: plain data.
#[repr(C)]
pub struct ThreadLocale {
    /// Null where it has not chosen one.
    own: locale_t,
}

impl ThreadLocale {
    pub const fn new() -> ThreadLocale {
        ThreadLocale { own: std::ptr::null_mut() }
    }

    pub fn enter(&self) {
        if !self.own.is_null() {
            // SAFETY: it has chosen it before.
            unsafe { ::libc::uselocale(self.own) };
        }
    }

    pub fn leave(&self) {
        if !self.own.is_null() {
            // SAFETY: there is always one of the process.
            unsafe { ::libc::uselocale(GLOBAL) };
        }
    }
}

functions! {
    "uselocale" => choose,
}

unsafe extern "C" fn choose(locale: locale_t) -> locale_t {
    // SAFETY: called as C's function is.
    let before = unsafe { ::libc::uselocale(locale) };
    if !locale.is_null() && !before.is_null() && !is_own_thread() {
        // SAFETY: the running rank's state.
        unsafe { (*current()).locale.own = if locale == GLOBAL { std::ptr::null_mut() } else { locale } };
    }
    before
}
