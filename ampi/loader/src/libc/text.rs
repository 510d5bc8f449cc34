//! Functions that keep a text, or return one that is their own.

use std::ffi::c_char;

use ::libc::{time_t, tm};

use super::{current, functions};

/// What they keep.
#[repr(C)]
pub struct Texts {
    rest: *mut c_char,
    pub(super) time: tm,
    pub(super) date: [c_char; 64],
}

impl Texts {
    pub fn new() -> Texts {
        // SAFETY: numbers and a pointer, of which zero is a value.
        unsafe { std::mem::zeroed() }
    }
}

functions! {
    "strtok" => next_token,
    "gmtime" => universal_time,
    "asctime" => date_text,
}

fn texts<'a>() -> &'a mut Texts {
    // SAFETY: the running rank's state; nobody else looks at it.
    unsafe { &mut (*current()).texts }
}

unsafe extern "C" fn next_token(text: *mut c_char, between: *const c_char) -> *mut c_char {
    // SAFETY: called as C's function is.
    unsafe { ::libc::strtok_r(text, between, &raw mut texts().rest) }
}

unsafe extern "C" fn universal_time(time: *const time_t) -> *mut tm {
    // SAFETY: called as C's function is.
    unsafe { ::libc::gmtime_r(time, &raw mut texts().time) }
}

unsafe extern "C" fn date_text(time: *const tm) -> *mut c_char {
    // SAFETY: called as C's function is; a date has 26 bytes.
    unsafe { asctime_r(time, texts().date.as_mut_ptr()) }
}

unsafe extern "C" {
    fn asctime_r(time: *const tm, text: *mut c_char) -> *mut c_char;
}
