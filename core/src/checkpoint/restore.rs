//! Going on from a checkpoint: fresh PEs take back their own parts, and those of lost PEs for which they act.
//!
//! Of where objects are, a part says only which of those at home here are elsewhere. What comes for one of these waits until the PE
//! that has it now has said so ([`RecoveryMessage::Places`]). Everybody else begins without knowing any place, and asks homes. What
//! refers to a shared value that has not come to this node again waits for it, objects included, like anything that comes to a PE.

use std::collections::{BTreeMap, BTreeSet};
use std::ptr::NonNull;

use easy_ext::ext;

use super::part::{Part, SavedCollection, SavedObject, SavedRoot};
use crate::broadcast::BroadcastsOfCollection;
use crate::broadcast::BroadcastsOnPe;
use crate::broadcast::births::BirthsOnPe;
use crate::checkpoint::cut::CutOnPe;
use crate::checkpoint::joiners::JoinersOnPe;
use crate::checkpoint::recovery_message::RecoveryMessage;
use crate::group_members::GroupMembersOnPe;
use crate::lifecycle::census::CensusOnPe;
use crate::quiescence::QuiescenceOnPe;
use crate::reduction::ReductionsOfCollection;
use crate::reduction::gathering::GatheringOnPe;
use crate::reduction::message::ReductionMessage;
use crate::section::SavedSection;
use crate::section::SectionsOnPe;
use crate::shared::SharedValuesOnPe;
use talisman_base::ids::ReductionKey;
use talisman_base::ids::{CollectionId, ObjId, PeId};
use talisman_kernel::collection::Collection;
use talisman_kernel::collection::gone::Gone;
use talisman_kernel::location::Place;
use talisman_kernel::message::control::Cast;
use talisman_kernel::message::envelope::Envelope;
use talisman_kernel::migrate::unpack_header;
use talisman_kernel::object::{Head, flag};
use talisman_kernel::panics::caught;
use talisman_kernel::pe::execute::Restored;
use talisman_kernel::pe::turn::runs_again;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::registry::Registry;
use talisman_kernel::wire;
use talisman_kernel::witness::{self, Seen, Why};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::{Packed, Purpose};

/// Broadcasts that elements of a part had been given.
type BroadcastState = BTreeMap<(CollectionId, u32), Cast>;

/// Objects that are here now, with their moves, by their homes.
type News = BTreeMap<PeId, Vec<(ObjId, u32)>>;

#[ext(RestoreOnPe)]
pub impl Pe {
    /// Takes back what was saved: its own part first, and then those of lost PEs that it acts for. To be called before its first turn.
    /// `false` if the program's code panicked, which ends the job.
    fn restore(&self, parts: Vec<Part>) -> bool {
        let _here = Here::enter(self);
        caught(self, || self.take_back(parts))
    }

    fn take_back(&self, mut parts: Vec<Part>) {
        if runs_again() {
            parts.iter_mut().for_each(overlook);
        }
        self.take_back_names(&parts);
        parts.iter().for_each(|part| self.take_back_gone(part));
        parts.iter().for_each(|part| self.node.job.step_again(part.steps));
        parts.iter().flat_map(|part| &part.collections).for_each(|saved| self.take_back_collection(saved));
        for part in &mut parts {
            part.shared.drain(..).for_each(|(id, value)| self.share_again(id, value));
        }
        for part in &mut parts {
            part.sections.drain(..).for_each(|saved| self.take_back_section(saved));
            part.roots.drain(..).for_each(|saved| self.take_back_root(saved));
        }
        parts.iter().for_each(|part| self.take_back_unborn(part));
        let (mut came, mut news) = (Vec::new(), News::new());
        for part in &mut parts {
            self.take_back_objects(part, &mut came, &mut news);
        }
        self.take_back_births(&mut parts, &mut news);
        for newborn in parts.iter_mut().flat_map(|part| part.newborn.drain(..)) {
            self.expect_newborn(newborn);
        }
        for (home, objects) in news {
            self.tell(home, RecoveryMessage::Places { objects });
        }
        if mutated("restored-speak-first") {
            came.drain(..).for_each(|(slot, why)| self.tell_restored_in(slot, why));
        }
        self.enqueue(self.pe_message(RecoveryMessage::GoOn));
        parts.into_iter().for_each(|part| self.take_back_messages(part));
        // What they say now comes after what they had said.
        came.into_iter().for_each(|(slot, why)| self.tell_restored_in(slot, why));
        self.chores.set(true);
    }

