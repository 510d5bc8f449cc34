//! Receiving: from a queue to an entry method.

use std::borrow::Cow;
use std::ptr::NonNull;

use super::Pe;
use super::execute::Call;
use super::send::is_counted;
use crate::collection::Collection;
use crate::entry::EntryInfo;
use crate::location::Place;
use crate::message::cell::Words;
use crate::message::control::{ObjectMessage, PeMessage};
use crate::message::envelope::{Body, Envelope, Extra};
use crate::object::{Head, flag};
use crate::witness::{Seen, Shadow};
use talisman_base::ids::{ObjId, PeId};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_observe::stats::count;
use talisman_pup::{Packed, PupError};

impl Pe {
    /// Takes in a message from another PE.
    #[inline]
    pub(crate) fn accept(&self, mut envelope: NonNull<Envelope>) {
        // SAFETY: the port gives the envelope away.
        let message = unsafe { envelope.as_mut() };
        if is_counted(message) {
            if self.still.get() {
                return self.keep_late(envelope);
            }
            count(&self.stats.received, 1);
        }
        self.see_message(message.shadow, |message, pe| Seen::Taken { message, pe });
        if let Body::Pe = message.body {
            return self.accept_for_pe(envelope);
        }
        let to = message.to();
        let Some(collection) = self.collections.get(to.collection) else {
            sometimes("a message came to an object before its collection was known");
            return self.keep_for_unknown(to.collection, envelope);
        };
        if message.is_creation() {
            return self.enqueue_creation(collection, envelope);
        }
        if !self.lets_in(envelope) {
            return;
        }
        count(&self.stats.arrived, 1);
        match self.place_of(collection, to.index) {
            Place::Here { slot, generation } => {
                message.slot = slot;
                message.generation = generation;
                if message.forwarded {
                    self.correct_sender(collection, message, slot);
                }
                self.enqueue(envelope);
            }
            place => {
                self.note_forwarding(message, place);
                self.dispatch(collection, envelope);
            }
        }
    }

    /// Takes in a message for this PE.
    pub(crate) fn accept_for_pe(&self, envelope: NonNull<Envelope>) {
        // SAFETY: the port, or the sender on this PE, gave the envelope away.
        let message = unsafe { envelope.as_ref() };
        if let Some(id) = message.pe_message().and_then(PeMessage::collection) {
            // Asked here and not when its turn comes: by then a later message could have gone into the queue, and would
            // stay before it if the collection becomes known in between.
            let Some(collection) = self.collections.get(id) else {
                sometimes("a message came to a PE before its collection was known there");
                return self.keep_for_unknown(id, envelope);
            };
            match message.pe_message() {
                Some(PeMessage::Arrive { id, travel, .. }) => {
                    if !mutated("arrival-not-expected") {
                        self.expect_object(collection, id.index);
                    }
                    if self.lacks(message.needs()).is_some() {
                        collection.casts.expect(id.index, travel.moves);
                    }
                }
                Some(PeMessage::Gone { id, .. }) => self.expect_end(collection, id.index),
                _ => {}
            }
        } else if matches!(
            message.pe_message(),
            Some(PeMessage::Checkpoint(_) | PeMessage::Unadmitted { .. })
        ) {
            // It says things about the queue, or about what may overtake others in it, and so does not wait in it.
            self.see_message(message.shadow, |message, pe| Seen::Queued { message, pe });
            return self.run_pe_message(envelope);
        } else if matches!(message.pe_message(), Some(PeMessage::Balance(_))) {
            // All wait for the last that hears of a step, and what waits in its queue is what the step is to spread. It does not run at once,
            // since it moves objects, and an entry of one may be what sends it.
            return self.enqueue_expedited(envelope);
        }
        if self.lets_in(envelope) {
            self.enqueue(envelope);
        }
    }

