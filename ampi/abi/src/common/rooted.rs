//! Barriers, and collectives that move values from or to a root (MPI-3.1, 5.3 to 5.6).

use std::ffi::c_int;

use talisman_ampi::collective::{self as schedules, Blocks, Place, Root, Span};
use talisman_ampi::objects::Kind;
use talisman_ampi::process::Process;

use super::call::{Outcome, known};
use super::collective::{
    Called, How, Memory, Side, checked, collectives, root_between, root_of, run, values,
};
use super::parts::{Part, Parts, no_blocks};
use crate::abi::{Abi, Count};
use crate::class::Class;

unsafe fn barrier_as<A: Abi>(called: Called<A::Handle>) -> Outcome {
    let waits = matches!(called.how, How::Now);
    // SAFETY: the caller's promise.
    unsafe {
        run::<A>(called, Memory::default(), |_, side| match side {
            Side::One(me) if waits => Ok(schedules::barrier(me)),
            Side::One(me) => Ok(schedules::immediate_barrier(me)),
            Side::Two(sides) => Ok(schedules::inter_barrier(sides)),
        })
    }
}

unsafe fn bcast_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    at: usize,
    count: N,
    datatype: A::Handle,
    root: c_int,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        run::<A>(called, Memory { receive: at, ..Memory::default() }, |process, side| {
            let values = values(process, known::<A>(Kind::Datatype, datatype)?)?;
            let count = checked(count.get())?;
            match side {
                Side::One(me) => Ok(schedules::bcast(me, root_of(root, me)?, count, &values)),
                Side::Two(sides) => {
                    Ok(schedules::inter_bcast(sides, root_between::<A>(root, sides)?, count, &values))
                }
            }
        })
    }
}

/// Blocks at the root, and what the others give: of one length or of different ones.
unsafe fn gather_with<A: Abi>(
    called: Called<A::Handle>,
    (send, receive_at, root): (Part<A::Handle>, usize, c_int),
    is_even: bool,
    blocks: impl FnOnce(&Process, u32) -> Result<Blocks, Class>,
) -> Outcome {
    let memory = Memory { send: send.at, receive: receive_at, op: 0 };
    // SAFETY: the caller's promise.
    unsafe {
        run::<A>(called, memory, |process, side| match side {
            Side::One(me) => {
                let root = root_of(root, me)?;
                let (own, is_root) = (send.span::<A>(process, Place::Send)?, me.rank == root);
                let blocks = if is_root { blocks(process, me.size)? } else { no_blocks(me.size) };
                let gather = if is_even { schedules::gather } else { schedules::gatherv };
                Ok(gather(me, root, own, &blocks))
            }
            Side::Two(sides) => {
                let root = root_between::<A>(root, sides)?;
                let blocks =
                    if root == Root::Me { blocks(process, sides.remote)? } else { no_blocks(sides.remote) };
                let is_given = matches!(root, Root::There(_));
                let own = if is_given { send.span::<A>(process, Place::Send)? } else { None };
                Ok(schedules::inter_gather(sides, root, own.unwrap_or(Span::EMPTY), &blocks))
            }
        })
    }
}

unsafe fn gather_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_count: N,
    send_datatype: A::Handle,
    at: usize,
    count: N,
    datatype: A::Handle,
    root: c_int,
) -> Outcome {
    let send = Part { at: send_at, count: send_count.get(), datatype: send_datatype };
    let receive = Part { at, count: count.get(), datatype };
    // SAFETY: the caller's promise.
    unsafe {
        gather_with::<A>(called, (send, at, root), true, |process, of| receive.blocks::<A>(process, of))
    }
}

unsafe fn gatherv_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_count: N,
    send_datatype: A::Handle,
    at: usize,
    counts: *const N,
    displacements: *const N,
    datatype: A::Handle,
    root: c_int,
) -> Outcome {
    let send = Part { at: send_at, count: send_count.get(), datatype: send_datatype };
    let receive = Parts { at, counts, displacements, datatype };
    // SAFETY: the caller's promise.
    unsafe {
        gather_with::<A>(called, (send, at, root), false, |process, of| receive.blocks::<A>(process, of))
    }
}

