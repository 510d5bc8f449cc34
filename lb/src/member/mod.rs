//! A PE's part in a balancing step, as a pure state machine: events in, actions out.
//!
//! Strategies that see everything are driven by one kind of member (they gather what the PEs know, decide, and tell the PEs); those that
//! nobody has to see everything for have members of their own.

pub mod central;
mod gathered;
pub(crate) mod place;
pub mod tree;

use crate::snapshot::{Edge, Key, Node, Object, Pe};
use crate::strategies::Choice;
use talisman_pup::Pup;

/// The member of PE `pe` of `pes` for one step of what was chosen. Only that of PE 0 uses a central strategy.
pub fn of(choice: Choice, pe: u32, pes: u32) -> Box<dyn Member> {
    match choice {
        Choice::Central(strategy) => Box::new(central::Central::new(strategy, pe, pes)),
        Choice::Distributed(strategy) => strategy.member(pe, pes),
    }
}

/// What a PE knows when a step begins.
#[derive(Clone, Debug, PartialEq, Pup)]
pub struct Local {
    /// Its number.
    pub number: u32,
    /// Itself.
    pub pe: Pe,
    /// Its node.
    pub node: Node,
    /// PEs of the job.
    pub pes: u32,
    /// Its objects, in the order of their keys.
    pub objects: Vec<Object>,
    /// What its objects sent: `from` is a number in `objects`, `to` one in `peers`.
    pub edges: Vec<Edge>,
    /// Who they sent to, in the order of their keys.
    pub peers: Vec<Key>,
}

/// What happens to a member.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A step begins: the first event of each.
    Begin(Box<Local>),
    /// A note of another member of this step.
    Note {
        /// Its PE.
        from: u32,
        /// What the member packed.
        note: Vec<u8>,
    },
}

/// What a member wants done, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A note to the member of another PE. Notes from one PE to another keep their order.
    Send {
        /// The PE.
        to: u32,
        /// What that member will read.
        note: Vec<u8>,
    },
    /// An object of this PE goes to another.
    Move {
        /// Which.
        object: Key,
        /// Where to.
        to: u32,
    },
    /// This member has decided all it has to: no move comes after it. Notes to it may still come and have to be taken.
    Decided(Decided),
}

/// What a member knows at the end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decided {
    /// Seconds that its PE will need for a period like the last one, background included.
    pub predicted: f64,
    /// Why nothing was decided, if a strategy failed or what it said made no sense.
    pub refused: Option<String>,
}

/// A PE's part in a step.
///
/// Its first event is `Begin`: whoever drives it holds back notes that come earlier. Notes of one PE come in the order in which they were
/// sent, those of several PEs in any. A note that makes no sense is left out and told of in [`Decided::refused`].
pub trait Member: Send {
    /// Takes an event; what is to be done is added to `actions`.
    fn step(&mut self, event: Event, actions: &mut Vec<Action>);

    /// How many objects it has descriptions of, its own PE's included; 0 if it does not count them.
    fn held(&self) -> usize {
        0
    }
}
