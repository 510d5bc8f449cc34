//! Attributes in Fortran: values are integers, not addresses.

use std::ffi::c_int;
use std::ffi::c_void;

use talisman_ampi::comm::Value;
use talisman_ampi::objects::Kind;

use super::Fortran;
use super::convert::put_error;
use crate::class::Class;
use crate::common::attribute::{self, Bearer, number_of_window, predefined, value_of};
use crate::common::call::{Outcome, done_anywhere, put};
use crate::common::window::state::attributes;

/// The value of a key; a predefined one is read.
unsafe fn value<A: Fortran>(kind: Kind, handle: c_int, keyval: c_int) -> Result<Option<i64>, Class> {
    // SAFETY: the caller's promise; the address of a predefined value is ours.
    unsafe {
        let bearer = Bearer::of::<A>(kind, handle)?;
        match A::attribute(keyval) {
            Some(attribute) if kind == Kind::Comm => Ok(Some(i64::from(predefined::<A>(attribute)?.read()))),
            _ if kind == Kind::Win && A::window_attribute(keyval).is_some() => {
                A::window_attribute(keyval).map(|asked| number_of_window(bearer, asked)).transpose()
            }
            _ => Ok(value_of::<A>(bearer, keyval)?.map(|value| value.word as i64)),
        }
    }
}

/// Writes a value if there is one, and whether there is.
unsafe fn tell<T>(found: Option<T>, to: *mut T, flag: *mut c_int) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        put(flag, c_int::from(found.is_some()))?;
        found.map_or(Ok(()), |found| put(to, found))
    }
}

macro_rules! attributes {
    ($($name:ident($($argument:ident: $type:ty),*) => $body:expr;)*) => {
        $(
            unsafe extern "C" fn $name<A: Fortran>($($argument: $type,)* error: *mut c_int) {
                let body = || -> Outcome {
                    // SAFETY: addresses are the program's, by its promise.
                    unsafe { $body }
                };
                let code = done_anywhere::<A>(stringify!($name), body());
                // SAFETY: the same.
                unsafe { put_error(error, code) };
            }
        )*

        /// Names and addresses.
        pub fn others<A: Fortran>() -> Vec<(&'static str, usize)> {
            vec![
                $((stringify!($name), $name::<A> as *const () as usize),)*
                ("mpi_comm_dup_fn", copy_always as *const () as usize),
                ("mpi_type_dup_fn", copy_always as *const () as usize),
                ("mpi_win_dup_fn", copy_always as *const () as usize),
                ("mpi_win_null_copy_fn", copy_never as *const () as usize),
                ("mpi_win_null_delete_fn", delete_nothing as *const () as usize),
                ("mpi_dup_fn", copy_always as *const () as usize),
                ("mpi_comm_null_copy_fn", copy_never as *const () as usize),
                ("mpi_type_null_copy_fn", copy_never as *const () as usize),
                ("mpi_null_copy_fn", copy_never as *const () as usize),
                ("mpi_comm_null_delete_fn", delete_nothing as *const () as usize),
                ("mpi_type_null_delete_fn", delete_nothing as *const () as usize),
                ("mpi_null_delete_fn", delete_nothing as *const () as usize),
            ]
        }
    };
}

