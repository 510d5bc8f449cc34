//! Beginning collectives between two groups: lengths are checked, and a schedule is made and started.
//!
//! The buffers have to stay until the request that is returned has ended.

use super::super::super::datatype::{
    Buffer, BufferMut, Equivalence, address_of, address_of_mut, basic_values, basics_in,
};
use super::super::super::op::Operation;
use super::super::super::view::{View, ViewMut};
use super::super::super::{Error, Rank};
use super::super::begin::{Memory, checked, checked_parts, even, following, spans};
use super::super::views;
use super::{InterCommunicator, Sided};
use crate::collective::{self as schedules, Place, Schedule, Span};
use crate::engine::Token;

/// Values of the caller, as one block.
fn own<T: Equivalence>(place: Place, values: &[T]) -> Span {
    basic_values::<T>().span(place, 0, basics_in::<T>(values.len()))
}

/// So many values for, or of, each of the other side: as many for all.
fn evenly(both: InterCommunicator, buffer: &'static str, here: usize) -> Result<Vec<usize>, Error> {
    let remote = both.remote_size()? as usize;
    checked(buffer, here, here / remote * remote)?;
    Ok(vec![here / remote; remote])
}

/// A root that the other side has.
fn there(both: InterCommunicator, rank: Rank) -> Result<Sided, Error> {
    let size = both.remote_size()?;
    let number = u32::try_from(rank).ok().filter(|_| rank < size).ok_or(Error::Rank { rank, size })?;
    Ok(Sided::There(number))
}

pub fn barrier(both: InterCommunicator) -> Result<Token, Error> {
    both.begin(Memory::default(), schedules::inter_barrier)
}

/// Nothing is to be done, but it counts as a collective.
pub fn nothing(both: InterCommunicator) -> Result<Token, Error> {
    both.begin(Memory::default(), |_| Schedule::new())
}

pub fn broadcast<B: BufferMut + ?Sized>(
    both: InterCommunicator,
    root: Sided,
    buffer: &mut B,
) -> Result<Token, Error> {
    if let Sided::There(number) = root {
        there(both, number as Rank)?;
    }
    let values = buffer.values_mut();
    let count = basics_in::<B::Value>(values.len());
    let memory = Memory { receive: address_of_mut(values), ..Memory::default() };
    both.begin(memory, |sides| schedules::inter_bcast(sides, root, count, &basic_values::<B::Value>()))
}

pub fn gather<S: Buffer + ?Sized>(both: InterCommunicator, root: Rank, send: &S) -> Result<Token, Error> {
    let (root, send) = (there(both, root)?, send.values());
    let memory = Memory { send: address_of(send), ..Memory::default() };
    both.begin(memory, |sides| {
        schedules::inter_gather(sides, root, own(Place::Send, send), &even::<S::Value>(sides.remote, 0))
    })
}

pub fn gather_to_me<R: BufferMut + ?Sized>(both: InterCommunicator, receive: &mut R) -> Result<Token, Error> {
    let receive = receive.values_mut();
    gather_counts_to_me(both, receive, &evenly(both, "receive", receive.len())?)
}

pub fn gather_counts_to_me<R: BufferMut + ?Sized>(
    both: InterCommunicator,
    receive: &mut R,
    counts: &[usize],
) -> Result<Token, Error> {
    let receive = receive.values_mut();
    checked_parts("receive", receive.len(), counts, both.remote_size()? as usize)?;
    let memory = Memory { receive: address_of_mut(receive), ..Memory::default() };
    both.begin(memory, |sides| {
        schedules::inter_gather(sides, Sided::Me, Span::EMPTY, &following::<R::Value>(counts))
    })
}

pub fn scatter<R: BufferMut + ?Sized>(
    both: InterCommunicator,
    root: Rank,
    receive: &mut R,
) -> Result<Token, Error> {
    let (root, receive) = (there(both, root)?, receive.values_mut());
    let memory = Memory { receive: address_of_mut(receive), ..Memory::default() };
    both.begin(memory, |sides| {
        schedules::inter_scatter(
            sides,
            root,
            own(Place::Receive, receive),
            &even::<R::Value>(sides.remote, 0),
        )
    })
}

pub fn scatter_of_mine<S: Buffer + ?Sized>(both: InterCommunicator, send: &S) -> Result<Token, Error> {
    let send = send.values();
    scatter_counts_of_mine(both, send, &evenly(both, "send", send.len())?)
}

pub fn scatter_counts_of_mine<S: Buffer + ?Sized>(
    both: InterCommunicator,
    send: &S,
    counts: &[usize],
) -> Result<Token, Error> {
    let send = send.values();
    checked_parts("send", send.len(), counts, both.remote_size()? as usize)?;
    let memory = Memory { send: address_of(send), ..Memory::default() };
    both.begin(memory, |sides| {
        schedules::inter_scatter(sides, Sided::Me, Span::EMPTY, &following::<S::Value>(counts))
    })
}

pub fn reduce<S, O>(both: InterCommunicator, root: Rank, send: &S, op: &O) -> Result<Token, Error>
where
    S: Buffer + ?Sized,
    O: Operation<S::Value>,
{
    let (root, send) = (there(both, root)?, send.values());
    let plan = op.plan(send.len())?;
    let memory = Memory { send: address_of(send), receive: 0, op: plan.op };
    both.begin(memory, |sides| schedules::inter_reduce(sides, root, plan.count, &plan.values))
}

