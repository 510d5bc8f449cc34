//! Collectives that move values from all to all (MPI-3.1, 5.7 and 5.8).

use std::ffi::c_int;

use talisman_ampi::collective::{self as schedules, Blocks, Place, Span};
use talisman_ampi::process::Process;

use super::call::Outcome;
use super::collective::{Called, How, Memory, Side, collectives, run};
use super::parts::{Part, Parts, each_of_its_own, spans};
use crate::abi::{Abi, Count};
use crate::class::Class;

unsafe fn allgather_with<A: Abi>(
    called: Called<A::Handle>,
    (send, receive_at): (Part<A::Handle>, usize),
    is_even: bool,
    blocks: impl FnOnce(&Process, u32) -> Result<Blocks, Class>,
) -> Outcome {
    let memory = Memory { send: send.at, receive: receive_at, op: 0 };
    // SAFETY: the caller's promise.
    unsafe {
        run::<A>(called, memory, |process, side| {
            let own = send.span::<A>(process, Place::Send)?;
            let blocks = blocks(process, side.peers())?;
            Ok(match side {
                Side::One(me) if is_even => schedules::allgather(me, own, &blocks),
                Side::One(me) => schedules::allgatherv(me, own, &blocks),
                Side::Two(sides) => schedules::inter_allgather(sides, own.unwrap_or(Span::EMPTY), &blocks),
            })
        })
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
    let send = Part { at: send_at, count: send_count.get(), datatype: send_datatype };
    let receive = Part { at, count: count.get(), datatype };
    // SAFETY: the caller's promise.
    unsafe { allgather_with::<A>(called, (send, at), true, |process, of| receive.blocks::<A>(process, of)) }
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
    let send = Part { at: send_at, count: send_count.get(), datatype: send_datatype };
    let receive = Parts { at, counts, displacements, datatype };
    // SAFETY: the caller's promise.
    unsafe { allgather_with::<A>(called, (send, at), false, |process, of| receive.blocks::<A>(process, of)) }
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
    let send = Part { at: send_at, count: send_count.get(), datatype: send_datatype };
    let receive = Part { at, count: count.get(), datatype };
    // SAFETY: the caller's promise.
    unsafe {
        run::<A>(called, Memory { send: send_at, receive: at, op: 0 }, |process, side| {
            let of = side.peers();
            let into = receive.blocks::<A>(process, of)?;
            let from = if send_at == A::IN_PLACE { None } else { Some(send.blocks::<A>(process, of)?) };
            match side {
                Side::One(me) => Ok(schedules::alltoall(me, from.as_ref(), &into)),
                Side::Two(sides) => {
                    let from = spans(&from.ok_or(Class::Buffer)?, Place::Send);
                    Ok(schedules::inter_alltoall(sides, &from, &spans(&into, Place::Receive)))
                }
            }
        })
    }
}

/// Each sends something of its own to each: of different lengths, or of different datatypes too.
unsafe fn alltoall_with<A: Abi>(
    called: Called<A::Handle>,
    memory: Memory,
    send: impl FnOnce(&Process, u32) -> Result<Vec<Span>, Class>,
    receive: impl FnOnce(&Process, u32) -> Result<Vec<Span>, Class>,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        run::<A>(called, memory, |process, side| {
            let of = side.peers();
            let into = receive(process, of)?;
            let from = if memory.send == A::IN_PLACE { None } else { Some(send(process, of)?) };
            match side {
                Side::One(me) => Ok(schedules::alltoallw(me, from.as_deref(), &into)),
                Side::Two(sides) => Ok(schedules::inter_alltoall(sides, &from.ok_or(Class::Buffer)?, &into)),
            }
        })
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
    let (counts_sent, displacements_sent) = (send_counts, send_displacements);
    let send = Parts {
        at: send_at,
        counts: counts_sent,
        displacements: displacements_sent,
        datatype: send_datatype,
    };
    let receive = Parts { at, counts, displacements, datatype };
    // SAFETY: the caller's promise.
    unsafe {
        alltoall_with::<A>(
            called,
            Memory { send: send_at, receive: at, op: 0 },
            |process, of| Ok(spans(&send.blocks::<A>(process, of)?, Place::Send)),
            |process, of| Ok(spans(&receive.blocks::<A>(process, of)?, Place::Receive)),
        )
    }
}

unsafe fn alltoallw_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_counts: *const N,
    send_displacements: *const N,
    send_datatypes: *const A::Handle,
    at: usize,
    counts: *const N,
    displacements: *const N,
    datatypes: *const A::Handle,
) -> Outcome {
    let send = (send_counts, send_displacements, send_datatypes);
    let receive = (counts, displacements, datatypes);
    // SAFETY: the caller's promise.
    unsafe {
        alltoall_with::<A>(
            called,
            Memory { send: send_at, receive: at, op: 0 },
            |process, of| each_of_its_own::<A, N, N>(process, of, Place::Send, send),
            |process, of| each_of_its_own::<A, N, N>(process, of, Place::Receive, receive),
        )
    }
}

collectives! {
    "Allgather" "Iallgather" allgather iallgather allgather_init<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle, at: usize, count: N, datatype: A::Handle,
    ) => allgather_as;
    "Allgatherv" "Iallgatherv" allgatherv iallgatherv allgatherv_init<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle,
        at: usize, counts: *const N, displacements: *const N, datatype: A::Handle,
    ) => allgatherv_as;
    "Alltoall" "Ialltoall" alltoall ialltoall alltoall_init<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle, at: usize, count: N, datatype: A::Handle,
    ) => alltoall_as;
    "Alltoallv" "Ialltoallv" alltoallv ialltoallv alltoallv_init<N>(
        send_at: usize, send_counts: *const N, send_displacements: *const N, send_datatype: A::Handle,
        at: usize, counts: *const N, displacements: *const N, datatype: A::Handle,
    ) => alltoallv_as;
    "Alltoallw" "Ialltoallw" alltoallw ialltoallw alltoallw_init<N>(
        send_at: usize, send_counts: *const N, send_displacements: *const N, send_datatypes: *const A::Handle,
        at: usize, counts: *const N, displacements: *const N, datatypes: *const A::Handle,
    ) => alltoallw_as;
}
