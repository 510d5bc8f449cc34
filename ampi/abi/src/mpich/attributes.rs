//! Attributes as MPICH's library for Fortran 2008 asks for them: functions of MPICH's inside (`libmpichfort.so.12` calls them, 4.0).
//!
//! Values are integers of the length of an address, predefined ones too. The functions that a program gives are called by proxies of that
//! library, which know how.

use std::ffi::c_int;

use talisman_ampi::comm::Value;
use talisman_ampi::objects::Kind;

use super::Mpich;
use crate::abi::Abi;
use crate::common::attribute::{self, AS_INTEGER, Bearer, key_of, predefined};
use crate::common::call::{Outcome, done_anywhere, local, put};

/// A value that is asked for as an `int`; else [`AS_INTEGER`], or where it is.
const AS_INT: c_int = 3;

/// The functions, by name.
pub fn functions() -> Vec<(&'static str, usize)> {
    vec![
        ("MPII_Keyval_set_proxy", set_proxies as *const () as usize),
        ("MPII_Comm_set_attr", set_of_communicator as *const () as usize),
        ("MPII_Comm_get_attr", get_of_communicator as *const () as usize),
        ("MPII_Type_set_attr", set_of_datatype as *const () as usize),
        ("MPII_Type_get_attr", get_of_datatype as *const () as usize),
        ("MPII_Win_set_attr", set_of_window as *const () as usize),
        ("MPII_Win_get_attr", get_of_window as *const () as usize),
    ]
}

extern "C" fn set_proxies(keyval: c_int, copy: u64, delete: u64) {
    // A key that is none has no functions either.
    if let Ok(key) = key_of::<Mpich>(keyval) {
        let kept = local(|process| {
            process.objects.key_proxies.insert(key, (copy, delete));
            Ok(())
        });
        debug_assert!(kept.is_ok(), "nothing in there fails");
    }
}

/// Of each kind of object: the function that sets, the one that gets, and the names by which errors are said.
macro_rules! of_kinds {
    ($($kind:ident $set:ident $set_name:literal $get:ident $get_name:literal;)*) => {$(
        extern "C" fn $set(handle: c_int, keyval: c_int, value: u64, how: c_int) -> c_int {
            // SAFETY: the handle is the program's.
            let outcome = unsafe { set(Kind::$kind, (handle, keyval), value, how) };
            done_anywhere::<Mpich>($set_name, outcome)
        }

        unsafe extern "C" fn $get(
            handle: c_int,
            keyval: c_int,
            to: *mut u64,
            flag: *mut c_int,
            how: c_int,
        ) -> c_int {
            // SAFETY: the caller's promise.
            let outcome = unsafe { get(Kind::$kind, (handle, keyval), (to, flag), how) };
            done_anywhere::<Mpich>($get_name, outcome)
        }
    )*};
}

of_kinds! {
    Comm set_of_communicator "MPI_Comm_set_attr" get_of_communicator "MPI_Comm_get_attr";
    Datatype set_of_datatype "MPI_Type_set_attr" get_of_datatype "MPI_Type_get_attr";
    Win set_of_window "MPI_Win_set_attr" get_of_window "MPI_Win_get_attr";
}

/// Whether a value is given or wanted as an integer, and not as an address.
fn is_integer(how: c_int) -> bool {
    how == AS_INTEGER || how == AS_INT
}

unsafe fn set(kind: Kind, (handle, keyval): (c_int, c_int), word: u64, how: c_int) -> Outcome {
    let value = if is_integer(how) { Value::integer(word) } else { Value::address(word) };
    // SAFETY: the caller's promise.
    attribute::set::<Mpich>(unsafe { Bearer::of::<Mpich>(kind, handle) }?, keyval, value)
}

unsafe fn get(
    kind: Kind,
    (handle, keyval): (c_int, c_int),
    (to, flag): (*mut u64, *mut c_int),
    how: c_int,
) -> Outcome {
    // SAFETY: the caller's promise; the place of a predefined value is ours.
    unsafe {
        let bearer = Bearer::of::<Mpich>(kind, handle)?;
        if !is_integer(how) {
            return attribute::get::<Mpich>(bearer, keyval, to, flag);
        }
        let found = match (Mpich::window_attribute(keyval), Mpich::attribute(keyval)) {
            (Some(asked), _) if kind == Kind::Win => Some(attribute::number_of_window(bearer, asked)?),
            (_, Some(asked)) if kind == Kind::Comm => Some(i64::from(predefined::<Mpich>(asked)?.read())),
            _ => attribute::value_of::<Mpich>(bearer, keyval)?.map(|value| value.word as i64),
        };
        put(flag, c_int::from(found.is_some()))?;
        match found {
            None => Ok(()),
            Some(value) if how == AS_INT => put(to.cast::<c_int>(), value as c_int),
            Some(value) => put(to.cast::<i64>(), value),
        }
    }
}
