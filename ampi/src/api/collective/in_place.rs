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

use std::panic::Location;

use super::super::Error;
use super::super::communicator::{Communicator, Process};
use super::super::datatype::{Buffer, BufferMut, Equivalence, address_of, address_of_mut};
use super::super::op::Operation;
use super::super::request::{Request, Scope};
use super::begin::{Memory, begin, checked, checked_counts, even, following, in_role, members, root};
use super::end;
use crate::collective as schedules;
use crate::collective::{Place, Span};
use crate::engine::Token;

/// A block for each member, of which the caller's is in its place.
fn all_gather<T: Equivalence>(communicator: Communicator, buffer: &mut [T]) -> Result<Token, Error> {
    let each = part(communicator, buffer.len())?;
    let memory = Memory { receive: address_of_mut(buffer), ..Memory::default() };
    begin(communicator, memory, |me| schedules::allgather(me, None, &even::<T>(me.size, each)))
}

fn all_gather_varcount<T: Equivalence>(
    communicator: Communicator,
    buffer: &mut [T],
    counts: &[usize],
) -> Result<Token, Error> {
    checked_counts(communicator, "receive", buffer.len(), counts)?;
    let memory = Memory { receive: address_of_mut(buffer), ..Memory::default() };
    begin(communicator, memory, |me| schedules::allgatherv(me, None, &following::<T>(counts)))
}

fn all_to_all<T: Equivalence>(communicator: Communicator, buffer: &mut [T]) -> Result<Token, Error> {
    let each = part(communicator, buffer.len())?;
    let memory = Memory { receive: address_of_mut(buffer), ..Memory::default() };
    begin(communicator, memory, |me| schedules::alltoall(me, None, &even::<T>(me.size, each)))
}

fn all_to_all_varcount<T: Equivalence>(
    communicator: Communicator,
    buffer: &mut [T],
    counts: &[usize],
) -> Result<Token, Error> {
    checked_counts(communicator, "receive", buffer.len(), counts)?;
    let memory = Memory { receive: address_of_mut(buffer), ..Memory::default() };
    begin(communicator, memory, |me| {
        let blocks = following::<T>(counts);
        let spans: Vec<Span> = (0..me.size).map(|member| blocks.of(Place::Receive, member)).collect();
        schedules::alltoallw(me, None, &spans)
    })
}

/// Values of a member, where all have as many.
fn part(communicator: Communicator, here: usize) -> Result<usize, Error> {
    let members = members(communicator)?;
    checked("receive", here, here / members * members)?;
    Ok(here / members)
}

fn all_reduce<T: Equivalence>(
    communicator: Communicator,
    buffer: &mut [T],
    op: &impl Operation<T>,
) -> Result<Token, Error> {
    let plan = op.plan(buffer.len())?;
    let memory = Memory { send: 0, receive: address_of_mut(buffer), op: plan.op };
    begin(communicator, memory, |me| {
        schedules::allreduce(me, plan.count, &plan.values, true, plan.is_commutative)
    })
}

fn reduce_scatter_block<T: Equivalence>(
    communicator: Communicator,
    buffer: &mut [T],
    op: &impl Operation<T>,
) -> Result<Token, Error> {
    let plan = op.plan(part(communicator, buffer.len())?)?;
    let memory = Memory { send: 0, receive: address_of_mut(buffer), op: plan.op };
    begin(communicator, memory, |me| {
        schedules::reduce_scatter(me, &vec![plan.count; me.size as usize], &plan.values, true)
    })
}

fn scan<T: Equivalence>(
    communicator: Communicator,
    buffer: &mut [T],
    op: &impl Operation<T>,
    is_exclusive: bool,
) -> Result<Token, Error> {
    let plan = op.plan(buffer.len())?;
    let memory = Memory { send: 0, receive: address_of_mut(buffer), op: plan.op };
    let schedule = if is_exclusive { schedules::exscan } else { schedules::scan };
    begin(communicator, memory, |me| schedule(me, plan.count, &plan.values, true))
}

/// Of the root alone: the others call as ever.
fn as_root(process: Process) -> Result<u32, Error> {
    let (root, is_root) = root(process)?;
    in_role(process, is_root)?;
    Ok(root)
}

fn gather<T: Equivalence>(process: Process, buffer: &mut [T]) -> Result<Token, Error> {
    let (root, each) = (as_root(process)?, part(process.communicator(), buffer.len())?);
    let memory = Memory { receive: address_of_mut(buffer), ..Memory::default() };
    begin(process.communicator(), memory, |me| schedules::gather(me, root, None, &even::<T>(me.size, each)))
}

fn scatter<T: Equivalence>(process: Process, buffer: &[T]) -> Result<Token, Error> {
    let (root, each) = (as_root(process)?, part(process.communicator(), buffer.len())?);
    let memory = Memory { send: address_of(buffer), ..Memory::default() };
    begin(process.communicator(), memory, |me| schedules::scatter(me, root, None, &even::<T>(me.size, each)))
}

fn reduce<T: Equivalence>(
    process: Process,
    buffer: &mut [T],
    op: &impl Operation<T>,
) -> Result<Token, Error> {
    let root = as_root(process)?;
    let plan = op.plan(buffer.len())?;
    let memory = Memory { send: 0, receive: address_of_mut(buffer), op: plan.op };
    begin(process.communicator(), memory, |me| {
        schedules::reduce(me, root, plan.count, &plan.values, true, plan.is_commutative)
    })
}

impl Communicator {
    /// As [`all_gather_into`](super::CommunicatorCollectives::all_gather_into): the caller's block is in its place.
    ///
    /// # Errors
    /// If the buffer has no block of one length for each.
    #[track_caller]
    pub fn all_gather_in_place<B: BufferMut + ?Sized>(&self, buffer: &mut B) -> Result<(), Error> {
        end(all_gather(*self, buffer.values_mut())?, "all_gather", Location::caller())
    }

