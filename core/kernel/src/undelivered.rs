//! Messages that nobody got, at the end of a job that ended well.
//!
//! A message for an element that does not exist waits at the element's home, which may be made yet. A job that gets stuck over one says so
//! (`quiescence.rs`); one that ends without it says so too, but has done what it wanted: its exit status stays.
//!
//! The home knows the entry and the PE that it was called on. Who called it is noted there where that is cheap and likely to be wanted: when an
//! index is called that is not among the first elements of an array that has them, or whose home the caller's own PE is; and when the message
//! waits on the caller's PE for the place of its receiver or for its collection. Such a message is packed when its sender does not run any more
//! (`refusal.rs`).

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use crate::collection::Collection;
use crate::location::Place;
use crate::pe::Pe;
use talisman_base::ids::ObjId;
use talisman_job::undelivered::NAMED;

/// Callers that a PE notes at a time.
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

impl Callers {
    /// Who called what may never come: whom, which entry, and who.
    pub fn noted(&self) -> std::cell::Ref<'_, BTreeSet<(ObjId, u16, ObjId)>> {
        self.noted.borrow()
    }
}

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
}
