//! Messages in parts, as calls of the program make and use them.

use super::Process;
use crate::engine::{Actions, Envelope, Owner, Token};
use crate::partitioned::{Parts, PartsError, Source};

impl Process {
    /// A send in parts, to nobody if there is no envelope (`MPI_Psend_init`). The envelope has the context
    /// [of parts](crate::comm::ContextPair::of_parts).
    pub fn send_parts(&mut self, to: Option<Envelope>, parts: Parts, out: &mut Actions) -> Token {
        let request = self.engine.open_init(Owner::User);
        self.partitioned.make_send(request, to, parts, &mut self.engine, out);
        request
    }

    /// A receive in parts, from nobody if there is no source (`MPI_Precv_init`).
    pub fn receive_parts(&mut self, from: Option<Source>, parts: Parts, out: &mut Actions) -> Token {
        let request = self.engine.open_init(Owner::User);
        let scratch = self.collectives.number();
        self.partitioned.make_receive(request, from, (parts, scratch), &mut self.engine, out);
        request
    }

    /// These parts of a send may leave (`MPI_Pready` and its kin).
    ///
    /// # Errors
    /// If one of them may not. Then none has left.
    pub fn parts_are_ready(
        &mut self,
        request: Token,
        parts: impl Iterator<Item = u32> + Clone,
        out: &mut Actions,
    ) -> Result<(), PartsError> {
        self.partitioned.ready(request, parts, &mut self.engine, out)?;
        self.advance(out);
        Ok(())
    }

    /// A request that the engine has started is one in parts.
    pub(super) fn begin_parts(&mut self, request: Token, out: &mut Actions) {
        self.partitioned.start(request, &mut self.engine, out);
        self.advance(out);
    }
}