    fn take_back_names(&self, parts: &[Part]) {
        for (pe, saved) in parts.iter().flat_map(|part| &part.names) {
            if *pe != self.id {
                self.names().of_others.borrow_mut().push((*pe, *saved));
                continue;
            }
            self.names().go_on_from(saved);
            if !mutated("slots-named-again") {
                self.slots.begin_with(saved.generation + 1);
            }
        }
    }

    /// What had been destroyed.
    fn take_back_gone(&self, part: &Part) {
        let there_are = |(creator, _): &&(PeId, Gone)| *creator < self.pes();
        for (creator, gone) in part.gone.iter().filter(there_are) {
            self.collections.go_on_without(*creator, gone);
        }
        for (creator, gone) in &part.gone_shared {
            self.node.shared.go_on_without(*creator, gone);
            self.shared_heard.go_on_without(*creator, gone);
        }
        self.node.shared.go_on_with_doomed(&part.doomed);
        self.shared_heard.go_on_with_doomed(&part.doomed);
        self.too_late.go_on_from(part.too_late.as_ref());
    }

    /// Every part has every collection, as its own PE saw it.
    fn take_back_collection(&self, saved: &SavedCollection) {
        let Some((_, chare)) = Registry::get().find(saved.of.key) else {
            let message =
                format!("a checkpoint has a collection of an unknown chare type ({:x})", saved.of.key);
            return self.node.job.end(1, Some(message));
        };
        let known = self.collections.get(saved.of.id);
        let collection = known.unwrap_or_else(|| self.add_collection(&saved.of, chare));
        collection.casts().go_on_from(saved.passed);
        let insertion = &collection.insertion;
        insertion.closed.set(insertion.closed.get() || saved.closed);
        insertion.sent.set(insertion.sent.get() + saved.sent);
        insertion.made.set(insertion.made.get() + saved.made);
        for (index, order) in &saved.orders {
            collection.orders.keep(*index, Some(Box::new(order.clone())));
        }
    }

    /// What elements are to receive that are still to be made.
    fn take_back_unborn(&self, part: &Part) {
        for saved in &part.collections {
            let Some(collection) = self.collections.get(saved.of.id) else { continue };
            for (birth, first) in &saved.unborn {
                let given =
                    part.casts.iter().filter(|(id, number, _)| *id == saved.of.id && *number >= *first);
                let given = given.map(|(_, number, cast)| (*number, cast.clone()));
                collection.casts().births.go_on_with(*birth, given.collect());
            }
        }
    }

    fn take_back_root(&self, saved: SavedRoot) {
        let Some(collection) = self.collections.get(saved.id) else { return };
        let Some(root) = collection.root() else { return };
        root.borrow_mut().go_on_from(saved.alive, saved.next);
        root.borrow_mut().go_on_with_late(saved.heard, saved.late);
        collection.casts().go_on_at_root(saved.numbered, saved.held);
        saved.open.into_iter().for_each(|(key, pending)| self.reopen(saved.id, key, pending));
        if saved.counts {
            sometimes("the first elements of an array are counted anew after going back to a checkpoint");
            self.done_inserting(saved.id);
        }
    }

    fn take_back_section(&self, saved: SavedSection) {
        let (of, id) = (saved.of, saved.id);
        let open = self.sections().go_on_from(saved);
        self.ask_for_lost_members(of, id);
        open.into_iter().for_each(|(key, pending)| self.reopen(of, key, pending));
    }

