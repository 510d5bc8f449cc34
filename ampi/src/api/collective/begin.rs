//! Beginning collectives: lengths are checked, and a schedule is made and started.
//!
//! The buffers have to stay until the request that is returned has ended.

use std::panic::Location;

use super::super::communicator::{Communicator, Process};
use super::super::datatype::{Equivalence, address_of, address_of_mut, basic_values, basics_in};
use super::super::op::Operation;
use super::super::{Error, Rank};
use super::end;
use crate::collective::{self as schedules, Blocks, Call, Member, Place, Schedule, Span};
use crate::engine::Token;
use crate::process::Process as State;
use crate::rank::call;

/// Where a collective reads and writes, and what it does with the values.
#[derive(Clone, Copy, Default)]
pub struct Memory {
    pub send: u64,
    pub receive: u64,
    pub op: u32,
}

pub fn begin(
    communicator: Communicator,
    memory: Memory,
    schedule: impl FnOnce(Member) -> Schedule,
) -> Result<Token, Error> {
    begin_with(communicator, memory, |_, me| Ok(schedule(me)))
}

/// The same where the schedule depends on more than who calls.
pub fn begin_with(
    communicator: Communicator,
    Memory { send, receive, op }: Memory,
    schedule: impl FnOnce(&mut State, Member) -> Result<Schedule, Error>,
) -> Result<Token, Error> {
    let handle = communicator.handle();
    // SAFETY: callers wait for the request while the buffers are borrowed, or leave it to a scope that does. What is
    // kept is made in the call.
    let begun = unsafe {
        call(|process, out| {
            let communicator = process.comms.get(handle)?;
            if communicator.remote_group().is_some() {
                return Err(Error::TwoGroups);
            }
            let context = communicator.contexts().collective;
            let me = communicator.member().ok_or(Error::Request)?;
            let schedule = schedule(process, me)?;
            let group = process.comms.get(handle)?.group();
            // A schedule names members only.
            let schedule = schedule.among(|member| group.member(member).unwrap_or_default());
            let tag = process.comms.get_mut(handle)?.next_collective();
            // Replaced by that of the collective.
            let request = Token { index: 0, generation: 0 };
            let call = Call { context, tag, send, receive, op, request };
            Ok(process.begin_among_ranks(schedule, call, out))
        })
    };
    begun?
}

/// As many values as are needed.
pub fn checked(buffer: &'static str, here: usize, wanted: usize) -> Result<(), Error> {
    if here == wanted { Ok(()) } else { Err(Error::Count { buffer, here, wanted }) }
}

pub fn members(communicator: Communicator) -> Result<usize, Error> {
    communicator.look(|communicator| communicator.size() as usize)
}

/// A root that is a member, and whether it is who calls.
pub fn root(process: Process) -> Result<(u32, bool), Error> {
    let (rank, communicator) = (process.rank(), process.communicator());
    let (size, me) = communicator.look(|communicator| (communicator.size() as Rank, communicator.rank()))?;
    let number = u32::try_from(rank).ok().filter(|_| rank < size).ok_or(Error::Rank { rank, size })?;
    Ok((number, me == Some(number)))
}

/// The call of the root where others have another, or the other way round.
pub fn in_role(process: Process, has_role: bool) -> Result<(), Error> {
    let size = members(process.communicator())? as Rank;
    if has_role { Ok(()) } else { Err(Error::Rank { rank: process.rank(), size }) }
}

pub fn even<T: Equivalence>(members: u32, count: usize) -> Blocks {
    Blocks::even(members, basics_in::<T>(count), basic_values::<T>())
}

pub fn following<T: Equivalence>(counts: &[usize]) -> Blocks {
    let counts: Vec<u64> = counts.iter().map(|count| basics_in::<T>(*count)).collect();
    Blocks::following(&counts, basic_values::<T>())
}

/// There is a count for each of so many, and the buffer has room for all.
pub fn checked_parts(buffer: &'static str, here: usize, counts: &[usize], many: usize) -> Result<(), Error> {
    checked("list of counts as a", counts.len(), many)?;
    checked(buffer, here, counts.iter().fold(0, |sum, count| sum.saturating_add(*count)))
}

/// The same of the members of a communicator.
pub fn checked_counts(
    communicator: Communicator,
    buffer: &'static str,
    here: usize,
    counts: &[usize],
) -> Result<(), Error> {
    checked_parts(buffer, here, counts, members(communicator)?)
}

/// Where parts of so many values are, which follow each other.
pub fn spans<T: Equivalence>(place: Place, counts: &[usize]) -> Vec<Span> {
    let blocks = following::<T>(counts);
    (0..counts.len() as u32).map(|part| blocks.of(place, part)).collect()
}

pub fn barrier(communicator: Communicator) -> Result<Token, Error> {
    begin(communicator, Memory::default(), schedules::barrier)
}

pub fn immediate_barrier(communicator: Communicator) -> Result<Token, Error> {
    begin(communicator, Memory::default(), schedules::immediate_barrier)
}

