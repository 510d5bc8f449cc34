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

use crate::collection::Collection;
use crate::location::Place;
use crate::message::control::{Cast, CastCall, ObjectMessage};
use crate::message::envelope::{Body, Envelope};
use crate::pe::Pe;
use talisman_base::ids::ObjId;
use talisman_job::Undelivered;
use talisman_job::undelivered::{Caller, Kept, Leftovers, NAMED, NEVER_COMPLETE};
use talisman_observe::sometimes::sometimes;

/// Callers that a PE notes at a time, and kinds of messages that it tells of.
const NOTED: usize = 64;

/// Who called an entry of what does not exist, as far as this PE knows.
#[derive(Default)]
pub struct Callers {
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

impl Pe {
    /// Whether a message for an object that is not known here may be for one that never comes: its index is not among the first ones.
    pub fn may_be_stray(collection: &Collection, index: u128) -> bool {
        collection.bounds.is_some() && !collection.is_among_first(index)
    }

    /// The object that runs calls an entry of one that may never come, or that is not known to be anywhere yet.
    #[cold]
    pub fn note_caller(&self, to: ObjId, entry: u16) {
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
    pub fn note_waiting(&self, to: ObjId, entry: u16) {
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
    pub fn who_called(&self, to: ObjId, entry: u16) -> Option<String> {
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
    pub fn tell_of_undelivered(&self) {
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
    let Some(root) = collection.root() else { return Vec::new() };
    let root = root.borrow();
    if !collection.is_inserting() || root.census.is_open() {
        return Vec::new();
    }
    let mut counts = BTreeMap::new();
    let (_, broadcasts) = collection.casts().to_be_numbered();
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
