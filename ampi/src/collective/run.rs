//! Running schedules on the engine.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use talisman_pup::Pup;

use super::{Place, Schedule, Span, Step};
use crate::engine::{
    Action, Actions, Area, Buffer, Context, Engine, Envelope, Mode, Owner, Pattern, Status, Tag, Token,
    Truncated,
};

/// How a collective is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Call {
    /// The communicator's context for collectives.
    pub context: Context,
    /// Counts the collectives of the communicator, so that messages of several at once are kept apart.
    pub tag: Tag,
    /// The address of the send buffer.
    pub send: u64,
    /// The address of the receive buffer.
    pub receive: u64,
    /// The operation, by its handle.
    pub op: u32,
    /// Ends when the collective does; opened by the caller.
    pub request: Token,
}

/// The collectives of one rank that are under way.
#[derive(Debug, Default, PartialEq, Pup)]
pub struct Collectives {
    running: HashMap<u32, Running, FxBuildHasher>,
    next: u32,
}

#[derive(Debug, PartialEq, Pup)]
struct Running {
    schedule: Schedule,
    call: Call,
    /// The round that is under way.
    round: usize,
    /// Messages of it that are.
    pending: u32,
    truncated: Option<Truncated>,
}

impl Collectives {
    /// Begins one, whose schedule names ranks of the world.
    pub fn start(&mut self, schedule: Schedule, call: Call, engine: &mut Engine, out: &mut Actions) {
        let number = self.number();
        out.push(Action::Allocate { scratch: number, bytes: schedule.scratch() });
        self.running.insert(number, Running { schedule, call, round: 0, pending: 0, truncated: None });
        self.go_on(number, engine, out);
        self.advance(engine, out);
    }

    /// A number that no other scratch memory has.
    pub(crate) fn number(&mut self) -> u32 {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        number
    }

    /// Goes on with those whose messages the engine has ended.
    pub fn advance(&mut self, engine: &mut Engine, out: &mut Actions) {
        while let Some((number, status)) = engine.next_finished() {
            let Some(running) = self.running.get_mut(&number) else { continue };
            running.truncated = running.truncated.or(status.truncated);
            running.pending = running.pending.saturating_sub(1);
            if running.pending == 0 {
                running.round += 1;
                self.go_on(number, engine, out);
            }
        }
    }

    /// Whether there is one to which all have come, and which has not ended here: it may have elsewhere, and does by itself.
    pub fn is_ending(&self) -> bool {
        self.running.values().any(|running| running.schedule.is_settled(running.round))
    }

    /// How many are under way.
    pub fn under_way(&self) -> usize {
        self.running.len()
    }

    /// Begins rounds until one has messages to wait for, or all are done.
    fn go_on(&mut self, number: u32, engine: &mut Engine, out: &mut Actions) {
        let Some(running) = self.running.get_mut(&number) else { return };
        while let Some(round) = running.schedule.round(running.round) {
            let steps = round.filter_map(|at| running.schedule.step(at));
            running.pending = steps.map(|step| running.call.begin(number, step, engine, out)).sum();
            if running.pending > 0 {
                return;
            }
            running.round += 1;
        }
        let (request, truncated) = (running.call.request, running.truncated);
        self.running.remove(&number);
        out.push(Action::Free { scratch: number });
        engine.finish(request, Status { truncated, ..Status::EMPTY }, out);
    }
}

impl Call {
    /// Begins a step. Returns how many messages are to be waited for.
    fn begin(&self, number: u32, step: Step, engine: &mut Engine, out: &mut Actions) -> u32 {
        let owner = Owner::Schedule(number);
        match step {
            Step::Copy { from, into } => {
                out.push(Action::Copy { from: self.buffer(number, from), into: self.buffer(number, into) });
                0
            }
            Step::Combine { left, into } => {
                let (left, into) = (self.buffer(number, left), self.buffer(number, into));
                out.push(Action::Combine { op: self.op, left, into });
                0
            }
            Step::Send { to, from } => {
                let envelope = Envelope { context: self.context, to, tag: self.tag };
                engine.send(Mode::Standard, envelope, self.buffer(number, from), owner, out);
                1
            }
            Step::Receive { from, into } => {
                let pattern = Pattern { context: self.context, source: Some(from), tag: Some(self.tag) };
                engine.receive(pattern, self.buffer(number, into), owner, out);
                1
            }
        }
    }

    fn buffer(&self, number: u32, span: Span) -> Buffer {
        let (area, base) = match span.place {
            Place::Send => (Area::Memory, self.send),
            Place::Receive => (Area::Memory, self.receive),
            Place::Scratch => (Area::Scratch(number), 0),
        };
        let Span { at, count, datatype, bytes, .. } = span;
        Buffer { area, at: base.wrapping_add_signed(at), count, datatype, bytes }
    }
}
