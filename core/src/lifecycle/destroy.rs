//! Destroying collections: `array.destroy()`.
//!
//! That is a broadcast like any other, numbered by the root. So an element receives what was broadcast before it, wherever it has moved, and
//! then goes like one that destroys itself: reductions that are open do not wait for it. That all have gone is found out like all answers
//! to a broadcast. Then nothing of the collection is on its way but what comes too late, and the root tells all PEs down its tree to
//! drop their parts. In between an ordinary checkpoint may be taken: what is done and what is left to do are objects, broadcasts and
//! reductions like others.
//!
//! Names are not used again. Each PE keeps which there have been ([`Gone`](talisman_kernel::collection::gone::Gone)), so that what comes too late is not taken for
//! what comes too early.

use std::ptr::NonNull;

use easy_ext::ext;

use super::message::CollectionMessage;
use crate::broadcast::BroadcastsOfCollection;
use crate::broadcast::BroadcastsOnPe;
use crate::group_members::GroupMembersOnPe;
use crate::lifecycle::admission::AdmissionsOnPe;
use crate::reduction::ReductionsOfCollection;
use crate::section::SectionsOnPe;
use talisman_base::ids::{CollectionId, SectionId};
use talisman_kernel::collection::Collection;
use talisman_kernel::message::control::{Cast, CastCall};
use talisman_kernel::message::envelope::Extra;
use talisman_kernel::object::{Head, flag};
use talisman_kernel::pe::Pe;
use talisman_kernel::route::{Collect, Route};
use talisman_kernel::witness::{self, Seen};
use talisman_observe::sometimes::sometimes;
use talisman_pup::Packed;

#[ext(DestructionOnPe)]
pub impl Pe {
    /// Asks for the end of a collection.
    fn destroy_collection(&self, id: CollectionId) {
        let collect = Some((0, Route::Destroyed(id)));
        self.broadcast(id, Cast { call: CastCall::Destroy, args: Packed::default(), collect });
    }

    /// At the root: whether a broadcast is no more to be, since the elements are being destroyed.
    fn is_too_late(&self, collection: &Collection, cast: &Cast) -> bool {
        if !collection.going.get() {
            return false;
        }
        if !matches!(cast.call, CastCall::Destroy) {
            self.note_too_late(format!(
                "a broadcast to `{}`, which was destroyed",
                (collection.chare.name)()
            ));
        }
        true
    }

    /// An element receives the end of its collection.
    fn destroy_element(&self, head: NonNull<Head>, extra: Option<Box<Extra>>) {
        let Some(Route::Collect(to @ Collect { section: None, .. })) = extra.and_then(|extra| extra.reply)
        else {
            return;
        };
        // SAFETY: an object in a slot is live.
        let object = unsafe { head.as_ref() };
        let (collection, id) = (object.collection(), object.id());
        collection.going.set(true);
        self.give_up_answers(head);
        if collection.acting(id.index).is_some() {
            self.note_contributions(head);
        }
        self.remove_element(head);
        self.answer_nothing(collection, id, to.key());
    }

    /// What its async entries were to answer is missing in a reduction like all else of it; whoever waits for the answer itself is told.
    fn give_up_answers(&self, head: NonNull<Head>) {
        // SAFETY: an object in a slot is live.
        let object = unsafe { head.as_ref() };
        if !object.has(flag::LIVE) {
            return;
        }
        // SAFETY: as above, of this type, and between entries.
        for (entry, to) in unsafe { (object.collection().chare.owed)(head) } {
            match to {
                Route::Ignore => {}
                Route::Collect(collect) => self.owes_to_reduction(&collect),
                _ => {
                    let label = object.collection().label(object.index());
                    self.note_too_late(format!(
                        "the answer of `{entry}` of {label}, which was destroyed in its midst"
                    ));
                }
            }
        }
    }

    /// No element of a collection is left: every PE drops its part, this one first.
    fn on_drop_collection(&self, id: CollectionId) {
        for child in self.view().children(self.id, id.creator) {
            self.tell(child, CollectionMessage::Drop(id));
        }
        self.drop_collection(id);
    }

    fn drop_collection(&self, id: CollectionId) {
        if let Some(collection) = self.collections.get(id) {
            self.drop_what_it_has(collection);
            self.tell_of_ends(collection);
            self.node.shared.let_go(collection.needs());
        }
        self.sections().forget_all_of(id).into_iter().for_each(|what| self.note_too_late(what));
        self.lost_members().forget(id);
        for _ in 0..self.forget_insertions(id) {
            self.note_too_late("a broadcast to a destroyed collection, or an insertion into it".into());
        }
        // SAFETY: this is the only message that is being worked on here, and it is for the PE; the objects are gone.
        drop(unsafe { self.collections.remove(id) });
    }

    /// Elements that were inserted since, what waits for such as never came, and reductions that will not be complete.
    fn drop_what_it_has(&self, collection: &Collection) {
        for slot in collection.slots() {
            let Some((head, _)) = self.slots.at(slot) else { continue };
            sometimes("an element was inserted into an array that was being destroyed");
            // SAFETY: an object in a slot is live.
            let object = unsafe { head.as_ref() };
            witness::see(|| Seen::Removed { object: object.id(), pe: self.id });
            object.take_extras().into_iter().for_each(|extras| self.tell_of_end(object.id(), &extras.order));
            self.slots.remove(slot);
            self.free_object(head);
        }
        if let Some(root) = collection.root() {
            let name = (collection.chare.name)();
            for contributions in root.borrow().wanted() {
                self.note_too_late(format!("a reduction over `{name}` with {contributions} contributions"));
            }
        }
        let kept = collection.take_kept().into_iter().chain(collection.casts().births.take_kept()).collect();
        self.one_by_one(kept).for_each(|envelope| self.drop_too_late(envelope));
    }

    /// At the root of a section: it ends, and its members forget what they had contributed to it.
    fn on_drop_section(&self, id: CollectionId, section: SectionId) {
        let Some(collection) = self.collections.get(id) else { return };
        let Some((members, given_up)) = self.sections().forget(section) else { return };
        given_up.into_iter().for_each(|what| self.note_too_late(what));
        let cast = Cast { call: CastCall::Forget(section), args: Packed::default(), collect: None };
        self.cast_to_members(collection, section, 0, members, &cast);
    }
}
