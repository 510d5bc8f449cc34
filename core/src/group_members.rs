//! Members of groups on lost PEs. Nobody takes the place of such a one for good, but it comes back at the acting PE of its PE for as long
//! as it has broadcasts to answer that had reached it before the cut: so of the members' answers none is missing, and none is
//! given by somebody who knows more than when others answered. Then it goes, and leaves what it knows to the acting PE's own member, if the
//! chare has a `#[lost]` method.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ptr::NonNull;

use easy_ext::ext;

use crate::broadcast::BroadcastsOnPe;
use crate::section::message::SectionMessage;
use talisman_base::ids::{CollectionId, ObjId, SectionId};
use talisman_job::exit::UNRECOVERABLE;
use talisman_kernel::collection::Collection;
use talisman_kernel::message::control::ObjectMessage;
use talisman_kernel::message::envelope::{Envelope, Extra};
use talisman_kernel::message::service::Service;
use talisman_kernel::migrate::pack_object;
use talisman_kernel::node::Node;
use talisman_kernel::object::{Head, flag};
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::states::ServiceState;
use talisman_kernel::route::{Collect, Route};
use talisman_observe::sometimes::sometimes;

/// What a PE knows of lost members of groups that it acts for.
#[derive(Default)]
pub struct LostMembers {
    /// Those that have come back, or are to, and have not gone.
    here: RefCell<BTreeSet<ObjId>>,
    /// Those that have gone in this life: to how many reductions of sections each had contributed.
    gone: RefCell<BTreeMap<ObjId, BTreeMap<SectionId, u32>>>,
    /// Members that are here, and a section that wants to know that of each.
    asked: RefCell<Vec<(ObjId, SectionId)>>,
}

impl LostMembers {
    /// A collection was destroyed.
    pub fn forget(&self, id: CollectionId) {
        self.here.borrow_mut().retain(|member| member.collection != id);
        self.gone.borrow_mut().retain(|member, _| member.collection != id);
        self.asked.borrow_mut().retain(|(member, _)| member.collection != id);
    }
}

impl ServiceState for LostMembers {
    const SERVICE: Service = Service::Recovery;

    fn new(_: &Node) -> Self {
        LostMembers::default()
    }
}

#[ext(GroupMembersOnPe)]
pub impl Pe {
    /// What it knows of lost members of groups.
    fn lost_members(&self) -> &LostMembers {
        self.state()
    }

    /// A lost member of a checkpoint comes back, at once or when it can be read.
    fn expect_lost_member(&self, member: ObjId) {
        self.lost_members().here.borrow_mut().insert(member);
    }

    /// A lost member answers what it had been given, and goes; `own` is the member in its place.
    fn hand_over(&self, slot: u32, generation: u32, own: u128) {
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
            let mut message = self.object_message(collection.object(own), ObjectMessage::Lost { state });
            // Before all that waits here since the cut, such as a request for a broadcast: the lost member does not answer that any more.
            // SAFETY: just made.
            unsafe { message.as_mut() }.extra = Some(Box::new(Extra { expedited: true, ..Extra::default() }));
            if self.lets_in(message) {
                self.dispatch(collection, message);
            }
        }
        self.note_contributions(head);
        self.settle_what_it_owes(head);
        self.remove_element(head);
    }

    /// Its async entries go with it. What they were to answer is missing in a reduction like all else of it. Whoever waits for
    /// the answer itself would wait for ever, so that the job ends.
    fn settle_what_it_owes(&self, head: NonNull<Head>) {
        // SAFETY: an object in a slot is live.
        let object = unsafe { head.as_ref() };
        // SAFETY: as above, of this type, and between entries.
        for (entry, to) in unsafe { (object.collection().chare.owed)(head) } {
            match to {
                Route::Ignore => {}
                Route::Collect(collect) => self.owes_to_reduction(&collect),
                to if self.is_of_lost(&to) => sometimes("a lost member owed an answer to a lost one"),
                _ => self.cannot_answer(object, entry),
            }
        }
    }

    fn owes_to_reduction(&self, collect: &Collect) {
        sometimes("a lost member owed an answer to a reduction");
        if let Some(collection) = self.collections.get(collect.collection) {
            self.answer_nothing(collection, collection.object(collect.index), collect.key());
        }
    }

    /// Whether an answer is for an async entry of a lost member, which is not there any more either.
    fn is_of_lost(&self, to: &Route) -> bool {
        let Route::Reply(id, _) = to else { return false };
        self.collections.get(id.collection).is_some_and(|collection| collection.acting(id.index).is_some())
    }

    fn cannot_answer(&self, object: &Head, entry: &str) {
        sometimes("a lost member owed an answer that somebody waited for");
        let label = object.collection().label(object.index());
        let message = format!(
            "{label} was lost with its PE in the midst of `{entry}`: somebody waits for the answer, which nobody else can give. Let \
             elements of an array give it, which are restored, or have the answers of the whole group reduced"
        );
        self.node.job.end(UNRECOVERABLE, Some(message));
    }

    /// What it has contributed to sections is all that it will.
    fn note_contributions(&self, head: NonNull<Head>) {
        // SAFETY: an object in a slot is live.
        let object = unsafe { head.as_ref() };
        let (member, reductions) = (object.id(), object.extras(|extras| extras.sections.clone()));
        self.lost_members().here.borrow_mut().remove(&member);
        self.lost_members().gone.borrow_mut().insert(member, reductions);
        let (due, others): (Vec<_>, Vec<_>) =
            self.lost_members().asked.take().into_iter().partition(|(of, _)| *of == member);
        *self.lost_members().asked.borrow_mut() = others;
        due.into_iter().for_each(|(member, section)| self.tell_contributions(member, section));
    }

    /// The root of a section wants to know to how many of its reductions a lost member has contributed: it is told when that has
    /// gone. One that has not been here in this life had never contributed.
    fn on_was_contributing(&self, member: ObjId, section: SectionId) {
        if self.lost_members().here.borrow().contains(&member) {
            sometimes("a section asked for the contributions of a lost member before that had gone");
            self.lost_members().asked.borrow_mut().push((member, section));
        } else {
            self.tell_contributions(member, section);
        }
    }

    fn tell_contributions(&self, member: ObjId, section: SectionId) {
        let gone = self.lost_members().gone.borrow();
        let reductions =
            gone.get(&member).and_then(|reductions| reductions.get(&section)).copied().unwrap_or(0);
        let root = self.view().acting_for(section.creator);
        self.tell(root, SectionMessage::HasContributed { member, section, reductions });
    }

    /// A lost member was to answer this in a reduction: nobody does, and nobody waits for that.
    fn answer_for_lost(&self, collection: &Collection, message: &Envelope) {
        if let Some(Route::Collect(collect)) = message.extra.as_ref().and_then(|extra| extra.reply.as_ref()) {
            self.answer_nothing(collection, message.to(), collect.key());
        }
    }

    /// Whether a message that was on its way to a lost member is for the one in its place: if that hears of lost ones, or if somebody
    /// waits for an answer. In a reduction it has an answer of its own to give, if any.
    fn is_for_acting(&self, collection: &Collection, message: &Envelope) -> bool {
        match message.extra.as_ref().and_then(|extra| extra.reply.as_ref()) {
            Some(Route::Collect(_)) => false,
            Some(_) => true,
            None => collection.chare.lost.is_some(),
        }
    }
}
