//! What has to hold in every run, whatever goes wrong in it: each file here watches one thing.
//!
//! An oracle hears of every message and object ([`Seen`]) and keeps its own account of them, which shares nothing with the
//! runtime's. It forgets what is over, so that it can watch long runs.

mod bounds;
mod broadcasts;
mod causality;
mod cut;
mod delivery;
mod incarnation;
mod order;
pub mod past;
mod quiescence;
mod reductions;
mod resources;

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use talisman::ids::PeId;
use talisman::witness::{self, Seen};

pub use past::Book;
use past::Past;

/// Watches one thing.
pub trait Oracle {
    /// What a violation is called by.
    fn name(&self) -> &'static str;

    /// Something happens.
    ///
    /// # Errors
    /// If it must not.
    fn see(&mut self, seen: &Seen) -> Result<(), String>;

    /// As it is now, for a job that may go back to here.
    fn keep(&mut self) -> Box<dyn Oracle>;

    /// It is as it was when it was kept at a cut, and the job is about to go on from there: what a checkpoint does not keep is gone.
    fn go_back(&mut self) {}

    /// Whether what it knows stays when a job goes back, since it is about memory, which does not.
    fn outlasts(&self) -> bool {
        false
    }

    /// The job has ended and all that it had is freed; `ended_well`: with a result.
    ///
    /// # Errors
    /// If something is left that must not be.
    fn end(&mut self, ended_well: bool) -> Result<(), String>;
}

/// What a workload says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// It ends well only when nothing is left to do: every message has been delivered then, every broadcast received.
    pub drained: bool,
    /// Messages that there are at once, at most.
    pub messages_max: usize,
    /// Messages in the queue of a PE, at most.
    pub queued_max: usize,
    /// Messages that wait for something else than their turn in a queue, at most.
    pub kept_max: usize,
}

impl Default for Expected {
    /// It may end at any time, and has so many messages as make sense in a short run.
    fn default() -> Self {
        Expected { drained: false, messages_max: 1 << 20, queued_max: 1 << 20, kept_max: 1 << 20 }
    }
}

/// Whether no PE is in both.
fn are_apart(one: &Range<PeId>, other: &Range<PeId>) -> bool {
    one.end <= other.start || other.end <= one.start
}

/// Every oracle, for a workload that says nothing of itself.
pub fn all() -> Vec<Box<dyn Oracle>> {
    all_expecting(Expected::default())
}

/// Every oracle.
pub fn all_expecting(expected: Expected) -> Vec<Box<dyn Oracle>> {
    vec![
        Box::new(delivery::Delivery::new(expected.drained)),
        Box::new(order::Order::default()),
        Box::new(causality::Causality::default()),
        Box::new(incarnation::Incarnation::default()),
        Box::new(reductions::Reductions::default()),
        Box::new(broadcasts::Broadcasts::new(expected.drained)),
        Box::new(quiescence::Quiescence::default()),
        Box::new(bounds::Bounds::new(expected)),
        Box::new(resources::Resources::default()),
        Box::new(cut::Cut::default()),
    ]
}

/// Oracles that watch this thread, until they are asked what they saw.
pub struct Watched(Rc<RefCell<Watch>>);

struct Watch {
    oracles: Vec<Box<dyn Oracle>>,
    past: Past,
    events: u64,
    violation: Option<Violation>,
}

/// What should not have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Who noticed it.
    pub oracle: &'static str,
    /// After so many events that were seen.
    pub event: u64,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "oracle {}, event {}: {}", self.oracle, self.event, self.what)
    }
}

impl Watched {
    /// From now on these see what happens in this thread.
    pub fn by(oracles: Vec<Box<dyn Oracle>>) -> Self {
        Watched::beside(oracles, None)
    }

