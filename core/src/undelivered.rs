//! Messages that nobody got, at the end of a job that ended well.
//!
//! A broadcast to an array that is filled by insertion waits at the array's root until `done_inserting`, and so does the result of what its
//! elements have contributed. If that is never called, nobody gets either.
//!
//! A message for an element that does not exist waits at the element's home, which may be made yet. A job that gets stuck over one says so
//! (`quiescence.rs`); one that ends without it says so too, but has done what it wanted: its exit status stays.
//!
//! The home knows the entry and the PE that it was called on. Who called it is noted there where that is cheap and likely to be wanted: when an
//! index is called that is not among the first elements of an array that has them, or whose home the caller's own PE is; and when the message
//! waits on the caller's PE for the place of its receiver or for its collection. Such a message is packed when its sender does not run any more
//! (`refusal.rs`).

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::collection::Collection;
use crate::launch::report::Undelivered;
use crate::location::Place;
use crate::message::control::{Cast, CastCall, ObjectMessage};
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
    noted: RefCell<Calls>,
    /// Nothing more is noted.
    full: Cell<bool>,
    /// Calls whose messages have waited here for a place or a collection.
    waiting: RefCell<Calls>,
    /// So many more such calls are not noted: there was no room for the last one.
    passed_over: Cell<usize>,
}

/// Whom, which entry, and who.
type Calls = BTreeSet<(ObjId, u16, ObjId)>;

/// What PEs know of messages that nobody got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Leftovers {
    kept: Vec<Kept>,
    callers: Vec<Caller>,
    /// What waits for all elements of arrays.
    held: Vec<Undelivered>,
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
        self.held.append(&mut other.held);
        let further = self.held.split_off(self.held.len().min(TOLD));
        let further = further.iter().fold(0, |sum: u64, held| sum.saturating_add(held.count));
        self.others = self.others.saturating_add(further);
    }

    /// What is told of them, in the same order in every run; those of too many kinds as one.
    pub(crate) fn told(mut self) -> Vec<Undelivered> {
        self.kept
            .sort_by(|one, other| (&one.to, &one.entry, one.pe).cmp(&(&other.to, &other.entry, other.pe)));
        self.held.sort_by(|one, other| (&one.to, &one.entry).cmp(&(&other.to, &other.entry)));
        let mut told: Vec<_> = self.kept.iter().map(|kept| self.of(kept)).collect();
        told.append(&mut self.held);
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
        Undelivered {
            to: kept.to.clone(),
            entry: kept.entry.clone(),
            from,
            count: kept.count,
            ..Undelivered::default()
        }
    }
}

impl Pe {
    /// Whether a message for an object that is not known here may be for one that never comes: its index is not among the first ones.
    pub(crate) fn may_be_stray(collection: &Collection, index: u128) -> bool {
        collection.bounds.is_some() && !collection.is_among_first(index)
    }

    /// The object that runs calls an entry of one that may never come, or that is not known to be anywhere yet.
    #[cold]
    pub(crate) fn note_caller(&self, to: ObjId, entry: u16) {
        let Some(caller) = self.running().filter(|_| !self.callers.full.get()) else { return };
        let mut noted = self.callers.noted.borrow_mut();
        if noted.len() >= NOTED {
            noted.retain(|(to, ..)| self.is_missing(*to));
            self.callers.full.set(noted.len() >= NOTED / 2);
        }
        noted.insert((to, entry, caller.id()));
    }

    /// The object that runs calls an entry, and the message waits here.
    #[cold]
    pub(crate) fn note_waiting(&self, to: ObjId, entry: u16) {
        let Some(caller) = self.running() else { return };
        let callers = &self.callers;
        if callers.passed_over.get() > 0 {
            return callers.passed_over.set(callers.passed_over.get() - 1);
        }
        let mut waiting = callers.waiting.borrow_mut();
        if waiting.len() >= NOTED {
            waiting.retain(|(to, ..)| self.may_wait(*to));
        }
        match waiting.len() >= NOTED {
            true => callers.passed_over.set(NOTED),
            false => drop(waiting.insert((to, entry, caller.id()))),
        }
    }

    /// Whether an object is not known to exist here.
    fn is_missing(&self, id: ObjId) -> bool {
        let place = self.collections.get(id.collection).map(|collection| self.place_of(collection, id.index));
        matches!(place, Some(Place::Unknown | Place::Gone { .. }))
    }

    /// Whether messages for an object may wait here.
    fn may_wait(&self, id: ObjId) -> bool {
        let Some(collection) = self.collections.get(id.collection) else {
            return !self.collections.is_gone(id.collection);
        };
        matches!(self.place_of(collection, id.index), Place::Unknown | Place::Gone { .. } | Place::Switching)
    }

