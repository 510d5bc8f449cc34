//! Receiving: matching, and getting the bytes.

use super::request::{Envelope, Owner, Plan, State, Status, Truncated};
use super::unexpected::{Content, Message};
use super::{Action, Actions, Body, Buffer, Engine, FrameError, Head, Pattern, Payload, Token};

/// A receive that gets a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// One that was posted, with this request.
    Posted(Token),
    /// That for which the [rank waits](Engine::await_message).
    Awaited,
}

impl Engine {
    /// Begins to receive (`MPI_Irecv`).
    pub fn receive(&mut self, pattern: Pattern, buffer: Buffer, owner: Owner, out: &mut Actions) -> Token {
        let token = self.requests.insert(owner, None, State::Opened);
        self.begin_receive(token, pattern, buffer, out);
        token
    }

    /// A receive that is begun by [`Engine::start`], again and again (`MPI_Recv_init`).
    pub fn receive_init(&mut self, pattern: Pattern, buffer: Buffer) -> Token {
        self.requests.insert(Owner::User, Some(Plan::Receive { pattern, buffer }), State::Inactive)
    }

    pub(super) fn begin_receive(
        &mut self,
        token: Token,
        pattern: Pattern,
        buffer: Buffer,
        out: &mut Actions,
    ) {
        self.post_awaited(pattern.context, out);
        if let Some(message) = self.unexpected.take(&pattern) {
            self.accept(message, token, buffer, out);
        } else {
            self.posted.push(pattern, token);
            self.set_state(token, State::Posted { pattern, buffer });
        }
    }

    /// A message has come whose turn it is.
    pub(super) fn arrived(&mut self, message: Message, out: &mut Actions) {
        let Some(token) = self.posted.take(&message.head) else {
            return self.arrived_unposted(message, out);
        };
        if let Some(State::Posted { buffer, .. }) = self.requests.get(token).map(|request| request.state) {
            self.accept(message, token, buffer, out);
        }
    }

    /// A message has come whose turn it is, and for which no receive was posted.
    fn arrived_unposted(&mut self, message: Message, out: &mut Actions) {
        let head = message.head;
        let awaits = self.waiting.as_ref().and_then(|waiting| waiting.awaits(&head));
        match (awaits, message.content) {
            (Some(into), Content::Here(payload)) => {
                out.push(Action::Deliver { payload, into });
                self.met_awaited(&head, &into);
                out.push(Action::Wake);
            }
            (Some(into), content) => {
                let request = self.open_awaited();
                self.accept(Message { head, content }, request, into, out);
            }
            (None, content) => {
                self.unexpected.push(Message { head, content });
                self.message_kept(&head, out);
            }
        }
    }

    /// The receive that gets a whole message which has just come, and where its bytes go: if it was posted, or is what the rank waits
    /// for, the turn of the message is now, and nothing waits behind it. Then it is to be told that they [have met](Engine::met). Else
    /// nothing is changed, and the frame is to be [taken in](Engine::on_frame).
    pub fn meet(&mut self, head: &Head, bytes: u64) -> Option<(Met, Buffer)> {
        let Engine { order, posted, requests, waiting, .. } = self;
        let turn = order.turn_alone(head).filter(|_| bytes == head.bytes)?;
        let met = match posted.take(head) {
            Some(token) => {
                let State::Posted { buffer, .. } = requests.get(token)?.state else { return None };
                (Met::Posted(token), buffer)
            }
            None => (Met::Awaited, waiting.as_ref()?.awaits(head)?),
        };
        turn.pass();
        Some(met)
    }

    /// The same if that is what the rank waits for, and no receive is posted: where the bytes go. It [has got](Engine::got_awaited) them
    /// then.
    #[inline]
    pub fn awaits_whole(&self, head: &Head, bytes: u64) -> Option<Buffer> {
        let into = self.waiting.as_ref()?.awaits(head)?;
        (self.posted.is_empty() && bytes == head.bytes).then_some(into)
    }

    /// The turn of such a message is now, and its bytes are where they go. False if it is not: nothing has changed then.
    #[inline]
    pub fn got_awaited(&mut self, head: &Head, into: &Buffer, write: impl FnOnce()) -> bool {
        let Some(turn) = self.order.turn_alone(head) else { return false };
        write();
        turn.pass();
        self.met_awaited(head, into);
        true
    }

    /// The same for a receive that is not posted, as the rank waits for its message where it calls: whether it gets this one, which
    /// no other receive was posted for. Then it has received it, with this status. What came before it has looked at.
    pub fn meet_unposted(
        &mut self,
        (pattern, into): (&Pattern, &Buffer),
        head: &Head,
        bytes: u64,
    ) -> Option<Status> {
        let is_its = bytes == head.bytes && pattern.accepts(head) && !self.posted.has_for(head);
        self.order.turn_alone(head).filter(|_| is_its)?.pass();
        Some(received(head, into))
    }

