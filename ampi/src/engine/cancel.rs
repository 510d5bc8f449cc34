//! Taking operations back (MPI-3.1, 3.8.4).

use super::request::{State, Status, UnknownRequest};
use super::{Actions, Body, Engine, Head, Token};

impl Engine {
    /// Asks to take an operation back. It ends in any case: as if it had not been cancelled, or with a status that
    /// says so. A send whose bytes have left is not taken back; for an announced one the receiver is asked.
    ///
    /// # Errors
    /// If there is no such request.
    pub fn cancel(&mut self, token: Token, out: &mut Actions) -> Result<(), UnknownRequest> {
        match &mut self.requests.known(token)?.state {
            State::Posted { pattern, .. } => {
                let pattern = *pattern;
                if self.posted.cancel(&pattern, token) {
                    self.complete(token, Status::CANCELLED, out);
                }
            }
            State::Announced(announced) if !announced.cancelling => {
                announced.cancelling = true;
                let to = announced.envelope;
                self.emit(to, 0, Body::CancelAsk { send: token }, out);
            }
            _ => {}
        }
        Ok(())
    }

    /// A sender would take a message back. It has come, since the question is numbered as it was; unless it was
    /// matched it goes.
    pub(super) fn cancel_asked(&mut self, head: &Head, send: Token, out: &mut Actions) {
        let granted = self.unexpected.take_announced(head.context, head.source, send).is_some();
        let to = super::Envelope { context: head.context, to: head.source, tag: 0 };
        self.emit(to, 0, Body::CancelAnswer { send, granted }, out);
    }

    /// Whether it was taken back.
    pub(super) fn cancel_answered(&mut self, head: &Head, send: Token, granted: bool, out: &mut Actions) {
        let Some(mut announced) = self.announced(send, head.source) else { return };
        announced.cancelling = false;
        if granted {
            self.complete(send, Status::CANCELLED, out);
        } else if announced.paid && !announced.synchronous {
            self.complete(send, Status::EMPTY, out);
        } else {
            self.set_state(send, State::Announced(announced));
        }
    }
}
