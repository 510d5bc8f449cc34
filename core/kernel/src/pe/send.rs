//! Sending: from a call on a proxy to a queue, here or elsewhere.

use std::ptr::NonNull;

use super::Pe;
use crate::collection::Collection;
use crate::collection::expected_chare::NO_SLOT;
use crate::entry_info::{ArgsInfo, EntryInfo};
use crate::location::Place;
use crate::message::cell::{ArgsCell, Words};
use crate::message::control::ObjectMessage;
use crate::message::envelope::{Body, Envelope};
use crate::message::send_options::SendOptions;
use crate::message::service::{PeMessage, Service, ServiceMessage, ShortWords};
use crate::route::Route;
use crate::witness::{Seen, Until, Why};
use talisman_base::ids::{CollectionId, ObjId, PeId};
use talisman_base::index::ArrayIndex;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_observe::stats::count;
use talisman_pup::{Packed, PutOff};

impl Pe {
    /// Sends an entry's message to one object.
    #[inline(always)]
    pub fn invoke<I: ArrayIndex, A: 'static>(
        &self,
        to: ObjId,
        entry: &'static EntryInfo,
        args: A,
        options: SendOptions,
    ) {
        let options = options.or_of(entry);
        let collection = match self.collections.get(to.collection) {
            Some(collection) if collection.direct && collection.key == entry.chare => collection,
            other => {
                let words = ArgsCell::store(args);
                self.note_message::<A>(to, entry, &words);
                return self.invoke_carefully(other, to, entry, words, options);
            }
        };
        let ordinal = match &collection.bounds {
            Some(bounds) => I::from_bits(to.index).ordinal(bounds),
            None => None,
        };
        // As one word in a register: a pair would come back through memory.
        let mut packed = self.named_here(collection, to.index);
        if packed == 0 {
            packed = collection.packed_place(to.index, ordinal);
        }
        let Some((slot, generation)) = Place::slot_in(packed) else {
            let mut words = ArgsCell::store(args);
            self.note_message::<A>(to, entry, &words);
            let is_stray = ordinal.is_none() && collection.bounds.is_some();
            return self.invoke_away(
                collection,
                Place::unpack(packed),
                is_stray,
                to,
                entry,
                &mut words,
                options,
            );
        };
        let mut envelope = self.addressed(to);
        // SAFETY: just taken from the pool.
        let message = unsafe { envelope.as_mut() };
        message.body = Body::Invoke(entry);
        message.slot = slot;
        message.generation = generation;
        message.priority = options.priority;
        // SAFETY: the field is valid; nothing is dropped unread, since a free envelope has no extra.
        unsafe { (&raw mut message.extra).write(options.extra) };
        // SAFETY: the words are the envelope's.
        unsafe { ArgsCell::store_at(message.words.as_mut_ptr(), args) };
        self.note_message_here::<A>(to, entry, &message.words);
        self.see_sent(message);
        self.enqueue(envelope);
    }

    /// A free envelope, addressed.
    #[inline(always)]
    fn addressed(&self, to: ObjId) -> NonNull<Envelope> {
        let mut envelope = self.pool.take();
        // SAFETY: just taken from the pool.
        let message = unsafe { envelope.as_mut() };
        message.address(to);
        message.from = self.id;
        message.priority = 0;
        message.forwarded = false;
        envelope
    }

    /// The object is not here.
    #[inline(never)]
    #[allow(clippy::too_many_arguments, reason = "all of them are at hand in the one place that calls it")]
    fn invoke_away(
        &self,
        collection: &Collection,
        place: Place,
        is_stray: bool,
        to: ObjId,
        entry: &'static EntryInfo,
        words: &mut Words,
        options: SendOptions,
    ) {
        let pe = match place {
            Place::At { pe, .. } => pe,
            Place::Unknown => collection.home(to.index),
            Place::Here { .. } | Place::Switching | Place::Gone { .. } => self.id,
        };
        if is_stray && place == Place::Unknown && pe != self.id {
            self.note_caller(to, entry.number);
        }
        let needs_envelope = pe == self.id || !options.is_plain() || self.admissions_open.get();
        if !needs_envelope && self.port.send_call(self, pe, (to, entry), words) {
            count(&self.stats.sent, 1);
            return self.drop_what_was_sent();
        }
        let mut envelope = self.filled(to, entry, words, self.id);
        // SAFETY: just filled.
        let message = unsafe { envelope.as_mut() };
        (message.priority, message.extra) = (options.priority, options.extra);
        self.see_sent(message);
        match place {
            Place::At { .. } | Place::Unknown if pe != self.id => self.transmit(pe, envelope),
            // Asks again: `invoke` looks up a name's place before it knows the name for one that there can be.
            _ => self.dispatch(collection, envelope),
        }
        self.drop_what_was_sent();
    }

    /// An entry that sends much would otherwise keep all of it until its end, however often it waited for room. The
    /// program's code may run here: it has just made a call.
    #[inline]
    pub(super) fn drop_what_was_sent(&self) {
        if self.port.keeps_much() {
            PutOff::drop_all_of_thread();
        }
    }

    /// The collection keeps an order, packs everything, or is not known yet.
    #[inline(never)]
    fn invoke_carefully(
        &self,
        collection: Option<&Collection>,
        to: ObjId,
        entry: &'static EntryInfo,
        words: Words,
        options: SendOptions,
    ) {
        let mut envelope = self.filled(to, entry, &words, self.id);
        // SAFETY: just filled.
        let message = unsafe { envelope.as_mut() };
        (message.priority, message.extra) = (options.priority, options.extra);
        self.see_sent(message);
        match collection {
            Some(collection) => self.send_carefully(collection, envelope),
            None => {
                sometimes("a PE sent to a collection that it did not know");
                self.keep_unsent(to.collection, envelope);
            }
        }
        self.drop_what_was_sent();
    }

    /// An envelope with an entry's message.
    pub fn filled(
        &self,
        to: ObjId,
        entry: &'static EntryInfo,
        words: &Words,
        from: PeId,
    ) -> NonNull<Envelope> {
        let mut envelope = self.addressed(to);
        // SAFETY: just taken from the pool.
        let message = unsafe { envelope.as_mut() };
        message.from = from;
        message.body = Body::Invoke(entry);
        message.words = *words;
        envelope
    }

    /// Sends a packed message to one object.
    pub fn send_object(&self, to: ObjId, message: ObjectMessage) {
        if let Some(packed) = message.packed().filter(|_| self.measuring.edges) {
            self.note_bytes(to, packed.size());
        }
        let envelope = self.object_message(to, message);
        self.send_envelope(to.collection, envelope);
    }

    /// Sends on what is addressed to an object.
    pub fn send_envelope(&self, to: CollectionId, envelope: NonNull<Envelope>) {
        match self.collections.get(to) {
            Some(collection) => self.send_carefully(collection, envelope),
            None => self.keep_unsent(to, envelope),
        }
    }

    /// Keeps a message of this PE for a collection that is not known here. If that is an ordered one, the message's turn is now:
    /// its sender may be elsewhere by then, and have sent more.
    fn keep_unsent(&self, to: CollectionId, mut envelope: NonNull<Envelope>) {
        // SAFETY: the sender owns the envelope.
        let message = unsafe { envelope.as_mut() };
        self.number_message(message);
        entry_called(message).into_iter().for_each(|entry| self.note_waiting(message.to(), entry));
        self.keep_orphan(to, envelope);
    }

    /// Sends on what waited for its collection.
    pub fn send_kept(&self, collection: &Collection, mut envelope: NonNull<Envelope>) {
        // SAFETY: kept by this PE, which gives it away.
        let message = unsafe { envelope.as_mut() };
        let index = message.to().index;
        if let Body::Invoke(entry) = message.body
            && entry.chare != collection.key
        {
            self.discard(envelope, Why::Refused);
            let why = "a proxy of another chare type was used";
            return self.unreadable_for(collection, index, entry.name, why);
        }
        if !collection.chare.ordered
            && let Some(extra) = &mut message.extra
        {
            extra.order = None;
        }
        self.dispatch(collection, envelope);
    }

    /// An envelope with a new packed message for an object.
    pub fn object_message(&self, to: ObjId, message: ObjectMessage) -> NonNull<Envelope> {
        let mut envelope = self.with_object_message(to, message);
        // SAFETY: just made.
        self.see_sent(unsafe { envelope.as_mut() });
        envelope
    }

    /// The same with a message that comes from elsewhere.
    pub fn with_object_message(&self, to: ObjId, message: ObjectMessage) -> NonNull<Envelope> {
        let mut envelope = self.addressed(to);
        // SAFETY: just taken from the pool.
        let fresh = unsafe { envelope.as_mut() };
        fresh.slot = NO_SLOT;
        fresh.put_object_message(Box::new(message));
        envelope
    }

    /// Sends a message to a PE, this one included.
    pub fn tell<M: ServiceMessage>(&self, to: PeId, message: M) {
        if !self.tell_in_words(to, M::SERVICE, || message.to_words()) {
            self.tell_any(to, Box::new(message));
        }
    }

    /// The same of a short message, by value, if it goes to another PE of the node, and nobody has to be told or has to see it; whether
    /// it was sent.
    #[inline]
    pub fn tell_in_words(
        &self,
        to: PeId,
        service: Service,
        words: impl FnOnce() -> Option<ShortWords>,
    ) -> bool {
        let may_go = to != self.id && !self.admissions_open.get();
        let is_sent = may_go && self.port.send_words(self, to, service, words);
        if is_sent {
            debug_assert!(!self.still.get(), "a PE says nothing while it is still");
            count(&self.stats.sent, 1);
        }
        is_sent
    }

    /// The same of any service.
    pub fn tell_any(&self, to: PeId, message: Box<dyn PeMessage>) {
        let envelope = self.sent_pe_message(message);
        if to == self.id { self.accept_for_pe(envelope) } else { self.transmit(to, envelope) }
    }

    /// An envelope with a new message for a PE.
    pub fn pe_message(&self, message: impl ServiceMessage) -> NonNull<Envelope> {
        self.sent_pe_message(Box::new(message))
    }

    fn sent_pe_message(&self, message: Box<dyn PeMessage>) -> NonNull<Envelope> {
        let mut envelope = self.with_pe_message(message);
        // SAFETY: just made.
        self.see_sent(unsafe { envelope.as_mut() });
        envelope
    }

    /// The same with a message that comes from elsewhere.
    pub fn with_pe_message(&self, message: Box<dyn PeMessage>) -> NonNull<Envelope> {
        let mut envelope = self.pool.take();
        // SAFETY: just taken from the pool.
        let fresh = unsafe { envelope.as_mut() };
        fresh.from = self.id;
        fresh.priority = 0;
        fresh.forwarded = false;
        fresh.put_pe_message(message);
        envelope
    }

    /// The collections that keep an order or pack everything.
    fn send_carefully(&self, collection: &Collection, mut envelope: NonNull<Envelope>) {
        // SAFETY: the sender owns the envelope.
        let message = unsafe { envelope.as_mut() };
        if let Body::Invoke(entry) = message.body {
            assert_eq!(entry.chare, collection.key, "a proxy of another chare type was used");
            if self.node.config.pack_all {
                pack_in_place(message);
            }
        }
        if collection.chare.ordered {
            self.number_message(message);
        }
        let place = match self.named_here(collection, message.to().index) {
            0 => self.place_of(collection, message.to().index),
            packed => Place::unpack(packed),
        };
        if self.node.config.pack_all && matches!(place, Place::Here { .. }) {
            self.note_sent_here(message);
        }
        self.dispatch_to(collection, envelope, place);
    }

    /// Sends a message to where its object is believed.
    pub fn dispatch(&self, collection: &Collection, envelope: NonNull<Envelope>) {
        // SAFETY: the sender owns the envelope.
        let index = unsafe { envelope.as_ref() }.to().index;
        self.dispatch_to(collection, envelope, self.place_of(collection, index));
    }

    fn dispatch_to(&self, collection: &Collection, mut envelope: NonNull<Envelope>, place: Place) {
        // SAFETY: the sender owns the envelope.
        let message = unsafe { envelope.as_mut() };
        let index = message.to().index;
        match place {
            Place::Here { slot, generation } => {
                message.slot = slot;
                message.generation = generation;
                self.trace_stays(message);
                self.enqueue(envelope);
            }
            Place::At { pe, .. } => self.transmit(pe, envelope),
            Place::Switching => {
                if let (true, Some(entry)) = (message.from == self.id, entry_called(message)) {
                    self.note_waiting(message.to(), entry);
                }
                self.hold(collection, envelope);
            }
            Place::Unknown | Place::Gone { .. } => {
                let home = collection.home(index);
                if message.from == self.id && (home == self.id || Self::may_be_stray(collection, index)) {
                    // If the object that runs sends this.
                    entry_called(message).into_iter().for_each(|entry| self.note_caller(message.to(), entry));
                }
                if home == self.id {
                    self.nowhere(collection, envelope)
                } else {
                    self.transmit(home, envelope)
                }
            }
        }
    }

    /// At the home of an object that does not exist (yet, or any more).
    fn nowhere(&self, collection: &Collection, mut envelope: NonNull<Envelope>) {
        // SAFETY: the sender owns the envelope.
        let message = unsafe { envelope.as_mut() };
        let id = message.to();
        if self.reconcile_nowhere(collection, message) {
            self.see_message(message.shadow, |message, pe| Seen::Delivered { message, pe, object: None });
            return self.release(envelope);
        }
        if let Some(index) = collection.acting(id.index) {
            return self.send_to_acting(collection, index, envelope);
        }
        let is_numbered = message.extra.as_ref().is_some_and(|extra| extra.order.is_some());
        match message.object_message() {
            Some(ObjectMessage::Marker { asker, asked }) => {
                sometimes("a marker came for an object that is nowhere");
                self.see_message(message.shadow, |message, pe| Seen::Delivered { message, pe, object: None });
                self.on_marker(id, *asker, *asked, 0);
                return self.release(envelope);
            }
            // An answer belongs to the object that is gone; its number has to come to the next of that name.
            Some(ObjectMessage::Reply { .. }) if is_numbered && !mutated("answer-number-lost") => {
                sometimes("an answer with a number came for an object that was gone");
                drop(message.take_object_message());
                message.put_object_message(Box::new(ObjectMessage::to_nobody()));
                return self.await_element(collection, id.index, envelope);
            }
            Some(ObjectMessage::Reply { .. }) => sometimes("an answer came for an object that was gone"),
            Some(
                ObjectMessage::Forget { .. } | ObjectMessage::Reconcile(_) | ObjectMessage::SenderGone { .. },
            ) => {}
            Some(
                ObjectMessage::Invoke { .. } | ObjectMessage::Create { .. } | ObjectMessage::Lost { .. },
            )
            | None => {
                if mutated("awaited-message-lost") {
                    return self.release(envelope);
                }
                match self.place_of(collection, id.index) {
                    Place::Gone { .. } => sometimes("a message came for an element that was removed"),
                    _ => sometimes("a message came for an element that was not made yet"),
                }
                return self.await_element(collection, id.index, envelope);
            }
        }
        self.discard(envelope, Why::NobodyWaits);
    }

    /// What is for the member of a lost PE goes to that of its acting PE. Who sends to both has no order to keep between the two.
    #[cold]
    fn send_to_acting(&self, collection: &Collection, index: u128, mut envelope: NonNull<Envelope>) {
        sometimes("a message for the member of a lost PE went to another's");
        // SAFETY: the sender owns the envelope.
        let message = unsafe { envelope.as_mut() };
        if let Some(ObjectMessage::Reply { .. }) = message.object_message() {
            // Nobody but the one that asked can make anything of it.
            return self.discard(envelope, Why::NobodyWaits);
        }
        if message.extra.as_ref().is_some_and(|extra| matches!(extra.reply, Some(Route::Collect(_)))) {
            self.services.answer_for_lost(self, collection, message);
            return self.discard(envelope, Why::OfLost);
        }
        message.address(collection.object(index));
        if let Some(extra) = &mut message.extra {
            extra.order = None;
        }
        self.dispatch(collection, envelope);
    }

    fn await_element(&self, collection: &Collection, index: u128, envelope: NonNull<Envelope>) {
        self.see_kept(envelope, Until::Element);
        if collection.id.is_singles() {
            self.note_awaited(collection, index);
        }
        collection.await_element(index, envelope);
    }

    /// Hands a message to the port.
    pub fn transmit(&self, to: PeId, envelope: NonNull<Envelope>) {
        debug_assert_ne!(to, self.id, "a message to oneself is queued");
        debug_assert!(self.view().is_there(to), "a message to PE {to}, which is lost");
        // SAFETY: the sender owns the envelope.
        let message = unsafe { envelope.as_ref() };
        // What is not counted says nothing of what chares did, and is all that a PE says while it is still.
        if self.admissions_open.get() && is_counted(message) {
            self.services.before_message(self, to);
        }
        self.see_message(message.shadow, |message, pe| Seen::Left { message, pe, to });
        if is_counted(message) {
            debug_assert!(!self.still.get(), "a PE says nothing while it is still");
            count(&self.stats.sent, 1);
        }
        if !matches!(message.body, Body::Pe) {
            let near = self.node.shape.node_of(to) == self.node.number;
            count(if near { &self.stats.between_pes } else { &self.stats.between_nodes }, 1);
        }
        self.port.send(self, to, envelope);
    }
}