attributes! {
    mpi_comm_get_attr(handle: *const c_int, key: *const c_int, to: *mut i64, flag: *mut c_int) => {
        tell(value::<A>(Kind::Comm, handle.read_unaligned(), key.read_unaligned())?, to, flag)
    };
    mpi_attr_get(handle: *const c_int, key: *const c_int, to: *mut c_int, flag: *mut c_int) => {
        let found = value::<A>(Kind::Comm, handle.read_unaligned(), key.read_unaligned())?;
        tell(found.map(|value| value as c_int), to, flag)
    };
    mpi_type_get_attr(handle: *const c_int, key: *const c_int, to: *mut i64, flag: *mut c_int) => {
        tell(value::<A>(Kind::Datatype, handle.read_unaligned(), key.read_unaligned())?, to, flag)
    };
    mpi_win_get_attr(handle: *const c_int, key: *const c_int, to: *mut i64, flag: *mut c_int) => {
        tell(value::<A>(Kind::Win, handle.read_unaligned(), key.read_unaligned())?, to, flag)
    };
    mpi_win_set_attr(handle: *const c_int, key: *const c_int, value: *const i64) => {
        let bearer = Bearer::of::<A>(Kind::Win, handle.read_unaligned())?;
        attribute::set::<A>(bearer, key.read_unaligned(), Value::integer(value.read_unaligned() as u64))
    };
    mpi_comm_set_attr(handle: *const c_int, key: *const c_int, value: *const i64) => {
        let bearer = Bearer::of::<A>(Kind::Comm, handle.read_unaligned())?;
        attribute::set::<A>(bearer, key.read_unaligned(), Value::integer(value.read_unaligned() as u64))
    };
    mpi_attr_put(handle: *const c_int, key: *const c_int, value: *const c_int) => {
        let bearer = Bearer::of::<A>(Kind::Comm, handle.read_unaligned())?;
        attribute::set::<A>(bearer, key.read_unaligned(), Value::integer(i64::from(value.read_unaligned()) as u64))
    };
    mpi_type_set_attr(handle: *const c_int, key: *const c_int, value: *const i64) => {
        let bearer = Bearer::of::<A>(Kind::Datatype, handle.read_unaligned())?;
        attribute::set::<A>(bearer, key.read_unaligned(), Value::integer(value.read_unaligned() as u64))
    };
}

super::fortran! {
    mpi_comm_create_keyval(f copy, f delete, p keyval, a extra) => create::<A>;
    mpi_type_create_keyval(f copy, f delete, p keyval, a extra) => create::<A>;
    mpi_win_create_keyval(f copy, f delete, p keyval, a extra) => create::<A>;
    mpi_win_free_keyval(p keyval) => attributes::win_free_keyval::<A>;
    mpi_win_delete_attr(v handle, v keyval) => attributes::win_delete_attr::<A>;
    mpi_keyval_create(f copy, f delete, p keyval, v extra) => create_first::<A>;
    mpi_comm_free_keyval(p keyval) => attribute::comm_free_keyval::<A>;
    mpi_type_free_keyval(p keyval) => attribute::type_free_keyval::<A>;
    mpi_keyval_free(p keyval) => attribute::keyval_free::<A>;
    mpi_comm_delete_attr(v handle, v keyval) => attribute::comm_delete_attr::<A>;
    mpi_attr_delete(v handle, v keyval) => attribute::attr_delete::<A>;
    mpi_type_delete_attr(v handle, v keyval) => attribute::type_delete_attr::<A>;
}

unsafe fn create<A: Fortran>(copy: u64, delete: u64, keyval: *mut c_int, extra: i64) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { attribute::comm_create_keyval::<A>(copy, delete, keyval, extra as u64) }
}

unsafe fn create_first<A: Fortran>(copy: u64, delete: u64, keyval: *mut c_int, extra: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { create::<A>(copy, delete, keyval, i64::from(extra)) }
}

/// A copy function that copies.
unsafe extern "C" fn copy_always(
    _: *mut c_int,
    _: *mut c_int,
    _: *mut c_void,
    value: *mut i64,
    copied: *mut i64,
    flag: *mut c_int,
    error: *mut c_int,
) {
    // SAFETY: arguments are as MPI gives them.
    unsafe {
        copied.write_unaligned(value.read_unaligned());
        flag.write_unaligned(1);
        put_error(error, 0);
    }
}

/// One that does not.
unsafe extern "C" fn copy_never(
    _: *mut c_int,
    _: *mut c_int,
    _: *mut c_void,
    _: *mut i64,
    _: *mut i64,
    flag: *mut c_int,
    error: *mut c_int,
) {
    // SAFETY: as above.
    unsafe {
        flag.write_unaligned(0);
        put_error(error, 0);
    }
}

/// A delete function that does nothing.
unsafe extern "C" fn delete_nothing(
    _: *mut c_int,
    _: *mut c_int,
    _: *mut i64,
    _: *mut c_void,
    error: *mut c_int,
) {
    // SAFETY: as above.
    unsafe { put_error(error, 0) };
}
