//! Collectives that combine values (MPI-3.1, 5.9 to 5.11 and 5.12).

use std::ffi::c_int;

use talisman_ampi::collective::{self as schedules, Schedule, Values};
use talisman_ampi::datatype::Map;
use talisman_ampi::engine::Action;
use talisman_ampi::objects::Kind;
use talisman_ampi::op::Op;
use talisman_ampi::process::Process;

use super::call::{Outcome, engine, known};
use super::collective::{
    Called, How, Memory, Side, checked, collectives, counts, root_between, root_of, run, values,
};
use super::message::buffer;
use crate::abi::{Abi, Count};
use crate::class::Class;

/// What a reduction combines.
#[derive(Clone, Copy)]
struct Combined<H> {
    send: usize,
    receive: usize,
    datatype: H,
    op: H,
}

/// What is known of it when its schedule is made.
struct Plan {
    values: Values,
    commutative: bool,
    in_place: bool,
}

impl<H: Copy> Combined<H> {
    unsafe fn memory<A: Abi<Handle = H>>(&self) -> Result<Memory, Class> {
        // SAFETY: the caller's promise.
        let op = unsafe { known::<A>(Kind::Op, self.op) }?;
        Ok(Memory { send: self.send, receive: self.receive, op })
    }

    unsafe fn plan<A: Abi<Handle = H>>(&self, process: &Process, op: u32) -> Result<Plan, Class> {
        // SAFETY: the caller's promise.
        let datatype = unsafe { known::<A>(Kind::Datatype, self.datatype) }?;
        check(process, op, datatype)?;
        let (values, op) = (values(process, datatype)?, process.ops.get(op)?);
        Ok(Plan { values, commutative: op.is_commutative(), in_place: self.send == A::IN_PLACE })
    }
}

/// Whether an operation has a meaning for a datatype. It is asked before anything is sent.
pub fn check(process: &Process, op: u32, datatype: u32) -> Outcome {
    let datatype = process.datatypes.get(datatype)?;
    let fits = match process.ops.get(op)? {
        Op::User { .. } => true,
        Op::Predefined(op) => {
            let mut fits = true;
            datatype.map().each_run(0, &mut |_, basic, _| fits &= op.fits(basic));
            fits
        }
        Op::Location(_) => matches!(datatype.map(), Map::At(_) | Map::Run(_, 2)),
    };
    if fits { Ok(()) } else { Err(Class::Op) }
}

unsafe fn combine<A: Abi>(
    called: Called<A::Handle>,
    combined: Combined<A::Handle>,
    build: impl FnOnce(&Plan, Side) -> Result<Schedule, Class>,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let memory = combined.memory::<A>()?;
        run::<A>(called, memory, |process, side| build(&combined.plan::<A>(process, memory.op)?, side))
    }
}

unsafe fn reduce_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send: usize,
    receive: usize,
    count: N,
    datatype: A::Handle,
    op: A::Handle,
    root: c_int,
) -> Outcome {
    let count = checked(count.get())?;
    // SAFETY: the caller's promise.
    unsafe {
        combine::<A>(called, Combined { send, receive, datatype, op }, |plan, side| {
            let Plan { values, commutative, in_place } = plan;
            Ok(match side {
                Side::One(me) => {
                    schedules::reduce(me, root_of(root, me)?, count, values, *in_place, *commutative)
                }
                Side::Two(sides) => {
                    schedules::inter_reduce(sides, root_between::<A>(root, sides)?, count, values)
                }
            })
        })
    }
}

unsafe fn allreduce_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send: usize,
    receive: usize,
    count: N,
    datatype: A::Handle,
    op: A::Handle,
) -> Outcome {
    let count = checked(count.get())?;
    // SAFETY: the caller's promise.
    unsafe {
        combine::<A>(called, Combined { send, receive, datatype, op }, |plan, side| {
            Ok(match side {
                Side::One(me) => {
                    schedules::allreduce(me, count, &plan.values, plan.in_place, plan.commutative)
                }
                Side::Two(sides) => schedules::inter_allreduce(sides, count, &plan.values),
            })
        })
    }
}

