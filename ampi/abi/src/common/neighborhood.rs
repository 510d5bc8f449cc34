//! Collectives among neighbours of a topology (MPI-3.1, 7.6 and 7.7).

use std::ffi::c_int;

use talisman_ampi::collective::{self as schedules, Blocks, Place, Schedule, Span};
use talisman_ampi::comm::topology::Neighbors;
use talisman_ampi::objects::Kind;
use talisman_ampi::process::Process;

use super::call::{Outcome, known};
use super::collective::{Called, How, Memory, Side, checked, collectives, counts, numbers, run, values};
use super::parts::each_of_its_own;
use crate::abi::{Abi, Count};
use crate::class::Class;

/// What goes to each neighbour, and where what comes from each goes; what is there for the ends of a grid stays.
fn schedule(neighbors: &Neighbors, send: &[Span], receive: &[Span]) -> Schedule {
    let sends: Vec<(u32, Span)> =
        neighbors.sending.iter().filter_map(|at| Some((neighbors.destinations[*at]?, send[*at]))).collect();
    let sources = neighbors.sources.iter().zip(receive);
    let receives: Vec<(u32, Span)> = sources.filter_map(|(source, into)| Some(((*source)?, *into))).collect();
    schedules::neighbors(&sends, &receives)
}

/// `send` and `receive` give as many spans as there are destinations and sources.
unsafe fn run_with<A: Abi>(
    called: Called<A::Handle>,
    memory: Memory,
    send: impl FnOnce(&Process, u32) -> Result<Vec<Span>, Class>,
    receive: impl FnOnce(&Process, u32) -> Result<Vec<Span>, Class>,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let communicator = known::<A>(Kind::Comm, called.communicator)?;
        run::<A>(called, memory, |process, side: Side| {
            let topology = process.comms.get(communicator)?.topology.as_ref().ok_or(Class::Topology)?;
            let neighbors = topology.neighbors(side.one()?.rank);
            let send = send(process, neighbors.destinations.len() as u32)?;
            let receive = receive(process, neighbors.sources.len() as u32)?;
            Ok(schedule(&neighbors, &send, &receive))
        })
    }
}

/// The same values for each of so many.
unsafe fn same<A: Abi>(
    process: &Process,
    (count, datatype): (i64, A::Handle),
    of: u32,
) -> Result<Vec<Span>, Class> {
    // SAFETY: the caller's promise.
    let values = values(process, unsafe { known::<A>(Kind::Datatype, datatype) }?)?;
    Ok(vec![values.span(Place::Send, 0, checked(count)?); of as usize])
}

/// Blocks of one length, one after the other.
unsafe fn even<A: Abi>(
    process: &Process,
    (count, datatype): (i64, A::Handle),
    of: u32,
    place: Place,
) -> Result<Vec<Span>, Class> {
    // SAFETY: the caller's promise.
    let values = values(process, unsafe { known::<A>(Kind::Datatype, datatype) }?)?;
    let blocks = Blocks::even(of, checked(count)?, values);
    Ok((0..of).map(|peer| blocks.of(place, peer)).collect())
}

/// Blocks of their own lengths at displacements in values.
unsafe fn uneven<A: Abi, N: Count>(
    process: &Process,
    (counted, displaced, datatype): (*const N, *const N, A::Handle),
    of: u32,
    place: Place,
) -> Result<Vec<Span>, Class> {
    // SAFETY: the caller's promise.
    unsafe {
        let values = values(process, known::<A>(Kind::Datatype, datatype)?)?;
        let blocks = Blocks::uneven(&counts(counted, of)?, &numbers(displaced, of)?, values);
        Ok((0..of).map(|peer| blocks.of(place, peer)).collect())
    }
}

unsafe fn allgather_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_count: N,
    send_datatype: A::Handle,
    at: usize,
    count: N,
    datatype: A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        run_with::<A>(
            called,
            Memory { send: send_at, receive: at, op: 0 },
            |process, of| same::<A>(process, (send_count.get(), send_datatype), of),
            |process, of| even::<A>(process, (count.get(), datatype), of, Place::Receive),
        )
    }
}

