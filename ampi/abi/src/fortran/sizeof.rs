//! `MPI_Sizeof` of MPICH's module for Fortran: a procedure of the module `mpi_sizeofs` for each type of values, alone or in an
//! array.

use std::ffi::{c_int, c_void};

use super::convert::put_error;

macro_rules! sizes {
    ($($bytes:literal: $($name:literal)*;)*) => {
        /// Names, as gfortran spells them, and addresses.
        pub fn functions() -> Vec<(&'static str, usize)> {
            vec![$($((concat!("__mpi_sizeofs_MOD_mpi_sizeof_", $name), size::<$bytes> as *const () as usize)),*),*]
        }
    };
}

sizes! {
    1: "ch" "chv" "i1" "i1v";
    2: "i2" "i2v";
    4: "i" "iv" "r" "rv" "l" "lv";
    8: "i8" "i8v" "d" "dv" "cx" "cxv";
}

unsafe extern "C" fn size<const BYTES: c_int>(_: *const c_void, to: *mut c_int, error: *mut c_int) {
    // SAFETY: the caller's promise.
    unsafe {
        to.write_unaligned(BYTES);
        put_error(error, 0);
    }
}
