//! Accesses to windows of other ranks, what is asked of their ports, and answers to both.

use super::{Actions, Body, Buffer, Context, Engine, Envelope, Frame, Payload, Rank, Tag};
use crate::ports::Ask;
use crate::window::Access;

impl Engine {
    /// Something is to be done with the window of another rank that is accessed in this context. What it needs is read when the
    /// actions are done.
    pub fn access(
        &mut self,
        (to, context): (Rank, Context),
        access: Access,
        needs: Buffer,
        out: &mut Actions,
    ) {
        let bytes = needs.bytes;
        let body = Body::Access { access: Box::new(access), payload: needs };
        self.emit(Envelope { context, to, tag: 0 }, bytes, body, out);
    }

    /// Something is asked of the ports of another rank, or of the names that it keeps, in this context.
    pub fn ask(&mut self, (to, context): (Rank, Context), ask: Ask, out: &mut Actions) {
        self.emit(Envelope { context, to, tag: 0 }, 0, Body::Ask(Box::new(ask)), out);
    }

    /// A whole message whose bytes are here.
    pub(crate) fn answer(
        &mut self,
        (to, context): (Rank, Context),
        tag: Tag,
        payload: Payload,
    ) -> (Rank, Frame<Payload>) {
        let head = self.numbered_head(Envelope { context, to, tag }, payload.len());
        (to, Frame { head, body: Body::Eager(payload) })
    }
}