    fn reopen(&self, collection: CollectionId, key: ReductionKey, pending: Packed) {
        match self.lacks(pending.needs()) {
            None => self.on_reopen(collection, key, pending),
            Some(lacking) => {
                sometimes("a reduction of a checkpoint waited for a shared value");
                let again = self.pe_message(ReductionMessage::Reopen { collection, key, pending });
                self.defer(lacking, again);
            }
        }
    }

    /// Objects that can be read are here at once; the others are on their way. The program hears of them when all are here.
    fn take_back_objects(&self, part: &mut Part, came: &mut Vec<(u32, Restored)>, news: &mut News) {
        let why = if part.pe == self.id { Restored::FromCheckpoint } else { Restored::AfterFailure };
        let casts: BroadcastState =
            part.casts.drain(..).map(|(id, number, cast)| ((id, number), cast)).collect();
        for object in part.objects.drain(..) {
            let (id, moves) = (object.id, object.header.moves);
            let Some(collection) = self.collections.get(id.collection) else { continue };
            let given = |number| Some((number, casts.get(&(id.collection, number))?.clone()));
            let later: Vec<_> = (object.header.broadcasts..object.given).filter_map(given).collect();
            note_place(self, collection, id, moves, news);
            if collection.acting(id.index).is_some() {
                self.expect_lost_member(id);
            }
            match self.lacks_for(&object, &later) {
                None => came.extend(self.put_object(collection, object, later).map(|slot| (slot, why))),
                Some(lacking) => {
                    sometimes("an object of a checkpoint waited for a shared value");
                    self.expect_object(collection, id.index);
                    collection.casts().keep_for(id.index, later);
                    witness::see(|| Seen::Awaited { object: id, pe: self.id });
                    let again = RecoveryMessage::Restore { object: Box::new(object), why };
                    self.defer(lacking, self.pe_message(again));
                }
            }
        }
    }

    /// A shared value without which an object, or what it was given, cannot be read. (An object that could go before it has
    /// answered what it was given would be waited for.)
    fn lacks_for(&self, object: &SavedObject, later: &[(u32, Cast)]) -> Option<u64> {
        let of_casts = || later.iter().find_map(|(_, cast)| self.lacks(cast.args.needs()));
        self.lacks(object.state.needs()).or_else(of_casts)
    }

    /// An object of a checkpoint could not be read at once. What has passed since is among what it was given.
    fn on_restore(&self, object: SavedObject, why: Restored) {
        let id = object.id;
        let Some(collection) = self.collections.get(id.collection) else { return };
        if mutated("awaited-object-forgotten") {
            return;
        }
        let later = collection.casts().take_kept_for(id.index);
        if let Some(lacking) = self.lacks_for(&object, &later) {
            sometimes("an object of a checkpoint waited for two shared values");
            collection.casts().keep_for(id.index, later);
            let again = RecoveryMessage::Restore { object: Box::new(object), why };
            return self.defer(lacking, self.pe_message(again));
        }
        let Some(slot) = self.put_object(collection, object, later) else { return };
        self.tell_restored_in(slot, why);
        if !self.frozen.get() {
            self.receive_kept_in(slot);
        }
    }

    /// By its slot: a lost member of a group is not found by its name.
    fn tell_restored_in(&self, slot: u32, why: Restored) {
        self.slots.at(slot).into_iter().for_each(|(head, _)| self.tell_restored(head, why));
    }

    /// The slot that it is in, if it can be read.
    fn put_object(
        &self,
        collection: &Collection,
        saved: SavedObject,
        later: Vec<(u32, Cast)>,
    ) -> Option<u32> {
        let SavedObject { id, mut header, destination, state, .. } = saved;
        let head = match self.unpack_object(collection, id.index, state) {
            Ok(head) => head,
            Err(error) => {
                self.unreadable_element(collection, id.index, "back from a checkpoint", &error);
                return None;
            }
        };
        // SAFETY: just made, and this PE's.
        let object = unsafe { head.as_ref() };
        let past = header.past.take();
        unpack_header(object, header);
        self.put_off(object, collection.acting(id.index).is_some(), destination, later);
        let home = collection.home(id.index);
        witness::see(|| Seen::Restored { object: id, pe: self.id, home });
        self.put_in_slot(collection, head);
        if let Some(past) = past {
            self.restore_past(object, past);
        }
        Some(object.slot.get())
    }