/// The same the other way round.
unsafe fn scatter_with<A: Abi>(
    called: Called<A::Handle>,
    (send_at, receive, root): (usize, Part<A::Handle>, c_int),
    is_even: bool,
    blocks: impl FnOnce(&Process, u32) -> Result<Blocks, Class>,
) -> Outcome {
    let memory = Memory { send: send_at, receive: receive.at, op: 0 };
    // SAFETY: the caller's promise.
    unsafe {
        run::<A>(called, memory, |process, side| match side {
            Side::One(me) => {
                let root = root_of(root, me)?;
                let (own, is_root) = (receive.span::<A>(process, Place::Receive)?, me.rank == root);
                let blocks = if is_root { blocks(process, me.size)? } else { no_blocks(me.size) };
                let scatter = if is_even { schedules::scatter } else { schedules::scatterv };
                Ok(scatter(me, root, own, &blocks))
            }
            Side::Two(sides) => {
                let root = root_between::<A>(root, sides)?;
                let blocks =
                    if root == Root::Me { blocks(process, sides.remote)? } else { no_blocks(sides.remote) };
                let is_given = matches!(root, Root::There(_));
                let own = if is_given { receive.span::<A>(process, Place::Receive)? } else { None };
                Ok(schedules::inter_scatter(sides, root, own.unwrap_or(Span::EMPTY), &blocks))
            }
        })
    }
}

unsafe fn scatter_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    send_count: N,
    send_datatype: A::Handle,
    at: usize,
    count: N,
    datatype: A::Handle,
    root: c_int,
) -> Outcome {
    let send = Part { at: send_at, count: send_count.get(), datatype: send_datatype };
    let receive = Part { at, count: count.get(), datatype };
    // SAFETY: the caller's promise.
    unsafe {
        scatter_with::<A>(called, (send_at, receive, root), true, |process, of| send.blocks::<A>(process, of))
    }
}

unsafe fn scatterv_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send_at: usize,
    counts: *const N,
    displacements: *const N,
    send_datatype: A::Handle,
    at: usize,
    count: N,
    datatype: A::Handle,
    root: c_int,
) -> Outcome {
    let send = Parts { at: send_at, counts, displacements, datatype: send_datatype };
    let receive = Part { at, count: count.get(), datatype };
    // SAFETY: the caller's promise.
    unsafe {
        scatter_with::<A>(called, (send_at, receive, root), false, |process, of| {
            send.blocks::<A>(process, of)
        })
    }
}

collectives! {
    "Barrier" "Ibarrier" barrier ibarrier barrier_init<>() => barrier_as;
    "Bcast" "Ibcast" bcast ibcast bcast_init<N>(at: usize, count: N, datatype: A::Handle, root: c_int) => bcast_as;
    "Gather" "Igather" gather igather gather_init<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle, at: usize, count: N, datatype: A::Handle, root: c_int,
    ) => gather_as;
    "Gatherv" "Igatherv" gatherv igatherv gatherv_init<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle,
        at: usize, counts: *const N, displacements: *const N, datatype: A::Handle, root: c_int,
    ) => gatherv_as;
    "Scatter" "Iscatter" scatter iscatter scatter_init<N>(
        send_at: usize, send_count: N, send_datatype: A::Handle, at: usize, count: N, datatype: A::Handle, root: c_int,
    ) => scatter_as;
    "Scatterv" "Iscatterv" scatterv iscatterv scatterv_init<N>(
        send_at: usize, counts: *const N, displacements: *const N, send_datatype: A::Handle,
        at: usize, count: N, datatype: A::Handle, root: c_int,
    ) => scatterv_as;
}