pub fn reduce_to_me<R, O>(both: InterCommunicator, receive: &mut R, op: &O) -> Result<Token, Error>
where
    R: BufferMut + ?Sized,
    O: Operation<R::Value>,
{
    let receive = receive.values_mut();
    let plan = op.plan(receive.len())?;
    let memory = Memory { send: 0, receive: address_of_mut(receive), op: plan.op };
    both.begin(memory, |sides| schedules::inter_reduce(sides, Sided::Me, plan.count, &plan.values))
}

pub fn all_gather<S, R>(both: InterCommunicator, send: &S, receive: &mut R) -> Result<Token, Error>
where
    S: Buffer + ?Sized,
    R: BufferMut<Value = S::Value> + ?Sized,
{
    // Both sides may give numbers of their own: what comes tells how many the other gives.
    let receive = receive.values_mut();
    all_gather_varcount(both, send, receive, &evenly(both, "receive", receive.len())?)
}

pub fn all_gather_varcount<S, R>(
    both: InterCommunicator,
    send: &S,
    receive: &mut R,
    counts: &[usize],
) -> Result<Token, Error>
where
    S: Buffer + ?Sized,
    R: BufferMut<Value = S::Value> + ?Sized,
{
    let (send, receive) = (send.values(), receive.values_mut());
    checked_parts("receive", receive.len(), counts, both.remote_size()? as usize)?;
    let memory = Memory { send: address_of(send), receive: address_of_mut(receive), op: 0 };
    both.begin(memory, |sides| {
        schedules::inter_allgather(sides, own(Place::Send, send), &following::<S::Value>(counts))
    })
}

pub fn all_to_all<S, R>(both: InterCommunicator, send: &S, receive: &mut R) -> Result<Token, Error>
where
    S: Buffer + ?Sized,
    R: BufferMut<Value = S::Value> + ?Sized,
{
    let (send, receive) = (send.values(), receive.values_mut());
    checked("receive", receive.len(), send.len())?;
    let counts = evenly(both, "send", send.len())?;
    all_to_all_varcount(both, send, &counts, receive, &counts)
}

pub fn all_to_all_varcount<S, R>(
    both: InterCommunicator,
    send: &S,
    send_counts: &[usize],
    receive: &mut R,
    receive_counts: &[usize],
) -> Result<Token, Error>
where
    S: Buffer + ?Sized,
    R: BufferMut<Value = S::Value> + ?Sized,
{
    let (send, receive) = (send.values(), receive.values_mut());
    let remote = both.remote_size()? as usize;
    checked_parts("send", send.len(), send_counts, remote)?;
    checked_parts("receive", receive.len(), receive_counts, remote)?;
    let memory = Memory { send: address_of(send), receive: address_of_mut(receive), op: 0 };
    both.begin(memory, |sides| {
        let of = spans::<S::Value>;
        schedules::inter_alltoall(sides, &of(Place::Send, send_counts), &of(Place::Receive, receive_counts))
    })
}

pub fn all_to_all_views<T: Equivalence>(
    both: InterCommunicator,
    send: &[View<'_, T>],
    receive: &mut [ViewMut<'_, T>],
) -> Result<Token, Error> {
    let remote = both.remote_size()? as usize;
    checked("list of views to send as a", send.len(), remote)?;
    checked("list of views to receive as a", receive.len(), remote)?;
    both.begin_with(Memory::default(), |process, sides| {
        let (send, receive) = views::spans(process, send, receive)?;
        Ok(schedules::inter_alltoall(sides, &send, &receive))
    })
}

pub fn all_reduce<S, R, O>(both: InterCommunicator, send: &S, receive: &mut R, op: &O) -> Result<Token, Error>
where
    S: Buffer + ?Sized,
    R: BufferMut<Value = S::Value> + ?Sized,
    O: Operation<S::Value>,
{
    let (send, receive) = (send.values(), receive.values_mut());
    checked("receive", receive.len(), send.len())?;
    let plan = op.plan(send.len())?;
    let memory = Memory { send: address_of(send), receive: address_of_mut(receive), op: plan.op };
    both.begin(memory, |sides| schedules::inter_allreduce(sides, plan.count, &plan.values))
}

pub fn reduce_scatter_block<S, R, O>(
    both: InterCommunicator,
    send: &S,
    receive: &mut R,
    op: &O,
) -> Result<Token, Error>
where
    S: Buffer + ?Sized,
    R: BufferMut<Value = S::Value> + ?Sized,
    O: Operation<S::Value>,
{
    let receive = receive.values_mut();
    let counts = vec![receive.len(); both.size() as usize];
    reduce_scatter(both, send, receive, &counts, op)
}

pub fn reduce_scatter<S, R, O>(
    both: InterCommunicator,
    send: &S,
    receive: &mut R,
    counts: &[usize],
    op: &O,
) -> Result<Token, Error>
where
    S: Buffer + ?Sized,
    R: BufferMut<Value = S::Value> + ?Sized,
    O: Operation<S::Value>,
{
    let (send, receive) = (send.values(), receive.values_mut());
    checked_parts("send", send.len(), counts, both.size() as usize)?;
    checked("receive", receive.len(), counts[both.rank() as usize])?;
    let plans = counts.iter().map(|count| op.plan(*count)).collect::<Result<Vec<_>, _>>()?;
    let plan = op.plan(receive.len())?;
    let memory = Memory { send: address_of(send), receive: address_of_mut(receive), op: plan.op };
    both.begin(memory, |sides| {
        let counts: Vec<u64> = plans.iter().map(|plan| plan.count).collect();
        schedules::inter_reduce_scatter(sides, &counts, &plan.values)
    })
}