    /// What an object does before it runs anything else, like one that has broadcasts to catch up with. A lost member of a group
    /// does nothing else.
    fn put_off(&self, object: &Head, is_lost: bool, destination: Option<PeId>, later: Vec<(u32, Cast)>) {
        if !is_lost && destination.is_none() && later.is_empty() {
            return;
        }
        object.set(flag::CATCHING_UP);
        object.extras(|extras| {
            extras.later = later.into();
            extras.destination = destination.map_or(0, |to| self.view().acting_for(to));
        });
        if destination.is_some() {
            object.set(flag::MIGRATE);
        }
    }

    /// Objects that their homes had decided to be made here, or on lost PEs, and that are not made yet. At its home such an
    /// object is nowhere then; of all others that are away their PEs will say where.
    fn take_back_births(&self, parts: &mut [Part], news: &mut News) {
        let mut at_home = BTreeSet::new();
        for birth in parts.iter_mut().flat_map(|part| part.births.drain(..)) {
            let Some(envelope) = self.read_saved(birth) else { continue };
            // SAFETY: just made.
            let message = unsafe { envelope.as_ref() };
            let id = message.to();
            let Some(collection) = self.collections.get(id.collection) else { continue };
            let birth = message.extra.as_ref().and_then(|extra| extra.birth.as_ref());
            note_place(self, collection, id, birth.map_or(0, |birth| birth.moves), news);
            self.give_back(collection, envelope);
            if collection.home(id.index) == self.id {
                sometimes("an object that was to be made on a lost PE is made by its home");
                at_home.insert(id);
            }
            self.enqueue_creation(collection, envelope);
        }
        for id in parts.iter().flat_map(|part| &part.away).filter(|id| !at_home.contains(id)) {
            if let Some(collection) = self.collections.get(id.collection) {
                self.expect_news(collection, id.index);
            }
        }
    }

    /// At the home: objects are on that PE, or were before they moved on.
    fn on_places(&self, pe: PeId, objects: Vec<(ObjId, u32)>) {
        for (id, moves) in objects {
            if let Some(collection) = self.collections.get(id.collection) {
                self.take_news(collection, id.index, pe, moves);
            }
        }
    }

    /// Nothing is left of a checkpoint but what objects were given before it. They have that now, even if the next checkpoint begins
    /// already: the cut waits until this PE has nothing left to do. A lost member that was kept in it once more would be in
    /// the way of one who is made when its PE is there again.
    fn on_go_on(&self) {
        self.begin_periods_after_cut();
        self.receive_kept();
    }

    fn take_back_messages(&self, part: Part) {
        match part.messages.each() {
            Ok(messages) => messages
                .into_iter()
                .filter_map(|message| self.read_saved(message))
                .for_each(|envelope| self.take_back_message(envelope)),
            Err(error) => self.node.job.end(1, Some(error.to_string())),
        }
        for request in part.requests {
            self.read_saved(request).into_iter().for_each(|envelope| self.request_again(envelope));
        }
        let now = self.clock.now();
        part.timers.into_iter().for_each(|(left, to)| self.set_timer(now + left, to));
        part.when_idle.into_iter().for_each(|to| self.timers.when_idle(to));
        part.when_quiet.into_iter().for_each(|to| self.when_quiet(to));
    }

    fn read_saved(&self, message: Packed) -> Option<NonNull<Envelope>> {
        match wire::read_kept(self, message, Purpose::Checkpoint) {
            Ok(envelope) => Some(envelope),
            Err(error) => {
                self.node.job.end(1, Some(error.to_string()));
                None
            }
        }
    }

