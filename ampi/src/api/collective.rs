//! What all members of a communicator do together (MPI-3.1, chapter 5).
//!
//! All members call the same collectives in the same order. Results of reductions have the same bits wherever ranks are.

mod begin;
mod calls;
mod immediate;
mod immediate_root;
mod in_place;
mod inter_communicator;
mod neighbors;
mod views;

use std::panic::Location;

use super::Error;
use super::communicator::{Communicator, Process};
use super::datatype::{Buffer, BufferMut};
use super::op::Operation;
use super::point_to_point::wait;
use crate::engine::Token;

pub(super) use begin::gather_numbers;
pub use immediate::ImmediateCollectives;
pub use immediate_root::ImmediateRoot;
pub use inter_communicator::{InterCommunicator, Sided};

/// Collectives without a root.
pub trait CommunicatorCollectives {
    /// Returns when all have called it (`MPI_Barrier`).
    ///
    /// # Errors
    /// If the communicator was freed.
    #[track_caller]
    fn barrier(&self) -> Result<(), Error>;

    /// Everybody gets the values of all, in the order of ranks (`MPI_Allgather`).
    ///
    /// # Errors
    /// If there is no room for all.
    #[track_caller]
    fn all_gather_into<S, R>(&self, send: &S, receive: &mut R) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;

    /// The same where each has values of its own number (`MPI_Allgatherv`).
    ///
    /// # Errors
    /// If there is no room for all, or not a count for each.
    #[track_caller]
    fn all_gather_varcount_into<S, R>(
        &self,
        send: &S,
        receive: &mut R,
        counts: &[usize],
    ) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;

    /// Each gives each as many values (`MPI_Alltoall`).
    ///
    /// # Errors
    /// If the values cannot be dealt out evenly, or there is no room for all.
    #[track_caller]
    fn all_to_all_into<S, R>(&self, send: &S, receive: &mut R) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;

    /// Each gives each values of its own number, which follow each other in the buffers (`MPI_Alltoallv`).
    ///
    /// # Errors
    /// If a buffer has no such values, or not a count for each.
    #[track_caller]
    fn all_to_all_varcount_into<S, R>(
        &self,
        send: &S,
        send_counts: &[usize],
        receive: &mut R,
        receive_counts: &[usize],
    ) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;

    /// Everybody gets the values of all, combined one by one (`MPI_Allreduce`).
    ///
    /// # Errors
    /// If the buffers are of different lengths, or the values have no such operation.
    #[track_caller]
    fn all_reduce_into<S, R, O>(&self, send: &S, receive: &mut R, op: O) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>;

    /// Each gets its part of the values of all, combined one by one (`MPI_Reduce_scatter_block`).
    ///
    /// # Errors
    /// If there is not a part for each, or the values have no such operation.
    #[track_caller]
    fn reduce_scatter_block_into<S, R, O>(&self, send: &S, receive: &mut R, op: O) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>;

    /// The same with parts of their own lengths, which follow each other in what is sent (`MPI_Reduce_scatter`).
    ///
    /// # Errors
    /// If a buffer has no such values, there is not a count for each, or the values have no such operation.
    #[track_caller]
    fn reduce_scatter_into<S, R, O>(
        &self,
        send: &S,
        receive: &mut R,
        counts: &[usize],
        op: O,
    ) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>;

    /// Each gets the values of those up to itself, combined one by one (`MPI_Scan`).
    ///
    /// # Errors
    /// If the buffers are of different lengths, or the values have no such operation.
    #[track_caller]
    fn scan_into<S, R, O>(&self, send: &S, receive: &mut R, op: O) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>;

    /// Each but the first gets the values of those before itself, combined one by one (`MPI_Exscan`).
    ///
    /// # Errors
    /// If the buffers are of different lengths, or the values have no such operation.
    #[track_caller]
    fn exclusive_scan_into<S, R, O>(&self, send: &S, receive: &mut R, op: O) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>;
}

impl CommunicatorCollectives for Communicator {
    #[track_caller]
    fn barrier(&self) -> Result<(), Error> {
        end(begin::barrier(*self)?, "barrier", Location::caller())
    }

