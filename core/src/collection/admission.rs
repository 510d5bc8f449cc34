//! Insertions from outside that have not come to their root: who hears of one does not broadcast before it is there.
//!
//! The root gives an insertion from outside its place among the broadcasts when it comes there. Its inserter may tell others of it
//! meanwhile, and what one of those calls could come to the root first. So until the root has admitted it, what a PE that knows of it
//! sends to another is preceded by word of it (`Unadmitted`), the other asks the root as well, and broadcasts from there wait for the
//! answer. Where nobody inserts from outside, this costs a look at a flag for each message to another PE.
//!
//! A collection that is destroyed admits nobody any more. Each PE that drops its part forgets what it knew of insertions there, and hears of
//! no others.

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::message::control::{Cast, PeMessage};
use crate::pe::Pe;
use talisman_base::ids::{CollectionId, PeId};
use talisman_observe::sometimes::sometimes;

/// Insertions into a collection, by the PE where they were made.
type Inserter = (CollectionId, PeId);

/// What a PE knows of insertions from outside.
#[derive(Default)]
pub(crate) struct Admissions {
    /// How many were made here into collections whose root is elsewhere.
    made: Cell<u32>,
    /// Whether there are any that may not have been admitted.
    are_open: Cell<bool>,
    /// The last of each PE's that it knows of and that may not have been admitted.
    open: RefCell<BTreeMap<Inserter, u32>>,
    /// The last of each PE's of which it knows that they have been.
    admitted: RefCell<BTreeMap<Inserter, u32>>,
    /// PEs that have been told of all that are open.
    told: RefCell<BTreeSet<PeId>>,
    /// Broadcasts that wait.
    held: RefCell<Vec<(CollectionId, Cast)>>,
    /// At a root: who asked for which.
    asked: RefCell<Vec<(Inserter, u32, PeId)>>,
}

impl Admissions {
    #[inline(always)]
    pub(crate) fn are_open(&self) -> bool {
        self.are_open.get()
    }

    /// Broadcasts that wait.
    pub(crate) fn held(&self) -> Vec<(CollectionId, Cast)> {
        self.held.borrow().clone()
    }

    fn is_admitted(&self, from: Inserter, number: u32) -> bool {
        self.admitted.borrow().get(&from).is_some_and(|last| *last >= number)
    }

    /// There is an insertion; whether that is news.
    fn note(&self, from: Inserter, number: u32) -> bool {
        let mut open = self.open.borrow_mut();
        if self.is_admitted(from, number) || open.get(&from).is_some_and(|last| *last >= number) {
            return false;
        }
        open.insert(from, number);
        self.told.borrow_mut().clear();
        self.are_open.set(true);
        true
    }

    /// Insertions up to this one are admitted: the broadcasts that need not wait any more, and who asked.
    fn settle(&self, from: Inserter, number: u32) -> Vec<(CollectionId, Cast)> {
        let mut open = self.open.borrow_mut();
        let mut admitted = self.admitted.borrow_mut();
        let last = admitted.entry(from).or_default();
        *last = number.max(*last);
        if open.get(&from).is_some_and(|known| *known <= number) {
            open.remove(&from);
        }
        self.are_open.set(!open.is_empty());
        let waits = |id: CollectionId| open.keys().any(|(of, _)| *of == id);
        self.held.borrow_mut().extract_if(.., |(id, _)| !waits(*id)).collect()
    }

    /// A collection was destroyed: nothing of it is waited for. How many broadcasts had been.
    pub(super) fn forget(&self, id: CollectionId) -> usize {
        let mut open = self.open.borrow_mut();
        open.retain(|(of, _), _| *of != id);
        self.are_open.set(!open.is_empty());
        self.admitted.borrow_mut().retain(|(of, _), _| *of != id);
        self.asked.borrow_mut().retain(|((of, _), _, _)| *of != id);
        self.held.borrow_mut().extract_if(.., |(of, _)| *of == id).count()
    }
}

