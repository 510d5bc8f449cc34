//! Sending: at once, or announced until the receiver pulls.

use talisman_observe::mutations::mutated;

use super::request::{Announced, Envelope, Owner, Plan, State};
use super::{Action, Actions, Body, Buffer, Engine, Frame, Head, Mode, Rank, Status, Token};

impl Engine {
    /// Begins to send (`MPI_Isend` and its kin).
    pub fn send(
        &mut self,
        mode: Mode,
        envelope: Envelope,
        buffer: Buffer,
        owner: Owner,
        out: &mut Actions,
    ) -> Token {
        let token = self.requests.insert(owner, None, State::Opened);
        self.begin_send(token, mode, envelope, buffer, out);
        token
    }

    /// A send that is begun by [`Engine::start`], again and again (`MPI_Send_init`).
    pub fn send_init(&mut self, mode: Mode, envelope: Envelope, buffer: Buffer) -> Token {
        self.requests.insert(Owner::User, Some(Plan::Send { mode, envelope, buffer }), State::Inactive)
    }

    pub(super) fn begin_send(
        &mut self,
        token: Token,
        mode: Mode,
        to: Envelope,
        buffer: Buffer,
        out: &mut Actions,
    ) {
        if leaves_at_once(mode, buffer.bytes, self.eager_max) {
            self.emit(to, buffer.bytes, Body::Eager(buffer), out);
            self.complete(token, Status::EMPTY, out);
        } else {
            // One that is begun again and again ends when it was matched: a pull of the one before never meets the next.
            let is_persistent = self.requests.get(token).is_some_and(|request| request.plan.is_some());
            let synchronous = mode == Mode::Synchronous || is_persistent;
            self.emit(to, buffer.bytes, Body::Announce { send: token, synchronous, loan: None }, out);
            let announced = Announced { envelope: to, buffer, synchronous, paid: false, cancelling: false };
            self.set_state(token, State::Announced(announced));
        }
    }

    /// A receive was matched with an announced send. One that was paid for before its receiver knew is not there any
    /// more, or has nothing to send.
    pub(super) fn pulled(&mut self, from: &Head, send: Token, receive: Token, out: &mut Actions) {
        let Some(announced) = self.announced(send, from.source) else { return };
        if !announced.paid {
            let to = Envelope { context: from.context, to: from.source, tag: announced.envelope.tag };
            let data = Body::Data { receive, payload: announced.buffer };
            self.emit(to, announced.buffer.bytes, data, out);
        }
        self.complete(send, Status::EMPTY, out);
    }

    /// A receive was matched with an announced send, and its bytes were read from the buffer. If they were paid for
    /// before, the payment finds nobody who waits for it.
    pub(super) fn taken(&mut self, from: &Head, send: Token, out: &mut Actions) {
        if self.announced(send, from.source).is_some() {
            self.complete(send, Status::EMPTY, out);
        }
    }

    /// The bytes of a send that was just announced are where its receiver wants them.
    pub fn gave(&mut self, send: Token, out: &mut Actions) {
        self.complete(send, Status::EMPTY, out);
    }

    /// Where the bytes of an announced send are until it has ended.
    pub fn announces(&self, send: Token) -> Option<Buffer> {
        match self.requests.get(send)?.state {
            State::Announced(announced) => Some(announced.buffer),
            _ => None,
        }
    }

    /// The rank leaves for another place, and its memory with it: what it has announced goes to the receivers now. Returns
    /// whether there was anything.
    pub fn pay(&mut self, out: &mut Actions) -> bool {
        let mut unpaid = Vec::new();
        for (token, request) in self.requests.iter_mut() {
            if let State::Announced(announced) = &mut request.state
                && !std::mem::replace(&mut announced.paid, true)
            {
                unpaid.push((token, *announced));
            }
        }
        let has_paid = !unpaid.is_empty();
        for (send, announced) in unpaid {
            if mutated("announced-send-not-paid") {
                continue;
            }
            let paid = Body::Paid { send, payload: announced.buffer };
            self.emit(announced.envelope, announced.buffer.bytes, paid, out);
            if !announced.synchronous && !announced.cancelling {
                self.complete(send, Status::EMPTY, out);
            }
        }
        has_paid
    }

    /// A send of this name that was announced to this receiver.
    pub(super) fn announced(&self, send: Token, to: Rank) -> Option<Announced> {
        match self.requests.get(send)?.state {
            State::Announced(announced) if announced.envelope.to == to => Some(announced),
            _ => None,
        }
    }

    /// Numbers a frame, if it is one of those, and sends it.
    pub(super) fn emit(&mut self, to: Envelope, bytes: u64, body: Body<Buffer>, out: &mut Actions) {
        let head = match body.is_numbered() {
            true => self.numbered_head(to, bytes),
            false => self.head(to, 0, bytes),
        };
        out.push(Action::Send { to: to.to, frame: Frame { head, body } });
    }

    /// The head of the next numbered frame to a receiver.
    #[inline]
    pub(super) fn numbered_head(&mut self, to: Envelope, bytes: u64) -> Head {
        let number = self.order.next_to(to.context, to.to);
        self.head(to, number, bytes)
    }

    #[inline]
    fn head(&self, to: Envelope, number: u32, bytes: u64) -> Head {
        Head { context: to.context, source: self.rank, tag: to.tag, number, bytes }
    }

    pub(super) fn set_state(&mut self, token: Token, state: State) {
        if let Some(request) = self.requests.get_mut(token) {
            request.state = state;
        }
    }
}

/// Whether a message of so many bytes is sent without being announced.
#[inline]
pub(super) fn leaves_at_once(mode: Mode, bytes: u64, eager_max: u64) -> bool {
    match mode {
        Mode::Standard | Mode::Ready => bytes <= eager_max,
        Mode::Buffered => true,
        Mode::Synchronous => false,
    }
}
