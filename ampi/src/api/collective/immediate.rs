//! Collectives that go on while the program does (MPI-3.1, 5.12).

use super::super::Error;
use super::super::communicator::Communicator;
use super::super::datatype::{Buffer, BufferMut};
use super::super::op::Operation;
use super::super::request::{Request, Scope};
use super::begin;

/// Collectives without a root, begun in a [scope](super::super::scope). Operations live as long as buffers.
pub trait ImmediateCollectives {
    /// As [`barrier`](super::CommunicatorCollectives::barrier).
    ///
    /// # Errors
    /// The same.
    fn immediate_barrier<'s>(&self, scope: &'s Scope<'_>) -> Result<Request<'s>, Error>;

    /// As [`all_gather_into`](super::CommunicatorCollectives::all_gather_into).
    ///
    /// # Errors
    /// The same.
    fn immediate_all_gather_into<'a, 's, S, R>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;

    /// As [`all_to_all_into`](super::CommunicatorCollectives::all_to_all_into).
    ///
    /// # Errors
    /// The same.
    fn immediate_all_to_all_into<'a, 's, S, R>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;

    /// As [`all_reduce_into`](super::CommunicatorCollectives::all_reduce_into).
    ///
    /// # Errors
    /// The same.
    fn immediate_all_reduce_into<'a, 's, S, R, O>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
        op: &'a O,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>;

    /// As [`scan_into`](super::CommunicatorCollectives::scan_into).
    ///
    /// # Errors
    /// The same.
    fn immediate_scan_into<'a, 's, S, R, O>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
        op: &'a O,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>;

    /// As [`all_gather_varcount_into`](super::CommunicatorCollectives::all_gather_varcount_into).
    ///
    /// # Errors
    /// The same.
    fn immediate_all_gather_varcount_into<'a, 's, S, R>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
        counts: &[usize],
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;

    /// As [`all_to_all_varcount_into`](super::CommunicatorCollectives::all_to_all_varcount_into).
    ///
    /// # Errors
    /// The same.
    fn immediate_all_to_all_varcount_into<'a, 's, S, R>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        send_counts: &[usize],
        receive: &'a mut R,
        receive_counts: &[usize],
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;

    /// As [`reduce_scatter_block_into`](super::CommunicatorCollectives::reduce_scatter_block_into).
    ///
    /// # Errors
    /// The same.
    fn immediate_reduce_scatter_block_into<'a, 's, S, R, O>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
        op: &'a O,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>;

    /// As [`reduce_scatter_into`](super::CommunicatorCollectives::reduce_scatter_into).
    ///
    /// # Errors
    /// The same.
    fn immediate_reduce_scatter_into<'a, 's, S, R, O>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
        counts: &[usize],
        op: &'a O,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>;

    /// As [`exclusive_scan_into`](super::CommunicatorCollectives::exclusive_scan_into).
    ///
    /// # Errors
    /// The same.
    fn immediate_exclusive_scan_into<'a, 's, S, R, O>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
        op: &'a O,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>;
}

impl ImmediateCollectives for Communicator {
    fn immediate_barrier<'s>(&self, scope: &'s Scope<'_>) -> Result<Request<'s>, Error> {
        Ok(scope.add(begin::immediate_barrier(*self)?, *self))
    }

    fn immediate_all_gather_into<'a, 's, S, R>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        Ok(scope.add(begin::all_gather(*self, send.values(), receive.values_mut())?, *self))
    }

    fn immediate_all_to_all_into<'a, 's, S, R>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        Ok(scope.add(begin::all_to_all(*self, send.values(), receive.values_mut())?, *self))
    }

    fn immediate_all_reduce_into<'a, 's, S, R, O>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
        op: &'a O,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>,
    {
        Ok(scope.add(begin::all_reduce(*self, send.values(), receive.values_mut(), op)?, *self))
    }

    fn immediate_scan_into<'a, 's, S, R, O>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
        op: &'a O,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>,
    {
        Ok(scope.add(begin::scan(*self, send.values(), receive.values_mut(), op, false)?, *self))
    }

    fn immediate_all_gather_varcount_into<'a, 's, S, R>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
        counts: &[usize],
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        Ok(scope.add(begin::all_gather_varcount(*self, send.values(), receive.values_mut(), counts)?, *self))
    }

    fn immediate_all_to_all_varcount_into<'a, 's, S, R>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        send_counts: &[usize],
        receive: &'a mut R,
        receive_counts: &[usize],
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        Ok(scope.add(
            begin::all_to_all_varcount(
                *self,
                (send.values(), send_counts),
                (receive.values_mut(), receive_counts),
            )?,
            *self,
        ))
    }

    fn immediate_reduce_scatter_block_into<'a, 's, S, R, O>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
        op: &'a O,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>,
    {
        Ok(scope.add(begin::reduce_scatter_block(*self, send.values(), receive.values_mut(), op)?, *self))
    }

    fn immediate_reduce_scatter_into<'a, 's, S, R, O>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
        counts: &[usize],
        op: &'a O,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>,
    {
        Ok(scope.add(begin::reduce_scatter(*self, send.values(), (receive.values_mut(), counts), op)?, *self))
    }

    fn immediate_exclusive_scan_into<'a, 's, S, R, O>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
        op: &'a O,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
        O: Operation<S::Value>,
    {
        Ok(scope.add(begin::scan(*self, send.values(), receive.values_mut(), op, true)?, *self))
    }
}
