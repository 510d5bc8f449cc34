//! Messages that nobody got, at the end of a job that ended well.
//!
//! A message for an element that does not exist waits at the element's home, which may be made yet. A job that gets stuck over one says so
//! (`quiescence.rs`); one that ends without it says so too, but has done what it wanted: its exit status stays.
//!
//! The home knows the entry and the PE that it was called on. Who called it is noted there where that is cheap and likely to be wanted: when an
//! index is called that is not among the first elements of an array that has them, or whose home the caller's own PE is.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use crate::collection::Collection;
use crate::location::Place;
use crate::message::control::ObjectMessage;
use crate::message::envelope::{Body, Envelope};
use crate::pe::Pe;
use talisman_base::ids::ObjId;
use talisman_job::undelivered::{Caller, Kept, Leftovers};
use talisman_observe::sometimes::sometimes;

/// Callers that a PE notes at a time, and kinds of messages that it tells of.
const NOTED: usize = 64;

/// Who called an entry of what does not exist, as far as this PE knows.
#[derive(Default)]
pub(crate) struct Callers {
    noted: RefCell<BTreeMap<(ObjId, u16, ObjId), ()>>,
    /// Nothing more is noted.
    full: Cell<bool>,
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