pub fn all_gather<T: Equivalence>(
    communicator: Communicator,
    send: &[T],
    receive: &mut [T],
) -> Result<Token, Error> {
    checked("receive", receive.len(), send.len().saturating_mul(members(communicator)?))?;
    let memory = Memory { send: address_of(send), receive: address_of_mut(receive), op: 0 };
    begin(communicator, memory, |me| {
        let own = basic_values::<T>().span(Place::Send, 0, basics_in::<T>(send.len()));
        schedules::allgather(me, Some(own), &even::<T>(me.size, send.len()))
    })
}

pub fn all_gather_varcount<T: Equivalence>(
    communicator: Communicator,
    send: &[T],
    receive: &mut [T],
    counts: &[usize],
) -> Result<Token, Error> {
    checked_counts(communicator, "receive", receive.len(), counts)?;
    checked("send", send.len(), counts[communicator.rank() as usize])?;
    let memory = Memory { send: address_of(send), receive: address_of_mut(receive), op: 0 };
    begin(communicator, memory, |me| {
        let own = basic_values::<T>().span(Place::Send, 0, basics_in::<T>(send.len()));
        schedules::allgatherv(me, Some(own), &following::<T>(counts))
    })
}

pub fn all_to_all<T: Equivalence>(
    communicator: Communicator,
    send: &[T],
    receive: &mut [T],
) -> Result<Token, Error> {
    let each = send.len() / members(communicator)?;
    checked("send", send.len(), each * members(communicator)?)?;
    checked("receive", receive.len(), send.len())?;
    let memory = Memory { send: address_of(send), receive: address_of_mut(receive), op: 0 };
    begin(communicator, memory, |me| {
        let blocks = even::<T>(me.size, each);
        schedules::alltoall(me, Some(&blocks), &blocks)
    })
}

pub fn all_to_all_varcount<T: Equivalence>(
    communicator: Communicator,
    (send, send_counts): (&[T], &[usize]),
    (receive, receive_counts): (&mut [T], &[usize]),
) -> Result<Token, Error> {
    checked_counts(communicator, "send", send.len(), send_counts)?;
    checked_counts(communicator, "receive", receive.len(), receive_counts)?;
    let memory = Memory { send: address_of(send), receive: address_of_mut(receive), op: 0 };
    begin(communicator, memory, |me| {
        let (send, receive) =
            (spans::<T>(Place::Send, send_counts), spans::<T>(Place::Receive, receive_counts));
        schedules::alltoallw(me, Some(&send), &receive)
    })
}

pub fn all_reduce<T: Equivalence>(
    communicator: Communicator,
    send: &[T],
    receive: &mut [T],
    op: &impl Operation<T>,
) -> Result<Token, Error> {
    checked("receive", receive.len(), send.len())?;
    let plan = op.plan(send.len())?;
    let memory = Memory { send: address_of(send), receive: address_of_mut(receive), op: plan.op };
    begin(communicator, memory, |me| {
        schedules::allreduce(me, plan.count, &plan.values, false, plan.is_commutative)
    })
}

pub fn reduce_scatter_block<T: Equivalence>(
    communicator: Communicator,
    send: &[T],
    receive: &mut [T],
    op: &impl Operation<T>,
) -> Result<Token, Error> {
    checked("send", send.len(), receive.len().saturating_mul(members(communicator)?))?;
    let plan = op.plan(receive.len())?;
    let memory = Memory { send: address_of(send), receive: address_of_mut(receive), op: plan.op };
    begin(communicator, memory, |me| {
        schedules::reduce_scatter(me, &vec![plan.count; me.size as usize], &plan.values, false)
    })
}

pub fn scan<T: Equivalence>(
    communicator: Communicator,
    send: &[T],
    receive: &mut [T],
    op: &impl Operation<T>,
    is_exclusive: bool,
) -> Result<Token, Error> {
    checked("receive", receive.len(), send.len())?;
    let plan = op.plan(send.len())?;
    let memory = Memory { send: address_of(send), receive: address_of_mut(receive), op: plan.op };
    let schedule = if is_exclusive { schedules::exscan } else { schedules::scan };
    begin(communicator, memory, |me| schedule(me, plan.count, &plan.values, false))
}

pub fn broadcast<T: Equivalence>(process: Process, buffer: &mut [T]) -> Result<Token, Error> {
    let (root, _) = root(process)?;
    let memory = Memory { receive: address_of_mut(buffer), ..Memory::default() };
    begin(process.communicator(), memory, |me| {
        schedules::bcast(me, root, basics_in::<T>(buffer.len()), &basic_values::<T>())
    })
}

pub fn gather<T: Equivalence>(
    process: Process,
    send: &[T],
    receive: Option<&mut [T]>,
) -> Result<Token, Error> {
    let (root, is_root) = root(process)?;
    in_role(process, receive.is_some() == is_root)?;
    let mut memory = Memory { send: address_of(send), ..Memory::default() };
    if let Some(receive) = receive {
        checked("receive", receive.len(), send.len().saturating_mul(members(process.communicator())?))?;
        memory.receive = address_of_mut(receive);
    }
    begin(process.communicator(), memory, |me| {
        let own = basic_values::<T>().span(Place::Send, 0, basics_in::<T>(send.len()));
        schedules::gather(me, root, Some(own), &even::<T>(me.size, send.len()))
    })
}

