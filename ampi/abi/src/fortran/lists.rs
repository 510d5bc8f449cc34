//! Functions whose results are places in lists, which Fortran counts from 1; and such as return values.

use std::ffi::c_int;

use super::Fortran;
use super::convert::{put_error, status};
use crate::common::{environment, request_statuses, several};

/// Counts from 1.
unsafe fn one_more<A: Fortran>(index: *mut c_int) {
    // SAFETY: the caller's promise.
    unsafe {
        let at = index.read_unaligned();
        if at != A::UNDEFINED {
            index.write_unaligned(at + 1);
        }
    }
}

unsafe fn counted<A: Fortran>(
    function: impl FnOnce(c_int, *mut c_int, *mut c_int, *mut c_int, usize) -> c_int,
    (count, requests): (*const c_int, *mut c_int),
    (ended, indices): (*mut c_int, *mut c_int),
    statuses: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let code = function(count.read_unaligned(), requests, ended, indices, statuses);
        let n = ended.read_unaligned();
        for at in 0..usize::try_from(n).unwrap_or(0) {
            one_more::<A>(indices.add(at));
        }
        code
    }
}

unsafe extern "C" fn mpi_waitany<A: Fortran>(
    count: *const c_int,
    requests: *mut c_int,
    index: *mut c_int,
    at: *mut std::ffi::c_void,
    error: *mut c_int,
) {
    // SAFETY: addresses are the program's, by its promise.
    unsafe {
        let code = several::waitany::<A>(count.read_unaligned(), requests, index, status::<A>(at));
        one_more::<A>(index);
        put_error(error, code);
    }
}

unsafe extern "C" fn mpi_testany<A: Fortran>(
    count: *const c_int,
    requests: *mut c_int,
    index: *mut c_int,
    flag: *mut c_int,
    at: *mut std::ffi::c_void,
    error: *mut c_int,
) {
    // SAFETY: addresses are the program's, by its promise.
    unsafe {
        let code = several::testany::<A>(count.read_unaligned(), requests, index, flag, status::<A>(at));
        one_more::<A>(index);
        put_error(error, code);
    }
}

unsafe extern "C" fn mpi_waitsome<A: Fortran>(
    count: *const c_int,
    requests: *mut c_int,
    ended: *mut c_int,
    indices: *mut c_int,
    at: *mut std::ffi::c_void,
    error: *mut c_int,
) {
    // SAFETY: addresses are the program's, by its promise.
    unsafe {
        let function = |count, requests, ended, indices, statuses| {
            several::waitsome::<A>(count, requests, ended, indices, statuses)
        };
        let code = counted::<A>(function, (count, requests), (ended, indices), status::<A>(at));
        put_error(error, code);
    }
}

unsafe extern "C" fn mpi_testsome<A: Fortran>(
    count: *const c_int,
    requests: *mut c_int,
    ended: *mut c_int,
    indices: *mut c_int,
    at: *mut std::ffi::c_void,
    error: *mut c_int,
) {
    // SAFETY: addresses are the program's, by its promise.
    unsafe {
        let function = |count, requests, ended, indices, statuses| {
            several::testsome::<A>(count, requests, ended, indices, statuses)
        };
        let code = counted::<A>(function, (count, requests), (ended, indices), status::<A>(at));
        put_error(error, code);
    }
}

unsafe extern "C" fn mpi_request_get_status_any<A: Fortran>(
    count: *const c_int,
    requests: *const c_int,
    index: *mut c_int,
    flag: *mut c_int,
    at: *mut std::ffi::c_void,
    error: *mut c_int,
) {
    // SAFETY: addresses are the program's, by its promise.
    unsafe {
        let (count, status) = (count.read_unaligned(), status::<A>(at));
        let code = request_statuses::request_get_status_any::<A>(count, requests, index, flag, status);
        one_more::<A>(index);
        put_error(error, code);
    }
}

unsafe extern "C" fn mpi_request_get_status_some<A: Fortran>(
    count: *const c_int,
    requests: *mut c_int,
    ended: *mut c_int,
    indices: *mut c_int,
    at: *mut std::ffi::c_void,
    error: *mut c_int,
) {
    // SAFETY: addresses are the program's, by its promise.
    unsafe {
        let function = |count, requests: *mut c_int, ended, indices, statuses| {
            request_statuses::request_get_status_some::<A>(count, requests, ended, indices, statuses)
        };
        let code = counted::<A>(function, (count, requests), (ended, indices), status::<A>(at));
        put_error(error, code);
    }
}

unsafe extern "C" fn mpi_aint_add(base: *const i64, displacement: *const i64) -> i64 {
    // SAFETY: addresses are the program's, by its promise.
    unsafe { environment::aint_add(base.read_unaligned(), displacement.read_unaligned()) }
}

unsafe extern "C" fn mpi_aint_diff(one: *const i64, other: *const i64) -> i64 {
    // SAFETY: addresses are the program's, by its promise.
    unsafe { environment::aint_diff(one.read_unaligned(), other.read_unaligned()) }
}

unsafe extern "C" fn mpi_abort<A: Fortran>(
    communicator: *const c_int,
    code: *const c_int,
    error: *mut c_int,
) {
    // SAFETY: addresses are the program's, by its promise.
    unsafe {
        let result = environment::abort::<A>(communicator.read_unaligned(), code.read_unaligned());
        put_error(error, result);
    }
}

extern "C" fn mpi_pcontrol(_: *const c_int) {}

/// `mpi_f_sync_reg`: that the compiler does not know is all that it does.
extern "C" fn mpi_f_sync_reg(_: *mut std::ffi::c_void) {}

/// Names and addresses.
pub fn functions<A: Fortran>() -> Vec<(&'static str, usize)> {
    vec![
        ("mpi_waitany", mpi_waitany::<A> as *const () as usize),
        ("mpi_testany", mpi_testany::<A> as *const () as usize),
        ("mpi_waitsome", mpi_waitsome::<A> as *const () as usize),
        ("mpi_testsome", mpi_testsome::<A> as *const () as usize),
        ("mpi_request_get_status_any", mpi_request_get_status_any::<A> as *const () as usize),
        ("mpi_request_get_status_some", mpi_request_get_status_some::<A> as *const () as usize),
        ("mpi_aint_add", mpi_aint_add as *const () as usize),
        ("mpi_aint_diff", mpi_aint_diff as *const () as usize),
        ("mpi_wtime", environment::wtime as *const () as usize),
        ("mpi_wtick", environment::wtick as *const () as usize),
        ("mpi_f_sync_reg", mpi_f_sync_reg as *const () as usize),
        ("mpi_abort", mpi_abort::<A> as *const () as usize),
        ("mpi_pcontrol", mpi_pcontrol as *const () as usize),
    ]
}
