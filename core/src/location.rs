//! Where objects are, as one PE knows it.
//!
//! Every object has a *home*, a PE computed from its name, which always knows where it is (Charm++ manual:
//! "array element location"). Other PEs send to the place they know, else to the home. Whoever finds that an
//! object has left forwards the message, and the PE where it is found tells the sender's PE.
//!
//! A new place is not used at once: what was sent along the old way might be overtaken. The sender's PE first sends a
//! *marker* along the old way and keeps further messages; when the marker has arrived, so has everything before it.

use std::cell::{Cell, OnceCell, RefCell};
use std::ptr::NonNull;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::collection::Collection;
use crate::ids::{ObjId, PeId};
use crate::message::control::{ObjectMessage, PeMessage};
use crate::message::envelope::Envelope;
use crate::pe::Pe;
use crate::sometimes::sometimes;

/// What a PE knows of an object's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nothing: ask its home.
    Unknown,
    /// On this PE.
    Here { slot: u32, generation: u32 },
    /// On another, after so many moves.
    At { pe: PeId, moves: u32 },
    /// A marker is on its way; messages are kept.
    Switching,
}

const KIND: u64 = 0b11 << 62;
const HERE: u64 = 0b01 << 62;
const AT: u64 = 0b10 << 62;
/// Moves and generations in a packed place.
const HIGH: u32 = (1 << 30) - 1;

impl Place {
    #[inline(always)]
    fn unpack(bits: u64) -> Place {
        let (high, low) = ((bits >> 32) as u32 & HIGH, bits as u32);
        match bits & KIND {
            HERE => Place::Here { slot: low, generation: high },
            AT => Place::At { pe: low, moves: high },
            0 => Place::Unknown,
            _ => Place::Switching,
        }
    }

    fn pack(self) -> u64 {
        match self {
            Place::Unknown => 0,
            Place::Here { slot, generation } => HERE | ((generation & HIGH) as u64) << 32 | slot as u64,
            Place::At { pe, moves } => AT | ((moves & HIGH) as u64) << 32 | pe as u64,
            Place::Switching => KIND,
        }
    }
}

const PAGE: usize = 512;
type Page = Box<[Cell<u64>; PAGE]>;

/// Places of the elements of one collection, 8 bytes each: by ordinal in a dense box, else by index.
pub(crate) struct Places {
    /// Allocated by the page, since a PE of a large job touches few.
    dense: Box<[OnceCell<Page>]>,
    sparse: RefCell<HashMap<u128, u64, FxBuildHasher>>,
}

impl Places {
    pub(crate) fn new(dense: u64) -> Self {
        let pages = (dense as usize).div_ceil(PAGE);
        Places { dense: (0..pages).map(|_| OnceCell::new()).collect(), sparse: RefCell::default() }
    }

    #[inline(always)]
    pub(crate) fn get(&self, index: u128, ordinal: Option<u64>) -> Place {
        match ordinal {
            Some(ordinal) => match self.dense[ordinal as usize / PAGE].get() {
                Some(page) => Place::unpack(page[ordinal as usize % PAGE].get()),
                None => Place::Unknown,
            },
            None => self.sparse.borrow().get(&index).map_or(Place::Unknown, |bits| Place::unpack(*bits)),
        }
    }

    /// The slot and generation of an element on this PE: the message path's question.
    #[inline(always)]
    pub(crate) fn here(&self, index: u128, ordinal: Option<u64>) -> Option<(u32, u32)> {
        let bits = match ordinal {
            Some(ordinal) => self.dense[ordinal as usize / PAGE].get()?[ordinal as usize % PAGE].get(),
            None => *self.sparse.borrow().get(&index)?,
        };
        (bits & KIND == HERE).then_some((bits as u32, (bits >> 32) as u32 & HIGH))
    }

    pub(crate) fn set(&self, index: u128, ordinal: Option<u64>, place: Place) {
        match ordinal {
            Some(ordinal) => {
                let page = self.dense[ordinal as usize / PAGE]
                    .get_or_init(|| Box::new([const { Cell::new(0) }; PAGE]));
                page[ordinal as usize % PAGE].set(place.pack());
            }
            None if place == Place::Unknown => drop(self.sparse.borrow_mut().remove(&index)),
            None => drop(self.sparse.borrow_mut().insert(index, place.pack())),
        }
    }
}

/// In place of a number of moves: the object is nowhere.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// A change of place that waits for its marker.
pub(crate) struct Switch {
    moves: u32,
    held: Vec<NonNull<Envelope>>,
}

/// The changes of place that a PE waits for, in one collection.
#[derive(Default)]
pub(crate) struct Switches(RefCell<HashMap<u128, Switch, FxBuildHasher>>);

impl Switches {
    /// Keeps a message until the marker has arrived.
    pub(crate) fn hold(&self, index: u128, envelope: NonNull<Envelope>) {
        let mut switches = self.0.borrow_mut();
        switches.get_mut(&index).expect("a place that switches has its switch").held.push(envelope);
    }

