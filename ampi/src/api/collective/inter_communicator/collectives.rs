//! Collectives between two groups (MPI-3.1, 5.2.2 and 5.2.3): what one side gives comes to the other.
//!
//! Those with a root have three parts: the root (`…_into_root`), all members of the other side, which name it, and its own
//! side's other members, which [stand aside](InterCommunicator::stand_aside).

use super::super::super::Error;
use super::super::super::Rank;
use super::super::super::datatype::{Buffer, BufferMut, Equivalence};
use super::super::super::op::Operation;
use super::super::super::request::{Request, Scope};
use super::super::super::view::{View, ViewMut};
use super::super::calls::calls;
use super::super::end;
use super::{InterCommunicator, Sided, begin};
use std::panic::Location;

impl InterCommunicator {
    /// Returns when all of the other side have called it (`MPI_Barrier`).
    ///
    /// # Errors
    /// If it was freed.
    #[track_caller]
    pub fn barrier(&self) -> Result<(), Error> {
        end(begin::barrier(*self)?, "barrier", Location::caller())
    }

    /// [`barrier`](Self::barrier) begun in a [scope](crate::api::scope()).
    ///
    /// # Errors
    /// The same.
    pub fn immediate_barrier<'s>(&self, scope: &'s Scope<'_>) -> Result<Request<'s>, Error> {
        Ok(scope.add(begin::barrier(*self)?, self.0))
    }

    /// Takes part in a collective, also in an immediate one, that has its root on this side, but not here
    /// (`MPI_PROC_NULL`). Does not wait.
    ///
    /// # Errors
    /// If it was freed.
    #[track_caller]
    pub fn stand_aside(&self) -> Result<(), Error> {
        end(begin::nothing(*self)?, "stand_aside", Location::caller())
    }
}

