//! Messages that nobody got, at the end of a job that ended well.
//!
//! A message for an element that does not exist waits at the element's home, which may be made yet. A job that gets stuck over one says so
//! (`quiescence.rs`); one that ends without it says so too, but has done what it wanted: its exit status stays.
//!
//! The home knows the entry and the PE that it was called on. Who called it is noted there where that is cheap and likely to be wanted: when an
//! index is called that is not among the first elements of an array that has them, or whose home the caller's own PE is.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::collection::Collection;
use crate::launch::report::Undelivered;
use crate::location::Place;
use crate::message::control::ObjectMessage;
use crate::message::envelope::{Body, Envelope};
use crate::pe::Pe;
use talisman_base::ids::{ObjId, PeId};
use talisman_observe::sometimes::sometimes;

/// Callers that a PE notes at a time, and kinds of messages that it tells of.
const NOTED: usize = 64;
/// Kinds of messages that a job tells of, however many PEs it has.
const TOLD: usize = 1000;
/// Callers that are named of messages of one kind.
const NAMED: usize = 3;

/// Who called an entry of what does not exist, as far as this PE knows.
#[derive(Default)]
pub(crate) struct Callers {
    noted: RefCell<BTreeMap<(ObjId, u16, ObjId), ()>>,
    /// Nothing more is noted.
    full: Cell<bool>,
}

/// What PEs know of messages that nobody got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Leftovers {
    kept: Vec<Kept>,
    callers: Vec<Caller>,
    /// Messages of further kinds.
    others: u64,
}

/// Messages of one kind, at the home of their receiver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    to: String,
    entry: String,
    /// Where it was called.
    pe: PeId,
    count: u64,
}

/// Who called an entry, on a PE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Caller {
    to: String,
    entry: String,
    pe: PeId,
    who: String,
}

impl Leftovers {
    /// With those of others.
    pub(crate) fn add(&mut self, mut other: Leftovers) {
        self.others = self.others.saturating_add(other.others);
        self.kept.append(&mut other.kept);
        self.callers.append(&mut other.callers);
        self.callers.truncate(TOLD);
        let further = self.kept.split_off(self.kept.len().min(TOLD));
        let further = further.iter().fold(0, |sum: u64, kept| sum.saturating_add(kept.count));
        self.others = self.others.saturating_add(further);
    }

    /// What is told of them, in the same order in every run; those of too many kinds as one.
    pub(crate) fn told(mut self) -> Vec<Undelivered> {
        self.kept
            .sort_by(|one, other| (&one.to, &one.entry, one.pe).cmp(&(&other.to, &other.entry, other.pe)));
        let mut told: Vec<_> = self.kept.iter().map(|kept| self.of(kept)).collect();
        if self.others > 0 {
            told.push(Undelivered { count: self.others, ..Undelivered::default() });
        }
        told
    }

    fn of(&self, kept: &Kept) -> Undelivered {
        let is_of =
            |caller: &&Caller| caller.to == kept.to && caller.entry == kept.entry && caller.pe == kept.pe;
        let mut who: Vec<_> = self.callers.iter().filter(is_of).map(|caller| caller.who.as_str()).collect();
        if who.len() > NAMED {
            who.truncate(NAMED);
            who.push("others");
        }
        let from = match who.is_empty() {
            true => format!("PE {}", kept.pe),
            false => format!("{} on PE {}", who.join(", "), kept.pe),
        };
        Undelivered { to: kept.to.clone(), entry: kept.entry.clone(), from, count: kept.count }
    }
}

impl Pe {
    /// Whether a message for an object that is not known here may be for one that never comes: its index is not among the first ones.
    pub(crate) fn may_be_stray(collection: &Collection, index: u128) -> bool {
        collection.bounds.is_some() && !collection.is_among_first(index)
    }

    /// The object that runs calls an entry of one that may never come.
    #[cold]
    pub(crate) fn note_caller(&self, to: ObjId, entry: u16) {
        let Some(caller) = self.running().filter(|_| !self.callers.full.get()) else { return };
        let mut noted = self.callers.noted.borrow_mut();
        if noted.len() >= NOTED {
            noted.retain(|(to, ..), ()| self.is_missing(*to));
            self.callers.full.set(noted.len() >= NOTED / 2);
        }
        noted.insert((to, entry, caller.id()), ());
    }