pub fn gather_varcount<T: Equivalence>(
    process: Process,
    send: &[T],
    receive: Option<(&mut [T], &[usize])>,
) -> Result<Token, Error> {
    let (root, is_root) = root(process)?;
    in_role(process, receive.is_some() == is_root)?;
    let (mut memory, mut blocks) = (Memory { send: address_of(send), ..Memory::default() }, None);
    if let Some((receive, counts)) = receive {
        checked_counts(process.communicator(), "receive", receive.len(), counts)?;
        checked("send", send.len(), counts[root as usize])?;
        (memory.receive, blocks) = (address_of_mut(receive), Some(counts));
    }
    begin(process.communicator(), memory, |me| {
        let own = basic_values::<T>().span(Place::Send, 0, basics_in::<T>(send.len()));
        schedules::gatherv(me, root, Some(own), &following::<T>(blocks.unwrap_or_default()))
    })
}

pub fn scatter<T: Equivalence>(
    process: Process,
    send: Option<&[T]>,
    receive: &mut [T],
) -> Result<Token, Error> {
    let (root, is_root) = root(process)?;
    in_role(process, send.is_some() == is_root)?;
    let mut memory = Memory { receive: address_of_mut(receive), ..Memory::default() };
    if let Some(send) = send {
        checked("send", send.len(), receive.len().saturating_mul(members(process.communicator())?))?;
        memory.send = address_of(send);
    }
    begin(process.communicator(), memory, |me| {
        let own = basic_values::<T>().span(Place::Receive, 0, basics_in::<T>(receive.len()));
        schedules::scatter(me, root, Some(own), &even::<T>(me.size, receive.len()))
    })
}

pub fn scatter_varcount<T: Equivalence>(
    process: Process,
    send: Option<(&[T], &[usize])>,
    receive: &mut [T],
) -> Result<Token, Error> {
    let (root, is_root) = root(process)?;
    in_role(process, send.is_some() == is_root)?;
    let (mut memory, mut blocks) = (Memory { receive: address_of_mut(receive), ..Memory::default() }, None);
    if let Some((send, counts)) = send {
        checked_counts(process.communicator(), "send", send.len(), counts)?;
        checked("receive", receive.len(), counts[root as usize])?;
        (memory.send, blocks) = (address_of(send), Some(counts));
    }
    begin(process.communicator(), memory, |me| {
        let own = basic_values::<T>().span(Place::Receive, 0, basics_in::<T>(receive.len()));
        schedules::scatterv(me, root, Some(own), &following::<T>(blocks.unwrap_or_default()))
    })
}

pub fn reduce_scatter<T: Equivalence>(
    communicator: Communicator,
    send: &[T],
    (receive, counts): (&mut [T], &[usize]),
    op: &impl Operation<T>,
) -> Result<Token, Error> {
    checked_counts(communicator, "send", send.len(), counts)?;
    checked("receive", receive.len(), counts[communicator.rank() as usize])?;
    let plans: Vec<_> = counts.iter().map(|count| op.plan(*count)).collect::<Result<_, _>>()?;
    let plan = op.plan(receive.len())?;
    let memory = Memory { send: address_of(send), receive: address_of_mut(receive), op: plan.op };
    begin(communicator, memory, |me| {
        let counts: Vec<u64> = plans.iter().map(|plan| plan.count).collect();
        schedules::reduce_scatter(me, &counts, &plan.values, false)
    })
}

pub fn reduce<T: Equivalence>(
    process: Process,
    send: &[T],
    receive: Option<&mut [T]>,
    op: &impl Operation<T>,
) -> Result<Token, Error> {
    let (root, is_root) = root(process)?;
    in_role(process, receive.is_some() == is_root)?;
    let plan = op.plan(send.len())?;
    let mut memory = Memory { send: address_of(send), receive: 0, op: plan.op };
    if let Some(receive) = receive {
        checked("receive", receive.len(), send.len())?;
        memory.receive = address_of_mut(receive);
    }
    begin(process.communicator(), memory, |me| {
        schedules::reduce(me, root, plan.count, &plan.values, false, plan.is_commutative)
    })
}

/// Some numbers of each member, for all.
pub fn gather_numbers<const N: usize>(
    communicator: Communicator,
    mine: [i64; N],
    place: &'static Location<'static>,
) -> Result<Vec<[i64; N]>, Error> {
    let mut all = vec![0; N * members(communicator)?];
    end(all_gather(communicator, &mine, &mut all)?, "split", place)?;
    let of_one = |numbers: &[i64]| std::array::from_fn(|at| numbers[at]);
    Ok(all.chunks_exact(N).map(of_one).collect())
}
