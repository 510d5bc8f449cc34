//! Operations that are begun again and again with the same buffer (MPI-3.1, 3.9).

use std::panic::Location;

use super::datatype::{BufferMut, bytes_of, bytes_of_mut};
use super::point_to_point::wait;
use super::{Communicator, Error, Process, Scope, Status, Tag, traits::Source};
use crate::engine::{Mode, StartError, Token};
use crate::rank::call;

/// An operation that has its buffer, and is begun by [`start`](Persistent::start).
#[derive(Debug)]
pub struct Persistent<'s, 'a, B: ?Sized> {
    token: Token,
    communicator: Communicator,
    scope: &'s Scope<'a>,
    buffer: &'a mut B,
    is_active: bool,
}

impl<'s, 'a, B: BufferMut + ?Sized> Persistent<'s, 'a, B> {
    /// Sends the buffer each time (`MPI_Send_init`).
    ///
    /// # Errors
    /// If there is no such rank, or the tag is negative.
    pub fn send(scope: &'s Scope<'a>, buffer: &'a mut B, to: &Process, tag: Tag) -> Result<Self, Error> {
        let (peer, bytes) = (*to, bytes_of(buffer.values()));
        // SAFETY: the buffer is given away when the operation is begun, and comes back when it has ended.
        let token = unsafe {
            call(|process, _| {
                let envelope = peer.envelope(process, tag)?;
                Ok::<_, Error>(process.engine.send_init(Mode::Standard, envelope, bytes))
            })
        }??;
        Ok(Persistent { token, communicator: to.communicator(), scope, buffer, is_active: false })
    }

    /// Receives into the buffer each time (`MPI_Recv_init`).
    ///
    /// # Errors
    /// If there is no such rank, or the tag is negative.
    pub fn receive(
        scope: &'s Scope<'a>,
        buffer: &'a mut B,
        from: &impl Source,
        tag: Option<Tag>,
    ) -> Result<Self, Error> {
        let (pattern, bytes) = (from.accepts(tag)?, bytes_of_mut(buffer.values_mut()));
        // SAFETY: as for `send`.
        let token = unsafe { call(|process, _| process.engine.receive_init(pattern, bytes)) }?;
        Ok(Persistent { token, communicator: from.of_communicator(), scope, buffer, is_active: false })
    }

    /// Begins it (`MPI_Start`).
    ///
    /// # Errors
    /// If it was begun and not waited for.
    pub fn start(&mut self) -> Result<(), Error> {
        if self.is_active {
            return Err(Error::Active);
        }
        // The address is that of the beginning; who writes there has it from here.
        let (token, _) = (self.token, bytes_of_mut(self.buffer.values_mut()));
        // SAFETY: nobody uses the buffer until the operation has ended: it is borrowed here, and the scope waits for it.
        unsafe { call(|process, out| process.start(token, out)) }?.map_err(
            |error: StartError| match error {
                StartError::Active => Error::Active,
                StartError::Unknown(_) | StartError::NotPersistent => Error::Request,
            },
        )?;
        self.scope.open(token);
        self.is_active = true;
        Ok(())
    }

    /// Waits until it has ended (`MPI_Wait`).
    ///
    /// # Errors
    /// If a message was longer than the buffer.
    #[track_caller]
    pub fn wait(&mut self) -> Result<Status, Error> {
        let status = wait(self.token, "wait", Location::caller())?;
        self.scope.close(self.token);
        self.is_active = false;
        Status::of(&status, self.communicator)
    }

    /// The buffer, between its uses.
    ///
    /// # Errors
    /// If the operation was begun and not waited for.
    pub fn buffer(&mut self) -> Result<&mut B, Error> {
        if self.is_active { Err(Error::Active) } else { Ok(self.buffer) }
    }
}

impl<B: ?Sized> Drop for Persistent<'_, '_, B> {
    fn drop(&mut self) {
        if !self.is_active {
            let token = self.token;
            // SAFETY: no buffer is given. Where no rank runs any more there is nothing to free.
            let _gone = unsafe { call(|process, _| process.free(token).is_ok()) };
        }
    }
}

/// Begins all (`MPI_Startall`).
///
/// # Errors
/// If one was begun and not waited for.
pub fn start_all<'s, 'a: 's, B: BufferMut + ?Sized + 'a>(
    all: &mut [Persistent<'s, 'a, B>],
) -> Result<(), Error> {
    all.iter_mut().try_for_each(Persistent::start)
}
