mod cancels;
mod hostile;
mod lists;
mod model;
mod waits;

use super::*;

/// An engine, and the actions of the last call.
pub struct Driven {
    pub engine: Engine,
    out: Actions,
}

pub const USER: Owner = Owner::User;

impl Driven {
    pub fn new(rank: Rank) -> Driven {
        Driven { engine: Engine::new(rank), out: Vec::new() }
    }

    /// What the call led to.
    pub fn actions(&mut self) -> Actions {
        std::mem::take(&mut self.out)
    }

    pub fn send(&mut self, mode: Mode, to: Rank, tag: Tag, bytes: u64) -> Token {
        self.engine.send(mode, envelope(to, tag), memory(bytes), USER, &mut self.out)
    }

    pub fn receive(&mut self, source: Option<Rank>, tag: Option<Tag>, bytes: u64) -> Token {
        self.engine.receive(pattern(source, tag), memory(bytes), USER, &mut self.out)
    }

    pub fn frame(&mut self, frame: Frame<Payload>) {
        self.engine.on_frame(frame, &mut self.out).expect("a peer would send it");
    }

    pub fn cancel(&mut self, token: Token) {
        self.engine.cancel(token, &mut self.out).expect("it is there");
    }

    pub fn start(&mut self, token: Token) {
        self.engine.start(token, &mut self.out).expect("it is persistent");
    }

    pub fn took(&mut self, receive: Token) {
        self.engine.took(receive, &mut self.out);
    }

    pub fn pay(&mut self) {
        self.engine.pay(&mut self.out);
    }

    /// Packed and unpacked, as by a move.
    pub fn moved(&mut self) {
        let back = talisman_pup::from_bytes(&talisman_pup::to_bytes(&self.engine)).expect("what was packed");
        assert_eq!(self.engine, back);
        self.engine = back;
    }
}

pub fn envelope(to: Rank, tag: Tag) -> Envelope {
    Envelope { context: 5, to, tag }
}

pub fn pattern(source: Option<Rank>, tag: Option<Tag>) -> Pattern {
    Pattern { context: 5, source, tag }
}

pub fn memory(bytes: u64) -> Buffer {
    Buffer::of_bytes(0x1000, bytes)
}

pub fn head(source: Rank, tag: Tag, number: u32, bytes: u64) -> Head {
    Head { context: 5, source, tag, number, bytes }
}

pub fn eager(source: Rank, tag: Tag, number: u32, bytes: &[u8]) -> Frame<Payload> {
    Frame { head: head(source, tag, number, bytes.len() as u64), body: Body::Eager(Payload::of(bytes)) }
}

/// An announced message; `index` names the sender's request.
pub fn announce(source: Rank, tag: Tag, number: u32, bytes: u64, index: u32) -> Frame<Payload> {
    let body = Body::Announce { send: token(index), synchronous: false, loan: None };
    Frame { head: head(source, tag, number, bytes), body }
}

pub fn token(index: u32) -> Token {
    Token { index, generation: 0 }
}

pub fn sent(to: Rank, head: Head, body: Body<Buffer>) -> Action {
    Action::Send { to, frame: Frame { head, body } }
}

pub fn delivered(bytes: &[u8], into: u64) -> Action {
    Action::Deliver { payload: Payload::of(bytes), into: memory(into) }
}

pub fn status(source: Rank, tag: Tag, bytes: u64) -> Status {
    Status { source: Some(source), tag: Some(tag), bytes, ..Status::EMPTY }
}
