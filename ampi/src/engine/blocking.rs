//! Blocking calls: a request is made only if there is something to wait for.

use super::receive::received;
use super::request::{Envelope, Owner, Status};
use super::send::leaves_at_once;
use super::unexpected::{Content, Message};
use super::{Action, Actions, Body, Buffer, Engine, Frame, Head, Mode, Pattern, Token};

/// How a blocking call goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It has ended.
    Done(Status),
    /// It ends with this request.
    Pending(Token),
}

impl Begun {
    /// The request that it ends with, if it has not.
    pub fn pending(self) -> Option<Token> {
        match self {
            Begun::Done(_) => None,
            Begun::Pending(request) => Some(request),
        }
    }
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
        match self.head_of_short(mode, to, buffer.bytes) {
            Some(head) => {
                out.push(Action::Send { to: to.to, frame: Frame { head, body: Body::Eager(buffer) } });
                Begun::Done(Status::EMPTY)
            }
            None => Begun::Pending(self.send(mode, to, buffer, Owner::User, out)),
        }
    }

    /// The head of a message that leaves without being announced, which it does now; none if it is not to.
    #[inline]
    pub fn head_of_short(&mut self, mode: Mode, to: Envelope, bytes: u64) -> Option<Head> {
        leaves_at_once(mode, bytes, self.eager_max).then(|| self.numbered_head(to, bytes))
    }

    /// Receives (`MPI_Recv`): as [`Engine::receive`], without a request for what is here.
    pub fn begin_blocking_receive(&mut self, pattern: Pattern, buffer: Buffer, out: &mut Actions) -> Begun {
        match self.receive_here(&pattern, buffer, out) {
            Some(status) => Begun::Done(status),
            None => Begun::Pending(self.receive(pattern, buffer, Owner::User, out)),
        }
    }

    /// Receives a message that is here; none if there is none, or it is only announced.
    pub fn receive_here(&mut self, pattern: &Pattern, into: Buffer, out: &mut Actions) -> Option<Status> {
        let is_here = |message: &Message| matches!(message.content, Content::Here(_));
        self.unexpected.peek(pattern).filter(|message| is_here(message))?;
        let Message { head, content: Content::Here(payload) } = self.unexpected.take(pattern)? else {
            return None;
        };
        out.push(Action::Deliver { payload, into });
        Some(received(&head, &into))
    }

    /// Whether something has come for a receive: then it does not wait.
    #[inline]
    pub fn has_for(&self, pattern: &Pattern) -> bool {
        !self.unexpected.is_empty() && self.unexpected.peek(pattern).is_some()
    }
}