    fn take_back_message(&self, envelope: NonNull<Envelope>) {
        // SAFETY: just made.
        let message = unsafe { envelope.as_ref() };
        let to = message.to();
        let Some(collection) = self.collections.get(to.collection) else {
            return self.keep_orphan(to.collection, envelope);
        };
        if message.is_creation() {
            // Its home had kept it.
            let home = collection.home(to.index);
            self.give_back(collection, envelope);
            if home != self.id {
                sometimes("an object that was to be made is made by a home that is new");
                return self.send_birth(collection, home, envelope);
            }
            return match self.place_of(collection, to.index) {
                // The former one of its name was away, and is not gone yet.
                Place::Here { .. } => {
                    self.expect_birth(collection, envelope);
                    collection.await_end(to.index, envelope);
                }
                _ => self.enqueue_creation(collection, envelope),
            };
        }
        if collection.acting(to.index).is_some() && !self.is_for_acting(collection, message) {
            self.answer_for_lost(collection, message);
            sometimes("a message for the member of a lost PE was dropped");
            return self.discard(envelope, Why::OfLost);
        }
        if self.lets_in(envelope) {
            self.dispatch(collection, envelope);
        }
    }

    /// What the program had asked of PEs, it asks of those in their places.
    fn request_again(&self, mut envelope: NonNull<Envelope>) {
        // SAFETY: just made.
        let request = unsafe { envelope.as_mut() }.take_pe_message();
        self.release(envelope);
        request.into_iter().for_each(|request| request.request_again(self));
    }
}

/// If an object is not at its home, that is told where it is.
fn note_place(pe: &Pe, collection: &Collection, id: ObjId, moves: u32, news: &mut News) {
    let home = collection.home(id.index);
    if home != pe.id {
        news.entry(home).or_default().push((id, moves));
    }
}

/// Deliberate mistakes: something of a part that who runs again does not take back, and those do that are made anew of it at a cut.
fn overlook(part: &mut Part) {
    if mutated("shared-values-not-taken-back") {
        part.shared.clear();
    }
    if mutated("passed-broadcasts-not-taken-back") {
        part.collections.iter_mut().for_each(|saved| saved.passed = 0);
    }
    if mutated("insertions-not-taken-back") {
        part.collections.iter_mut().for_each(|saved| (saved.closed, saved.sent, saved.made) = (false, 0, 0));
    }
    if mutated("unborn-not-taken-back") {
        part.collections.iter_mut().for_each(|saved| saved.unborn.clear());
    }
    if mutated("roots-not-taken-back") {
        part.roots.clear();
    }
    if mutated("open-reductions-not-taken-back") {
        part.roots.iter_mut().for_each(|saved| saved.open.clear());
    }
    if mutated("held-broadcasts-not-taken-back") {
        part.roots.iter_mut().for_each(|saved| saved.held.clear());
    }
    if mutated("sections-not-taken-back") {
        part.sections.clear();
    }
    if mutated("headers-not-taken-back") {
        part.objects.iter_mut().for_each(|saved| saved.header.rng = None);
    }
    if mutated("given-broadcasts-not-taken-back") {
        part.casts.clear();
    }
    if mutated("destinations-not-taken-back") {
        part.objects.iter_mut().for_each(|saved| saved.destination = None);
    }
    if mutated("away-not-taken-back") {
        part.away.clear();
    }
    if mutated("births-not-taken-back") {
        part.births.clear();
    }
    if mutated("requests-not-taken-back") {
        part.requests.clear();
    }
    if mutated("timers-not-taken-back") {
        part.timers.clear();
    }
    if mutated("idle-work-not-taken-back") {
        part.when_idle.clear();
    }
    if mutated("quiet-not-taken-back") {
        part.when_quiet.clear();
    }
    if mutated("names-not-taken-back") {
        part.names.clear();
    }
}
