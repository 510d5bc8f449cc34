//! Where objects are, as one PE knows it.
//!
//! Every object has a *home*, a PE computed from its name, which always knows where it is (Charm++ manual:
//! "array element location"). Other PEs send to the place they know, else to the home. Whoever finds that an
//! object has left forwards the message, and the PE where it is found tells the sender's PE.
//!
//! A new place is not used at once: what was sent along the old way might be overtaken. The sender's PE first sends a
//! *marker* along the old way and keeps further messages; when the marker has arrived, so has everything before it.
//!
//! An object that is made or removed goes by its home too. To be removed counts as a last move, to nowhere; the home
//! keeps that in mind, so that older news does not bring the object back. Whoever inserts an object again asks the
//! home, which waits until the former one is gone, and the moves are counted on. So of two places the one with more
//! moves is always the later one, and a message that follows places only ever goes forward. Markers rely on it: each
//! that is kept at a PE waits for one that is further on, so none waits for itself.
//!
//! None of that may grow with how many objects there have been.
//!
//! - A home forgets ends once they are many, and remembers the highest moves among them: whoever is inserted there from then on begins with
//!   these. Names of singletons are not given out again, so nothing has to be remembered of their ends.
//! - Another PE does not know whether what it knows of a place is of any use. So when it knows many it sends a marker along each of these ways, as if
//!   it had heard of a new place. Of an object that is nowhere it is answered by the home. Then nothing is on its way along the old way any more, and
//!   the PE knows no place, like one that never heard of the object. (Each marker of a PE has a number of its own: by moves the answer to an older one could
//!   be taken for that of a newer one, where moves have been forgotten in between.)
//! - That an object is at its home, or gone there, is not noted by others: they would send there anyway.

pub mod message;
mod places;
mod switches;

use places::HERE;
pub use places::{Place, Places};
use switches::{Asked, Why};
pub use switches::{Switch, Switches};

use std::ptr::NonNull;

use crate::collection::Collection;
use crate::kind::Kind;
use crate::location::message::LocationMessage;
use crate::message::control::ObjectMessage;
use crate::message::envelope::Envelope;
use crate::order::Order;
use crate::pe::Pe;
use crate::witness::Until;
use talisman_base::ids::{ObjId, PeId, single_home, slot_of};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

impl Pe {
    /// What is known of an object's place.
    pub fn place_of(&self, collection: &Collection, index: u128) -> Place {
        match self.named_slot(collection, index) {
            Some((slot, generation)) => Place::Here { slot, generation },
            None => collection.place(index),
        }
    }

    /// The packed place of a singleton in the slot that it was named after, else 0. It may not be made yet: what makes it is in the
    /// queue of this PE then, and what is sent to it goes behind that. What comes to its turn before (as it is more urgent, or its PE is
    /// frozen) waits for it as for any object that is nowhere, and so does what is sent after that.
    #[inline(always)]
    pub fn named_here(&self, collection: &Collection, index: u128) -> u64 {
        if !collection.id.is_singles() || single_home(index) != self.id {
            return 0;
        }
        match slot_of(index).filter(|(slot, generation)| self.slots.is_of(*slot, *generation)) {
            Some((slot, generation)) => HERE | (generation as u64) << 32 | slot as u64,
            None => 0,
        }
    }

    /// Something waits for a singleton that is nowhere: if it is to be made here, nothing that comes later may be in the queue before
    /// it is.
    pub fn note_awaited(&self, collection: &Collection, index: u128) {
        let kept = match slot_of(index) {
            named @ Some(_) => named.filter(|_| single_home(index) == self.id),
            None => self.expected_chare.slot_of(collection.object(index)),
        };
        kept.into_iter().for_each(|(slot, generation)| self.slots.note_awaited(slot, generation));
    }

    /// The slot of a singleton that was named after it, while it is there.
    #[inline(always)]
    pub fn named_slot(&self, collection: &Collection, index: u128) -> Option<(u32, u32)> {
        if !collection.id.is_singles() || single_home(index) != self.id {
            return None;
        }
        slot_of(index).filter(|(slot, generation)| self.slots.get(*slot, *generation).is_some())
    }

    /// At the home, after going back to a checkpoint: an object is on some PE, unless it is on this one, or on its way here.
    pub fn expect_news(&self, collection: &Collection, index: u128) {
        if let Place::Unknown = self.place_of(collection, index) {
            collection.set_place(index, Place::Switching);
            collection.switches.expect_news(index);
        }
    }

    /// Where it is, unless it is on its way here since, or its end is, of which this PE knows more than whoever says this.
    pub fn take_news(&self, collection: &Collection, index: u128, pe: PeId, moves: u32) {
        match collection.switches.awaits_news(index) || mutated("old-news-believed") {
            true => self.switch(collection, index, Place::At { pe, moves }),
            false => {
                sometimes("an object was on its way home, or gone, before the news of where it was restored")
            }
        }
    }

