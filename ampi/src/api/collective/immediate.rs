//! Collectives that go on while the program does (MPI-3.1, 5.12).

use super::super::Error;
use super::super::communicator::{Communicator, Process};
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
}

impl ImmediateCollectives for Communicator {
    fn immediate_barrier<'s>(&self, scope: &'s Scope<'_>) -> Result<Request<'s>, Error> {
        Ok(scope.add(begin::barrier(*self)?, *self))
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
}

/// Collectives with a root, begun in a [scope](super::super::scope).
pub trait ImmediateRoot {
    /// As [`broadcast_into`](super::Root::broadcast_into).
    ///
    /// # Errors
    /// The same.
    fn immediate_broadcast_into<'a, 's, B: BufferMut + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        buffer: &'a mut B,
    ) -> Result<Request<'s>, Error>;

    /// As [`gather_into`](super::Root::gather_into).
    ///
    /// # Errors
    /// The same.
    fn immediate_gather_into<'a, 's, S: Buffer + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
    ) -> Result<Request<'s>, Error>;

    /// As [`gather_into_root`](super::Root::gather_into_root).
    ///
    /// # Errors
    /// The same.
    fn immediate_gather_into_root<'a, 's, S, R>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;
}

impl ImmediateRoot for Process {
    fn immediate_broadcast_into<'a, 's, B: BufferMut + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        buffer: &'a mut B,
    ) -> Result<Request<'s>, Error> {
        Ok(scope.add(begin::broadcast(*self, buffer.values_mut())?, self.communicator()))
    }

    fn immediate_gather_into<'a, 's, S: Buffer + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
    ) -> Result<Request<'s>, Error> {
        Ok(scope.add(begin::gather::<S::Value>(*self, send.values(), None)?, self.communicator()))
    }

    fn immediate_gather_into_root<'a, 's, S, R>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        let begun = begin::gather(*self, send.values(), Some(receive.values_mut()))?;
        Ok(scope.add(begun, self.communicator()))
    }
}