    #[track_caller]
    fn all_gather_into<S, R>(&self, send: &S, receive: &mut R) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        let begun = begin::all_gather(*self, send.values(), receive.values_mut())?;
        end(begun, "all_gather", Location::caller())
    }

    #[track_caller]
    fn all_gather_varcount_into<S, R>(&self, send: &S, receive: &mut R, counts: &[usize]) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        let begun = begin::all_gather_varcount(*self, send.values(), receive.values_mut(), counts)?;
        end(begun, "all_gather_varcount", Location::caller())
    }

    #[track_caller]
    fn all_to_all_into<S, R>(&self, send: &S, receive: &mut R) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        let begun = begin::all_to_all(*self, send.values(), receive.values_mut())?;
        end(begun, "all_to_all", Location::caller())
    }

    #[track_caller]
    fn all_to_all_varcount_into<S, R>(
        &self,
        send: &S,
        send_counts: &[usize],
        receive: &mut R,
        receive_counts: &[usize],
    ) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        let (send, receive) = ((send.values(), send_counts), (receive.values_mut(), receive_counts));
        end(begin::all_to_all_varcount(*self, send, receive)?, "all_to_all_varcount", Location::caller())
    }

    #[track_caller]
    fn all_reduce_into<S, R, O>(&self, send: &S, receive: &mut R, op: O) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>,
    {
        let begun = begin::all_reduce(*self, send.values(), receive.values_mut(), &op)?;
        end(begun, "all_reduce", Location::caller())
    }

    #[track_caller]
    fn reduce_scatter_block_into<S, R, O>(&self, send: &S, receive: &mut R, op: O) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>,
    {
        let begun = begin::reduce_scatter_block(*self, send.values(), receive.values_mut(), &op)?;
        end(begun, "reduce_scatter_block", Location::caller())
    }

    #[track_caller]
    fn reduce_scatter_into<S, R, O>(
        &self,
        send: &S,
        receive: &mut R,
        counts: &[usize],
        op: O,
    ) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>,
    {
        let begun = begin::reduce_scatter(*self, send.values(), (receive.values_mut(), counts), &op)?;
        end(begun, "reduce_scatter", Location::caller())
    }

    #[track_caller]
    fn scan_into<S, R, O>(&self, send: &S, receive: &mut R, op: O) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>,
    {
        let begun = begin::scan(*self, send.values(), receive.values_mut(), &op, false)?;
        end(begun, "scan", Location::caller())
    }

    #[track_caller]
    fn exclusive_scan_into<S, R, O>(&self, send: &S, receive: &mut R, op: O) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>,
    {
        let begun = begin::scan(*self, send.values(), receive.values_mut(), &op, true)?;
        end(begun, "exclusive_scan", Location::caller())
    }
}

/// Collectives with a root: a [`Process`] that all members name alike.
pub trait Root {
    /// The values of the root come to all (`MPI_Bcast`).
    ///
    /// # Errors
    /// If there is no such rank, or buffers have different lengths.
    #[track_caller]
    fn broadcast_into<B: BufferMut + ?Sized>(&self, buffer: &mut B) -> Result<(), Error>;

    /// The values of all come to the root, in the order of ranks (`MPI_Gather`): called by all but the root.
    ///
    /// # Errors
    /// If there is no such rank, or it is the root that calls.
    #[track_caller]
    fn gather_into<S: Buffer + ?Sized>(&self, send: &S) -> Result<(), Error>;

    /// The same, called by the root.
    ///
    /// # Errors
    /// If there is no room for all, or it is not the root that calls.
    #[track_caller]
    fn gather_into_root<S, R>(&self, send: &S, receive: &mut R) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;

    /// The same where each has values of its own number (`MPI_Gatherv`), called by all but the root.
    ///
    /// # Errors
    /// If there is no such rank, or it is the root that calls.
    #[track_caller]
    fn gather_varcount_into<S: Buffer + ?Sized>(&self, send: &S) -> Result<(), Error>;

    /// The same, called by the root. The values of all follow each other.
    ///
    /// # Errors
    /// If there is no room for all, not a count for each, or it is not the root that calls.
    #[track_caller]
    fn gather_varcount_into_root<S, R>(
        &self,
        send: &S,
        receive: &mut R,
        counts: &[usize],
    ) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;

    /// Each gets its part of the root's values (`MPI_Scatter`): called by all but the root.
    ///
    /// # Errors
    /// If there is no such rank, or it is the root that calls.
    #[track_caller]
    fn scatter_into<R: BufferMut + ?Sized>(&self, receive: &mut R) -> Result<(), Error>;

    /// The same, called by the root.
    ///
    /// # Errors
    /// If there is not a part for each, or it is not the root that calls.
    #[track_caller]
    fn scatter_into_root<S, R>(&self, send: &S, receive: &mut R) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;

