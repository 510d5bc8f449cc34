//! Insertions from outside that have not come to their root: who hears of one does not broadcast before it is there.
//!
//! The root gives an insertion from outside its place among the broadcasts when it comes there. Its inserter may tell others of it
//! meanwhile, and what one of those calls could come to the root first. So until the root has admitted it, what a PE that knows of it
//! sends to another is preceded by word of it (`Unadmitted`), the other asks the root as well, and broadcasts from there wait for the
//! answer. What a PE inserts itself after such a broadcast waits behind it, as it must not come into it. Where nobody inserts from
//! outside, this costs a look at a flag for each message to another PE.
//!
//! A collection that is destroyed admits nobody any more. Each PE that drops its part forgets what it knew of insertions there, and hears of
//! no others.

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use easy_ext::ext;

use super::insertion_message::InsertionMessage;
use crate::broadcast::BroadcastsOnPe;
use talisman_base::ids::{CollectionId, PeId};
use talisman_kernel::message::control::Cast;
use talisman_kernel::message::service::{PeMessage, Service};
use talisman_kernel::node::Node;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::states::ServiceState;
use talisman_observe::sometimes::sometimes;

/// Insertions into a collection, by the PE where they were made.
type Inserter = (CollectionId, PeId);

/// What a PE knows of insertions from outside.
#[derive(Default)]
pub struct Admissions {
    /// How many were made here into collections whose root is elsewhere.
    made: Cell<u32>,
    /// The last of each PE's that it knows of and that may not have been admitted.
    open: RefCell<BTreeMap<Inserter, u32>>,
    /// The last of each PE's of which it knows that they have been.
    admitted: RefCell<BTreeMap<Inserter, u32>>,
    /// PEs that have been told of all that are open.
    told: RefCell<BTreeSet<PeId>>,
    /// Broadcasts that wait, and insertions behind them, in the order in which they were called.
    held: RefCell<Vec<Held>>,
    /// At a root: who asked for which.
    asked: RefCell<Vec<(Inserter, u32, PeId)>>,
}

/// What is not sent to the root yet.
struct Held {
    collection: CollectionId,
    /// Insertions that it waits for: those that this PE had heard of then. (Were it those that it hears of later as well, two could wait for
    /// each other.)
    after: Vec<(PeId, u32)>,
    message: Box<dyn PeMessage>,
    is_insertion: bool,
}

impl Admissions {
    /// What waits, in its order.
    pub fn with_held(&self, mut each: impl FnMut(&dyn PeMessage)) {
        self.held.borrow().iter().for_each(|held| each(&*held.message));
    }

    /// Whether insertions wait here that their root has not been sent.
    fn holds_insertions(&self, id: CollectionId) -> bool {
        self.held.borrow().iter().any(|held| held.collection == id && held.is_insertion)
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
        true
    }

    /// Insertions up to this one are admitted: what need not wait any more.
    fn settle(&self, from: Inserter, number: u32) -> Vec<Box<dyn PeMessage>> {
        let mut open = self.open.borrow_mut();
        let mut admitted = self.admitted.borrow_mut();
        let last = admitted.entry(from).or_default();
        *last = number.max(*last);
        if open.get(&from).is_some_and(|known| *known <= number) {
            open.remove(&from);
        }
        let is_admitted = |id, pe, number| admitted.get(&(id, pe)).is_some_and(|last| *last >= number);
        let mut none_before = true;
        // None goes before what was called before it.
        let goes = |held: &mut Held| {
            if held.collection != from.0 {
                return false;
            }
            none_before &= held.after.iter().all(|(pe, number)| is_admitted(held.collection, *pe, *number));
            none_before
        };
        self.held.borrow_mut().extract_if(.., goes).map(|held| held.message).collect()
    }

    /// A collection was destroyed: nothing of it is waited for. How much had waited.
    pub(super) fn forget(&self, id: CollectionId) -> usize {
        let mut open = self.open.borrow_mut();
        open.retain(|(of, _), _| *of != id);
        self.admitted.borrow_mut().retain(|(of, _), _| *of != id);
        self.asked.borrow_mut().retain(|((of, _), _, _)| *of != id);
        self.held.borrow_mut().extract_if(.., |held| held.collection == id).count()
    }
}

impl ServiceState for Admissions {
    const SERVICE: Service = Service::Insertions;

    fn new(_: &Node) -> Self {
        Admissions::default()
    }
}

#[ext(AdmissionsOnPe)]
pub impl Pe {
    /// What it knows of insertions from outside.
    fn admissions(&self) -> &Admissions {
        self.state()
    }

    /// Messages to other PEs are preceded by word of insertions while any may not have been admitted.
    fn look_at_open_insertions(&self) {
        self.admissions_open.set(!self.admissions().open.borrow().is_empty());
    }