    /// The door: a message that refers to a shared value which has not come to this node waits for it, unread. `false`
    /// if it does.
    pub(crate) fn lets_in(&self, envelope: NonNull<Envelope>) -> bool {
        // SAFETY: the caller owns the envelope.
        let message = unsafe { envelope.as_ref() };
        let lacking = self.lacks(message.needs()).filter(|_| !mutated("shared-value-not-awaited"));
        let Some(id) = lacking else { return true };
        match message.pe_message().and_then(PeMessage::collection) {
            // What comes for an object that is not known to come would be lost.
            Some(of) if self.collections.get(of).is_none() => {
                sometimes("a message lacked its collection and a shared value");
                self.keep_for_unknown(of, envelope);
            }
            _ => self.keep_lacking(id, envelope),
        }
        false
    }

    /// Runs a small message from another PE of the node as it arrives, if nothing waits before it and its object is here;
    /// `false` if it has to be queued.
    #[inline]
    pub(crate) fn run_at_once(
        &self,
        to: ObjId,
        entry: &'static EntryInfo,
        words: &mut Words,
        shadow: Shadow,
    ) -> bool {
        if !self.is_queue_empty() || self.stopped.get() {
            return false;
        }
        let Some(collection) = self.collections.get(to.collection) else { return false };
        if !collection.direct || collection.key != entry.chare {
            return false;
        }
        let Some(head) = self.find_in(collection, to.index) else { return false };
        count(&self.stats.received, 1);
        count(&self.stats.arrived, 1);
        self.see_message(shadow, |message, pe| Seen::Taken { message, pe });
        self.see_delivered(shadow, head);
        self.run_entry(head, entry, &mut None, words, &mut Body::Empty);
        true
    }

    /// An object here gets a message.
    #[inline(always)]
    fn see_delivered(&self, shadow: Shadow, head: NonNull<Head>) {
        // SAFETY: the object is live.
        let object = || Some(unsafe { head.as_ref() }.id());
        self.see_message(shadow, |message, pe| Seen::Delivered { message, pe, object: object() });
    }

    /// A message that came by another PE than its sender's: that one did not know the place.
    fn correct_sender(&self, collection: &Collection, message: &Envelope, slot: u32) {
        if let Some((head, _)) = self.slots.at(slot) {
            // SAFETY: an object in a slot is live.
            let moves = unsafe { head.as_ref() }.moves.get();
            self.correct(message.from, collection.object(message.to().index), moves);
        }
    }

    fn note_forwarding(&self, message: &mut Envelope, place: Place) {
        if message.forwarded && matches!(place, Place::At { .. }) {
            sometimes("a message was forwarded twice");
        }
        message.forwarded = true;
    }

    /// Runs one message; `false` when none waits. Into the loop of each driver: a call costs as much as a tenth of a message.
    #[inline(always)]
    pub(crate) fn run_one(&self) -> bool {
        let Some(envelope) = self.next_message() else { return false };
        self.run_message(envelope);
        true
    }

    /// Runs a message that was taken out of the queue.
    #[inline(always)]
    pub(crate) fn run_message(&self, mut envelope: NonNull<Envelope>) {
        // SAFETY: the queue gave the envelope away.
        let message = unsafe { envelope.as_mut() };
        match message.body {
            Body::Invoke(entry) => match self.slots.get(message.slot, message.generation) {
                Some(head) if message.extra.is_none() => {
                    self.see_delivered(message.shadow, head);
                    self.run_entry(head, entry, &mut None, &mut message.words, &mut message.body);
                    self.pool.put(envelope);
                }
                Some(head) => self.run_in_order(head, envelope),
                None => self.send_on(envelope),
            },
            Body::Object => self.run_object_message(envelope),
            Body::Create(_) => self.run_creation(envelope),
            Body::Pe => self.run_pe_message(envelope),
            Body::Empty => self.pool.put(envelope),
        }
    }