    /// Ends a change of place, if the object was found after at least as many moves as were told of.
    fn take(&self, index: u128, moves: u32) -> Option<Switch> {
        let mut switches = self.0.borrow_mut();
        let is_over = switches.get(&index).is_some_and(|switch| moves >= switch.moves);
        if is_over { switches.remove(&index) } else { None }
    }

    pub(crate) fn take_all(&self) -> Vec<NonNull<Envelope>> {
        self.0.take().into_values().flat_map(|switch| switch.held).collect()
    }
}

impl Pe {
    /// Somebody found an object at another place than this PE had sent to.
    pub(crate) fn on_moved(&self, id: ObjId, pe: PeId, moves: u32) {
        let Some(collection) = self.collections.get(id.collection) else { return };
        let (new, old_way) = match collection.place(id.index) {
            // Word of the time before its last end.
            Place::Unknown if collection.past_moves(id.index).is_some_and(|past| moves <= past) => return,
            Place::Unknown => (true, collection.home(id.index)),
            Place::At { moves: known, pe: old } => (moves > known && old != pe, old),
            Place::Here { .. } | Place::Switching => return,
        };
        if !new || pe == self.id {
            return;
        }
        sometimes("a sender learns that an object moved");
        if old_way == self.id {
            // This is the home of an object that was made elsewhere: what came for it has waited here.
            collection.set_place(id.index, Place::At { pe, moves });
            self.release_awaiting(collection, id.index);
            return;
        }
        collection.set_place(id.index, Place::Switching);
        collection.switches.0.borrow_mut().insert(id.index, Switch { moves, held: Vec::new() });
        let marker = self.object_message(id, ObjectMessage::Marker { asker: self.id });
        self.transmit(old_way, marker);
    }

    /// A marker arrived where the object is (or, if it is nowhere, at its home).
    pub(crate) fn on_marker(&self, id: ObjId, asker: PeId, moves: u32) {
        let found = PeMessage::Found { id, pe: self.id, moves };
        self.tell(asker, found);
    }

    /// The marker arrived: the new place can be used.
    pub(crate) fn on_found(&self, id: ObjId, pe: PeId, moves: u32) {
        let Some(collection) = self.collections.get(id.collection) else { return };
        let Some(switch) = collection.switches.take(id.index, moves) else { return };
        // The home is where messages go that know no place.
        let at_home = pe == collection.home(id.index);
        let place = if at_home { Place::Unknown } else { Place::At { pe, moves } };
        collection.set_place(id.index, place);
        self.release(collection, switch);
    }

    /// What waited for a change of place goes on.
    fn release(&self, collection: &Collection, switch: Switch) {
        for envelope in switch.held {
            sometimes("a message waited for a change of place");
            self.dispatch(collection, envelope);
        }
    }

    /// An object is gone: what comes for it is for the next of its name.
    pub(crate) fn forget_place(&self, collection: &Collection, index: u128) {
        collection.set_place(index, Place::Unknown);
        if let Some(switch) = collection.switches.take(index, NOWHERE) {
            sometimes("an object went while its new place was found out");
            self.release(collection, switch);
        }
    }

    /// An object has come, but cannot be rebuilt yet: its messages wait.
    pub(crate) fn expect_object(&self, collection: &Collection, index: u128, moves: u32) {
        collection.set_place(index, Place::Switching);
        let held = collection.switches.take(index, NOWHERE).map(|switch| switch.held).unwrap_or_default();
        collection.switches.0.borrow_mut().insert(index, Switch { moves, held });
    }

    /// An object came to, or was made on, this PE: what waited for it goes on.
    pub(crate) fn settle(&self, collection: &Collection, index: u128, slot: u32, generation: u32) {
        collection.set_place(index, Place::Here { slot, generation });
        let switch = collection.switches.0.borrow_mut().remove(&index);
        if let Some(switch) = switch {
            self.release(collection, switch);
        }
        self.release_awaiting(collection, index);
    }

    /// An object found here was sent to by another PE's knowledge: that PE learns better.
    pub(crate) fn correct(&self, sender: PeId, id: ObjId, moves: u32) {
        if sender != self.id {
            self.tell(sender, PeMessage::Moved { id, pe: self.id, moves });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_survives_packing() {
        let places = [
            Place::Unknown,
            Place::Switching,
            Place::Here { slot: u32::MAX, generation: HIGH },
            Place::At { pe: 9999, moves: 12 },
        ];
        for place in places {
            assert_eq!(Place::unpack(place.pack()), place);
        }
    }

    #[test]
    fn places_are_kept_by_ordinal_and_by_index() {
        let places = Places::new(1000);
        let here = Place::Here { slot: 3, generation: 1 };
        assert_eq!(places.get(0, Some(999)), Place::Unknown);
        places.set(0, Some(999), here);
        places.set(77, None, here);
        assert_eq!((places.get(0, Some(999)), places.get(77, None)), (here, here));
        assert_eq!(places.get(999, None), Place::Unknown);
        places.set(77, None, Place::Unknown);
        assert!(places.sparse.borrow().is_empty());
    }
}
