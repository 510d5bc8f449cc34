//! Receiving: from a queue to an entry method.

use std::borrow::Cow;
use std::ptr::NonNull;

use super::Pe;
use super::execute::Call;
use super::send::is_counted;
use crate::collection::Collection;
use crate::entry_info::EntryInfo;
use crate::location::Place;
use crate::message::cell::Words;
use crate::message::control::ObjectMessage;
use crate::message::envelope::{Body, Envelope, Extra};
use crate::message::service::{PeMessage, Queueing};
use crate::object::{Head, flag};
use crate::trace::Origin;
use crate::wire::{self, WireError};
use crate::witness::{Seen, Shadow};
use talisman_base::ids::{CollectionId, ObjId, PeId};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_observe::stats::count;
use talisman_pup::{Packed, PupError, Segment};
use talisman_transport::Arrived;

impl Pe {
    /// Takes in a message from another PE.
    #[inline]
    pub fn accept(&self, mut envelope: NonNull<Envelope>) {
        // SAFETY: the port gives the envelope away.
        let message = unsafe { envelope.as_mut() };
        if is_counted(message) {
            if self.still.get() {
                return self.services.keep_late(self, envelope);
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
            return self.keep_orphan(to.collection, envelope);
        };
        if message.is_creation() {
            return self.enqueue_creation(collection, envelope);
        }
        if self.lets_in(envelope) {
            self.deliver(collection, envelope);
        }
    }

    /// Takes in a message from another node, for this PE.
    ///
    /// # Errors
    /// When it is none, or none of this job. Nothing has been let in then.
    pub fn take_in_frame(
        &self,
        head: &[u8],
        segments: Vec<Segment>,
        origin: Option<Origin>,
    ) -> Result<(), WireError> {
        self.take_in_read(head, segments, origin, |head, segments| wire::receive(self, head, segments))
    }

    /// The same of a frame that may be another PE's of this node, which says what it likes.
    pub fn take_in_frame_of(
        &self,
        from: PeId,
        head: &[u8],
        segments: Vec<Segment>,
        origin: Option<Origin>,
    ) -> Result<(), WireError> {
        self.take_in_read(head, segments, origin, |head, segments| {
            match self.node.shape.node_of(from) == self.node.number {
                true => wire::read_within_node(self, head, segments),
                false => wire::receive(self, head, segments),
            }
        })
    }

    /// A frame comes, which `read` reads unless it is one of the commonest.
    #[inline(always)]
    fn take_in_read(
        &self,
        head: &[u8],
        segments: Vec<Segment>,
        origin: Option<Origin>,
        read: impl FnOnce(&[u8], Vec<Segment>) -> Result<NonNull<Envelope>, WireError>,
    ) -> Result<(), WireError> {
        if segments.is_empty()
            && let Some((envelope, collection)) = wire::read_known(self, head)
        {
            self.trace_keep(envelope, origin);
            self.accept_known(collection, envelope);
        } else {
            let envelope = read(head, segments)?;
            self.trace_keep(envelope, origin);
            self.accept(envelope);
        }
        Ok(())
    }

    /// [`Pe::accept`] of an entry's message that refers to nothing else, for an object of this collection.
    #[inline]
    fn accept_known(&self, collection: &Collection, envelope: NonNull<Envelope>) {
        if self.still.get() {
            return self.services.keep_late(self, envelope);
        }
        count(&self.stats.received, 1);
        // SAFETY: the caller gives the envelope away.
        let shadow = unsafe { envelope.as_ref() }.shadow;
        self.see_message(shadow, |message, pe| Seen::Taken { message, pe });
        self.deliver(collection, envelope);
    }

    /// Puts a message into the queue if its object is here, and sends it on if not.
    #[inline]
    fn deliver(&self, collection: &Collection, mut envelope: NonNull<Envelope>) {
        // SAFETY: the caller gives the envelope away.
        let message = unsafe { envelope.as_mut() };
        count(&self.stats.arrived, 1);
        match self.place_for(collection, message) {
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
    pub fn accept_for_pe(&self, envelope: NonNull<Envelope>) {
        // SAFETY: the port, or the sender on this PE, gave the envelope away.
        let message = unsafe { envelope.as_ref() };
        let Some(said) = message.pe_message() else { return };
        if let Some(id) = said.collection() {
            // Asked here and not when its turn comes: by then a later message could have gone into the queue, and would
            // stay before it if the collection becomes known in between.
            let Some(collection) = self.collections.get(id) else {
                sometimes("a message came to a PE before its collection was known there");
                return self.keep_orphan(id, envelope);
            };
            said.accepted(self, collection);
        }
        match said.queueing() {
            Queueing::InTurn => {}
            Queueing::AtOnce => return self.run_pe_message_at_once(envelope),
            Queueing::Expedited => return self.enqueue_expedited(envelope),
        }
        if self.lets_in(envelope) {
            self.enqueue(envelope);
        }
    }

    /// The door: a message that refers to a shared value which has not come to this node waits for it, unread. `false`
    /// if it does.
    pub fn lets_in(&self, envelope: NonNull<Envelope>) -> bool {
        // SAFETY: the caller owns the envelope.
        let message = unsafe { envelope.as_ref() };
        let lacking = self.lacks(message.needs()).filter(|_| !mutated("shared-value-not-awaited"));
        let Some(id) = lacking else { return true };
        match message.pe_message().and_then(<dyn PeMessage>::collection) {
            // What comes for an object that is not known to come would be lost.
            Some(of) if self.collections.get(of).is_none() => {
                sometimes("a message lacked its collection and a shared value");
                self.keep_orphan(of, envelope);
            }
            _ => self.defer(id, envelope),
        }
        false
    }

    /// Runs a small message from another PE of the node as it arrives, if nothing waits before it and its object is here;
    /// `false` if it has to be queued.
    #[inline]
    pub fn run_at_once(
        &self,
        to: ObjId,
        entry: &'static EntryInfo,
        words: &mut Words,
        shadow: Shadow,
        origin: Option<Origin>,
    ) -> bool {
        if !self.is_queue_empty() || self.stopped.get() {
            return false;
        }
        let Some(collection) = self.collections.get(to.collection) else { return false };
        if !collection.direct || collection.key != entry.chare {
            return false;
        }
        let Some(head) = self.find_in(collection, to.index) else { return false };
        self.trace_cause(origin);
        count(&self.stats.received, 1);
        count(&self.stats.arrived, 1);
        self.see_message(shadow, |message, pe| Seen::Taken { message, pe });
        self.see_delivered(shadow, head);
        self.run_entry(head, entry, &mut None, words, &mut Body::Empty);
        self.trace_cause(None);
        true
    }

    /// Whether a message for this PE, about this collection if it is about one, may run as it comes.
    pub(crate) fn may_run_as_it_comes(&self, collection: Option<CollectionId>) -> bool {
        let is_known = || collection.is_none_or(|id| self.collections.get(id).is_some());
        self.is_queue_empty() && !self.stopped.get() && is_known()
    }

    /// A message that is counted has come.
    pub(crate) fn count_taken(&self) {
        count(&self.stats.received, 1);
    }

    /// Runs such a message, which has an envelope.
    pub fn run_as_it_comes(&self, envelope: NonNull<Envelope>) {
        // SAFETY: the caller gives the envelope away.
        let shadow = unsafe { envelope.as_ref() }.shadow;
        self.count_taken();
        self.see_message(shadow, |message, pe| Seen::Taken { message, pe });
        self.run_pe_message_at_once(envelope);
    }

    /// Whether the next message from another node may run as it comes: nothing waits before it, and nobody has to be told first what
    /// has come.
    #[inline]
    pub fn may_run_at_once(&self) -> bool {
        self.is_queue_empty() && !self.stopped.get() && self.input_log.is_off()
    }

    /// The object and the entry that a message from another node calls, if it may run as it comes: its arguments are in the words then. It
    /// is taken as one that has come.
    #[inline]
    pub fn called_at_once(
        &self,
        message: &Arrived<'_>,
        words: &mut Words,
    ) -> Option<(NonNull<Head>, &'static EntryInfo)> {
        let start = self.short_start(message.rank, message.start)?;
        let collection = self.collections.get(start.to.collection).filter(|collection| collection.direct)?;
        let head = self.find_in(collection, start.to.index)?;
        let entry = wire::read_known_args(collection, start.entry, (start.args, &message.rest), words)?;
        count(&self.stats.received, 1);
        count(&self.stats.arrived, 1);
        Some((head, entry))
    }

    /// What a message without segments from another node begins with, if it is for this PE, by itself, and short.
    #[inline(always)]
    pub(super) fn short_start<'m>(&self, rank: u16, head: &'m [u8]) -> Option<wire::ShortStart<'m>> {
        if PeId::from(rank) != self.id - self.first_pe {
            return None;
        }
        let start = wire::ShortStart::read(head)?;
        (start.from < self.pes() && self.view().is_there(start.from)).then_some(start)
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
    pub fn run_one(&self) -> bool {
        let Some(envelope) = self.next_message() else { return false };
        self.run_message(envelope);
        true
    }

    /// Runs a message that was taken out of the queue.
    #[inline(always)]
    pub fn run_message(&self, mut envelope: NonNull<Envelope>) {
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

    /// Runs a message for this PE that is let in, in front of all that waits.
    pub fn run_pe_message_at_once(&self, envelope: NonNull<Envelope>) {
        // SAFETY: the caller gives the envelope away.
        let shadow = unsafe { envelope.as_ref() }.shadow;
        self.see_message(shadow, |message, pe| Seen::Queued { message, pe });
        self.run_pe_message(envelope);
    }

    fn run_pe_message(&self, mut envelope: NonNull<Envelope>) {
        self.trace_cause_in(envelope);
        // SAFETY: the queue gave the envelope away.
        let message = unsafe { envelope.as_mut() };
        if let Some(of) = message.pe_message().and_then(<dyn PeMessage>::collection)
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
        control.into_iter().for_each(|control| control.run(self, from));
        self.trace_cause(None);
    }

    /// The object left, or went, after the message was queued.
    #[cold]
    pub fn send_on(&self, mut envelope: NonNull<Envelope>) {
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

    pub fn run_with_extra(&self, head: NonNull<Head>, mut envelope: NonNull<Envelope>) {
        self.trace_cause_in(envelope);
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
        self.trace_cause(None);
    }

    /// Runs an entry, with its arguments in place.
    #[inline(always)]
    pub fn run_entry(
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
                self.trace_cause_in(envelope);
                let packed = message.take_object_message();
                self.pool.put(envelope);
                packed.into_iter().for_each(|packed| self.run_packed(head, *packed, None));
                self.trace_cause(None);
            }
            Some(head) => self.run_in_order(head, envelope),
            None => self.send_on(envelope),
        }
    }

    /// Runs a packed message on an object here.
    pub fn run_packed(&self, head: NonNull<Head>, message: ObjectMessage, extra: Option<Box<Extra>>) {
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
    pub fn run_packed_entry(
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
    pub fn after_entry(&self, head: NonNull<Head>) {
        // SAFETY: the object is live.
        let object = unsafe { head.as_ref() };
        let calls_next = object.has(flag::CALLS_NEXT);
        object.clear(flag::CALLS_NEXT);
        let last = if calls_next { self.next_call.take_turn_of(head) } else { None };
        if object.has(flag::DESTROY) {
            if object.has(flag::MIGRATE) {
                sometimes("an object wanted to move and to go");
            }
            self.remove_element(head);
        } else if object.has(flag::MIGRATE)
            && (!object.has(flag::STAYS) || mutated("moves-while-catching-up"))
        {
            self.migrate_out(head);
        } else if self.repacks {
            self.repack(head);
        }
        if calls_next {
            last.into_iter().for_each(|last| self.after_turn(last));
            self.execute_next();
        }
    }

    /// A message for no element in particular cannot be read: the job ends, since it would go on without it.
    pub fn unreadable(&self, collection: &Collection, what: &str, why: &str) {
        let chare = (collection.chare.name)();
        self.node.job.end(1, Some(format!("a message to {chare}::{what} cannot be read: {why}")));
    }

    /// The same of a message for this element.
    pub fn unreadable_for(&self, collection: &Collection, index: u128, what: &str, why: &str) {
        let who = collection.label(index);
        self.node.job.end(1, Some(format!("a message to {who}::{what} cannot be read: {why}")));
    }

    /// An element that comes cannot be read.
    pub fn unreadable_element(&self, collection: &Collection, index: u128, whence: &str, why: &PupError) {
        let who = collection.label(index);
        self.node.job.end(1, Some(format!("{who}, which comes {whence}, cannot be read: {why}")));
    }

    /// The name of whoever runs, for messages to people.
    pub fn who_runs(&self) -> String {
        match (self.running(), self.running.entry()) {
            (Some(head), Some(entry)) => {
                format!("{}, entry `{}`", head.collection().label(head.index()), entry.name)
            }
            (Some(head), None) => head.collection().label(head.index()),
            _ => format!("PE {}", self.id),
        }
    }

    /// What the next message of the queue is for, for messages to people. None if it is no call, or others go before those in order.
    pub fn who_runs_next(&self) -> Option<String> {
        let first = self.queue.ahead(0).filter(|_| self.non_fifo.get() == 0)?;
        // SAFETY: what is in the queue is a live envelope.
        let message = unsafe { first.as_ref() };
        match message.body {
            Body::Invoke(entry) => Some(format!("{}, entry `{}`", self.label_of(message.to()), entry.name)),
            _ => None,
        }
    }

    /// The object meant, if it is here.
    pub fn find_here(&self, id: ObjId) -> Option<NonNull<Head>> {
        self.find_in(self.collections.get(id.collection)?, id.index)
    }

    #[inline]
    fn find_in(&self, collection: &Collection, index: u128) -> Option<NonNull<Head>> {
        match self.place_of(collection, index) {
            Place::Here { slot, generation } => self.slots.get(slot, generation),
            _ => None,
        }
    }
}