    /// Each gets a part of its own length of the root's values (`MPI_Scatterv`): called by all but the root.
    ///
    /// # Errors
    /// If there is no such rank, or it is the root that calls.
    #[track_caller]
    fn scatter_varcount_into<R: BufferMut + ?Sized>(&self, receive: &mut R) -> Result<(), Error>;

    /// The same, called by the root. The parts of all follow each other.
    ///
    /// # Errors
    /// If there is not a part and a count for each, or it is not the root that calls.
    #[track_caller]
    fn scatter_varcount_into_root<S, R>(
        &self,
        send: &S,
        receive: &mut R,
        counts: &[usize],
    ) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;

    /// The values of all, combined one by one, come to the root (`MPI_Reduce`): called by all but the root.
    ///
    /// # Errors
    /// If there is no such rank, it is the root that calls, or the values have no such operation.
    #[track_caller]
    fn reduce_into<S, O>(&self, send: &S, op: O) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        O: Operation<S::Value>;

    /// The same, called by the root.
    ///
    /// # Errors
    /// If the buffers are of different lengths, it is not the root that calls, or the values have no such operation.
    #[track_caller]
    fn reduce_into_root<S, R, O>(&self, send: &S, receive: &mut R, op: O) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>;
}

impl Root for Process {
    #[track_caller]
    fn broadcast_into<B: BufferMut + ?Sized>(&self, buffer: &mut B) -> Result<(), Error> {
        end(begin::broadcast(*self, buffer.values_mut())?, "broadcast", Location::caller())
    }

    #[track_caller]
    fn gather_into<S: Buffer + ?Sized>(&self, send: &S) -> Result<(), Error> {
        end(begin::gather::<S::Value>(*self, send.values(), None)?, "gather", Location::caller())
    }

    #[track_caller]
    fn gather_into_root<S, R>(&self, send: &S, receive: &mut R) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        let begun = begin::gather(*self, send.values(), Some(receive.values_mut()))?;
        end(begun, "gather", Location::caller())
    }

    #[track_caller]
    fn gather_varcount_into<S: Buffer + ?Sized>(&self, send: &S) -> Result<(), Error> {
        let begun = begin::gather_varcount::<S::Value>(*self, send.values(), None)?;
        end(begun, "gather_varcount", Location::caller())
    }

    #[track_caller]
    fn gather_varcount_into_root<S, R>(
        &self,
        send: &S,
        receive: &mut R,
        counts: &[usize],
    ) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        let receive = Some((receive.values_mut(), counts));
        end(begin::gather_varcount(*self, send.values(), receive)?, "gather_varcount", Location::caller())
    }

    #[track_caller]
    fn scatter_into<R: BufferMut + ?Sized>(&self, receive: &mut R) -> Result<(), Error> {
        end(begin::scatter(*self, None, receive.values_mut())?, "scatter", Location::caller())
    }

    #[track_caller]
    fn scatter_into_root<S, R>(&self, send: &S, receive: &mut R) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        let begun = begin::scatter(*self, Some(send.values()), receive.values_mut())?;
        end(begun, "scatter", Location::caller())
    }

    #[track_caller]
    fn scatter_varcount_into<R: BufferMut + ?Sized>(&self, receive: &mut R) -> Result<(), Error> {
        let begun = begin::scatter_varcount::<R::Value>(*self, None, receive.values_mut())?;
        end(begun, "scatter_varcount", Location::caller())
    }

    #[track_caller]
    fn scatter_varcount_into_root<S, R>(
        &self,
        send: &S,
        receive: &mut R,
        counts: &[usize],
    ) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        let begun = begin::scatter_varcount(*self, Some((send.values(), counts)), receive.values_mut())?;
        end(begun, "scatter_varcount", Location::caller())
    }

    #[track_caller]
    fn reduce_into<S, O>(&self, send: &S, op: O) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        O: Operation<S::Value>,
    {
        end(begin::reduce(*self, send.values(), None, &op)?, "reduce", Location::caller())
    }

    #[track_caller]
    fn reduce_into_root<S, R, O>(&self, send: &S, receive: &mut R, op: O) -> Result<(), Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>,
    {
        let begun = begin::reduce(*self, send.values(), Some(receive.values_mut()), &op)?;
        end(begun, "reduce", Location::caller())
    }
}

fn end(begun: Token, name: &'static str, place: &'static Location<'static>) -> Result<(), Error> {
    let status = wait(begun, name, place)?;
    status.truncated.map_or(Ok(()), |truncated| Err(truncated.into()))
}
