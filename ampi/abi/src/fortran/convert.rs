//! What arguments of Fortran are for functions of C.

use std::ffi::{c_int, c_void};

use super::Fortran;
use crate::common::call::local;
use crate::data::Sentinel;

macro_rules! v {
    ($at:ident) => {
        $at.cast::<std::ffi::c_int>().read_unaligned()
    };
}
pub(crate) use v;

macro_rules! a {
    ($at:ident) => {
        $at.cast::<i64>().read_unaligned()
    };
}
pub(crate) use a;

macro_rules! p {
    ($at:ident) => {
        $at.cast()
    };
}
pub(crate) use p;

macro_rules! f {
    ($at:ident) => {
        $at as u64
    };
}
pub(crate) use f;

macro_rules! b {
    ($at:ident) => {
        $crate::fortran::convert::buffer::<A>($at)
    };
}
pub(crate) use b;

macro_rules! s {
    ($at:ident) => {
        $crate::fortran::convert::status::<A>($at)
    };
}
pub(crate) use s;

macro_rules! w {
    ($at:ident) => {
        $crate::fortran::convert::weights::<A>($at) as *mut std::ffi::c_int
    };
}
pub(crate) use w;

/// The special value at an address, if it is one.
fn special<A: Fortran>(at: usize) -> Option<Sentinel> {
    let found = local(|process| {
        let is_it = |(_, symbol, offset): &&(Sentinel, u32, usize)| {
            let place = process.objects.places.get(*symbol).map_or_else(|| A::own(*symbol), |at| at as usize);
            place + offset == at
        };
        Ok(A::SENTINELS.iter().find(is_it).map(|(sentinel, ..)| *sentinel))
    });
    found.ok().flatten()
}

/// The address of a buffer.
pub fn buffer<A: Fortran>(at: *mut c_void) -> usize {
    match special::<A>(at as usize) {
        Some(Sentinel::Bottom) => 0,
        Some(Sentinel::InPlace) => A::IN_PLACE,
        _ => at as usize,
    }
}

/// The address of a status, or of several.
pub fn status<A: Fortran>(at: *mut c_void) -> usize {
    match special::<A>(at as usize) {
        Some(Sentinel::StatusIgnore) => A::STATUS_IGNORE,
        _ => at as usize,
    }
}

/// The address of weights.
pub fn weights<A: Fortran>(at: *mut c_void) -> usize {
    let [unweighted, empty] = (A::WEIGHTS)();
    match special::<A>(at as usize) {
        Some(Sentinel::Unweighted) => unweighted,
        Some(Sentinel::WeightsEmpty) => empty,
        _ => at as usize,
    }
}

/// The address of error codes; null if none are wanted.
pub fn codes<A: Fortran>(at: *mut c_int) -> *mut c_int {
    if special::<A>(at as usize) == Some(Sentinel::ErrcodesIgnore) { std::ptr::null_mut() } else { at }
}

/// The address of arguments; none if there are none.
pub fn arguments<A: Fortran>(at: *const u8) -> Option<*const u8> {
    (special::<A>(at as usize) != Some(Sentinel::ArgvNull)).then_some(at)
}

/// Writes the error code, if there is a place for it.
///
/// # Safety
/// The address is the program's.
pub unsafe fn put_error(error: *mut c_int, code: c_int) {
    if !error.is_null() {
        // SAFETY: the caller's promise.
        unsafe { error.write_unaligned(code) };
    }
}
