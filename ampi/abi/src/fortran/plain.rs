//! Functions whose arguments only have to be taken from their addresses.

use std::ffi::c_int;

use super::Fortran;
use crate::common::{
    buffers, communicator, darray, datatype, environment, errhandler, group, info, matched, neighborhood, op,
    own_request, pack, partitioned, persistent, point_to_point, ports, probe, reductions, request,
    request_statuses, several, spawn, status, topology,
};
use crate::common::{described, graphs, rooted, session, to_all};

/// Fortran has no arguments of the program.
unsafe fn begin<A: Fortran>() -> c_int {
    // SAFETY: no address is given.
    unsafe { environment::init::<A>(0, 0) }
}

unsafe fn with_level<A: Fortran>(wanted: c_int, granted: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { environment::init_thread::<A>(0, 0, wanted, granted) }
}

unsafe fn detach_from_session<A: Fortran>(session: c_int, _: *mut usize, size: *mut c_int) -> c_int {
    let mut at = 0usize;
    // SAFETY: the caller's promise.
    unsafe { session::session_detach_buffer::<A, c_int>(session, &raw mut at, size) }
}

/// Fortran is not told where its buffer was: it has that as a variable.
unsafe fn detach<A: Fortran>(_: *mut usize, size: *mut c_int) -> c_int {
    let mut at = 0usize;
    // SAFETY: the caller's promise.
    unsafe { buffers::buffer_detach::<A, c_int>(&raw mut at, size) }
}

unsafe fn detach_from<A: Fortran>(communicator: c_int, _: *mut usize, size: *mut c_int) -> c_int {
    let mut at = 0usize;
    // SAFETY: the caller's promise.
    unsafe { buffers::comm_detach_buffer::<A, c_int>(communicator, &raw mut at, size) }
}

/// Its functions are given the address of Fortran's variable: they may change it.
unsafe fn grequest_start<A: Fortran>(
    query: u64,
    free: u64,
    cancel: u64,
    extra: *mut u64,
    request: *mut c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { own_request::grequest_start::<A>(query, free, cancel, extra as u64, request) }
}

/// Fortran has no arguments of the program.
unsafe fn info_of_environment<A: Fortran>(hints: *mut c_int) -> c_int {
    // SAFETY: the caller's promise; no argument is given.
    unsafe { info::info_create_env::<A>(0, 0, hints) }
}