impl Pe {
    /// The number of an insertion from outside that goes to a root elsewhere.
    pub(crate) fn number_insertion(&self, id: CollectionId) -> u32 {
        let number = self.admissions.made.get() + 1;
        self.admissions.made.set(number);
        debug_assert!(!self.collections.is_gone(id), "what is gone here is refused here");
        self.admissions.note((id, self.id), number);
        number
    }

    /// Before a message to another PE: that hears of the insertions that this one knows of.
    #[cold]
    pub(crate) fn pass_on_insertions(&self, to: PeId) {
        if !self.admissions.told.borrow_mut().insert(to) {
            return;
        }
        let open: Vec<_> =
            self.admissions.open.borrow().iter().map(|(from, number)| (*from, *number)).collect();
        for ((collection, inserter), number) in open {
            // Its inserter knows, and what it sends to the root comes behind it.
            let knows = to == inserter || self.id == inserter && to == self.view().seat(collection.creator);
            if !knows {
                self.tell(to, PeMessage::Unadmitted { collection, inserter, number });
            }
        }
    }

    /// There is an insertion from outside that may not have come to its root.
    pub(crate) fn on_unadmitted(&self, collection: CollectionId, inserter: PeId, number: u32) {
        if !self.collections.is_gone(collection) && self.admissions.note((collection, inserter), number) {
            sometimes("a PE heard of an insertion that had not come to its root");
            let root = self.view().seat(collection.creator);
            if root == self.id {
                return self.on_ask_admitted(self.id, collection, inserter, number);
            }
            self.tell(root, PeMessage::AskAdmitted { collection, inserter, number });
        }
    }

    /// At the root: somebody waits for an insertion.
    pub(crate) fn on_ask_admitted(&self, asker: PeId, collection: CollectionId, inserter: PeId, number: u32) {
        if self.collections.is_gone(collection) {
            // The asker hears so as well, and forgets what it waits for.
            return;
        }
        let from = (collection, inserter);
        match self.admissions.is_admitted(from, number) {
            true => self.tell(asker, PeMessage::Admitted { collection, inserter, number }),
            false => self.admissions.asked.borrow_mut().push((from, number, asker)),
        }
    }

    /// At the root: an insertion has come.
    pub(crate) fn admit(&self, collection: CollectionId, inserter: PeId, number: u32) {
        self.on_admitted(collection, inserter, number);
        let of = (collection, inserter);
        let mut all = self.admissions.asked.borrow_mut();
        let asked = all.extract_if(.., |(from, last, _)| *from == of && *last <= number);
        let asked = asked.map(|(_, _, asker)| asker).chain([inserter]);
        let asked: Vec<_> = asked.filter(|pe| *pe != self.id).collect();
        drop(all);
        for asker in asked {
            self.tell(asker, PeMessage::Admitted { collection, inserter, number });
        }
    }

    /// The root has admitted all of a PE's insertions up to this one.
    pub(crate) fn on_admitted(&self, collection: CollectionId, inserter: PeId, number: u32) {
        if self.collections.is_gone(collection) {
            return;
        }
        for (id, cast) in self.admissions.settle((collection, inserter), number) {
            self.broadcast(id, cast);
        }
    }

    /// Whether a broadcast has to wait for an insertion that this PE has heard of; if so, it is kept.
    pub(crate) fn holds_broadcast(&self, id: CollectionId, cast: &Cast) -> bool {
        // What this PE has inserted itself comes to the root before.
        let waits =
            self.admissions.open.borrow().keys().any(|(of, inserter)| *of == id && *inserter != self.id);
        let waits = waits || self.admissions.held.borrow().iter().any(|(of, _)| *of == id);
        if waits {
            sometimes("a broadcast waited for an insertion that its sender had heard of");
            self.admissions.held.borrow_mut().push((id, cast.clone()));
        }
        waits
    }
}
