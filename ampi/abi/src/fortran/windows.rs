//! Functions of windows, but for those with texts and attributes.

use std::ffi::c_int;

use crate::common::window::{access, active, errors, life, passive, state};

super::fortran! {
    mpi_win_create(b base, a size, v unit, v info, v comm, p window) => life::win_create::<A, c_int>;
    mpi_win_allocate(a size, v unit, v info, v comm, p at, p window) => life::win_allocate::<A, c_int>;
    mpi_win_allocate_cptr(a size, v unit, v info, v comm, p at, p window) => life::win_allocate::<A, c_int>;
    mpi_win_allocate_shared(a size, v unit, v info, v comm, p at, p window) => life::win_allocate_shared::<A, c_int>;
    mpi_win_allocate_shared_cptr(
        a size, v unit, v info, v comm, p at, p window,
    ) => life::win_allocate_shared::<A, c_int>;
    mpi_win_create_dynamic(v info, v comm, p window) => life::win_create_dynamic::<A>;
    mpi_win_free(p window) => life::win_free::<A>;
    mpi_win_attach(v window, b base, a size) => life::win_attach::<A>;
    mpi_win_detach(v window, b base) => life::win_detach::<A>;
    mpi_win_shared_query(v window, v rank, p size, p unit, p base) => life::win_shared_query::<A, c_int>;
    mpi_win_shared_query_cptr(v window, v rank, p size, p unit, p base) => life::win_shared_query::<A, c_int>;
    mpi_win_get_group(v window, p group) => state::win_get_group::<A>;
    mpi_win_set_info(v window, v info) => state::win_set_info::<A>;
    mpi_win_get_info(v window, p info) => state::win_get_info::<A>;
    mpi_win_create_errhandler(f function, p handler) => errors::win_create_errhandler::<A>;
    mpi_win_set_errhandler(v window, v handler) => errors::win_set_errhandler::<A>;
    mpi_win_get_errhandler(v window, p handler) => errors::win_get_errhandler::<A>;
    mpi_win_call_errhandler(v window, v code) => errors::win_call_errhandler::<A>;
    mpi_win_fence(v assert, v window) => active::win_fence::<A>;
    mpi_win_start(v group, v assert, v window) => active::win_start::<A>;
    mpi_win_complete(v window) => active::win_complete::<A>;
    mpi_win_post(v group, v assert, v window) => active::win_post::<A>;
    mpi_win_wait(v window) => active::win_wait::<A>;
    mpi_win_test(v window, p flag) => active::win_test::<A>;
    mpi_win_lock(v kind, v rank, v assert, v window) => passive::win_lock::<A>;
    mpi_win_unlock(v rank, v window) => passive::win_unlock::<A>;
    mpi_win_lock_all(v assert, v window) => passive::win_lock_all::<A>;
    mpi_win_unlock_all(v window) => passive::win_unlock_all::<A>;
    mpi_win_flush(v rank, v window) => passive::win_flush::<A>;
    mpi_win_flush_all(v window) => passive::win_flush_all::<A>;
    mpi_win_flush_local(v rank, v window) => passive::win_flush_local::<A>;
    mpi_win_flush_local_all(v window) => passive::win_flush_local_all::<A>;
    mpi_win_sync(v window) => passive::win_sync::<A>;
    mpi_put(b at, v n, v datatype, v target, a disp, v count, v there, v window) => access::put_values::<A, c_int>;
    mpi_get(b at, v n, v datatype, v target, a disp, v count, v there, v window) => access::get_values::<A, c_int>;
    mpi_accumulate(
        b at, v n, v datatype, v target, a disp, v count, v there, v op, v window,
    ) => access::accumulate::<A, c_int>;
    mpi_get_accumulate(
        b at, v n, v datatype, b into, v into_n, v into_datatype, v target, a disp, v count, v there, v op, v window,
    ) => access::get_accumulate::<A, c_int>;
    mpi_fetch_and_op(b at, b into, v datatype, v target, a disp, v op, v window) => access::fetch_and_op::<A>;
    mpi_compare_and_swap(
        b at, b compare, b into, v datatype, v target, a disp, v window,
    ) => access::compare_and_swap::<A>;
    mpi_rput(
        b at, v n, v datatype, v target, a disp, v count, v there, v window, p request,
    ) => access::asked::rput::<A, c_int>;
    mpi_rget(
        b at, v n, v datatype, v target, a disp, v count, v there, v window, p request,
    ) => access::asked::rget::<A, c_int>;
    mpi_raccumulate(
        b at, v n, v datatype, v target, a disp, v count, v there, v op, v window, p request,
    ) => access::asked::raccumulate::<A, c_int>;
    mpi_rget_accumulate(
        b at, v n, v datatype, b into, v into_n, v into_datatype, v target, a disp, v count, v there, v op, v window,
        p request,
    ) => access::asked::rget_accumulate::<A, c_int>;
}