    fn run_pe_message(&self, mut envelope: NonNull<Envelope>) {
        // SAFETY: the queue gave the envelope away.
        let message = unsafe { envelope.as_mut() };
        if let Some(of) = message.pe_message().and_then(PeMessage::collection)
            && self.collections.get(of).is_none()
        {
            debug_assert!(self.collections.is_gone(of), "`accept_for_pe` keeps what comes too early");
            return self.drop_too_late(envelope);
        }
        let from = message.from;
        self.see_message(message.shadow, |message, pe| Seen::Delivered { message, pe, object: None });
        let control = message.take_pe_message();
        if !mutated("envelope-not-returned") {
            self.pool.put(envelope);
        }
        control.into_iter().for_each(|control| self.handle(from, *control));
    }

    /// The object left, or went, after the message was queued.
    #[cold]
    pub(crate) fn send_on(&self, mut envelope: NonNull<Envelope>) {
        sometimes("an object left before a queued message");
        if mutated("late-message-lost") {
            return self.release(envelope);
        }
        // SAFETY: the queue gave the envelope away.
        let message = unsafe { envelope.as_mut() };
        message.forwarded = true;
        match self.collections.get(message.to().collection) {
            Some(collection) => self.dispatch(collection, envelope),
            None => self.drop_too_late(envelope),
        }
    }

    pub(crate) fn run_with_extra(&self, head: NonNull<Head>, mut envelope: NonNull<Envelope>) {
        // SAFETY: the queue gave the envelope away.
        let message = unsafe { envelope.as_mut() };
        let mut extra = message.extra.take();
        self.see_delivered(message.shadow, head);
        match message.body {
            Body::Invoke(entry) => {
                self.run_entry(head, entry, &mut extra, &mut message.words, &mut message.body);
                self.pool.put(envelope);
            }
            _ => {
                let packed = message.take_object_message();
                self.pool.put(envelope);
                packed.into_iter().for_each(|packed| self.run_packed(head, *packed, extra.take()));
            }
        }
    }

    /// Runs an entry, with its arguments in place.
    #[inline(always)]
    pub(crate) fn run_entry(
        &self,
        head: NonNull<Head>,
        entry: &'static EntryInfo,
        extra: &mut Option<Box<Extra>>,
        words: &mut Words,
        body: &mut Body,
    ) {
        // The arguments are moved out first thing: if the entry panics they are not dropped again.
        *body = Body::Empty;
        self.execute(head, Call::Entry { entry, extra, words });
    }

    fn run_object_message(&self, mut envelope: NonNull<Envelope>) {
        // SAFETY: the queue gave the envelope away.
        let message = unsafe { envelope.as_mut() };
        if message.is_creation() {
            return self.run_creation(envelope);
        }
        match self.slots.get(message.slot, message.generation) {
            Some(head) if message.extra.is_none() => {
                self.see_delivered(message.shadow, head);
                let packed = message.take_object_message();
                self.pool.put(envelope);
                packed.into_iter().for_each(|packed| self.run_packed(head, *packed, None));
            }
            Some(head) => self.run_in_order(head, envelope),
            None => self.send_on(envelope),
        }
    }

    /// Runs a packed message on an object here.
    pub(crate) fn run_packed(&self, head: NonNull<Head>, message: ObjectMessage, extra: Option<Box<Extra>>) {
        // SAFETY: the object is live.
        let object = unsafe { head.as_ref() };
        match message {
            ObjectMessage::Invoke { entry, args } => {
                self.run_packed_entry(head, entry, Cow::Owned(args), extra);
            }
            ObjectMessage::Reply { wait, value } => self.execute(head, Call::Reply { wait, value }),
            ObjectMessage::Forget { section } => self.forget_section(head, section),
            ObjectMessage::Marker { asker, asked } => {
                self.on_marker(object.id(), asker, asked, object.moves.get());
            }
            ObjectMessage::Lost { state } => self.execute(head, Call::Lost { state }),
            ObjectMessage::Reconcile(question) => self.reconcile(head, &question),
            ObjectMessage::SenderGone { sender, sent } => self.end_sender(head, sender, sent),
            ObjectMessage::Create { .. } => unreachable!("`run_object_message` sees to births"),
        }
    }

