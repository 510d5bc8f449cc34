//! Collectives whose operands are where the results go (`MPI_IN_PLACE`).
//!
//! ```
//! # extern crate talisman_core as talisman;
//! use talisman_ampi::api::{Error, SystemOperation, Universe, traits::*};
//!
//! fn program(universe: Universe) -> Result<(), Error> {
//!     let world = universe.world();
//!     let (rank, size) = (world.rank() as usize, world.size() as usize);
//!     let mut sum = rank as u64;
//!     world.all_reduce_in_place(&mut sum, SystemOperation::sum())?;
//!     assert_eq!(sum, (size * (size - 1) / 2) as u64);
//!     let mut all = vec![0; size];
//!     all[rank] = rank as u64;
//!     world.all_gather_in_place(&mut all)?; // each has its own block already
//!     assert!(all.iter().zip(0..).all(|(one, member)| *one == member));
//!     Ok(())
//! }
//! # talisman_ampi::api::run_alone(4, program);
//! ```

use super::super::Error;
use super::super::communicator::{Communicator, Process};
use super::super::datatype::{Buffer, BufferMut, address_of, address_of_mut};
use super::super::op::Operation;
use super::begin::{Memory, begin, checked, checked_counts, even, following, in_role, members, root, spans};
use super::calls::calls;
use crate::collective as schedules;
use crate::collective::Place;
use crate::engine::Token;

/// A block for each member, of which the caller's is in its place.
fn all_gather<B: BufferMut + ?Sized>(communicator: Communicator, buffer: &mut B) -> Result<Token, Error> {
    let buffer = buffer.values_mut();
    let each = part(communicator, buffer.len())?;
    let memory = Memory { receive: address_of_mut(buffer), ..Memory::default() };
    begin(communicator, memory, |me| schedules::allgather(me, None, &even::<B::Value>(me.size, each)))
}

fn all_gather_varcount<B: BufferMut + ?Sized>(
    communicator: Communicator,
    buffer: &mut B,
    counts: &[usize],
) -> Result<Token, Error> {
    let buffer = buffer.values_mut();
    checked_counts(communicator, "receive", buffer.len(), counts)?;
    let memory = Memory { receive: address_of_mut(buffer), ..Memory::default() };
    begin(communicator, memory, |me| schedules::allgatherv(me, None, &following::<B::Value>(counts)))
}

fn all_to_all<B: BufferMut + ?Sized>(communicator: Communicator, buffer: &mut B) -> Result<Token, Error> {
    let buffer = buffer.values_mut();
    let each = part(communicator, buffer.len())?;
    let memory = Memory { receive: address_of_mut(buffer), ..Memory::default() };
    begin(communicator, memory, |me| schedules::alltoall(me, None, &even::<B::Value>(me.size, each)))
}

fn all_to_all_varcount<B: BufferMut + ?Sized>(
    communicator: Communicator,
    buffer: &mut B,
    counts: &[usize],
) -> Result<Token, Error> {
    let buffer = buffer.values_mut();
    checked_counts(communicator, "receive", buffer.len(), counts)?;
    let memory = Memory { receive: address_of_mut(buffer), ..Memory::default() };
    begin(communicator, memory, |me| {
        schedules::alltoallw(me, None, &spans::<B::Value>(Place::Receive, counts))
    })
}

/// Values of a member, where all have as many.
fn part(communicator: Communicator, here: usize) -> Result<usize, Error> {
    let members = members(communicator)?;
    checked("receive", here, here / members * members)?;
    Ok(here / members)
}

fn all_reduce<B: BufferMut + ?Sized>(
    communicator: Communicator,
    buffer: &mut B,
    op: &impl Operation<B::Value>,
) -> Result<Token, Error> {
    let buffer = buffer.values_mut();
    let plan = op.plan(buffer.len())?;
    let memory = Memory { send: 0, receive: address_of_mut(buffer), op: plan.op };
    begin(communicator, memory, |me| {
        schedules::allreduce(me, plan.count, &plan.values, true, plan.is_commutative)
    })
}

fn reduce_scatter_block<B: BufferMut + ?Sized>(
    communicator: Communicator,
    buffer: &mut B,
    op: &impl Operation<B::Value>,
) -> Result<Token, Error> {
    let buffer = buffer.values_mut();
    let plan = op.plan(part(communicator, buffer.len())?)?;
    let memory = Memory { send: 0, receive: address_of_mut(buffer), op: plan.op };
    begin(communicator, memory, |me| {
        schedules::reduce_scatter(me, &vec![plan.count; me.size as usize], &plan.values, true)
    })
}

fn scan_of<B: BufferMut + ?Sized>(
    communicator: Communicator,
    buffer: &mut B,
    op: &impl Operation<B::Value>,
    is_exclusive: bool,
) -> Result<Token, Error> {
    let buffer = buffer.values_mut();
    let plan = op.plan(buffer.len())?;
    let memory = Memory { send: 0, receive: address_of_mut(buffer), op: plan.op };
    let schedule = if is_exclusive { schedules::exscan } else { schedules::scan };
    begin(communicator, memory, |me| schedule(me, plan.count, &plan.values, true))
}

