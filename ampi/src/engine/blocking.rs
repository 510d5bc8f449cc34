//! Blocking calls: a request is made only if there is something to wait for.

use super::receive::received;
use super::request::{Envelope, Owner, Status};
use super::send::leaves_at_once;
use super::unexpected::{Content, Message};
use super::{Action, Actions, Body, Buffer, Engine, Mode, Pattern, Token};

/// How a blocking call goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It has ended.
    Done(Status),
    /// It ends with this request.
    Pending(Token),
}

impl Engine {
    /// Sends (`MPI_Send` and its kin): as [`Engine::send`], without a request for what leaves at once.
    pub fn begin_blocking_send(
        &mut self,
        mode: Mode,
        to: Envelope,
        buffer: Buffer,
        out: &mut Actions,
    ) -> Begun {
        if leaves_at_once(mode, buffer.bytes, self.eager_max) {
            self.emit(to, buffer.bytes, Body::Eager(buffer), out);
            return Begun::Done(Status::EMPTY);
        }
        Begun::Pending(self.send(mode, to, buffer, Owner::User, out))
    }

    /// Receives (`MPI_Recv`): as [`Engine::receive`], without a request for what is here.
    pub fn begin_blocking_receive(&mut self, pattern: Pattern, buffer: Buffer, out: &mut Actions) -> Begun {
        let is_here = |message: &Message| matches!(message.content, Content::Here(_));
        if self.unexpected.peek(&pattern).is_some_and(is_here)
            && let Some(Message { head, content: Content::Here(payload) }) = self.unexpected.take(&pattern)
        {
            out.push(Action::Deliver { payload, into: buffer });
            return Begun::Done(received(&head, &buffer));
        }
        Begun::Pending(self.receive(pattern, buffer, Owner::User, out))
    }
}
