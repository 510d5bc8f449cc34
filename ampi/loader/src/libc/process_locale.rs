//! The locale that a rank has chosen for its process (`setlocale`). Other ranks of the process have it as well; in another one to which
//! the rank comes it is chosen again.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use ::libc::LC_ALL;

use super::pause::process_memory;
use super::{current, functions};

/// Bytes of a name: that of all categories has each, if they differ.
const NAME: usize = 512;

/// What a rank has chosen, in its own memory: plain data.
#[repr(C)]
pub struct ProcessLocale {
    /// The name of all categories, as it was when the rank last chose any; empty if it has chosen none.
    chosen: [c_char; NAME],
    /// What was returned last, and before that: programs set back what they had.
    returned: [[c_char; NAME]; 2],
    last: bool,
}

impl ProcessLocale {
    pub const fn new() -> ProcessLocale {
        ProcessLocale { chosen: [0; NAME], returned: [[0; NAME]; 2], last: false }
    }

    /// The rank has come to this process.
    pub fn arrive(&self) {
        // SAFETY: strings; null asks for the name.
        unsafe {
            if self.chosen[0] != 0 && !is_same(::libc::setlocale(LC_ALL, null()), &self.chosen) {
                choose(LC_ALL, self.chosen.as_ptr());
            }
        }
    }

    /// A name of the C library's, as a rank is given it.
    ///
    /// # Safety
    /// A string.
    unsafe fn give(&mut self, name: *mut c_char) -> *mut c_char {
        // SAFETY: the caller's promise. This one is the library's for ever.
        if unsafe { CStr::from_ptr(name) } == c"C" {
            return name;
        }
        self.last = !self.last;
        let place = &mut self.returned[usize::from(self.last)];
        // SAFETY: the caller's promise.
        if unsafe { copy(place, name) } { place.as_mut_ptr() } else { name }
    }
}

functions! {
    "setlocale" => set_locale,
}

unsafe extern "C" {
    fn mbrtowc(place: *mut u32, text: *const c_char, count: usize, state: *mut c_void) -> usize;
}

/// Whether there was room.
///
/// # Safety
/// `from` is a string.
unsafe fn copy(place: &mut [c_char; NAME], from: *const c_char) -> bool {
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(from) }.to_bytes_with_nul();
    let fits = bytes.len() <= NAME;
    if fits {
        place.iter_mut().zip(bytes).for_each(|(byte, from)| *byte = *from as c_char);
    }
    fits
}

/// # Safety
/// `name` is a string, or null.
unsafe fn is_same(name: *const c_char, chosen: &[c_char; NAME]) -> bool {
    // SAFETY: the caller's promise; a string.
    !name.is_null() && unsafe { CStr::from_ptr(name) == CStr::from_ptr(chosen.as_ptr()) }
}

/// Makes what functions for wide characters need of a locale, too: else the first of them would, for all ranks.
///
/// # Safety
/// As `setlocale`.
unsafe fn choose(category: c_int, name: *const c_char) -> *mut c_char {
    process_memory(true);
    let mut character = 0;
    // SAFETY: the caller's promise; then a place for a character, of a text that has one.
    let set = unsafe {
        let set = ::libc::setlocale(category, name);
        mbrtowc(&raw mut character, c"a".as_ptr(), 1, null_mut());
        set
    };
    process_memory(false);
    set
}

unsafe extern "C" fn set_locale(category: c_int, name: *const c_char) -> *mut c_char {
    // SAFETY: called as C's function is; the running rank's state.
    unsafe {
        let set = choose(category, name);
        if set.is_null() {
            return set;
        }
        let own = &mut (*current()).process_locale;
        let given = own.give(set);
        if !name.is_null() {
            // One that is too long is not chosen again.
            copy(&mut own.chosen, ::libc::setlocale(LC_ALL, null()));
        }
        given
    }
}
