//! Functions of MPI-1 whose displacements are default integers in Fortran.

use std::ffi::{c_int, c_void};

use super::Fortran;
use super::convert::{buffer, put_error};
use crate::abi::Count;
use crate::common::{datatype, described};

/// Displacements of 64 bits.
unsafe fn widened(at: *const c_int, n: c_int) -> Vec<i64> {
    // SAFETY: the caller's promise.
    (0..usize::try_from(n).unwrap_or(0))
        .map(|place| unsafe { at.add(place).read_unaligned() }.get())
        .collect()
}

/// Calls a function of C that gives a number of 64 bits.
unsafe fn narrowed<A: Fortran>(to: *mut c_int, give: impl FnOnce(*mut i64) -> c_int) -> c_int {
    let mut wide = 0;
    let code = give(&raw mut wide);
    // SAFETY: the caller's promise.
    unsafe { to.write_unaligned(c_int::of(wide).unwrap_or(A::UNDEFINED)) };
    code
}

unsafe extern "C" fn mpi_address<A: Fortran>(at: *mut c_void, address: *mut c_int, error: *mut c_int) {
    // SAFETY: addresses are the program's, by its promise.
    unsafe {
        put_error(error, narrowed::<A>(address, |wide| datatype::address_of::<A>(buffer::<A>(at), wide)));
    }
}

macro_rules! bounds {
    ($($name:ident $function:ident;)*) => {$(
        unsafe extern "C" fn $name<A: Fortran>(of: *const c_int, to: *mut c_int, error: *mut c_int) {
            // SAFETY: addresses are the program's, by its promise.
            unsafe {
                let of = of.read_unaligned();
                put_error(error, narrowed::<A>(to, |wide| described::$function::<A>(of, wide)));
            }
        }
    )*};
}

bounds! {
    mpi_type_extent type_extent;
    mpi_type_lb type_lb;
    mpi_type_ub type_ub;
}

unsafe extern "C" fn mpi_type_hvector<A: Fortran>(
    count: *const c_int,
    each: *const c_int,
    stride: *const c_int,
    of: *const c_int,
    to: *mut c_int,
    error: *mut c_int,
) {
    // SAFETY: addresses are the program's, by its promise.
    unsafe {
        let (count, each, of) = (count.read_unaligned(), each.read_unaligned(), of.read_unaligned());
        put_error(error, datatype::type_hvector::<A>(count, each, stride.read_unaligned().get(), of, to));
    }
}

unsafe extern "C" fn mpi_type_hindexed<A: Fortran>(
    n: *const c_int,
    lengths: *const c_int,
    displacements: *const c_int,
    of: *const c_int,
    to: *mut c_int,
    error: *mut c_int,
) {
    // SAFETY: addresses are the program's, by its promise.
    unsafe {
        let (n, of) = (n.read_unaligned(), of.read_unaligned());
        let places = widened(displacements, n);
        put_error(error, datatype::type_hindexed::<A>(n, lengths, places.as_ptr(), of, to));
    }
}

unsafe extern "C" fn mpi_type_struct<A: Fortran>(
    n: *const c_int,
    lengths: *const c_int,
    displacements: *const c_int,
    datatypes: *const c_int,
    to: *mut c_int,
    error: *mut c_int,
) {
    // SAFETY: addresses are the program's, by its promise.
    unsafe {
        let n = n.read_unaligned();
        let places = widened(displacements, n);
        put_error(error, datatype::type_struct::<A>(n, lengths, places.as_ptr(), datatypes, to));
    }
}

/// Names and addresses.
pub fn functions<A: Fortran>() -> Vec<(&'static str, usize)> {
    vec![
        ("mpi_address", mpi_address::<A> as *const () as usize),
        ("mpi_type_extent", mpi_type_extent::<A> as *const () as usize),
        ("mpi_type_lb", mpi_type_lb::<A> as *const () as usize),
        ("mpi_type_ub", mpi_type_ub::<A> as *const () as usize),
        ("mpi_type_hvector", mpi_type_hvector::<A> as *const () as usize),
        ("mpi_type_hindexed", mpi_type_hindexed::<A> as *const () as usize),
        ("mpi_type_struct", mpi_type_struct::<A> as *const () as usize),
    ]
}
