//! How collections and their elements come and go.

use std::borrow::Cow;
use std::ptr::NonNull;

use super::Collection;
use super::description::{Description, Fill};
use super::expected_chare::NO_SLOT;
use crate::entry_info::InitInfo;
use crate::kind::Kind;
use crate::location::Place;
use crate::location::message::LocationMessage;
use crate::message::cell::{ArgsCell, Words};
use crate::message::control::ObjectMessage;
use crate::message::envelope::{Birth, Body, Envelope};
use crate::message::send_options::SendOptions;
use crate::object::{Head, flag};
use crate::pe::Pe;
use crate::pe::execute::Call;
use crate::registry::{ChareType, Registry};
use crate::witness::{self, Seen, Until, Why};
use talisman_base::ids::{CollectionId, ObjId, PeId, single_home, single_index, slot_index, slot_of};
use talisman_base::map::Map;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::Packed;

impl Pe {
    /// Every PE knows the collections of singletons from the start.
    pub fn create_singles(&self) {
        for (number, chare) in Registry::get().types().iter().enumerate() {
            if matches!(chare.kind, Kind::Single | Kind::Main) {
                let id = CollectionId::singles(number as u32);
                let of = Description {
                    id,
                    key: chare.key,
                    bounds: None,
                    map: Map::Hash,
                    pes: self.pes(),
                    elements: None,
                    fill: None,
                };
                self.add_collection(&of, chare);
            }
        }
    }

    /// A name for a collection made here.
    pub fn name_collection(&self) -> CollectionId {
        let creator = self.named_after();
        let serial = match creator == self.id {
            true => self.names().name_collection(),
            false => self.names().name_collection_of(creator),
        };
        CollectionId { creator, serial }
    }

    /// In whose name the chare that runs makes a collection. One whose own PE is lost, and that is with the one in its place, goes on with that
    /// one's names: what it makes is called the same as if nobody had been lost, and what is drawn from names (`cx.rng()`) is too.
    fn named_after(&self) -> PeId {
        if self.view().is_whole() {
            return self.id;
        }
        let home = self.running().map(|object| object.collection().home_before_losses(object.index()));
        home.filter(|home| self.view().acting_for(*home) == self.id).unwrap_or(self.id)
    }

    pub fn add_collection(&self, of: &Description, chare: &'static ChareType) -> &Collection {
        let collection = Collection::new(of, chare, &self.node, self.id);
        collection.insertion.closed.set(of.elements.is_some());
        let (collection_id, ordered) = (of.id, chare.ordered);
        witness::see(|| Seen::Known { collection: collection_id, pe: self.id, ordered });
        self.node.shared.hold(collection.needs());
        self.collections.insert(collection)
    }

    /// Makes this PE's part of a new collection.
    pub fn adopt(&self, of: Description) {
        let Some((_, chare)) = Registry::get().find(of.key) else {
            let message = format!("a collection of an unknown chare type ({:x}) was announced", of.key);
            return self.node.job.end(1, Some(message));
        };
        if let Err(wrong) = of.check(chare, self.pes()).and_then(|()| self.is_new(of.id)) {
            let name = (chare.name)();
            return self.node.job.end(1, Some(format!("a collection of `{name}` cannot be made: {wrong}")));
        }
        let collection = self.add_collection(&of, chare);
        of.fill.iter().for_each(|fill| self.fill(collection, fill));
        for envelope in self.one_by_one(self.take_orphans(of.id)) {
            self.resume(collection, envelope);
        }
    }

    fn is_new(&self, id: CollectionId) -> Result<(), String> {
        let known = self.collections.get(id).is_some();
        if known { Err(format!("there is one of its name ({id:?}) already")) } else { Ok(()) }
    }

    /// What waited for something else than its collection goes on.
    pub fn resume_kept(&self, envelope: NonNull<Envelope>) {
        // SAFETY: kept by this PE, which gives it away.
        let message = unsafe { envelope.as_ref() };
        match self.collections.get(message.to().collection) {
            Some(collection) if !matches!(message.body, Body::Pe) => self.resume(collection, envelope),
            None if !matches!(message.body, Body::Pe) => self.keep_orphan(message.to().collection, envelope),
            _ => self.accept_for_pe(envelope),
        }
    }

    /// What waited for a collection goes on.
    fn resume(&self, collection: &Collection, envelope: NonNull<Envelope>) {
        // SAFETY: kept by this PE, which gives it away.
        match unsafe { envelope.as_ref() } {
            message if matches!(message.body, Body::Pe) => self.accept_for_pe(envelope),
            message if message.is_creation() => self.enqueue_creation(collection, envelope),
            _ if self.lets_in(envelope) => self.send_kept(collection, envelope),
            _ => {}
        }
    }