    /// Who has called an entry of an object for which messages have waited here, if that was noted: one, or one of several.
    pub(crate) fn who_called(&self, to: ObjId, entry: u16) -> Option<String> {
        let (noted, waiting) = (self.callers.noted.borrow(), self.callers.waiting.borrow());
        let of_this = noted.union(&waiting).filter(|(of, called, _)| (*of, *called) == (to, entry));
        let mut who: Vec<_> = of_this.map(|(.., who)| self.label_of(*who)).collect();
        if who.len() > NAMED {
            who.truncate(NAMED);
            who.push("another".into());
        }
        (!who.is_empty()).then(|| who.join(" or "))
    }

    /// The job has ended here: if it ended well, what nobody got is told.
    pub(crate) fn tell_of_undelivered(&self) {
        if self.node.job.how_it_ended().is_none_or(|end| end.status != 0) {
            return;
        }
        let (mut leftovers, mut kinds) = (Leftovers::default(), BTreeMap::new());
        leftovers.held = self.collections.iter().flat_map(held_of).take(NOTED).collect();
        for collection in self.collections.iter() {
            collection.each_awaiting(|index, message| {
                if let Some(entry) = entry_of(collection, message) {
                    *kinds.entry((collection.id, index, entry, message.from)).or_insert(0_u64) += 1;
                }
            });
        }
        if kinds.is_empty() && leftovers.held.is_empty() && self.callers.noted.borrow().is_empty() {
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
        noted.iter().filter_map(caller).collect()
    }
}

/// At the root of an array whose first elements were never said to be all: what has waited for that. (If it was said, those that are not there
/// are on their way.)
fn held_of(collection: &Collection) -> Vec<Undelivered> {
    let Some(root) = &collection.root else { return Vec::new() };
    let root = root.borrow();
    if !collection.is_inserting() || root.census.is_open() {
        return Vec::new();
    }
    let mut counts = BTreeMap::new();
    let (_, broadcasts) = collection.casts.to_be_numbered();
    for called in broadcasts.iter().filter_map(|cast| called_of_all(collection, cast)) {
        *counts.entry(called).or_insert(0_u64) += 1;
    }
    let contributed: u64 = root.wanted().into_iter().sum();
    if contributed > 0 {
        counts.insert("(contributions to a reduction)", contributed);
    }
    let told = |(entry, count): (&str, u64)| Undelivered {
        to: (collection.chare.name)(),
        entry: String::from(entry),
        cause: NEVER_COMPLETE.into(),
        count,
        ..Undelivered::default()
    };
    counts.into_iter().map(told).collect()
}

const NEVER_COMPLETE: &str =
    "they wait for its first elements to be all there, and `done_inserting()` was never called";

/// What a broadcast calls, for people, if it is the program's.
fn called_of_all(collection: &Collection, cast: &Cast) -> Option<&'static str> {
    match cast.call {
        CastCall::Entry(entry) => collection.chare.entries.get(entry as usize).map(|entry| entry.name),
        CastCall::Reply(_) => Some("(an answer)"),
        CastCall::Destroy | CastCall::Forget(_) => None,
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
    fn what_waited_for_all_elements_is_told_with_the_reason() {
        let (to, entry, cause) = ("A".into(), "go".into(), NEVER_COMPLETE.into());
        let held = vec![Undelivered { to, entry, cause, count: 2, ..Undelivered::default() }];
        let mut all = Leftovers::default();
        all.add(Leftovers { held, ..Leftovers::default() });
        let expected = "2 messages for all elements of `A`: `go`; they wait for its first elements to be all there, and \
                        `done_inserting()` was never called";
        assert_eq!(all.told().iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
    }

    #[test]
    fn however_many_pes_have_kept_some_little_is_told() {
        let mut all = Leftovers::default();
        for pe in 0..2000 {
            let callers = (0..64).map(|who| caller("A[9]", pe, &format!("A[{who}]"))).collect();
            let kept = vec![kept("A[9]", pe, 5); 64];
            all.add(Leftovers { kept, callers, others: 1, ..Leftovers::default() });
        }
        assert!(all.kept.len() <= TOLD && all.callers.len() <= TOLD);
        let told = all.told();
        assert_eq!(told.iter().map(|of| of.count).sum::<u64>(), 2000 * (64 * 5 + 1));
        assert_eq!(told[0].from, "A[0], A[1], A[2], others on PE 0");
    }
}
