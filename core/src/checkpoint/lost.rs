//! Members of groups on lost PEs: nobody takes their places. Each counts as gone, and its state goes to the member of its PE's seat if
//! the chare has a `#[lost]` method.

use crate::collection::Collection;
use crate::ids::ObjId;
use crate::message::control::{Cast, ObjectMessage};
use crate::message::envelope::Envelope;
use crate::migrate::unpack_travel;
use crate::object::Head;
use crate::pe::Pe;
use crate::pup::Purpose;
use crate::sometimes::sometimes;
use crate::wire;
use std::ptr::NonNull;

use super::part::SavedObject;

impl Pe {
    /// Of a member that is lost; `own` is that of its seat.
    pub(super) fn lose_member(
        &self,
        collection: &Collection,
        own: u128,
        saved: SavedObject,
        later: Vec<(u32, Cast)>,
    ) {
        sometimes("a member of a group was lost");
        let SavedObject { id, travel, state, .. } = saved;
        if collection.chare.lost.is_some() {
            let message = self.object_message(collection.object(own), ObjectMessage::Lost { state });
            if self.lets_in(message) {
                self.dispatch(collection, message);
            }
        }
        let object = Head::new(id.index, NonNull::from(collection), 0);
        unpack_travel(&object, travel);
        self.answer_for_lost(collection, id, later);
        self.report_death(&object);
        let early = object.take_extras().map(|mut extras| extras.order.take_early()).unwrap_or_default();
        for message in early {
            match wire::read_kept(self, message, Purpose::Message) {
                Ok(envelope) => self.take_back_message(envelope),
                Err(error) => return self.unreadable(collection, "(kept)", &error.to_string()),
            }
        }
    }

    fn answer_for_lost(&self, collection: &Collection, id: ObjId, casts: Vec<(u32, Cast)>) {
        casts.iter().for_each(|(number, cast)| self.answer_for_removed(collection, id, *number, cast));
    }

    /// Whether a message that was on its way to a lost member is for the one in its place: if that hears of lost ones, or if somebody
    /// waits for an answer.
    pub(super) fn is_for_stand_in(&self, collection: &Collection, message: &Envelope) -> bool {
        let answered = message.extra.as_ref().is_some_and(|extra| extra.reply.is_some());
        collection.chare.lost.is_some() || answered
    }
}