super::fortran! {
    mpi_info_create_env(p hints) => info_of_environment::<A>;
    mpi_init_thread(v wanted, p granted) => with_level::<A>;
    mpi_init() => begin::<A>;
    mpi_initialized(p flag) => environment::initialized::<A>;
    mpi_finalized(p flag) => environment::finalized::<A>;
    mpi_finalize() => environment::finalize::<A>;
    mpi_query_thread(p level) => environment::query_thread::<A>;
    mpi_is_thread_main(p flag) => environment::is_thread_main::<A>;
    mpi_get_version(p version, p sub) => environment::get_version::<A>;
    mpi_send(b at, v count, v datatype, v peer, v tag, v comm) => point_to_point::send::<A, c_int>;
    mpi_isend(b at, v count, v datatype, v peer, v tag, v comm, p request) => point_to_point::isend::<A, c_int>;
    mpi_send_init(b at, v count, v datatype, v peer, v tag, v comm, p request) => persistent::send_init::<A, c_int>;
    mpi_ssend(b at, v count, v datatype, v peer, v tag, v comm) => point_to_point::ssend::<A, c_int>;
    mpi_issend(b at, v count, v datatype, v peer, v tag, v comm, p request) => point_to_point::issend::<A, c_int>;
    mpi_ssend_init(b at, v count, v datatype, v peer, v tag, v comm, p request) => persistent::ssend_init::<A, c_int>;
    mpi_rsend(b at, v count, v datatype, v peer, v tag, v comm) => point_to_point::rsend::<A, c_int>;
    mpi_irsend(b at, v count, v datatype, v peer, v tag, v comm, p request) => point_to_point::irsend::<A, c_int>;
    mpi_rsend_init(b at, v count, v datatype, v peer, v tag, v comm, p request) => persistent::rsend_init::<A, c_int>;
    mpi_bsend(b at, v count, v datatype, v peer, v tag, v comm) => point_to_point::bsend::<A, c_int>;
    mpi_ibsend(b at, v count, v datatype, v peer, v tag, v comm, p request) => point_to_point::ibsend::<A, c_int>;
    mpi_bsend_init(b at, v count, v datatype, v peer, v tag, v comm, p request) => persistent::bsend_init::<A, c_int>;
    mpi_recv(b at, v count, v datatype, v peer, v tag, v comm, s status) => point_to_point::recv::<A, c_int>;
    mpi_irecv(b at, v count, v datatype, v peer, v tag, v comm, p request) => point_to_point::irecv::<A, c_int>;
    mpi_recv_init(b at, v count, v datatype, v peer, v tag, v comm, p request) => persistent::recv_init::<A, c_int>;
    mpi_sendrecv(
        b send_at, v send_count, v send_datatype, v to, v send_tag, b at, v count, v datatype, v from, v tag, v comm,
        s status,
    ) => point_to_point::sendrecv::<A, c_int>;
    mpi_sendrecv_replace(
        b at, v count, v datatype, v to, v send_tag, v from, v tag, v comm, s status,
    ) => point_to_point::sendrecv_replace::<A, c_int>;
    mpi_isendrecv(
        b send_at, v send_count, v send_datatype, v to, v send_tag, b at, v count, v datatype, v from, v tag, v comm,
        p request,
    ) => point_to_point::isendrecv::<A, c_int>;
    mpi_isendrecv_replace(
        b at, v count, v datatype, v to, v send_tag, v from, v tag, v comm, p request,
    ) => point_to_point::isendrecv_replace::<A, c_int>;
    mpi_psend_init(
        b at, v parts, a count, v datatype, v peer, v tag, v comm, v info, p request,
    ) => partitioned::psend_init::<A>;
    mpi_precv_init(
        b at, v parts, a count, v datatype, v peer, v tag, v comm, v info, p request,
    ) => partitioned::precv_init::<A>;
    mpi_pready(v part, v request) => partitioned::pready::<A>;
    mpi_pready_range(v low, v high, v request) => partitioned::pready_range::<A>;
    mpi_pready_list(v n, p parts, v request) => partitioned::pready_list::<A>;
    mpi_parrived(v request, v part, p flag) => partitioned::parrived::<A>;
    mpi_start(p request) => persistent::start::<A>;
    mpi_startall(v count, p requests) => persistent::startall::<A>;
    mpi_wait(p request, s status) => request::wait::<A>;
    mpi_test(p request, p flag, s status) => request::test::<A>;
    mpi_waitall(v count, p requests, s statuses) => several::waitall::<A>;
    mpi_testall(v count, p requests, p flag, s statuses) => several::testall::<A>;
    mpi_request_free(p request) => request::request_free::<A>;
    mpi_request_get_status(v request, p flag, s status) => request_statuses::request_get_status::<A>;
    mpi_request_get_status_all(
        v count, p requests, p flag, s statuses,
    ) => request_statuses::request_get_status_all::<A>;
    mpi_cancel(p request) => request::cancel::<A>;
    mpi_probe(v source, v tag, v comm, s status) => probe::probe::<A>;
    mpi_iprobe(v source, v tag, v comm, p flag, s status) => probe::iprobe::<A>;
    mpi_mprobe(v source, v tag, v comm, p message, s status) => matched::mprobe::<A>;
    mpi_improbe(v source, v tag, v comm, p flag, p message, s status) => matched::improbe::<A>;
    mpi_mrecv(b at, v count, v datatype, p message, s status) => matched::mrecv::<A, c_int>;
    mpi_imrecv(b at, v count, v datatype, p message, p request) => matched::imrecv::<A, c_int>;
    mpi_get_count(s status, v datatype, p count) => status::get_count::<A, c_int>;
    mpi_get_elements(s status, v datatype, p count) => status::get_elements::<A, c_int>;
    mpi_get_elements_x(s status, v datatype, p count) => status::get_elements_x::<A>;
    mpi_test_cancelled(s status, p flag) => status::test_cancelled::<A>;
    mpi_status_set_cancelled(s status, v flag) => status::status_set_cancelled::<A>;
    mpi_status_set_elements(s status, v datatype, v count) => status::status_set_elements::<A, c_int>;
    mpi_status_set_elements_x(s status, v datatype, a count) => status::status_set_elements_x::<A>;
    mpi_status_get_source(s status, p source) => status::status_get_source::<A>;
    mpi_status_get_tag(s status, p tag) => status::status_get_tag::<A>;
    mpi_status_get_error(s status, p code) => status::status_get_error::<A>;
    mpi_status_set_source(s status, v source) => status::status_set_source::<A>;
    mpi_status_set_tag(s status, v tag) => status::status_set_tag::<A>;
    mpi_status_set_error(s status, v code) => status::status_set_error::<A>;
    mpi_buffer_flush() => buffers::buffer_flush::<A>;
    mpi_buffer_iflush(p request) => buffers::buffer_iflush::<A>;
    mpi_comm_attach_buffer(v comm, b at, v size) => buffers::comm_attach_buffer::<A, c_int>;
    mpi_comm_detach_buffer(v comm, p at, p size) => detach_from::<A>;
    mpi_comm_flush_buffer(v comm) => buffers::comm_flush_buffer::<A>;
    mpi_comm_iflush_buffer(v comm, p request) => buffers::comm_iflush_buffer::<A>;
    mpi_buffer_attach(b at, v size) => buffers::buffer_attach::<A, c_int>;
    mpi_buffer_detach(p at, p size) => detach::<A>;
    mpi_alloc_mem(a size, v info, p at) => buffers::alloc_mem::<A>;
    mpi_free_mem(b at) => buffers::free_mem::<A>;
    mpi_barrier(v comm) => rooted::barrier::<A>;
    mpi_ibarrier(v comm, p request) => rooted::ibarrier::<A>;
    mpi_barrier_init(v comm, v info, p request) => rooted::again::barrier_init::<A>;
    mpi_bcast(b at, v count, v datatype, v root, v comm) => rooted::bcast::<A, c_int>;
    mpi_ibcast(b at, v count, v datatype, v root, v comm, p request) => rooted::ibcast::<A, c_int>;
    mpi_bcast_init(
        b at, v count, v datatype, v root, v comm, v info, p request,
    ) => rooted::again::bcast_init::<A, c_int>;
    mpi_gather(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v root, v comm,
    ) => rooted::gather::<A, c_int>;
    mpi_igather(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v root, v comm, p request,
    ) => rooted::igather::<A, c_int>;
    mpi_gather_init(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v root, v comm, v info, p request,
    ) => rooted::again::gather_init::<A, c_int>;
    mpi_scatter(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v root, v comm,
    ) => rooted::scatter::<A, c_int>;
    mpi_iscatter(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v root, v comm, p request,
    ) => rooted::iscatter::<A, c_int>;
    mpi_scatter_init(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v root, v comm, v info, p request,
    ) => rooted::again::scatter_init::<A, c_int>;
    mpi_gatherv(
        b send_at, v send_count, v send_datatype, b at, p counts, p displacements, v datatype, v root, v comm,
    ) => rooted::gatherv::<A, c_int>;
    mpi_igatherv(
        b send_at, v send_count, v send_datatype, b at, p counts, p displacements, v datatype, v root, v comm,
        p request,
    ) => rooted::igatherv::<A, c_int>;
    mpi_gatherv_init(
        b send_at, v send_count, v send_datatype, b at, p counts, p displacements, v datatype, v root, v comm,
        v info, p request,
    ) => rooted::again::gatherv_init::<A, c_int>;
    mpi_scatterv(
        b send_at, p counts, p displacements, v send_datatype, b at, v count, v datatype, v root, v comm,
    ) => rooted::scatterv::<A, c_int>;
    mpi_iscatterv(
        b send_at, p counts, p displacements, v send_datatype, b at, v count, v datatype, v root, v comm, p request,
    ) => rooted::iscatterv::<A, c_int>;
    mpi_scatterv_init(
        b send_at, p counts, p displacements, v send_datatype, b at, v count, v datatype, v root, v comm, v info,
        p request,
    ) => rooted::again::scatterv_init::<A, c_int>;
    mpi_allgather(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v comm,
    ) => to_all::allgather::<A, c_int>;
    mpi_iallgather(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v comm, p request,
    ) => to_all::iallgather::<A, c_int>;
    mpi_allgather_init(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v comm, v info, p request,
    ) => to_all::again::allgather_init::<A, c_int>;
    mpi_allgatherv(
        b send_at, v send_count, v send_datatype, b at, p counts, p displacements, v datatype, v comm,
    ) => to_all::allgatherv::<A, c_int>;
    mpi_iallgatherv(
        b send_at, v send_count, v send_datatype, b at, p counts, p displacements, v datatype, v comm, p request,
    ) => to_all::iallgatherv::<A, c_int>;
    mpi_allgatherv_init(
        b send_at, v send_count, v send_datatype, b at, p counts, p displacements, v datatype, v comm, v info,
        p request,
    ) => to_all::again::allgatherv_init::<A, c_int>;
    mpi_alltoall(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v comm,
    ) => to_all::alltoall::<A, c_int>;
    mpi_ialltoall(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v comm, p request,
    ) => to_all::ialltoall::<A, c_int>;
    mpi_alltoall_init(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v comm, v info, p request,
    ) => to_all::again::alltoall_init::<A, c_int>;
    mpi_alltoallv(
        b send_at, p send_counts, p send_displacements, v send_datatype, b at, p counts, p displacements, v datatype,
        v comm,
    ) => to_all::alltoallv::<A, c_int>;
    mpi_ialltoallv(
        b send_at, p send_counts, p send_displacements, v send_datatype, b at, p counts, p displacements, v datatype,
        v comm, p request,
    ) => to_all::ialltoallv::<A, c_int>;
    mpi_alltoallv_init(
        b send_at, p send_counts, p send_displacements, v send_datatype, b at, p counts, p displacements, v datatype,
        v comm, v info, p request,
    ) => to_all::again::alltoallv_init::<A, c_int>;
    mpi_alltoallw(
        b send_at, p send_counts, p send_displacements, p send_datatypes, b at, p counts, p displacements,
        p datatypes, v comm,
    ) => to_all::alltoallw::<A, c_int>;
    mpi_ialltoallw(
        b send_at, p send_counts, p send_displacements, p send_datatypes, b at, p counts, p displacements,
        p datatypes, v comm, p request,
    ) => to_all::ialltoallw::<A, c_int>;
    mpi_alltoallw_init(
        b send_at, p send_counts, p send_displacements, p send_datatypes, b at, p counts, p displacements,
        p datatypes, v comm, v info, p request,
    ) => to_all::again::alltoallw_init::<A, c_int>;
    mpi_reduce(b send, b receive, v count, v datatype, v op, v root, v comm) => reductions::reduce::<A, c_int>;
    mpi_ireduce(
        b send, b receive, v count, v datatype, v op, v root, v comm, p request,
    ) => reductions::ireduce::<A, c_int>;
    mpi_reduce_init(
        b send, b receive, v count, v datatype, v op, v root, v comm, v info, p request,
    ) => reductions::again::reduce_init::<A, c_int>;
    mpi_allreduce(b send, b receive, v count, v datatype, v op, v comm) => reductions::allreduce::<A, c_int>;
    mpi_iallreduce(
        b send, b receive, v count, v datatype, v op, v comm, p request,
    ) => reductions::iallreduce::<A, c_int>;
    mpi_allreduce_init(
        b send, b receive, v count, v datatype, v op, v comm, v info, p request,
    ) => reductions::again::allreduce_init::<A, c_int>;
    mpi_reduce_scatter(b send, b receive, p counts, v datatype, v op, v comm) => reductions::reduce_scatter::<A, c_int>;
    mpi_ireduce_scatter(
        b send, b receive, p counts, v datatype, v op, v comm, p request,
    ) => reductions::ireduce_scatter::<A, c_int>;
    mpi_reduce_scatter_init(
        b send, b receive, p counts, v datatype, v op, v comm, v info, p request,
    ) => reductions::again::reduce_scatter_init::<A, c_int>;
    mpi_reduce_scatter_block(
        b send, b receive, v count, v datatype, v op, v comm,
    ) => reductions::reduce_scatter_block::<A, c_int>;
    mpi_ireduce_scatter_block(
        b send, b receive, v count, v datatype, v op, v comm, p request,
    ) => reductions::ireduce_scatter_block::<A, c_int>;
    mpi_reduce_scatter_block_init(
        b send, b receive, v count, v datatype, v op, v comm, v info, p request,
    ) => reductions::again::reduce_scatter_block_init::<A, c_int>;
    mpi_scan(b send, b receive, v count, v datatype, v op, v comm) => reductions::scan::<A, c_int>;
    mpi_iscan(b send, b receive, v count, v datatype, v op, v comm, p request) => reductions::iscan::<A, c_int>;
    mpi_scan_init(
        b send, b receive, v count, v datatype, v op, v comm, v info, p request,
    ) => reductions::again::scan_init::<A, c_int>;
    mpi_exscan(b send, b receive, v count, v datatype, v op, v comm) => reductions::exscan::<A, c_int>;
    mpi_iexscan(b send, b receive, v count, v datatype, v op, v comm, p request) => reductions::iexscan::<A, c_int>;
    mpi_exscan_init(
        b send, b receive, v count, v datatype, v op, v comm, v info, p request,
    ) => reductions::again::exscan_init::<A, c_int>;
    mpi_neighbor_allgather(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v comm,
    ) => neighborhood::neighbor_allgather::<A, c_int>;
    mpi_ineighbor_allgather(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v comm, p request,
    ) => neighborhood::ineighbor_allgather::<A, c_int>;
    mpi_neighbor_allgather_init(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v comm, v info, p request,
    ) => neighborhood::again::neighbor_allgather_init::<A, c_int>;
    mpi_neighbor_allgatherv(
        b send_at, v send_count, v send_datatype, b at, p counts, p displacements, v datatype, v comm,
    ) => neighborhood::neighbor_allgatherv::<A, c_int>;
    mpi_ineighbor_allgatherv(
        b send_at, v send_count, v send_datatype, b at, p counts, p displacements, v datatype, v comm, p request,
    ) => neighborhood::ineighbor_allgatherv::<A, c_int>;
    mpi_neighbor_allgatherv_init(
        b send_at, v send_count, v send_datatype, b at, p counts, p displacements, v datatype, v comm, v info,
        p request,
    ) => neighborhood::again::neighbor_allgatherv_init::<A, c_int>;
    mpi_neighbor_alltoall(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v comm,
    ) => neighborhood::neighbor_alltoall::<A, c_int>;
    mpi_ineighbor_alltoall(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v comm, p request,
    ) => neighborhood::ineighbor_alltoall::<A, c_int>;
    mpi_neighbor_alltoall_init(
        b send_at, v send_count, v send_datatype, b at, v count, v datatype, v comm, v info, p request,
    ) => neighborhood::again::neighbor_alltoall_init::<A, c_int>;
    mpi_neighbor_alltoallv(
        b send_at, p send_counts, p send_displacements, v send_datatype, b at, p counts, p displacements, v datatype,
        v comm,
    ) => neighborhood::neighbor_alltoallv::<A, c_int>;
    mpi_ineighbor_alltoallv(
        b send_at, p send_counts, p send_displacements, v send_datatype, b at, p counts, p displacements, v datatype,
        v comm, p request,
    ) => neighborhood::ineighbor_alltoallv::<A, c_int>;
    mpi_neighbor_alltoallv_init(
        b send_at, p send_counts, p send_displacements, v send_datatype, b at, p counts, p displacements, v datatype,
        v comm, v info, p request,
    ) => neighborhood::again::neighbor_alltoallv_init::<A, c_int>;
    mpi_neighbor_alltoallw(
        b send_at, p send_counts, p send_displacements, p send_datatypes, b at, p counts, p displacements,
        p datatypes, v comm,
    ) => neighborhood::neighbor_alltoallw::<A, c_int>;
    mpi_ineighbor_alltoallw(
        b send_at, p send_counts, p send_displacements, p send_datatypes, b at, p counts, p displacements,
        p datatypes, v comm, p request,
    ) => neighborhood::ineighbor_alltoallw::<A, c_int>;
    mpi_neighbor_alltoallw_init(
        b send_at, p send_counts, p send_displacements, p send_datatypes, b at, p counts, p displacements,
        p datatypes, v comm, v info, p request,
    ) => neighborhood::again::neighbor_alltoallw_init::<A, c_int>;
    mpi_op_create(f function, v commutes, p op) => op::op_create::<A>;
    mpi_op_free(p op) => op::op_free::<A>;
    mpi_op_commutative(v op, p commutes) => op::op_commutative::<A>;
    mpi_reduce_local(b left, b right, v count, v datatype, v op) => op::reduce_local::<A, c_int>;
    mpi_comm_rank(v comm, p rank) => communicator::comm_rank::<A>;
    mpi_comm_size(v comm, p size) => communicator::comm_size::<A>;
    mpi_comm_remote_size(v comm, p size) => communicator::comm_remote_size::<A>;
    mpi_comm_test_inter(v comm, p flag) => communicator::comm_test_inter::<A>;
    mpi_comm_compare(v one, v other, p result) => communicator::comm_compare::<A>;
    mpi_comm_dup(v comm, p to) => communicator::comm_dup::<A>;
    mpi_comm_dup_with_info(v comm, v info, p to) => communicator::comm_dup_with_info::<A>;
    mpi_comm_idup(v comm, p to, p request) => communicator::comm_idup::<A>;
    mpi_comm_idup_with_info(v comm, v info, p to, p request) => communicator::comm_idup_with_info::<A>;
    mpi_comm_split(v comm, v color, v key, p to) => communicator::comm_split::<A>;
    mpi_comm_split_type(v comm, v kind, v key, v info, p to) => communicator::comm_split_type::<A>;
    mpi_comm_create(v comm, v group, p to) => communicator::comm_create::<A>;
    mpi_comm_create_group(v comm, v group, v tag, p to) => communicator::comm_create_group::<A>;
    mpi_comm_free(p comm) => communicator::comm_free::<A>;
    mpi_comm_disconnect(p comm) => communicator::comm_disconnect::<A>;
    mpi_comm_set_info(v comm, v info) => communicator::comm_set_info::<A>;
    mpi_comm_get_info(v comm, p info) => communicator::comm_get_info::<A>;
    mpi_comm_get_parent(p comm) => spawn::comm_get_parent::<A>;
    mpi_comm_join(v socket, p to) => ports::comm_join::<A>;
    mpi_intercomm_create(v local, v leader, v peer, v remote, v tag, p to) => communicator::intercomm_create::<A>;
    mpi_intercomm_merge(v comm, v high, p to) => communicator::intercomm_merge::<A>;
    mpi_comm_group(v comm, p group) => group::comm_group::<A>;
    mpi_comm_remote_group(v comm, p group) => group::comm_remote_group::<A>;
    mpi_group_size(v group, p size) => group::group_size::<A>;
    mpi_group_rank(v group, p rank) => group::group_rank::<A>;
    mpi_group_compare(v one, v other, p result) => group::group_compare::<A>;
    mpi_group_translate_ranks(v one, v count, p ranks, v other, p translated) => group::group_translate_ranks::<A>;
    mpi_group_union(v one, v other, p to) => group::group_union::<A>;
    mpi_group_intersection(v one, v other, p to) => group::group_intersection::<A>;
    mpi_group_difference(v one, v other, p to) => group::group_difference::<A>;
    mpi_group_incl(v group, v count, p ranks, p to) => group::group_incl::<A>;
    mpi_group_excl(v group, v count, p ranks, p to) => group::group_excl::<A>;
    mpi_group_range_incl(v group, v count, p ranks, p to) => group::group_range_incl::<A>;
    mpi_group_range_excl(v group, v count, p ranks, p to) => group::group_range_excl::<A>;
    mpi_group_free(p group) => group::group_free::<A>;
    mpi_cart_create(v comm, v dimensions, p lengths, p periods, v reorder, p to) => topology::cart_create::<A>;
    mpi_cartdim_get(v comm, p dimensions) => topology::cartdim_get::<A>;
    mpi_cart_get(v comm, v room, p lengths, p periods, p place) => topology::cart_get::<A>;
    mpi_cart_rank(v comm, p place, p rank) => topology::cart_rank::<A>;
    mpi_cart_coords(v comm, v rank, v room, p place) => topology::cart_coords::<A>;
    mpi_cart_shift(v comm, v dimension, v by, p source, p destination) => topology::cart_shift::<A>;
    mpi_cart_sub(v comm, p kept, p to) => topology::cart_sub::<A>;
    mpi_cart_map(v comm, v dimensions, p lengths, p periods, p rank) => topology::cart_map::<A>;
    mpi_dims_create(v members, v count, p lengths) => topology::create_dims::<A>;
    mpi_graph_create(v comm, v members, p index, p edges, v reorder, p to) => graphs::graph_create::<A>;
    mpi_graphdims_get(v comm, p members, p edges) => graphs::graphdims_get::<A>;
    mpi_graph_get(v comm, v index_room, v edges_room, p index, p edges) => graphs::graph_get::<A>;
    mpi_graph_neighbors_count(v comm, v rank, p count) => graphs::graph_neighbors_count::<A>;
    mpi_graph_neighbors(v comm, v rank, v room, p neighbors) => graphs::neighbors_of_graph::<A>;
    mpi_graph_map(v comm, v members, p index, p edges, p rank) => graphs::graph_map::<A>;
    mpi_dist_graph_create_adjacent(
        v comm, v ins, p sources, w source_weights, v outs, p destinations, w destination_weights, v info, v reorder,
        p to,
    ) => graphs::dist_graph_create_adjacent::<A>;
    mpi_dist_graph_create(
        v comm, v n, p sources, p degrees, p destinations, w weights, v info, v reorder, p to,
    ) => graphs::dist_graph_create::<A>;
    mpi_dist_graph_neighbors_count(v comm, p ins, p outs, p weighted) => graphs::dist_graph_neighbors_count::<A>;
    mpi_dist_graph_neighbors(
        v comm, v in_room, p sources, w source_weights, v out_room, p destinations, w destination_weights,
    ) => graphs::dist_graph_neighbors::<A>;
    mpi_topo_test(v comm, p kind) => topology::topo_test::<A>;
    mpi_type_contiguous(v count, v of, p to) => datatype::type_contiguous::<A, c_int>;
    mpi_type_vector(v count, v each, v stride, v of, p to) => datatype::type_vector::<A, c_int>;
    mpi_type_create_hvector(v count, v each, a stride, v of, p to) => datatype::type_create_hvector::<A, c_int>;
    mpi_type_indexed(v n, p lengths, p displacements, v of, p to) => datatype::type_indexed::<A, c_int>;
    mpi_type_create_hindexed(v n, p lengths, p displacements, v of, p to) => datatype::type_create_hindexed::<A, c_int>;
    mpi_type_create_indexed_block(
        v n, v each, p displacements, v of, p to,
    ) => datatype::type_create_indexed_block::<A, c_int>;
    mpi_type_create_hindexed_block(
        v n, v each, p displacements, v of, p to,
    ) => datatype::type_create_hindexed_block::<A, c_int>;
    mpi_type_create_struct(
        v n, p lengths, p displacements, p datatypes, p to,
    ) => datatype::type_create_struct::<A, c_int>;
    mpi_type_create_subarray(
        v dimensions, p wholes, p parts, p starts, v order, v of, p to,
    ) => datatype::type_create_subarray::<A, c_int>;
    mpi_type_create_resized(v of, a lower, a extent, p to) => datatype::type_create_resized::<A>;
    mpi_type_dup(v of, p to) => datatype::type_dup::<A>;
    mpi_type_commit(p datatype) => datatype::type_commit::<A>;
    mpi_type_free(p datatype) => datatype::type_free::<A>;
    mpi_type_size(v datatype, p size) => described::type_size::<A, c_int>;
    mpi_type_size_x(v datatype, p size) => described::type_size_x::<A>;
    mpi_type_get_extent(v datatype, p lower, p extent) => described::type_get_extent::<A>;
    mpi_type_get_extent_x(v datatype, p lower, p extent) => described::type_get_extent_x::<A>;
    mpi_type_get_true_extent(v datatype, p lower, p extent) => described::type_get_true_extent::<A>;
    mpi_type_get_true_extent_x(v datatype, p lower, p extent) => described::type_get_true_extent_x::<A>;
    mpi_type_get_envelope(
        v datatype, p integers, p addresses, p datatypes, p combiner,
    ) => described::type_get_envelope::<A>;
    mpi_type_get_contents(
        v datatype, v integers_room, v addresses_room, v datatypes_room, p integers, p addresses, p datatypes,
    ) => described::type_get_contents::<A>;
    mpi_type_match_size(v class, v size, p to) => described::type_match_size::<A>;
    mpi_get_address(b at, p address) => datatype::get_address::<A>;
    mpi_pack(b at, v count, v datatype, b to, v room, p position, v comm) => pack::pack_native::<A, c_int>;
    mpi_unpack(b from, v room, p position, b at, v count, v datatype, v comm) => pack::unpack_native::<A, c_int>;
    mpi_pack_size(v count, v datatype, v comm, p size) => pack::pack_size::<A, c_int>;
    mpi_info_create(p info) => info::info_create::<A>;
    mpi_info_dup(v info, p to) => info::info_dup::<A>;
    mpi_info_free(p info) => info::info_free::<A>;
    mpi_info_get_nkeys(v info, p keys) => info::info_get_nkeys::<A>;
    mpi_session_init(v info, v handler, p session) => session::session_init::<A>;
    mpi_session_finalize(p session) => session::session_finalize::<A>;
    mpi_session_get_info(v session, p info) => session::session_get_info::<A>;
    mpi_session_get_num_psets(v session, v info, p n) => session::session_get_num_psets::<A>;
    mpi_session_create_errhandler(f function, p to) => session::session_create_errhandler::<A>;
    mpi_session_set_errhandler(v session, v handler) => session::session_set_errhandler::<A>;
    mpi_session_get_errhandler(v session, p handler) => session::session_get_errhandler::<A>;
    mpi_session_call_errhandler(v session, v code) => session::session_call_errhandler::<A>;
    mpi_session_attach_buffer(v session, b at, v size) => session::session_attach_buffer::<A, c_int>;
    mpi_session_detach_buffer(v session, p at, p size) => detach_from_session::<A>;
    mpi_session_flush_buffer(v session) => session::session_flush_buffer::<A>;
    mpi_session_iflush_buffer(v session, p request) => session::session_iflush_buffer::<A>;
    mpi_comm_create_errhandler(f function, p to) => errhandler::comm_create_errhandler::<A>;
    mpi_errhandler_create(f function, p to) => errhandler::errhandler_create::<A>;
    mpi_comm_set_errhandler(v comm, v handler) => errhandler::comm_set_errhandler::<A>;
    mpi_errhandler_set(v comm, v handler) => errhandler::errhandler_set::<A>;
    mpi_comm_get_errhandler(v comm, p handler) => errhandler::comm_get_errhandler::<A>;
    mpi_errhandler_get(v comm, p handler) => errhandler::errhandler_get::<A>;
    mpi_errhandler_free(p handler) => errhandler::errhandler_free::<A>;
    mpi_comm_call_errhandler(v comm, v code) => errhandler::comm_call_errhandler::<A>;
    mpi_error_class(v code, p class) => errhandler::error_class::<A>;
    mpi_alloc_mem_cptr(a size, v info, p at) => buffers::alloc_mem::<A>;
    mpi_grequest_start(f query, f free, f cancel, p extra, p request) => grequest_start::<A>;
    mpi_grequest_complete(v request) => own_request::grequest_complete::<A>;
    mpi_type_create_darray(
        v size, v rank, v n, p lengths, p distributions, p arguments, p processes, v order, v of, p to,
    ) => darray::type_create_darray::<A, c_int>;
    mpi_type_create_f90_real(v precision, v range, p to) => darray::type_create_f90_real::<A>;
    mpi_type_create_f90_complex(v precision, v range, p to) => darray::type_create_f90_complex::<A>;
    mpi_type_create_f90_integer(v range, p to) => darray::type_create_f90_integer::<A>;
    mpi_add_error_class(p class) => errhandler::add_error_class::<A>;
    mpi_add_error_code(v class, p code) => errhandler::add_error_code::<A>;
    mpi_remove_error_class(v class) => errhandler::remove_error_class::<A>;
    mpi_remove_error_code(v code) => errhandler::remove_error_code::<A>;
    mpi_remove_error_string(v code) => errhandler::remove_error_string::<A>;
    mpi_get_hw_resource_info(p info) => info::get_hw_resource_info::<A>;
    mpi_type_get_value_index(v value, v index, p to) => described::type_get_value_index::<A>;
}