unsafe fn allgatherv_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_count: N,
    send_datatype: A::Handle,
    at: usize,
    counts: *const N,
    displacements: *const N,
    datatype: A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        run_with::<A>(
            called,
            Memory { send: send_at, receive: at, op: 0 },
            |process, of| same::<A>(process, (send_count.get(), send_datatype), of),
            |process, of| uneven::<A, N>(process, (counts, displacements, datatype), of, Place::Receive),
        )
    }
}

unsafe fn alltoall_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_count: N,
    send_datatype: A::Handle,
    at: usize,
    count: N,
    datatype: A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        run_with::<A>(
            called,
            Memory { send: send_at, receive: at, op: 0 },
            |process, of| even::<A>(process, (send_count.get(), send_datatype), of, Place::Send),
            |process, of| even::<A>(process, (count.get(), datatype), of, Place::Receive),
        )
    }
}

unsafe fn alltoallv_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_counts: *const N,
    send_displacements: *const N,
    send_datatype: A::Handle,
    at: usize,
    counts: *const N,
    displacements: *const N,
    datatype: A::Handle,
) -> Outcome {
    let send = (send_counts, send_displacements, send_datatype);
    // SAFETY: the caller's promise.
    unsafe {
        run_with::<A>(
            called,
            Memory { send: send_at, receive: at, op: 0 },
            |process, of| uneven::<A, N>(process, send, of, Place::Send),
            |process, of| uneven::<A, N>(process, (counts, displacements, datatype), of, Place::Receive),
        )
    }
}

unsafe fn alltoallw_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_counts: *const N,
    send_displacements: *const i64,
    send_datatypes: *const A::Handle,
    at: usize,
    counts: *const N,
    displacements: *const i64,
    datatypes: *const A::Handle,
) -> Outcome {
    let send = (send_counts, send_displacements, send_datatypes);
    let receive = (counts, displacements, datatypes);
    // SAFETY: the caller's promise.
    unsafe {
        run_with::<A>(
            called,
            Memory { send: send_at, receive: at, op: 0 },
            |process, of| each_of_its_own::<A, N, i64>(process, of, Place::Send, send),
            |process, of| each_of_its_own::<A, N, i64>(process, of, Place::Receive, receive),
        )
    }
}

collectives! {
    "Neighbor_allgather" "Ineighbor_allgather"
    neighbor_allgather ineighbor_allgather neighbor_allgather_init<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle, at: usize, count: N, datatype: A::Handle,
    ) => allgather_as;
    "Neighbor_allgatherv" "Ineighbor_allgatherv"
    neighbor_allgatherv ineighbor_allgatherv neighbor_allgatherv_init<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle,
        at: usize, counts: *const N, displacements: *const N, datatype: A::Handle,
    ) => allgatherv_as;
    "Neighbor_alltoall" "Ineighbor_alltoall"
    neighbor_alltoall ineighbor_alltoall neighbor_alltoall_init<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle, at: usize, count: N, datatype: A::Handle,
    ) => alltoall_as;
    "Neighbor_alltoallv" "Ineighbor_alltoallv"
    neighbor_alltoallv ineighbor_alltoallv neighbor_alltoallv_init<N>(
        send_at: usize, send_counts: *const N, send_displacements: *const N, send_datatype: A::Handle,
        at: usize, counts: *const N, displacements: *const N, datatype: A::Handle,
    ) => alltoallv_as;
    "Neighbor_alltoallw" "Ineighbor_alltoallw"
    neighbor_alltoallw ineighbor_alltoallw neighbor_alltoallw_init<N>(
        send_at: usize, send_counts: *const N, send_displacements: *const i64, send_datatypes: *const A::Handle,
        at: usize, counts: *const N, displacements: *const i64, datatypes: *const A::Handle,
    ) => alltoallw_as;
}
