//! Members of groups on lost PEs. Nobody takes the place of such a one for good, but it comes back at the seat of its PE for as long
//! as it has broadcasts to answer that had reached it before the cut: so of the members' answers none is missing, and none is
//! given by somebody who knows more than when others answered. Then it goes, and leaves what it knows to the seat's own member, if the
//! chare has a `#[lost]` method.

use std::ptr::NonNull;

use crate::collection::Collection;
use crate::message::control::ObjectMessage;
use crate::message::envelope::Envelope;
use crate::migrate::pack_object;
use crate::object::{Head, flag};
use crate::pe::Pe;
use crate::sometimes::sometimes;

impl Pe {
    /// A lost member answers what it had been given, and goes; `own` is the member in its place.
    pub(crate) fn hand_over(&self, slot: u32, generation: u32, own: u128) {
        while let Some(head) = self.slots.get(slot, generation) {
            // SAFETY: an object in a slot is live.
            let object = unsafe { head.as_ref() };
            match object.extras(|extras| extras.later.pop_front()) {
                Some((number, cast)) => self.receive(head, number, &cast),
                None => {
                    object.clear(flag::CATCHING_UP);
                    return self.leave_to(head, own);
                }
            }
        }
    }

    fn leave_to(&self, head: NonNull<Head>, own: u128) {
        sometimes("a lost member of a group left what it had to another");
        // SAFETY: an object in a slot is live.
        let collection = unsafe { head.as_ref() }.collection();
        if collection.chare.lost.is_some() {
            // SAFETY: as above, of this type, and between entries.
            let state = unsafe { pack_object(collection.chare, head) };
            let message = self.object_message(collection.object(own), ObjectMessage::Lost { state });
            if self.lets_in(message) {
                self.dispatch(collection, message);
            }
        }
        self.remove_element(head);
    }

    /// Whether a message that was on its way to a lost member is for the one in its place: if that hears of lost ones, or if somebody
    /// waits for an answer.
    pub(super) fn is_for_stand_in(&self, collection: &Collection, message: &Envelope) -> bool {
        let answered = message.extra.as_ref().is_some_and(|extra| extra.reply.is_some());
        collection.chare.lost.is_some() || answered
    }
}