/// Each member gets its block of what is combined.
fn scattered(plan: &Plan, side: Side, counts: &[u64]) -> Schedule {
    match side {
        Side::One(me) => schedules::reduce_scatter(me, counts, &plan.values, plan.in_place),
        Side::Two(sides) => schedules::inter_reduce_scatter(sides, counts, &plan.values),
    }
}

/// How many members get a block: those of this side.
fn members_of(side: Side) -> u32 {
    match side {
        Side::One(me) => me.size,
        Side::Two(sides) => sides.me.size,
    }
}

unsafe fn reduce_scatter_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send: usize,
    receive: usize,
    counted: *const N,
    datatype: A::Handle,
    op: A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        combine::<A>(called, Combined { send, receive, datatype, op }, |plan, side| {
            Ok(scattered(plan, side, &counts(counted, members_of(side))?))
        })
    }
}

unsafe fn reduce_scatter_block_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send: usize,
    receive: usize,
    count: N,
    datatype: A::Handle,
    op: A::Handle,
) -> Outcome {
    let count = checked(count.get())?;
    // SAFETY: the caller's promise.
    unsafe {
        combine::<A>(called, Combined { send, receive, datatype, op }, |plan, side| {
            Ok(scattered(plan, side, &vec![count; members_of(side) as usize]))
        })
    }
}

unsafe fn scan_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send: usize,
    receive: usize,
    count: N,
    datatype: A::Handle,
    op: A::Handle,
) -> Outcome {
    let count = checked(count.get())?;
    // SAFETY: the caller's promise.
    unsafe {
        combine::<A>(called, Combined { send, receive, datatype, op }, |plan, side| {
            Ok(schedules::scan(side.one()?, count, &plan.values, plan.in_place))
        })
    }
}

unsafe fn exscan_as<A: Abi, N: Count>(
    called: Called<A::Handle>,
    send: usize,
    receive: usize,
    count: N,
    datatype: A::Handle,
    op: A::Handle,
) -> Outcome {
    let count = checked(count.get())?;
    // SAFETY: the caller's promise.
    unsafe {
        combine::<A>(called, Combined { send, receive, datatype, op }, |plan, side| {
            Ok(schedules::exscan(side.one()?, count, &plan.values, plan.in_place))
        })
    }
}

collectives! {
    "Reduce" "Ireduce" reduce ireduce reduce_init<N>(
        send: usize, receive: usize, count: N, datatype: A::Handle, op: A::Handle, root: c_int,
    ) => reduce_as;
    "Allreduce" "Iallreduce" allreduce iallreduce allreduce_init<N>(
        send: usize, receive: usize, count: N, datatype: A::Handle, op: A::Handle,
    ) => allreduce_as;
    "Reduce_scatter" "Ireduce_scatter" reduce_scatter ireduce_scatter reduce_scatter_init<N>(
        send: usize, receive: usize, counted: *const N, datatype: A::Handle, op: A::Handle,
    ) => reduce_scatter_as;
    "Reduce_scatter_block" "Ireduce_scatter_block" reduce_scatter_block ireduce_scatter_block
    reduce_scatter_block_init<N>(
        send: usize, receive: usize, count: N, datatype: A::Handle, op: A::Handle,
    ) => reduce_scatter_block_as;
    "Scan" "Iscan" scan iscan scan_init<N>(
        send: usize, receive: usize, count: N, datatype: A::Handle, op: A::Handle,
    ) => scan_as;
    "Exscan" "Iexscan" exscan iexscan exscan_init<N>(
        send: usize, receive: usize, count: N, datatype: A::Handle, op: A::Handle,
    ) => exscan_as;
}

/// `MPI_Reduce_local`: without communication.
///
/// # Safety
/// Arguments are as MPI says.
pub unsafe fn combine_here<A: Abi>(
    left: usize,
    right: usize,
    count: i64,
    datatype: A::Handle,
    op: A::Handle,
) -> Outcome {
    // SAFETY: the caller's promise.
    let (datatype, op) = unsafe { (known::<A>(Kind::Datatype, datatype)?, known::<A>(Kind::Op, op)?) };
    engine(|process, out| {
        check(process, op, datatype)?;
        let (left, into) =
            (buffer(process, left, count, datatype)?, buffer(process, right, count, datatype)?);
        if into.bytes > 0 {
            out.push(Action::Combine { op, left, into });
        }
        Ok(())
    })
}
