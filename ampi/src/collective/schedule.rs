//! A schedule: what one rank does in a collective.

use std::ops::Range;

use talisman_pup::Pup;

use super::Values;
use crate::engine::Rank;

/// A memory that a schedule works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Place {
    /// The caller's send buffer. Never written to.
    Send,
    /// The caller's receive buffer.
    Receive,
    /// Memory that lives as long as the collective runs.
    Scratch,
}

/// Values in one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Span {
    /// In which.
    pub place: Place,
    /// Where, in bytes from the beginning.
    pub at: i64,
    /// How many.
    pub count: u64,
    /// Of which datatype, by its handle.
    pub datatype: u32,
    /// Length of all, packed.
    pub bytes: u64,
}

impl Span {
    /// No values.
    pub const EMPTY: Span = Span { place: Place::Receive, at: 0, count: 0, datatype: 0, bytes: 0 };
}

/// One thing that a rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Step {
    /// Copies values.
    Copy {
        /// From here.
        from: Span,
        /// To here.
        into: Span,
    },
    /// `into[i] = left[i] op into[i]`.
    Combine {
        /// The left operands.
        left: Span,
        /// The right operands, and the results.
        into: Span,
    },
    /// Sends to a member.
    Send {
        /// To whom.
        to: u32,
        /// What.
        from: Span,
    },
    /// Receives from a member.
    Receive {
        /// From whom.
        from: u32,
        /// Where to.
        into: Span,
    },
}

/// Rounds of steps. The steps of a round are begun in order; a round begins when all messages of the one before have
/// been sent and received.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Schedule {
    steps: Vec<Step>,
    /// Where rounds end among the steps; the last one ends with them.
    ends: Vec<u32>,
    /// Bytes of scratch memory.
    scratch: u64,
    /// The first round in which all members are known to have come, if it is told.
    settled: Option<u32>,
}

impl Schedule {
    /// Without a step.
    pub fn new() -> Schedule {
        // Most members of a tree have no more.
        Schedule { steps: Vec::with_capacity(4), ends: Vec::with_capacity(4), scratch: 0, settled: None }
    }

    /// Where a round is among the steps; none if there are fewer rounds.
    pub fn round(&self, number: usize) -> Option<Range<usize>> {
        let begin = match number {
            0 => 0,
            _ => *self.ends.get(number - 1)? as usize,
        };
        let end = self.ends.get(number).map_or(self.steps.len(), |end| *end as usize);
        Some(begin..end)
    }

    /// A step, by its place among all.
    pub fn step(&self, at: usize) -> Option<Step> {
        self.steps.get(at).copied()
    }

    /// Whether all members are known to have come when this round is under way.
    pub fn is_settled(&self, round: usize) -> bool {
        self.settled.is_some_and(|settled| round >= settled as usize)
    }

    /// All members have come when what is in it by now has been done.
    pub(super) fn settled(mut self) -> Schedule {
        self.wait();
        self.settled = Some(self.ends.len() as u32);
        self
    }

    /// With other names of those it sends to and receives from.
    pub(crate) fn among(mut self, name: impl Fn(u32) -> Rank) -> Schedule {
        for step in &mut self.steps {
            if let Step::Send { to: member, .. } | Step::Receive { from: member, .. } = step {
                *member = name(*member);
            }
        }
        self
    }

    /// Bytes of scratch memory.
    pub fn scratch(&self) -> u64 {
        self.scratch
    }

    pub(super) fn copy(&mut self, from: Span, into: Span) {
        if from != into && from.bytes > 0 {
            self.add(Step::Copy { from, into });
        }
    }

    pub(super) fn combine(&mut self, left: Span, into: Span) {
        if into.bytes > 0 {
            self.add(Step::Combine { left, into });
        }
    }

    pub(super) fn send(&mut self, to: u32, from: Span) {
        self.add(Step::Send { to, from });
    }

    pub(super) fn receive(&mut self, from: u32, into: Span) {
        self.add(Step::Receive { from, into });
    }

    /// What follows begins when all messages so far have been sent and received.
    pub(super) fn wait(&mut self) {
        let end = self.steps.len() as u32;
        if end > self.ends.last().copied().unwrap_or_default() {
            self.ends.push(end);
        }
    }

    /// One after the other. What the first has in scratch memory is not needed any more when the next begins.
    pub(super) fn then(mut self, next: Schedule) -> Schedule {
        self.wait();
        let before = self.steps.len() as u32;
        self.steps.extend(next.steps);
        self.ends.extend(next.ends.into_iter().map(|end| before + end));
        self.scratch = self.scratch.max(next.scratch);
        self
    }

    /// Scratch memory for so many values.
    pub(super) fn temporary(&mut self, values: &Values, count: u64) -> Span {
        let at = (self.scratch + values.lead).next_multiple_of(16);
        self.scratch = at + values.room(count);
        values.span(Place::Scratch, at as i64, count)
    }

    /// Scratch memory for so many packed bytes.
    pub(super) fn packed(&mut self, bytes: u64) -> Span {
        self.temporary(&Values::BYTES, bytes)
    }

    fn add(&mut self, step: Step) {
        self.steps.push(step);
    }
}