    /// Whether an object is not known to exist here.
    fn is_missing(&self, id: ObjId) -> bool {
        let place = self.collections.get(id.collection).map(|collection| self.place_of(collection, id.index));
        matches!(place, Some(Place::Unknown | Place::Gone { .. }))
    }

    /// The job has ended here: if it ended well, what nobody got is told.
    pub(crate) fn tell_of_undelivered(&self) {
        if self.node.job.how_it_ended().is_none_or(|end| end.status != 0) {
            return;
        }
        let (mut leftovers, mut kinds) = (Leftovers::default(), BTreeMap::new());
        for collection in self.collections.iter() {
            collection.each_awaiting(|index, message| {
                if let Some(entry) = entry_of(collection, message) {
                    *kinds.entry((collection.id, index, entry, message.from)).or_insert(0_u64) += 1;
                }
            });
        }
        if kinds.is_empty() && self.callers.noted.borrow().is_empty() {
            return;
        }
        for ((collection, index, entry, pe), count) in kinds {
            let Some(collection) = self.collections.get(collection) else { continue };
            sometimes("a job ended well, and an element had not come that had messages");
            match leftovers.kept.len() < NOTED {
                true => {
                    let kept = Kept { to: collection.label(index), entry: entry.into(), pe, count };
                    leftovers.kept.push(kept);
                }
                false => leftovers.others += count,
            }
        }
        leftovers.callers = self.callers_noted();
        self.node.job.left_over(leftovers);
    }

    fn callers_noted(&self) -> Vec<Caller> {
        let noted = self.callers.noted.borrow();
        let caller = |(to, entry, who): &(ObjId, u16, ObjId)| {
            let (called, calling) =
                (self.collections.get(to.collection)?, self.collections.get(who.collection)?);
            let entry = called.chare.entries.get(*entry as usize)?.name.into();
            Some(Caller { to: called.label(to.index), entry, pe: self.id, who: calling.label(who.index) })
        };
        noted.keys().filter_map(caller).collect()
    }
}

/// The entry that a message calls, if it calls one.
fn entry_of(collection: &Collection, message: &Envelope) -> Option<&'static str> {
    match (message.body, message.object_message()) {
        (Body::Invoke(entry), _) => Some(entry.name),
        (_, Some(ObjectMessage::Invoke { entry, .. })) => {
            collection.chare.entries.get(*entry as usize).map(|entry| entry.name)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(to: &str, pe: PeId, count: u64) -> Kept {
        Kept { to: to.into(), entry: "go".into(), pe, count }
    }

    fn caller(to: &str, pe: PeId, who: &str) -> Caller {
        Caller { to: to.into(), entry: "go".into(), pe, who: who.into() }
    }

    #[test]
    fn who_called_is_found_on_the_pe_that_it_was_called_on() {
        let mut all =
            Leftovers { kept: vec![kept("A[9]", 3, 2), kept("A[8]", 1, 1)], ..Leftovers::default() };
        let callers = vec![caller("A[9]", 3, "A[2]"), caller("A[9]", 2, "A[1]"), caller("A[7]", 1, "A[0]")];
        all.add(Leftovers { callers, ..Leftovers::default() });
        let lines: Vec<_> = all.told().iter().map(ToString::to_string).collect();
        let expected = [
            "1 message for A[8], which does not exist: `go`, called by PE 1",
            "2 messages for A[9], which does not exist: `go`, called by A[2] on PE 3",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn however_many_pes_have_kept_some_little_is_told() {
        let mut all = Leftovers::default();
        for pe in 0..2000 {
            let callers = (0..64).map(|who| caller("A[9]", pe, &format!("A[{who}]"))).collect();
            all.add(Leftovers { kept: vec![kept("A[9]", pe, 5); 64], callers, others: 1 });
        }
        assert!(all.kept.len() <= TOLD && all.callers.len() <= TOLD);
        let told = all.told();
        assert_eq!(told.iter().map(|of| of.count).sum::<u64>(), 2000 * (64 * 5 + 1));
        assert_eq!(told[0].from, "A[0], A[1], A[2], others on PE 0");
    }
}