    /// Somebody found an object at another place than this PE had sent to.
    pub fn on_moved(&self, id: ObjId, pe: PeId, moves: u32) {
        let Some(collection) = self.collections.get(id.collection) else { return };
        let (new, old_way) = match self.place_of(collection, id.index) {
            // A home knows its objects from when they are made, and forgets only those that never moved.
            Place::Unknown if collection.home(id.index) == self.id => return,
            // Where this PE sends anyway.
            Place::Unknown if collection.home(id.index) == pe => return,
            Place::Unknown => (true, collection.home(id.index)),
            Place::At { moves: known, pe: old } => {
                if moves < known {
                    sometimes("older news of a place came after newer");
                }
                (moves > known && old != pe, old)
            }
            Place::Here { .. } => {
                return sometimes("an object was back before the news of where it had been");
            }
            Place::Switching => return sometimes("news of a place came while another was awaited"),
            Place::Gone { .. } => return sometimes("news of a place came when the object was gone"),
        };
        if !new || pe == self.id {
            return;
        }
        sometimes("a sender learns that an object moved");
        if mutated("place-without-marker") {
            return collection.set_place(id.index, Place::At { pe, moves });
        }
        self.ask_where(collection, id, old_way, moves, Why::News);
    }

    /// Sends a marker along the way by which this PE has sent to an object so far.
    fn ask_where(&self, collection: &Collection, id: ObjId, old_way: PeId, moves: u32, why: Why) {
        collection.set_place(id.index, Place::Switching);
        let asked = collection.switches.begin(id.index, moves, why);
        let marker = self.object_message(id, ObjectMessage::Marker { asker: self.id, asked });
        self.transmit(old_way, marker);
    }

    /// This PE knows one more place. When they are many, it asks which of them are of use.
    pub fn limit_learnt(&self, collection: &Collection, index: u128) {
        let is_learnt = matches!(collection.place(index), Place::At { .. });
        if !is_learnt || collection.home(index) == self.id || !collection.are_many_learnt(index) {
            return;
        }
        sometimes("a PE asked for all places that it knew");
        for index in collection.learnt() {
            if collection.home(index) != self.id
                && let Place::At { pe, moves } = collection.place(index)
            {
                self.ask_where(collection, collection.object(index), pe, moves, Why::Many);
            }
        }
    }

    /// Keeps a message until its object's place is known. It may be this PE's own marker, if the object has been here
    /// since that was sent: nothing waits for it any more.
    pub fn hold(&self, collection: &Collection, envelope: NonNull<Envelope>) {
        // SAFETY: the sender owns the envelope.
        let index = unsafe { envelope.as_ref() }.to().index;
        self.see_kept(envelope, Until::Place);
        collection.switches.hold(index, envelope);
    }

    /// A marker arrived where the object is (or, if it is nowhere, at its home).
    pub fn on_marker(&self, id: ObjId, asker: PeId, asked: u32, moves: u32) {
        self.tell(asker, LocationMessage::Found { id, pe: self.id, asked, moves });
    }

    /// The marker arrived: the new place can be used.
    pub fn on_found(&self, id: ObjId, pe: PeId, number: u32, moves: u32) {
        let Some(collection) = self.collections.get(id.collection) else { return };
        let asked = collection.switches.asked(id.index);
        // The object may have been here since, and this be the answer to an older question.
        let is_answer = asked.is_some_and(|asked| asked.number == number);
        if !is_answer && !mutated("older-answer-believed") {
            return sometimes("a marker was answered when nobody waited for it any more");
        }
        if pe == self.id {
            sometimes("a marker was answered by the PE that had sent it");
        }
        let known = asked.map_or(0, |asked| asked.moves);
        let place = if pe == self.id { Place::Unknown } else { Place::At { pe, moves: moves.max(known) } };
        self.switch(collection, id.index, place);
        match asked {
            Some(Asked { why: Why::Many, .. }) if collection.home(id.index) == pe => {
                sometimes("a PE forgot the place of an object that was gone, or at its home");
            }
            Some(Asked { why: Why::Many, .. }) => {}
            _ => self.limit_learnt(collection, id.index),
        }
    }

    /// A place is known: what waited for that goes on.
    fn switch(&self, collection: &Collection, index: u128, place: Place) {
        // Of a singleton in the slot that it is named after, the name tells the place.
        if self.named_slot(collection, index).is_none() {
            collection.set_place(index, place);
        }
        let mut held = collection.switches.end(index);
        if mutated("held-messages-backwards") {
            held.reverse();
        }
        if mutated("held-message-lost") {
            held.pop().into_iter().for_each(|envelope| self.release(envelope));
        }
        for envelope in self.one_by_one(held) {
            sometimes("a message waited for a marker");
            self.dispatch(collection, envelope);
        }
    }