calls! { InterCommunicator:
    /// The root's values come to all of the other side (`MPI_Bcast`).
    ///
    /// # Errors
    /// If it was freed, there is no such root, or buffers have different lengths.
    fn broadcast_into, immediate_broadcast_into [B: BufferMut + ?Sized] (root: Sided, buffer: &'a mut B)
        = begin::broadcast, "broadcast";

    /// The values of the other side come to this root of it (`MPI_Gather`, `MPI_Gatherv`).
    ///
    /// # Errors
    /// If it was freed, or there is no such root.
    fn gather_into, immediate_gather_into [S: Buffer + ?Sized] (root: Rank, send: &'a S)
        = begin::gather, "gather";

    /// As many values of each of the other side, in the order of ranks, called by the root.
    ///
    /// # Errors
    /// If it was freed, or the buffer has no block of one length for each.
    fn gather_into_root, immediate_gather_into_root [R: BufferMut + ?Sized] (receive: &'a mut R)
        = begin::gather_to_me, "gather";

    /// The same where each gives values of its own number.
    ///
    /// # Errors
    /// If it was freed, or the buffer has no such block for each.
    fn gather_varcount_into_root, immediate_gather_varcount_into_root [R: BufferMut + ?Sized]
        (receive: &'a mut R, counts: &[usize]) = begin::gather_counts_to_me, "gather_varcount";

    /// A part of the values of this root of the other side comes to each (`MPI_Scatter`, `MPI_Scatterv`).
    ///
    /// # Errors
    /// If it was freed, or there is no such root.
    fn scatter_into, immediate_scatter_into [R: BufferMut + ?Sized] (root: Rank, receive: &'a mut R)
        = begin::scatter, "scatter";

    /// As many values to each of the other side, in the order of ranks, called by the root.
    ///
    /// # Errors
    /// If it was freed, or the values cannot be dealt out evenly.
    fn scatter_into_root, immediate_scatter_into_root [S: Buffer + ?Sized] (send: &'a S)
        = begin::scatter_of_mine, "scatter";

    /// The same with parts of their own lengths.
    ///
    /// # Errors
    /// If it was freed, or there is not such a part for each.
    fn scatter_varcount_into_root, immediate_scatter_varcount_into_root [S: Buffer + ?Sized]
        (send: &'a S, counts: &[usize]) = begin::scatter_counts_of_mine, "scatter_varcount";

    /// The values of the other side, combined one by one, come to this root of it (`MPI_Reduce`).
    ///
    /// # Errors
    /// If it was freed, there is no such root, or the values have no such operation.
    fn reduce_into, immediate_reduce_into [S: Buffer + ?Sized, O: Operation<S::Value>]
        (root: Rank, send: &'a S) with op: O = begin::reduce, "reduce";

    /// The same, called by the root.
    ///
    /// # Errors
    /// If it was freed, or the values have no such operation.
    fn reduce_into_root, immediate_reduce_into_root [R: BufferMut + ?Sized, O: Operation<R::Value>]
        (receive: &'a mut R) with op: O = begin::reduce_to_me, "reduce";

    /// Everybody gets the values of all of the other side, in the order of ranks (`MPI_Allgather`). The sides may give
    /// different numbers of values.
    ///
    /// # Errors
    /// If it was freed, or the buffer has no block of one length for each.
    fn all_gather_into, immediate_all_gather_into
        [S: Buffer + ?Sized, R: BufferMut<Value = S::Value> + ?Sized] (send: &'a S, receive: &'a mut R)
        = begin::all_gather, "all_gather";

    /// The same where each gives values of its own number (`MPI_Allgatherv`).
    ///
    /// # Errors
    /// If it was freed, or the buffer has no such block for each.
    fn all_gather_varcount_into, immediate_all_gather_varcount_into
        [S: Buffer + ?Sized, R: BufferMut<Value = S::Value> + ?Sized]
        (send: &'a S, receive: &'a mut R, counts: &[usize]) = begin::all_gather_varcount, "all_gather_varcount";

    /// Each gives each of the other side as many values (`MPI_Alltoall`).
    ///
    /// # Errors
    /// If it was freed, the values cannot be dealt out evenly, or there is no room for all.
    fn all_to_all_into, immediate_all_to_all_into
        [S: Buffer + ?Sized, R: BufferMut<Value = S::Value> + ?Sized] (send: &'a S, receive: &'a mut R)
        = begin::all_to_all, "all_to_all";

    /// Each gives each of the other side values of its own number, which follow each other (`MPI_Alltoallv`).
    ///
    /// # Errors
    /// If it was freed, or a buffer has no such block for each.
    fn all_to_all_varcount_into, immediate_all_to_all_varcount_into
        [S: Buffer + ?Sized, R: BufferMut<Value = S::Value> + ?Sized]
        (send: &'a S, send_counts: &[usize], receive: &'a mut R, receive_counts: &[usize])
        = begin::all_to_all_varcount, "all_to_all_varcount";

    /// Each gives each of the other side the values of a view (`MPI_Alltoallw`).
    ///
    /// # Errors
    /// If it was freed, there is not a view for each, or what comes is longer than its view.
    fn all_to_all_views, immediate_all_to_all_views [T: Equivalence]
        (send: &'a [View<'a, T>], receive: &'a mut [ViewMut<'a, T>]) = begin::all_to_all_views, "all_to_all_views";

    /// Everybody gets the values of the other side, combined one by one (`MPI_Allreduce`).
    ///
    /// # Errors
    /// If it was freed, the buffers are of different lengths, or the values have no such operation.
    fn all_reduce_into, immediate_all_reduce_into
        [S: Buffer + ?Sized, R: BufferMut<Value = S::Value> + ?Sized, O: Operation<S::Value>]
        (send: &'a S, receive: &'a mut R) with op: O = begin::all_reduce, "all_reduce";

    /// Each gets its part of the values of the other side, combined one by one (`MPI_Reduce_scatter_block`). Both sides
    /// have as many values in all.
    ///
    /// # Errors
    /// If it was freed, there is not a part for each of this side, or the values have no such operation.
    fn reduce_scatter_block_into, immediate_reduce_scatter_block_into
        [S: Buffer + ?Sized, R: BufferMut<Value = S::Value> + ?Sized, O: Operation<S::Value>]
        (send: &'a S, receive: &'a mut R) with op: O = begin::reduce_scatter_block, "reduce_scatter_block";

    /// The same with parts of their own lengths (`MPI_Reduce_scatter`): `counts` are those of this side.
    ///
    /// # Errors
    /// If it was freed, a buffer has no such values, or the values have no such operation.
    fn reduce_scatter_into, immediate_reduce_scatter_into
        [S: Buffer + ?Sized, R: BufferMut<Value = S::Value> + ?Sized, O: Operation<S::Value>]
        (send: &'a S, receive: &'a mut R, counts: &[usize]) with op: O
        = begin::reduce_scatter, "reduce_scatter";
}
