//! The receive of a blocking call that the rank is suspended in: it is what the rank waits for, and needs neither a request nor a place
//! among those that are posted. It was begun after all that are.

use talisman_pup::Pup;

use super::receive::received;
use super::request::{Owner, State, Status, UnknownRequest};
use super::wait::{Condition, Waiting};
use super::{Actions, Buffer, Context, Engine, Head, Pattern, Token};

/// What has come of a receive that the rank has waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pup)]
pub(super) enum Awaited {
    /// Nothing yet, or there was none.
    #[default]
    Nothing,
    /// It has ended.
    Received(Status),
    /// It has a message whose bytes do not come with it, or another was begun after it: it ends with this request.
    Request(Token),
}

impl Waiting {
    /// Where the bytes of a message go for which no receive was posted, if the rank waits for it.
    #[inline]
    pub(super) fn awaits(&self, head: &Head) -> Option<Buffer> {
        match &self.condition {
            Condition::Receive(pattern, into) => pattern.accepts(head).then_some(*into),
            _ => None,
        }
    }
}

impl Engine {
    /// The rank waits for a message of which [none is here](Engine::has_for), in a call that receives it. When it goes on, it
    /// [takes what has come](Engine::end_awaited).
    pub fn await_message(&mut self, pattern: Pattern, into: Buffer) {
        self.waiting = Some(Waiting { condition: Condition::Receive(pattern, into), missing: 1 });
    }

    /// How it has ended.
    ///
    /// # Errors
    /// If it has not.
    pub fn end_awaited(&mut self) -> Result<Status, UnknownRequest> {
        /// Of no request.
        const NONE: Token = Token { index: u32::MAX, generation: 0 };
        match std::mem::take(&mut self.awaited) {
            Awaited::Received(status) => Ok(status),
            Awaited::Request(token) => self.test(token)?.ok_or(UnknownRequest(token)),
            Awaited::Nothing => Err(UnknownRequest(NONE)),
        }
    }

    /// Whether it has ended, and the rank was not told yet.
    #[inline]
    pub fn has_received(&self) -> bool {
        matches!(self.awaited, Awaited::Received(_))
    }

    /// How it has ended, if it has and needed no request; the rank was not told yet.
    #[inline]
    pub fn received(&self) -> Option<&Status> {
        match &self.awaited {
            Awaited::Received(status) => Some(status),
            _ => None,
        }
    }

    /// The rank was told.
    #[inline]
    pub fn forget_received(&mut self) {
        self.awaited = Awaited::Nothing;
    }

    /// Such a message is where it goes: the rank waits for nothing any more.
    #[inline]
    pub(super) fn met_awaited(&mut self, head: &Head, into: &Buffer) {
        self.waiting = None;
        self.awaited = Awaited::Received(received(head, into));
    }

    /// What the rank waits for becomes a request, which has a message or is to be posted. That is what it waits for then.
    pub(super) fn open_awaited(&mut self) -> Token {
        let request = self.requests.insert(Owner::User, None, State::Opened);
        if let Some(request) = self.requests.get_mut(request) {
            request.awaited = true;
        }
        self.waiting = Some(Waiting { condition: Condition::One(request), missing: 1 });
        self.awaited = Awaited::Request(request);
        request
    }

    /// Another receive of this communicator begins: it gets no message that is for the one that the rank waits for.
    pub(super) fn post_awaited(&mut self, of: Context, out: &mut Actions) {
        if let Some(Waiting { condition: Condition::Receive(pattern, into), .. }) = self.waiting
            && pattern.context == of
        {
            let request = self.open_awaited();
            self.begin_receive(request, pattern, into, out);
        }
    }
}