    /// As [`all_gather_varcount_into`](super::CommunicatorCollectives::all_gather_varcount_into): the caller's block is in
    /// its place.
    ///
    /// # Errors
    /// If the buffer has no such blocks.
    #[track_caller]
    pub fn all_gather_varcount_in_place<B: BufferMut + ?Sized>(
        &self,
        buffer: &mut B,
        counts: &[usize],
    ) -> Result<(), Error> {
        let begun = all_gather_varcount(*self, buffer.values_mut(), counts)?;
        end(begun, "all_gather_varcount", Location::caller())
    }

    /// As [`all_to_all_into`](super::CommunicatorCollectives::all_to_all_into): what comes takes the places of what is
    /// sent.
    ///
    /// # Errors
    /// If the buffer has no block of one length for each.
    #[track_caller]
    pub fn all_to_all_in_place<B: BufferMut + ?Sized>(&self, buffer: &mut B) -> Result<(), Error> {
        end(all_to_all(*self, buffer.values_mut())?, "all_to_all", Location::caller())
    }

    /// As [`all_to_all_varcount_into`](super::CommunicatorCollectives::all_to_all_varcount_into): what comes from a member
    /// takes the place of what is sent to it, and is as long.
    ///
    /// # Errors
    /// If the buffer has no such blocks.
    #[track_caller]
    pub fn all_to_all_varcount_in_place<B: BufferMut + ?Sized>(
        &self,
        buffer: &mut B,
        counts: &[usize],
    ) -> Result<(), Error> {
        let begun = all_to_all_varcount(*self, buffer.values_mut(), counts)?;
        end(begun, "all_to_all_varcount", Location::caller())
    }

    /// As [`all_reduce_into`](super::CommunicatorCollectives::all_reduce_into): results take the places of operands.
    ///
    /// # Errors
    /// If the values have no such operation.
    #[track_caller]
    pub fn all_reduce_in_place<B: BufferMut + ?Sized>(
        &self,
        buffer: &mut B,
        op: impl Operation<B::Value>,
    ) -> Result<(), Error> {
        end(all_reduce(*self, buffer.values_mut(), &op)?, "all_reduce", Location::caller())
    }

    /// The same, begun in a [scope](super::super::scope).
    ///
    /// # Errors
    /// If the values have no such operation.
    pub fn immediate_all_reduce_in_place<'a, 's, B: BufferMut + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        buffer: &'a mut B,
        op: &'a impl Operation<B::Value>,
    ) -> Result<Request<'s>, Error> {
        Ok(scope.add(all_reduce(*self, buffer.values_mut(), op)?, *self))
    }

    /// As [`reduce_scatter_block_into`](super::CommunicatorCollectives::reduce_scatter_block_into): the caller's part comes
    /// to the beginning of the operands.
    ///
    /// # Errors
    /// If there is not a part for each, or the values have no such operation.
    #[track_caller]
    pub fn reduce_scatter_block_in_place<B: BufferMut + ?Sized>(
        &self,
        buffer: &mut B,
        op: impl Operation<B::Value>,
    ) -> Result<(), Error> {
        let begun = reduce_scatter_block(*self, buffer.values_mut(), &op)?;
        end(begun, "reduce_scatter_block", Location::caller())
    }

    /// As [`scan_into`](super::CommunicatorCollectives::scan_into): results take the places of operands.
    ///
    /// # Errors
    /// If the values have no such operation.
    #[track_caller]
    pub fn scan_in_place<B: BufferMut + ?Sized>(
        &self,
        buffer: &mut B,
        op: impl Operation<B::Value>,
    ) -> Result<(), Error> {
        end(scan(*self, buffer.values_mut(), &op, false)?, "scan", Location::caller())
    }

    /// As [`exclusive_scan_into`](super::CommunicatorCollectives::exclusive_scan_into): results take the places of
    /// operands.
    ///
    /// # Errors
    /// If the values have no such operation.
    #[track_caller]
    pub fn exclusive_scan_in_place<B: BufferMut + ?Sized>(
        &self,
        buffer: &mut B,
        op: impl Operation<B::Value>,
    ) -> Result<(), Error> {
        end(scan(*self, buffer.values_mut(), &op, true)?, "exclusive_scan", Location::caller())
    }
}

impl Process {
    /// As [`gather_into_root`](super::Root::gather_into_root), called by the root: its block is in its place.
    ///
    /// # Errors
    /// If the buffer has no block of one length for each, or it is not the root that calls.
    #[track_caller]
    pub fn gather_in_place<B: BufferMut + ?Sized>(&self, buffer: &mut B) -> Result<(), Error> {
        end(gather(*self, buffer.values_mut())?, "gather", Location::caller())
    }

    /// As [`scatter_into_root`](super::Root::scatter_into_root), called by the root: its block stays where it is.
    ///
    /// # Errors
    /// If the buffer has no block of one length for each, or it is not the root that calls.
    #[track_caller]
    pub fn scatter_in_place<B: Buffer + ?Sized>(&self, buffer: &B) -> Result<(), Error> {
        end(scatter(*self, buffer.values())?, "scatter", Location::caller())
    }

    /// As [`reduce_into_root`](super::Root::reduce_into_root), called by the root: results take the places of operands.
    ///
    /// # Errors
    /// If it is not the root that calls, or the values have no such operation.
    #[track_caller]
    pub fn reduce_in_place<B: BufferMut + ?Sized>(
        &self,
        buffer: &mut B,
        op: impl Operation<B::Value>,
    ) -> Result<(), Error> {
        end(reduce(*self, buffer.values_mut(), &op)?, "reduce", Location::caller())
    }
}