/// The number of the entry that a message calls, if it calls one.
pub fn entry_called(message: &Envelope) -> Option<u16> {
    match (message.body, message.object_message()) {
        (Body::Invoke(entry), _) => Some(entry.number),
        (_, Some(ObjectMessage::Invoke { entry, .. })) => Some(*entry),
        _ => None,
    }
}

/// Whether quiescence waits for a message.
pub fn is_counted(message: &Envelope) -> bool {
    message.pe_message().is_none_or(<dyn PeMessage>::is_counted)
}

/// Packs the arguments of a message where it stands.
pub fn pack_in_place(message: &mut Envelope) {
    let packed = match message.body {
        Body::Invoke(entry) => {
            // SAFETY: the body says that the words hold this entry's arguments; it says otherwise from here on.
            let args = unsafe { take_packed(message, &entry.args) };
            ObjectMessage::Invoke { entry: entry.number, args }
        }
        Body::Create(init) => {
            // SAFETY: as above, of this `#[init]`.
            let args = unsafe { take_packed(message, &init.args) };
            ObjectMessage::Create { init: init.number, args }
        }
        Body::Object | Body::Pe | Body::Empty => return,
    };
    message.put_object_message(Box::new(packed));
}

/// # Safety
/// The words hold these arguments.
unsafe fn take_packed(message: &mut Envelope, args: &ArgsInfo) -> Packed {
    message.body = Body::Empty;
    // SAFETY: the caller's promise; the body says that the words hold nothing any more.
    unsafe { args.pack_words(&mut message.words) }
}