    /// The bytes of such a message are where they go.
    pub fn met(&mut self, head: &Head, receive: Met, into: &Buffer, out: &mut Actions) {
        match receive {
            Met::Posted(token) => self.complete(token, received(head, into), out),
            // Who drives the rank looks for that itself.
            Met::Awaited => self.met_awaited(head, into),
        }
    }

    /// A receive has its message.
    pub(super) fn accept(&mut self, message: Message, token: Token, buffer: Buffer, out: &mut Actions) {
        let (head, status) = (message.head, received(&message.head, &buffer));
        match message.content {
            Content::Here(payload) => self.deliver(token, payload, buffer, status, out),
            Content::Announced { send, synchronous, paid: Some(payload) } => {
                if synchronous {
                    self.pull(&head, send, token, out);
                }
                self.deliver(token, payload, buffer, status, out);
            }
            Content::Announced { send, paid: None, .. } => {
                self.pull(&head, send, token, out);
                self.set_state(token, State::Pulling { status, buffer, send, context: head.context });
            }
        }
    }

    /// Bytes that were pulled.
    pub(super) fn data(
        &mut self,
        head: &Head,
        receive: Token,
        payload: Payload,
        out: &mut Actions,
    ) -> Result<(), FrameError> {
        let state = self.requests.get(receive).map(|request| request.state);
        let Some(State::Pulling { status, buffer, .. }) = state.filter(|state| pulls_from(state, head))
        else {
            return Err(FrameError::NotPulled { source_rank: head.source, bytes: head.bytes });
        };
        self.deliver(receive, payload, buffer, status, out);
        Ok(())
    }

    /// Where the bytes go that a receive waits for: no more than the message has, however much room there is.
    pub fn pulls_into(&self, receive: Token) -> Option<Buffer> {
        match self.requests.get(receive)?.state {
            State::Pulling { buffer, status, .. } => {
                Some(Buffer { bytes: buffer.bytes.min(status.bytes), ..buffer })
            }
            _ => None,
        }
    }

    /// The bytes that a receive waits for were read from where the sender has them.
    pub fn took(&mut self, receive: Token, out: &mut Actions) {
        if let Some(State::Pulling { status, .. }) = self.requests.get(receive).map(|request| request.state) {
            self.complete(receive, status, out);
        }
    }

    /// Bytes that nobody pulled. They come after the announcement, since both are numbered; but the message may be
    /// taken back.
    pub(super) fn paid(&mut self, head: &Head, sent: Token, payload: Payload, out: &mut Actions) {
        if let Some(message) = self.unexpected.announced_mut(head.context, head.source, sent) {
            return settle(message, payload);
        }
        let mut held = self.held.values_mut();
        if let Some(message) = held.find(|held| held.send() == Some(sent) && held.head.source == head.source)
        {
            return settle(message, payload);
        }
        if let Some((token, buffer, status)) = self.pulling(head, sent) {
            self.deliver(token, payload, buffer, status, out);
        }
    }

    fn pulling(&self, head: &Head, sent: Token) -> Option<(Token, Buffer, Status)> {
        self.requests.iter().find_map(|(token, request)| match request.state {
            State::Pulling { status, buffer, send, .. }
                if send == sent && pulls_from(&request.state, head) =>
            {
                Some((token, buffer, status))
            }
            _ => None,
        })
    }

    fn pull(&mut self, head: &Head, send: Token, receive: Token, out: &mut Actions) {
        let to = Envelope { context: head.context, to: head.source, tag: 0 };
        self.emit(to, 0, Body::Pull { send, receive }, out);
    }

    fn deliver(&mut self, token: Token, payload: Payload, into: Buffer, status: Status, out: &mut Actions) {
        out.push(Action::Deliver { payload, into });
        self.complete(token, status, out);
    }
}

/// The status of a receive that was matched with a message.
pub(super) fn received(head: &Head, buffer: &Buffer) -> Status {
    let truncated =
        (head.bytes > buffer.bytes).then_some(Truncated { message: head.bytes, buffer: buffer.bytes });
    Status { source: Some(head.source), tag: Some(head.tag), bytes: head.bytes, cancelled: false, truncated }
}

/// Whether a receive waits for bytes of this sender.
fn pulls_from(state: &State, head: &Head) -> bool {
    matches!(state, State::Pulling { status, context, .. }
        if status.source == Some(head.source) && *context == head.context)
}

fn settle(message: &mut Message, payload: Payload) {
    if let Content::Announced { paid, .. } = &mut message.content {
        *paid = Some(payload);
    }
}