    /// The same beside a book that goes back with the job.
    pub fn beside(oracles: Vec<Box<dyn Oracle>>, book: Option<Box<dyn Book>>) -> Self {
        let watch = Rc::new(RefCell::new(Watch::new(oracles, book)));
        let seeing = watch.clone();
        witness::call(Some(Box::new(move |epoch, seen| seeing.borrow_mut().see(epoch, seen))));
        Watched(watch)
    }

    /// The job has ended: how many events were seen.
    ///
    /// # Errors
    /// The first violation.
    pub fn end(self, ended_well: bool) -> Result<u64, Violation> {
        witness::call(None);
        let mut watch = self.0.borrow_mut();
        watch.ask(|oracle| oracle.end(ended_well));
        match watch.violation.take() {
            None => Ok(watch.events),
            Some(violation) => Err(violation),
        }
    }

    /// The first violation so far.
    pub fn violation(&self) -> Option<Violation> {
        self.0.borrow().violation.clone()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        witness::call(None);
    }
}

impl Watch {
    fn new(mut oracles: Vec<Box<dyn Oracle>>, book: Option<Box<dyn Book>>) -> Self {
        let past = Past::new(&mut oracles, book);
        Watch { oracles, past, events: 0, violation: None }
    }

    fn see(&mut self, epoch: Option<u32>, seen: &Seen) {
        self.events += 1;
        if self.violation.is_some() {
            return;
        }
        let counts = self.past.counts(epoch, seen);
        if counts && let Err(what) = self.past.see(seen, &mut self.oracles) {
            return self.violation = Some(Violation { oracle: "past", event: self.events, what });
        }
        self.ask(|oracle| if counts || oracle.outlasts() { oracle.see(seen) } else { Ok(()) });
    }

    /// Asks all oracles, unless something was wrong already: what follows from that is of no interest.
    fn ask(&mut self, question: impl Fn(&mut dyn Oracle) -> Result<(), String>) {
        if self.violation.is_some() {
            return;
        }
        for oracle in &mut self.oracles {
            if let Err(what) = question(&mut **oracle) {
                let (oracle, event) = (oracle.name(), self.events);
                return self.violation = Some(Violation { oracle, event, what });
            }
        }
    }
}

/// What tests of oracles share.
#[cfg(test)]
mod told {
    use talisman::ids::ObjId;
    use talisman::witness::{Kind, Seen, collection};

    use super::Oracle;

    /// An element of the collection that most tests are about.
    pub fn element(index: u128) -> ObjId {
        ObjId { collection: collection(0, 1), index }
    }

    /// A message from one element to another.
    pub fn sent(message: u64, pe: u32, from: u128, to: u128) -> Seen {
        let (sender, to) = (Some(element(from)), Some(element(to)));
        Seen::Sent { message, pe, sender, to, kind: Kind::Entry, in_line: true }
    }

    /// A message of the runtime to a PE.
    pub fn told(message: u64, pe: u32) -> Seen {
        let kind = Kind::Runtime { counted: true };
        Seen::Sent { message, pe, sender: None, to: None, kind, in_line: true }
    }

    /// It reaches its object.
    pub fn delivered(message: u64, pe: u32, object: u128) -> Seen {
        Seen::Delivered { message, pe, object: Some(element(object)) }
    }

    /// An object is made.
    pub fn born(index: u128, pe: u32) -> Seen {
        Seen::Born { object: element(index), pe, home: 0, moves: 0, reduction: 0, broadcast: 0, late: false }
    }

    /// Tells an oracle all this; what it says at the first mistake.
    pub fn tell(oracle: &mut dyn Oracle, story: &[Seen]) -> Result<(), String> {
        story.iter().try_for_each(|seen| oracle.see(seen))
    }

    /// Whether an oracle finds this very wrong: its last part, and not before.
    #[track_caller]
    pub fn finds(mut oracle: impl Oracle, story: &[Seen], what: &str) {
        let (last, before) = story.split_last().expect("a story");
        assert_eq!(tell(&mut oracle, before), Ok(()));
        let found = oracle.see(last).expect_err("the last part is wrong");
        assert!(found.contains(what), "{found}");
    }
}
