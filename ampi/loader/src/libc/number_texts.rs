//! Functions that give the text of a number or address in a place of their own: the rank's.

use std::ffi::{c_char, c_int, c_long, c_void};

use ::libc::in_addr;

use super::{current, functions};

/// Bytes of a number with all of its digits before the point, and as many as make sense behind it.
const DIGITS: usize = 400;

/// Where the texts are: plain data.
#[repr(C)]
pub struct NumberTexts {
    address: [c_char; 24],
    hardware: [c_char; 24],
    base_64: [c_char; 8],
    /// That of 0 stays.
    empty: [c_char; 1],
    digits: [c_char; DIGITS],
}

impl NumberTexts {
    pub const fn new() -> NumberTexts {
        NumberTexts { address: [0; 24], hardware: [0; 24], base_64: [0; 8], empty: [0], digits: [0; DIGITS] }
    }
}

functions! {
    "inet_ntoa" => address,
    "ether_ntoa" => hardware_address,
    "l64a" => base_64,
    "ecvt" => digits,
    "fcvt" => digits_behind_point,
}

unsafe extern "C" {
    fn inet_ntop(family: c_int, address: *const c_void, text: *mut c_char, room: u32) -> *const c_char;
    fn ether_ntoa_r(address: *const c_void, text: *mut c_char) -> *mut c_char;
    fn ecvt_r(
        value: f64,
        digits: c_int,
        point: *mut c_int,
        sign: *mut c_int,
        text: *mut c_char,
        room: usize,
    ) -> c_int;
    fn fcvt_r(
        value: f64,
        digits: c_int,
        point: *mut c_int,
        sign: *mut c_int,
        text: *mut c_char,
        room: usize,
    ) -> c_int;
}

fn texts<'a>() -> &'a mut NumberTexts {
    // SAFETY: the running rank's state; nobody else looks at it.
    unsafe { &mut (*current()).number_texts }
}

unsafe extern "C" fn address(of: in_addr) -> *mut c_char {
    let text = &mut texts().address;
    // SAFETY: an address of this family has 16 bytes at most.
    unsafe { inet_ntop(::libc::AF_INET, (&raw const of).cast(), text.as_mut_ptr(), text.len() as u32) };
    text.as_mut_ptr()
}

unsafe extern "C" fn hardware_address(of: *const c_void) -> *mut c_char {
    // SAFETY: called as C's function is, as all that follow; it has 18 bytes at most.
    unsafe { ether_ntoa_r(of, texts().hardware.as_mut_ptr()) }
}

/// Digits of six bits each, the lowest first (POSIX): of the lower 32 bits.
unsafe extern "C" fn base_64(number: c_long) -> *mut c_char {
    const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let number = number as u32;
    if number == 0 {
        return texts().empty.as_mut_ptr();
    }
    let text = &mut texts().base_64;
    text.fill(0);
    for (at, place) in
        text.iter_mut().enumerate().take_while(|(at, _)| 6 * at < 32 && number >> (6 * at) != 0)
    {
        *place = DIGITS[(number >> (6 * at)) as usize % 64] as c_char;
    }
    text.as_mut_ptr()
}

unsafe extern "C" fn digits(value: f64, count: c_int, point: *mut c_int, sign: *mut c_int) -> *mut c_char {
    let text = texts().digits.as_mut_ptr();
    // SAFETY: as above.
    unsafe { ecvt_r(value, count, point, sign, text, DIGITS) };
    text
}

unsafe extern "C" fn digits_behind_point(
    value: f64,
    count: c_int,
    point: *mut c_int,
    sign: *mut c_int,
) -> *mut c_char {
    let text = texts().digits.as_mut_ptr();
    // SAFETY: as above.
    unsafe { fcvt_r(value, count, point, sign, text, DIGITS) };
    text
}