fn reduce_scatter<B: BufferMut + ?Sized>(
    communicator: Communicator,
    buffer: &mut B,
    counts: &[usize],
    op: &impl Operation<B::Value>,
) -> Result<Token, Error> {
    let buffer = buffer.values_mut();
    checked_counts(communicator, "receive", buffer.len(), counts)?;
    let plans: Vec<_> = counts.iter().map(|count| op.plan(*count)).collect::<Result<_, _>>()?;
    let plan = op.plan(counts[communicator.rank() as usize])?;
    let memory = Memory { send: 0, receive: address_of_mut(buffer), op: plan.op };
    begin(communicator, memory, |me| {
        let counts: Vec<u64> = plans.iter().map(|plan| plan.count).collect();
        schedules::reduce_scatter(me, &counts, &plan.values, true)
    })
}

fn scan<B: BufferMut + ?Sized>(
    communicator: Communicator,
    buffer: &mut B,
    op: &impl Operation<B::Value>,
) -> Result<Token, Error> {
    scan_of(communicator, buffer, op, false)
}

fn exclusive_scan<B: BufferMut + ?Sized>(
    communicator: Communicator,
    buffer: &mut B,
    op: &impl Operation<B::Value>,
) -> Result<Token, Error> {
    scan_of(communicator, buffer, op, true)
}

/// Of the root alone: the others call as ever.
fn as_root(process: Process) -> Result<u32, Error> {
    let (root, is_root) = root(process)?;
    in_role(process, is_root)?;
    Ok(root)
}

fn gather<B: BufferMut + ?Sized>(process: Process, buffer: &mut B) -> Result<Token, Error> {
    let buffer = buffer.values_mut();
    let (root, each) = (as_root(process)?, part(process.communicator(), buffer.len())?);
    let memory = Memory { receive: address_of_mut(buffer), ..Memory::default() };
    begin(process.communicator(), memory, |me| {
        schedules::gather(me, root, None, &even::<B::Value>(me.size, each))
    })
}

fn scatter<B: Buffer + ?Sized>(process: Process, buffer: &B) -> Result<Token, Error> {
    let buffer = buffer.values();
    let (root, each) = (as_root(process)?, part(process.communicator(), buffer.len())?);
    let memory = Memory { send: address_of(buffer), ..Memory::default() };
    begin(process.communicator(), memory, |me| {
        schedules::scatter(me, root, None, &even::<B::Value>(me.size, each))
    })
}

fn gather_varcount<B: BufferMut + ?Sized>(
    process: Process,
    buffer: &mut B,
    counts: &[usize],
) -> Result<Token, Error> {
    let (root, buffer) = (as_root(process)?, buffer.values_mut());
    checked_counts(process.communicator(), "receive", buffer.len(), counts)?;
    let memory = Memory { receive: address_of_mut(buffer), ..Memory::default() };
    let blocks = following::<B::Value>(counts);
    begin(process.communicator(), memory, |me| schedules::gatherv(me, root, None, &blocks))
}

fn scatter_varcount<B: Buffer + ?Sized>(
    process: Process,
    buffer: &B,
    counts: &[usize],
) -> Result<Token, Error> {
    let (root, buffer) = (as_root(process)?, buffer.values());
    checked_counts(process.communicator(), "send", buffer.len(), counts)?;
    let memory = Memory { send: address_of(buffer), ..Memory::default() };
    let blocks = following::<B::Value>(counts);
    begin(process.communicator(), memory, |me| schedules::scatterv(me, root, None, &blocks))
}

fn reduce<B: BufferMut + ?Sized>(
    process: Process,
    buffer: &mut B,
    op: &impl Operation<B::Value>,
) -> Result<Token, Error> {
    let buffer = buffer.values_mut();
    let root = as_root(process)?;
    let plan = op.plan(buffer.len())?;
    let memory = Memory { send: 0, receive: address_of_mut(buffer), op: plan.op };
    begin(process.communicator(), memory, |me| {
        schedules::reduce(me, root, plan.count, &plan.values, true, plan.is_commutative)
    })
}