    /// A collection was destroyed: no insertion into it is waited for. How many had waited.
    fn forget_insertions(&self, id: CollectionId) -> usize {
        let waited = self.admissions().forget(id);
        self.look_at_open_insertions();
        waited
    }

    /// The number of an insertion from outside that goes to a root elsewhere, or waits here.
    fn number_insertion(&self, id: CollectionId) -> u32 {
        let number = self.admissions().made.get() + 1;
        self.admissions().made.set(number);
        debug_assert!(!self.collections.is_gone(id), "what is gone here is refused here");
        self.admissions().note((id, self.id), number);
        self.look_at_open_insertions();
        number
    }

    /// Before a message to another PE: that hears of the insertions that this one knows of.
    fn pass_on_insertions(&self, to: PeId) {
        if !self.admissions().told.borrow_mut().insert(to) {
            return;
        }
        let open: Vec<_> =
            self.admissions().open.borrow().iter().map(|(from, number)| (*from, *number)).collect();
        for ((collection, inserter), number) in open {
            // Its inserter knows, and what it sends to the root comes behind it, unless it waits here.
            let comes_behind = || {
                to == self.view().acting_for(collection.creator)
                    && !self.admissions().holds_insertions(collection)
            };
            let knows = to == inserter || self.id == inserter && comes_behind();
            if !knows {
                self.tell(to, InsertionMessage::Unadmitted { collection, inserter, number });
            }
        }
    }

    /// There is an insertion from outside that may not have come to its root.
    fn on_unadmitted(&self, collection: CollectionId, inserter: PeId, number: u32) {
        if !self.collections.is_gone(collection) && self.admissions().note((collection, inserter), number) {
            self.look_at_open_insertions();
            sometimes("a PE heard of an insertion that had not come to its root");
            let root = self.view().acting_for(collection.creator);
            if root == self.id {
                return self.on_ask_admitted(self.id, collection, inserter, number);
            }
            self.tell(root, InsertionMessage::AskAdmitted { collection, inserter, number });
        }
    }

    /// At the root: somebody waits for an insertion.
    fn on_ask_admitted(&self, asker: PeId, collection: CollectionId, inserter: PeId, number: u32) {
        if self.collections.is_gone(collection) {
            // The asker hears so as well, and forgets what it waits for.
            return;
        }
        let from = (collection, inserter);
        match self.admissions().is_admitted(from, number) {
            true => self.tell(asker, InsertionMessage::Admitted { collection, inserter, number }),
            false => self.admissions().asked.borrow_mut().push((from, number, asker)),
        }
    }

    /// At the root: an insertion has come.
    fn admit(&self, collection: CollectionId, inserter: PeId, number: u32) {
        self.on_admitted(collection, inserter, number);
        let of = (collection, inserter);
        let mut all = self.admissions().asked.borrow_mut();
        let asked = all.extract_if(.., |(from, last, _)| *from == of && *last <= number);
        let asked = asked.map(|(_, _, asker)| asker).chain([inserter]);
        let asked: Vec<_> = asked.filter(|pe| *pe != self.id).collect();
        drop(all);
        for asker in asked {
            self.tell(asker, InsertionMessage::Admitted { collection, inserter, number });
        }
    }

    /// The root has admitted all of a PE's insertions up to this one.
    fn on_admitted(&self, collection: CollectionId, inserter: PeId, number: u32) {
        if self.collections.is_gone(collection) {
            return;
        }
        let released = self.admissions().settle((collection, inserter), number);
        self.look_at_open_insertions();
        for message in released {
            self.tell_any(self.view().acting_for(collection.creator), message);
        }
    }

    /// Whether a broadcast has to wait for an insertion that this PE has heard of; if so, it is kept.
    fn holds_broadcast(&self, id: CollectionId, cast: &Cast) -> bool {
        // What this PE has inserted itself comes to the root before.
        let open = self.admissions().open.borrow();
        let after = open.iter().filter(|((of, inserter), _)| *of == id && *inserter != self.id);
        let after: Vec<_> = after.map(|((_, inserter), number)| (*inserter, *number)).collect();
        let waits = !after.is_empty() || self.holds(id);
        if waits {
            sometimes("a broadcast waited for an insertion that its sender had heard of");
            let message = self.broadcast_request(id, cast.clone());
            let held = Held { collection: id, after, message, is_insertion: false };
            self.admissions().held.borrow_mut().push(held);
        }
        waits
    }

    /// Whether broadcasts to a collection wait here.
    fn holds(&self, id: CollectionId) -> bool {
        self.admissions().held.borrow().iter().any(|held| held.collection == id)
    }

    /// An insertion from outside waits behind broadcasts that were called before it: it is not in those.
    fn hold_insertion(&self, collection: CollectionId, insertion: InsertionMessage) {
        sometimes("an insertion waited behind a broadcast that waited for another");
        self.admissions().held.borrow_mut().push(Held {
            collection,
            after: vec![],
            message: Box::new(insertion),
            is_insertion: true,
        });
    }
}