    /// Makes this PE's part of the first elements.
    fn fill(&self, collection: &Collection, fill: &Fill) {
        for index in self.own_part(collection, fill) {
            let init = &collection.chare.inits[fill.init as usize];
            match init.args.read(Cow::Borrowed(&fill.args)) {
                Ok(mut words) => self.make(collection, index, init, &mut words, None, None),
                Err(error) => {
                    return self.unreadable_for(collection, index, init.name, &error.to_string());
                }
            }
        }
    }

    fn own_part<'a>(
        &'a self,
        collection: &'a Collection,
        fill: &'a Fill,
    ) -> Box<dyn Iterator<Item = u128> + 'a> {
        let mine = move |index: &u128| collection.home(*index) == self.id;
        match (&fill.indices, &collection.bounds) {
            (Some(indices), _) => Box::new(indices.iter().copied().filter(mine)),
            (None, Some(bounds)) => {
                let at = |ordinal| (collection.chare.index_at)(ordinal, bounds);
                let of = |pe| collection.map.ordinals(pe, bounds, collection.pes);
                let own: Option<Vec<_>> = self.view().acted_for_by(self.id).map(of).collect();
                match own {
                    Some(own) => Box::new(own.into_iter().flatten().filter_map(at)),
                    None => Box::new((0..bounds.len()).filter_map(at).filter(mine)),
                }
            }
            (None, None) => match collection.chare.kind {
                Kind::Group => Box::new(std::iter::once(self.id as u128)),
                Kind::NodeGroup => Box::new(std::iter::once(self.node.number as u128).filter(mine)),
                Kind::Array | Kind::Single | Kind::Main => Box::new(std::iter::empty()),
            },
        }
    }

    /// Makes one element here: in the slot that is kept for it, if one is. It is known then that it is not there yet.
    fn make(
        &self,
        collection: &Collection,
        index: u128,
        init: &InitInfo,
        words: &mut Words,
        birth: Option<Birth>,
        kept: Option<(u32, u32)>,
    ) {
        if kept.is_none()
            && let Place::Here { .. } = self.place_of(collection, index)
        {
            // SAFETY: the words hold the arguments of this `#[init]`.
            unsafe { (init.args.drop)(words) };
            let who = collection.label(index);
            return self.node.job.end(1, Some(format!("{who} is inserted, but it exists already")));
        }
        assert_eq!(init.chare, collection.key, "an `#[init]` of the collection's chare type");
        let birth = birth.unwrap_or_default();
        let is_newcomer =
            !birth.id.is_none() && matches!(collection.chare.kind, Kind::Group | Kind::NodeGroup);
        let newcomer = if is_newcomer { flag::LATE | flag::MADE_AGAIN } else { 0 };
        let flags = newcomer | self.flag_of_traced();
        let head = (collection.chare.allocate)(Head::new(index, NonNull::from(collection), flags));
        witness::see_allocated(head);
        // SAFETY: just allocated; freed by this PE only, in `remove_element`.
        let object = unsafe { head.as_ref() };
        self.note_new(object);
        object.reduction.set(birth.reduction);
        if !birth.id.is_none() {
            object.extras(|extras| extras.birth = birth.id);
        }
        object.moves.set(birth.moves);
        let is_given = self.services.on_birth(self, collection, object, birth.id);
        if let Some(order) = birth.order {
            sometimes("an element takes over the order of a former one");
            object.extras(|extras| extras.order = *order);
        }
        self.see_born(collection, object);
        match kept {
            Some(kept) => {
                self.slots.put(kept.0, head);
                self.settle_in(collection, object, kept);
            }
            None => self.install(collection, head),
        }
        if birth.counted {
            collection.insertion.made.set(collection.insertion.made.get() + 1);
        }
        // Allocated above as this type, not constructed yet; the words hold the arguments.
        self.execute(head, Call::Init { init, words });
        if is_given {
            self.services.after_birth(self, collection.object(index));
        }
    }

    fn see_born(&self, collection: &Collection, object: &Head) {
        witness::see(|| Seen::Born {
            object: object.id(),
            pe: self.id,
            home: collection.home(object.index()),
            moves: object.moves.get(),
            reduction: object.reduction.get(),
            broadcast: object.broadcasts.get(),
            late: object.has(flag::MADE_AGAIN),
        });
    }

    /// Gives an object its slot and tells whoever has to know.
    pub fn install(&self, collection: &Collection, head: NonNull<Head>) {
        self.put_in_slot(collection, head);
        // SAFETY: the caller's object, new here.
        let object = unsafe { head.as_ref() };
        let index = object.index();
        let home = collection.home(index);
        if home != self.id {
            self.tell(
                home,
                LocationMessage::Moved {
                    id: collection.object(index),
                    pe: self.id,
                    moves: object.moves.get(),
                },
            );
        }
    }

    /// Gives an object its slot; what waited for it goes on.
    pub fn put_in_slot(&self, collection: &Collection, head: NonNull<Head>) {
        // SAFETY: the caller's object, new here.
        let object = unsafe { head.as_ref() };
        let slot = self.slot_for(collection, object.index(), head);
        self.settle_in(collection, object, slot);
    }

    /// An object has its slot; what waited for it goes on.
    fn settle_in(&self, collection: &Collection, object: &Head, (slot, generation): (u32, u32)) {
        object.slot.set(slot);
        collection.count_member(1);
        self.settle(collection, object.index(), slot, generation);
    }

    /// The slot kept for a singleton named after it; any other for an object of another name, or one that comes back.
    fn slot_for(&self, collection: &Collection, index: u128, head: NonNull<Head>) -> (u32, u32) {
        let kept = slot_of(index).filter(|_| collection.id.is_singles() && single_home(index) == self.id);
        match kept.filter(|(slot, generation)| self.slots.is_kept(*slot, *generation)) {
            Some((slot, generation)) => {
                self.slots.put(slot, head);
                (slot, generation)
            }
            None if kept.is_some() => {
                sometimes("a single chare came back to the PE that it is named after");
                self.slots.insert(head)
            }
            None => self.slots.insert(head),
        }
    }

    /// Queues a message that makes an object; what comes for the object meanwhile waits.
    pub fn enqueue_creation(&self, collection: &Collection, mut envelope: NonNull<Envelope>) {
        // SAFETY: the caller gives the envelope away.
        let index = unsafe { envelope.as_ref() }.to().index;
        if collection.home(index) != self.id {
            self.expect_object(collection, index);
        }
        self.services.expect_birth(self, collection, envelope);
        if self.lets_in(envelope) && self.services.may_be_born(self, collection, envelope) {
            if collection.id.is_singles() {
                // SAFETY: as above.
                self.expect_chare(collection, unsafe { envelope.as_mut() });
            }
            self.enqueue(envelope);
        }
    }

    /// Runs a message that makes an object: at its home, which decides when and where.
    pub fn run_creation(&self, mut envelope: NonNull<Envelope>) {
        self.trace_cause_in(envelope);
        // SAFETY: the queue gave the envelope away.
        let message = unsafe { envelope.as_mut() };
        let to = message.to();
        let Some(collection) = self.collections.get(to.collection) else {
            sometimes("an element was inserted before its collection was known");
            return self.keep_orphan(to.collection, envelope);
        };
        if collection.home(to.index) != self.id {
            return self.create(collection, envelope);
        }
        if collection.orders.is_asking(to.index) {
            sometimes("an element waited until the order of its former one had ended, or not");
            self.see_kept(envelope, Until::End);
            return collection.await_end(to.index, envelope);
        }
        let moves = match self.place_of(collection, to.index) {
            Place::Here { .. } => {
                message.slot = NO_SLOT;
                0
            }
            Place::Unknown => collection.first_moves(),
            Place::Gone { moves } => {
                sometimes("an element was made again after it had moved and gone");
                moves
            }
            Place::At { moves, .. } if mutated("insertion-does-not-wait") => moves,
            Place::At { .. } | Place::Switching => {
                sometimes("an element was inserted before its former one was known to be gone");
                self.see_kept(envelope, Until::End);
                return collection.await_end(to.index, envelope);
            }
        };
        let birth = message.extra.as_mut().and_then(|extra| extra.birth.as_mut());
        let on = birth.and_then(|birth| {
            birth.moves = if mutated("moves-begin-again") { 0 } else { moves };
            if let Some(order) = collection.orders.take(to.index) {
                birth.order = Some(order);
            }
            birth.on.map(|on| self.view().acting_for(on))
        });
        match on
            .filter(|on| *on != self.id && !matches!(self.place_of(collection, to.index), Place::Here { .. }))
        {
            None => self.create(collection, envelope),
            Some(on) => {
                sometimes("an element was made away from its home");
                self.services.send_birth(self, collection, on, envelope);
                self.settle_elsewhere(collection, to.index, on, moves);
            }
        }
    }

    /// Makes the object of a message here.
    fn create(&self, collection: &Collection, mut envelope: NonNull<Envelope>) {
        // SAFETY: the queue gave the envelope away.
        let message = unsafe { envelope.as_mut() };
        let to = message.to();
        let birth = message.extra.take().and_then(|extra| extra.birth);
        let kept = self.slot_kept_for(message);
        self.see_message(message.shadow, |message, pe| Seen::Delivered { message, pe, object: None });
        match (message.body, message.take_object_message().map(|packed| *packed)) {
            (Body::Create(init), _) => {
                message.body = Body::Empty;
                let mut words = message.words;
                self.pool.put(envelope);
                self.make(collection, to.index, init, &mut words, birth, kept);
            }
            (_, Some(ObjectMessage::Create { init, args })) => {
                self.pool.put(envelope);
                self.make_packed(collection, to.index, init, args, birth, kept);
            }
            _ => self.discard(envelope, Why::Refused),
        }
    }

    pub fn make_packed(
        &self,
        collection: &Collection,
        index: u128,
        init: u16,
        args: Packed,
        birth: Option<Birth>,
        kept: Option<(u32, u32)>,
    ) {
        let Some(info) = collection.chare.inits.get(init as usize) else {
            let what = format!("init number {init}");
            return self.unreadable_for(collection, index, &what, "there is no such `#[init]`");
        };
        match info.args.read(Cow::Owned(args)) {
            Ok(mut words) => self.make(collection, index, info, &mut words, birth, kept),
            Err(error) => self.unreadable_for(collection, index, info.name, &error.to_string()),
        }
    }

    /// Sends off the making of a singleton chare; its name.
    pub fn create_single<A: 'static>(
        &self,
        collection: CollectionId,
        pe: Option<PeId>,
        init: &'static InitInfo,
        args: A,
        options: SendOptions,
    ) -> ObjId {
        let pe = pe.map_or_else(|| self.next_place(), |pe| self.view().acting_for(pe));
        let index = if pe == self.id {
            let (slot, generation) = self.slots.reserve();
            slot_index(pe, slot, generation)
        } else {
            let serial = self.names().singles.get() + 1;
            self.names().singles.set(serial);
            single_index(pe, self.id, serial)
        };
        let to = ObjId { collection, index };
        self.send_create(to, pe, init, args, options);
        to
    }

    /// Where the next singleton goes: round and round, so that a burst of them is spread.
    fn next_place(&self) -> PeId {
        let place = self.names().placed.get();
        self.names().placed.set(place.wrapping_add(1));
        self.view().further(self.id, place)
    }

    /// Sends off the making of an object.
    pub fn send_create<A: 'static>(
        &self,
        to: ObjId,
        pe: PeId,
        init: &'static InitInfo,
        args: A,
        options: SendOptions,
    ) {
        self.send_create_of(to, pe, init, ArgsCell::store(args), options);
    }

    /// The same with arguments that are in words already: they are those of the `#[init]`.
    pub fn send_create_of(
        &self,
        to: ObjId,
        pe: PeId,
        init: &'static InitInfo,
        words: Words,
        options: SendOptions,
    ) {
        let envelope = self.creation(to, init, words, options);
        if pe == self.id { self.enqueue(envelope) } else { self.transmit(pe, envelope) }
    }

    /// A message that makes an object.
    pub fn creation(
        &self,
        to: ObjId,
        init: &'static InitInfo,
        words: Words,
        options: SendOptions,
    ) -> NonNull<Envelope> {
        let mut envelope = self.pool.take();
        // SAFETY: just taken from the pool.
        let message = unsafe { envelope.as_mut() };
        message.body = Body::Create(init);
        message.slot = NO_SLOT;
        message.address(to);
        message.from = self.id;
        message.forwarded = false;
        (message.priority, message.extra) = (options.priority, options.extra);
        message.words = words;
        self.see_sent(message);
        envelope
    }

    /// Removes an object after its last entry.
    pub fn remove_element(&self, head: NonNull<Head>) {
        // SAFETY: the object is live, and freed below only.
        let object = unsafe { head.as_ref() };
        let (collection, index) = (object.collection(), object.index());
        witness::see(|| Seen::Removed { object: object.id(), pe: self.id });
        self.services.on_death(self, object);
        self.slots.remove(object.slot.get());
        collection.count_member(-1);
        let mut order = object.take_extras().map(|extras| extras.order).unwrap_or_default();
        let mut early = order.take_early();
        if mutated("early-not-left-to-the-next") {
            early.clear();
        }
        if !early.is_empty() {
            sometimes("an element was removed before the turn of messages that had come early");
        }
        self.unsettle(collection, index, object.moves.get(), order);
        early.into_iter().for_each(|packed| self.send_early(collection, index, packed));
        self.free_object(head);
    }

    /// Frees an object.
    pub fn free_object(&self, head: NonNull<Head>) {
        // SAFETY: the object is live.
        let object = unsafe { head.as_ref() };
        let chare = object.collection().chare;
        witness::see_freed(head);
        // SAFETY: allocated as this type; out of the slots, so nothing finds it any more.
        unsafe { (chare.free)(head) };
    }
}