calls! { Communicator:
    /// As [`all_gather_into`](super::CommunicatorCollectives::all_gather_into): the caller's block is in its place.
    ///
    /// # Errors
    /// If the buffer has no block of one length for each.
    fn all_gather_in_place, immediate_all_gather_in_place [B: BufferMut + ?Sized] (buffer: &'a mut B)
        = all_gather, "all_gather";

    /// As [`all_gather_varcount_into`](super::CommunicatorCollectives::all_gather_varcount_into): the caller's block is in
    /// its place.
    ///
    /// # Errors
    /// If the buffer has no such blocks.
    fn all_gather_varcount_in_place, immediate_all_gather_varcount_in_place [B: BufferMut + ?Sized]
        (buffer: &'a mut B, counts: &[usize]) = all_gather_varcount, "all_gather_varcount";

    /// As [`all_to_all_into`](super::CommunicatorCollectives::all_to_all_into): what comes takes the places of what is
    /// sent.
    ///
    /// # Errors
    /// If the buffer has no block of one length for each.
    fn all_to_all_in_place, immediate_all_to_all_in_place [B: BufferMut + ?Sized] (buffer: &'a mut B)
        = all_to_all, "all_to_all";

    /// As [`all_to_all_varcount_into`](super::CommunicatorCollectives::all_to_all_varcount_into): what comes from a member
    /// takes the place of what is sent to it, and is as long.
    ///
    /// # Errors
    /// If the buffer has no such blocks.
    fn all_to_all_varcount_in_place, immediate_all_to_all_varcount_in_place [B: BufferMut + ?Sized]
        (buffer: &'a mut B, counts: &[usize]) = all_to_all_varcount, "all_to_all_varcount";

    /// As [`all_reduce_into`](super::CommunicatorCollectives::all_reduce_into): results take the places of operands.
    ///
    /// # Errors
    /// If the values have no such operation.
    fn all_reduce_in_place, immediate_all_reduce_in_place [B: BufferMut + ?Sized, O: Operation<B::Value>]
        (buffer: &'a mut B) with op: O = all_reduce, "all_reduce";

    /// As [`reduce_scatter_block_into`](super::CommunicatorCollectives::reduce_scatter_block_into): the caller's part comes
    /// to the beginning of the operands.
    ///
    /// # Errors
    /// If there is not a part for each, or the values have no such operation.
    fn reduce_scatter_block_in_place, immediate_reduce_scatter_block_in_place
        [B: BufferMut + ?Sized, O: Operation<B::Value>] (buffer: &'a mut B) with op: O
        = reduce_scatter_block, "reduce_scatter_block";

    /// As [`reduce_scatter_into`](super::CommunicatorCollectives::reduce_scatter_into): the caller's part comes to the
    /// beginning of the operands.
    ///
    /// # Errors
    /// If the buffer has no such parts, or the values have no such operation.
    fn reduce_scatter_in_place, immediate_reduce_scatter_in_place
        [B: BufferMut + ?Sized, O: Operation<B::Value>] (buffer: &'a mut B, counts: &[usize]) with op: O
        = reduce_scatter, "reduce_scatter";

    /// As [`scan_into`](super::CommunicatorCollectives::scan_into): results take the places of operands.
    ///
    /// # Errors
    /// If the values have no such operation.
    fn scan_in_place, immediate_scan_in_place [B: BufferMut + ?Sized, O: Operation<B::Value>]
        (buffer: &'a mut B) with op: O = scan, "scan";

    /// As [`exclusive_scan_into`](super::CommunicatorCollectives::exclusive_scan_into): results take the places of
    /// operands.
    ///
    /// # Errors
    /// If the values have no such operation.
    fn exclusive_scan_in_place, immediate_exclusive_scan_in_place [B: BufferMut + ?Sized, O: Operation<B::Value>]
        (buffer: &'a mut B) with op: O = exclusive_scan, "exclusive_scan";
}

calls! { Process:
    /// As [`gather_into_root`](super::Root::gather_into_root), called by the root: its block is in its place.
    ///
    /// # Errors
    /// If the buffer has no block of one length for each, or it is not the root that calls.
    fn gather_in_place, immediate_gather_in_place [B: BufferMut + ?Sized] (buffer: &'a mut B)
        = gather, "gather";

    /// As [`scatter_into_root`](super::Root::scatter_into_root), called by the root: its block stays where it is.
    ///
    /// # Errors
    /// If the buffer has no block of one length for each, or it is not the root that calls.
    fn scatter_in_place, immediate_scatter_in_place [B: Buffer + ?Sized] (buffer: &'a B) = scatter, "scatter";

    /// As [`gather_varcount_into_root`](super::Root::gather_varcount_into_root), called by the root: its block is in its
    /// place.
    ///
    /// # Errors
    /// If the buffer has no such blocks, or it is not the root that calls.
    fn gather_varcount_in_place, immediate_gather_varcount_in_place [B: BufferMut + ?Sized]
        (buffer: &'a mut B, counts: &[usize]) = gather_varcount, "gather_varcount";

    /// As [`scatter_varcount_into_root`](super::Root::scatter_varcount_into_root), called by the root: its block stays where
    /// it is.
    ///
    /// # Errors
    /// If the buffer has no such blocks, or it is not the root that calls.
    fn scatter_varcount_in_place, immediate_scatter_varcount_in_place [B: Buffer + ?Sized]
        (buffer: &'a B, counts: &[usize]) = scatter_varcount, "scatter_varcount";

    /// As [`reduce_into_root`](super::Root::reduce_into_root), called by the root: results take the places of operands.
    ///
    /// # Errors
    /// If it is not the root that calls, or the values have no such operation.
    fn reduce_in_place, immediate_reduce_in_place [B: BufferMut + ?Sized, O: Operation<B::Value>]
        (buffer: &'a mut B) with op: O = reduce, "reduce";
}