    /// Runs an entry whose arguments are packed.
    pub(crate) fn run_packed_entry(
        &self,
        head: NonNull<Head>,
        entry: u16,
        args: Cow<'_, Packed>,
        extra: Option<Box<Extra>>,
    ) {
        // SAFETY: the object is live.
        let object = unsafe { head.as_ref() };
        let (collection, index) = (object.collection(), object.index());
        let Some(info) = collection.chare.entries.get(entry as usize) else {
            let what = format!("entry number {entry}");
            return self.unreadable_for(collection, index, &what, "there is no such entry");
        };
        match info.args.read(args) {
            Ok(mut words) => self.run_entry(head, info, &mut { extra }, &mut words, &mut Body::Empty),
            Err(error) => self.unreadable_for(collection, index, info.name, &error.to_string()),
        }
    }

    /// What an entry asked for that had to wait for its end.
    #[cold]
    pub(crate) fn after_entry(&self, head: NonNull<Head>) {
        // SAFETY: the object is live.
        let object = unsafe { head.as_ref() };
        if object.has(flag::DESTROY) {
            if object.has(flag::MIGRATE) {
                sometimes("an object wanted to move and to go");
            }
            self.remove_element(head);
        } else if object.has(flag::MIGRATE)
            && (!object.has(flag::CATCHING_UP) || mutated("moves-while-catching-up"))
        {
            self.migrate_out(head);
        } else if self.repacks {
            self.repack(head);
        }
    }

    /// A message for no element in particular cannot be read: the job ends, since it would go on without it.
    pub(crate) fn unreadable(&self, collection: &Collection, what: &str, why: &str) {
        let chare = (collection.chare.name)();
        self.node.job.end(1, Some(format!("a message to {chare}::{what} cannot be read: {why}")));
    }

    /// The same of a message for this element.
    pub(crate) fn unreadable_for(&self, collection: &Collection, index: u128, what: &str, why: &str) {
        let who = collection.label(index);
        self.node.job.end(1, Some(format!("a message to {who}::{what} cannot be read: {why}")));
    }

    /// An element that comes cannot be read.
    pub(crate) fn unreadable_element(
        &self,
        collection: &Collection,
        index: u128,
        whence: &str,
        why: &PupError,
    ) {
        let who = collection.label(index);
        self.node.job.end(1, Some(format!("{who}, which comes {whence}, cannot be read: {why}")));
    }