    /// An object is on its way to this PE and will be taken in behind what is queued.
    pub fn expect_object(&self, collection: &Collection, index: u128) {
        if !matches!(self.place_of(collection, index), Place::Here { .. }) {
            collection.set_place(index, Place::Switching);
            collection.switches.expect(index);
        }
    }

    /// At the home: an object is gone, which will be taken in behind what is queued. What comes for it meanwhile waits:
    /// from where it was removed it may have come, and by the place known so far it would go backwards. A marker could
    /// then be kept by a PE whose own marker is kept by one that waits for the first, for ever.
    pub fn expect_end(&self, collection: &Collection, index: u128) {
        if !mutated("end-not-expected") {
            self.expect_object(collection, index);
        }
    }

    /// An object came to, or was made on, this PE: what waited for it goes on.
    pub fn settle(&self, collection: &Collection, index: u128, slot: u32, generation: u32) {
        self.switch(collection, index, Place::Here { slot, generation });
        self.one_by_one(collection.take_awaiting(index))
            .for_each(|envelope| self.dispatch(collection, envelope));
    }

    /// At the home: an object is to be made on another PE.
    pub fn settle_elsewhere(&self, collection: &Collection, index: u128, pe: PeId, moves: u32) {
        collection.set_place(index, Place::At { pe, moves });
        self.one_by_one(collection.take_awaiting(index))
            .for_each(|envelope| self.dispatch(collection, envelope));
    }

    /// An object was removed here: its home hears of it, and this PE sends there what still comes for it.
    pub fn unsettle(&self, collection: &Collection, index: u128, moves: u32, order: Order) {
        let (home, id) = (collection.home(index), collection.object(index));
        // Only elements of arrays have successors; the partners of a single chare are told that it is gone, too.
        let is_kept = matches!(collection.chare.kind, Kind::Array | Kind::Single);
        let inherited = is_kept && !order.is_empty() && !mutated("order-not-inherited");
        if inherited {
            sometimes("an element left its order to its home");
        }
        if !is_kept && collection.going.get() {
            self.tell_of_end(id, &order);
        }
        let order = inherited.then(|| Box::new(order));
        if home == self.id {
            if moves > 0 {
                sometimes("an element that had moved was removed at its home");
            }
            // Of one that never moved there is no older news to be guarded against.
            let place = if moves == 0 { Place::Unknown } else { collection.end(moves + 1) };
            collection.set_place(index, place);
            collection.limit_gone(index);
            collection.orders.keep(index, order);
            return self.after_end(collection, index, inherited);
        }
        sometimes("an element was removed away from its home");
        collection.set_place(index, Place::At { pe: home, moves: moves + 1 });
        self.tell(home, LocationMessage::Gone { id, moves: moves + 1, order });
    }

    /// At the home: an object is gone.
    pub fn on_gone(&self, id: ObjId, moves: u32, order: Option<Box<Order>>) {
        let Some(collection) = self.collections.get(id.collection) else { return };
        if let Place::Here { .. } = self.place_of(collection, id.index) {
            let who = collection.label(id.index);
            return self
                .node
                .job
                .end(1, Some(format!("{who} is said to be gone by another PE, and is on PE {}", self.id)));
        }
        let leaves_order = order.is_some();
        // First: among what waits for the place may be a question about it.
        collection.orders.keep(id.index, order);
        self.switch(collection, id.index, collection.end(moves));
        collection.limit_gone(id.index);
        self.after_end(collection, id.index, leaves_order);
    }

    /// The object of this name is gone, and what it left is kept: those that wait to be made can be.
    fn after_end(&self, collection: &Collection, index: u128, leaves_order: bool) {
        self.release_unborn(collection, index);
        if leaves_order {
            self.limit_orders(collection);
        }
    }

    /// Those that wait to be made under this name can be.
    pub fn release_unborn(&self, collection: &Collection, index: u128) {
        for envelope in collection.take_unborn(index) {
            sometimes("an element could be made because its former one was gone");
            if mutated("unborn-forgotten") {
                self.release(envelope);
            } else {
                self.enqueue(envelope);
            }
        }
    }

    /// An object found here was sent to by another PE's knowledge: that PE learns better.
    pub fn correct(&self, sender: PeId, id: ObjId, moves: u32) {
        if sender != self.id {
            self.tell(sender, LocationMessage::Moved { id, pe: self.id, moves });
        }
    }
}
