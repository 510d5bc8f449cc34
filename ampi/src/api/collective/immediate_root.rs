//! Collectives with a root that go on while the program does (MPI-3.1, 5.12).

use super::super::Error;
use super::super::communicator::Process;
use super::super::datatype::{Buffer, BufferMut};
use super::super::op::Operation;
use super::super::request::{Request, Scope};
use super::begin;

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

    /// As [`gather_varcount_into`](super::Root::gather_varcount_into).
    ///
    /// # Errors
    /// The same.
    fn immediate_gather_varcount_into<'a, 's, S: Buffer + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
    ) -> Result<Request<'s>, Error>;

    /// As [`gather_varcount_into_root`](super::Root::gather_varcount_into_root).
    ///
    /// # Errors
    /// The same.
    fn immediate_gather_varcount_into_root<'a, 's, S, R>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
        counts: &[usize],
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;

    /// As [`scatter_into`](super::Root::scatter_into).
    ///
    /// # Errors
    /// The same.
    fn immediate_scatter_into<'a, 's, R: BufferMut + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        receive: &'a mut R,
    ) -> Result<Request<'s>, Error>;

    /// As [`scatter_into_root`](super::Root::scatter_into_root).
    ///
    /// # Errors
    /// The same.
    fn immediate_scatter_into_root<'a, 's, S, R>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;

    /// As [`scatter_varcount_into`](super::Root::scatter_varcount_into).
    ///
    /// # Errors
    /// The same.
    fn immediate_scatter_varcount_into<'a, 's, R: BufferMut + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        receive: &'a mut R,
    ) -> Result<Request<'s>, Error>;

    /// As [`scatter_varcount_into_root`](super::Root::scatter_varcount_into_root).
    ///
    /// # Errors
    /// The same.
    fn immediate_scatter_varcount_into_root<'a, 's, S, R>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
        counts: &[usize],
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized;

    /// As [`reduce_into`](super::Root::reduce_into).
    ///
    /// # Errors
    /// The same.
    fn immediate_reduce_into<'a, 's, S, O>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        op: &'a O,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        O: Operation<S::Value>;

    /// As [`reduce_into_root`](super::Root::reduce_into_root).
    ///
    /// # Errors
    /// The same.
    fn immediate_reduce_into_root<'a, 's, S, R, O>(
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

    fn immediate_gather_varcount_into<'a, 's, S: Buffer + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
    ) -> Result<Request<'s>, Error> {
        Ok(scope.add(begin::gather_varcount::<S::Value>(*self, send.values(), None)?, self.communicator()))
    }

    fn immediate_gather_varcount_into_root<'a, 's, S, R>(
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
        Ok(scope.add(
            begin::gather_varcount(*self, send.values(), Some((receive.values_mut(), counts)))?,
            self.communicator(),
        ))
    }

    fn immediate_scatter_into<'a, 's, R: BufferMut + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        receive: &'a mut R,
    ) -> Result<Request<'s>, Error> {
        Ok(scope.add(begin::scatter::<R::Value>(*self, None, receive.values_mut())?, self.communicator()))
    }

    fn immediate_scatter_into_root<'a, 's, S, R>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        receive: &'a mut R,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        R: BufferMut<Value = S::Value> + ?Sized,
    {
        Ok(scope.add(begin::scatter(*self, Some(send.values()), receive.values_mut())?, self.communicator()))
    }

    fn immediate_scatter_varcount_into<'a, 's, R: BufferMut + ?Sized>(
        &self,
        scope: &'s Scope<'a>,
        receive: &'a mut R,
    ) -> Result<Request<'s>, Error> {
        Ok(scope.add(
            begin::scatter_varcount::<R::Value>(*self, None, receive.values_mut())?,
            self.communicator(),
        ))
    }

    fn immediate_scatter_varcount_into_root<'a, 's, S, R>(
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
        Ok(scope.add(
            begin::scatter_varcount(*self, Some((send.values(), counts)), receive.values_mut())?,
            self.communicator(),
        ))
    }

    fn immediate_reduce_into<'a, 's, S, O>(
        &self,
        scope: &'s Scope<'a>,
        send: &'a S,
        op: &'a O,
    ) -> Result<Request<'s>, Error>
    where
        S: Buffer + ?Sized,
        O: Operation<S::Value>,
    {
        Ok(scope.add(begin::reduce::<S::Value>(*self, send.values(), None, op)?, self.communicator()))
    }

    fn immediate_reduce_into_root<'a, 's, S, R, O>(
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
        Ok(scope
            .add(begin::reduce(*self, send.values(), Some(receive.values_mut()), op)?, self.communicator()))
    }
}