    /// A message from PE to PE.
    fn handle(&self, from: PeId, message: PeMessage) {
        match message {
            PeMessage::NewCollection(description) => self.on_new_collection(*description),
            PeMessage::Adopt(description) => self.adopt(*description),
            PeMessage::CastRequest { collection, cast } => self.on_cast_request(collection, cast),
            PeMessage::Cast { collection, number, cast } => self.on_cast(collection, number, cast),
            PeMessage::SectionRequest { collection, section, cast } => {
                self.on_section_request(collection, section, cast);
            }
            PeMessage::SectionCast { collection, section, number, members, cast } => {
                self.on_section_cast(collection, section, number, &members, &cast);
            }
            PeMessage::Contribution(part) => self.on_contribution(from, *part),
            PeMessage::Part { collection, part } => self.on_part(from, collection, part),
            PeMessage::Insert { to, pe, init, args, number } => {
                self.on_insert(to, pe, init, args);
                if number > 0 {
                    self.admit(to.collection, from, number);
                }
            }
            PeMessage::Unadmitted { collection, inserter, number } => {
                self.on_unadmitted(collection, inserter, number);
            }
            PeMessage::AskAdmitted { collection, inserter, number } => {
                self.on_ask_admitted(from, collection, inserter, number);
            }
            PeMessage::Admitted { collection, inserter, number } => {
                self.on_admitted(collection, inserter, number);
            }
            PeMessage::DoneInserting(collection) => self.on_done_inserting(collection),
            PeMessage::CountInserted { collection, wave } => self.on_count_inserted(collection, wave),
            PeMessage::Inserted { collection, wave, sent, made } => {
                self.on_inserted(collection, wave, sent, made)
            }
            PeMessage::Arrive { id, travel, luggage } => self.on_arrive(from, id, *travel, luggage),
            PeMessage::Arrived { id, moves, broadcasts } => self.on_arrived(id, moves, broadcasts),
            PeMessage::Missed { id, moves, number, cast } => self.on_missed(id, moves, number, cast),
            PeMessage::Settled { id, birth, broadcasts } => self.on_settled(id, birth, broadcasts),
            PeMessage::MissedUnborn { id, birth, number, cast } => {
                self.on_missed_unborn(id, birth, number, cast);
            }
            PeMessage::Moved { id, pe, moves } => self.on_moved(id, pe, moves),
            PeMessage::Found { id, pe, asked, moves } => self.on_found(id, pe, asked, moves),
            PeMessage::Gone { id, moves, order } => self.on_gone(id, moves, order),
            PeMessage::DropSection { collection, section } => self.on_drop_section(collection, section),
            PeMessage::DropCollection(id) => self.on_drop_collection(id),
            PeMessage::Share { id, value } => self.on_share(id, value),
            PeMessage::KeepShared { id, value } => self.keep_shared(id, value),
            PeMessage::Shared { id } => self.on_shared(id),
            PeMessage::DropShared { id } => self.on_drop_shared(id),
            PeMessage::Quiescence(wave) => self.on_wave(from, wave),
            PeMessage::WhenQuiet(route) => {
                self.detector.ask(route);
                self.chores.set(true);
            }
            PeMessage::Function { id, value } => self.on_function(id, value),
            PeMessage::Exit(status) => self.node.job.end(status, None),
            PeMessage::Balance(message) => self.on_balance(from, message),
            PeMessage::Checkpoint(message) => self.on_checkpoint(from, message),
            PeMessage::Places { objects } => self.on_places(from, objects),
            PeMessage::Restore { object, why } => self.on_restore(*object, why),
            PeMessage::Newborn(newborn) => self.on_newborn(*newborn),
            PeMessage::TakesPart { member, first, nth } => self.on_takes_part(member, first, nth),
            PeMessage::IsWaitedFor { member, reduction } => self.on_is_waited_for(member, reduction),
            PeMessage::PutOff { member, reduction, is_first } => {
                self.on_put_off(member, reduction, is_first);
            }
            PeMessage::Reopen { collection, key, pending } => self.on_reopen(collection, key, pending),
            PeMessage::WasContributing { member, section } => self.on_was_contributing(member, section),
            PeMessage::HasContributed { member, section, reductions } => {
                self.on_has_contributed(member, section, reductions)
            }
            PeMessage::Reconciled { gone, partner, answer, .. } => self.on_reconciled(gone, partner, answer),
            PeMessage::GoOn => self.on_go_on(),
        }
    }

    /// The name of whoever runs, for messages to people.
    pub(crate) fn who_runs(&self) -> String {
        match (self.running(), self.running.entry()) {
            (Some(head), Some(entry)) => {
                format!("{}, entry `{}`", head.collection().label(head.index()), entry.name)
            }
            (Some(head), None) => head.collection().label(head.index()),
            _ => format!("PE {}", self.id),
        }
    }

    /// The object meant, if it is here.
    pub(crate) fn find_here(&self, id: ObjId) -> Option<NonNull<Head>> {
        self.find_in(self.collections.get(id.collection)?, id.index)
    }

    fn find_in(&self, collection: &Collection, index: u128) -> Option<NonNull<Head>> {
        match self.place_of(collection, index) {
            Place::Here { slot, generation } => self.slots.get(slot, generation),
            _ => None,
        }
    }
}
