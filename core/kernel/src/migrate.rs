//! Migration: an object leaves one PE and goes on at another, between two of its entries.

use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::collection::Collection;
use crate::location::Place;
use crate::location::message::LocationMessage;
use crate::object::{Born, Extras, Head, ObjectHeader, flag};
use crate::order::Order;
use crate::pe::Pe;
use crate::pe::execute::{Call, Restored};
use crate::registry::ChareType;
use crate::witness::{self, Seen};
use talisman_base::ids::{ObjId, PeId};
use talisman_base::limits::MOVES;
use talisman_lb::smooth::Smooth;
use talisman_observe::event::Event;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::{Kept, Lender, Packed, Packer, Pup, PupError, Purpose, Segment, Unpacker};

/// An object on its way: within a node as it is, between nodes packed.
#[derive(Debug)]
pub enum Payload {
    Object(Moving),
    Packed(Packed),
}

/// An object that is in no PE's hands. Freed if it never arrives.
pub struct Moving {
    head: Option<NonNull<Head>>,
    chare: &'static ChareType,
}

// SAFETY: a chare is `Send` (`ChareType::of` has the proof), its flows are too (a bound of `Chare::Flows`), and nobody
// else has a pointer to an object that moves.
unsafe impl Send for Moving {}

impl Moving {
    fn take(mut self) -> NonNull<Head> {
        self.head.take().expect("taken once, by value")
    }
}

impl fmt::Debug for Moving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Moving({})", (self.chare.name)())
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        if let Some(head) = self.head.take() {
            witness::see_freed(head);
            // SAFETY: allocated as this type; nobody else has it.
            unsafe { (self.chare.free)(head) };
        }
    }
}

impl Moving {
    /// Packs the object and gives it up, once whatever needs its memory has gone.
    fn into_packed(self) -> Packed {
        let mut lender = Lender::new(Packer::new(Purpose::Migration));
        // SAFETY: a live object of this type that nobody else has.
        unsafe { (self.chare.lend)(self.head.expect("not taken yet"), &mut lender) };
        if lender.packer().refusal().is_some() {
            let packed = lender.finish().into();
            // What is nested too deeply to be packed may be too deep to be dropped. The job is about to end over it.
            std::mem::forget(self);
            return packed;
        }
        if !lender.borrows() {
            return lender.finish().into();
        }
        sometimes("an object lent its memory to the link by which it moved");
        // SAFETY: `Moving` is `Send`.
        let keeper: Arc<dyn Any + Send + Sync> = Arc::new(unsafe { Kept::new(self) });
        // SAFETY: the object is memory of its own, which `keeper` frees, and out of everybody's reach.
        unsafe { lender.finish_kept(&keeper) }.into()
    }
}

/// Only packed ones go to other nodes.
impl Pup for Payload {
    const MIN_SIZE: usize = 8;

    fn pack(&self, p: &mut Packer) {
        match self {
            Payload::Packed(packed) => packed.pack(p),
            Payload::Object(_) => unreachable!("`payload` packs what leaves the node"),
        }
    }

    fn lend<'a>(&'a self, l: &mut Lender<'a>) {
        match self {
            Payload::Packed(packed) => packed.lend(l),
            Payload::Object(_) => self.pack(l.packer()),
        }
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Packed::unpack(u).map(Payload::Packed)
    }
}

/// # Safety
/// The head is that of a live object of this type that nobody borrows.
pub unsafe fn pack_object(chare: &ChareType, head: NonNull<Head>) -> Packed {
    // SAFETY: the caller's promise.
    unsafe { pack_object_in(chare, head, Packer::new(Purpose::Migration), |_, _| None) }.into()
}

/// The same with a packer that there is, and with large slices that `copy` copies, if it can.
///
/// # Safety
/// The same.
pub unsafe fn pack_object_in(
    chare: &ChareType,
    head: NonNull<Head>,
    packer: Packer,
    copy: impl FnMut(&[u8], usize) -> Option<Segment>,
) -> (Packer, Vec<Segment>) {
    let mut lender = Lender::new(packer);
    // SAFETY: the caller's promise; what is lent is copied right below.
    unsafe { (chare.lend)(head, &mut lender) };
    lender.finish_in(copy)
}

impl Pe {
    /// An object asked to be elsewhere.
    pub fn migrate_out(&self, head: NonNull<Head>) {
        // SAFETY: the object is live.
        let object = unsafe { head.as_ref() };
        object.clear(flag::MIGRATE);
        let to = object.extras(|extras| extras.destination);
        if to == self.id {
            return sometimes("an object asked to move to where it is");
        }
        let (collection, id) = (object.collection(), object.id());
        // Its end will count as one more.
        if MOVES.next(object.moves.get() + 1).is_none() {
            self.one_more(MOVES, MOVES.most, collection, Some(id.index));
            return;
        }
        object.moves.set(object.moves.get() + u32::from(!mutated("move-not-counted")));
        witness::see(|| Seen::Departed { object: id, pe: self.id, to, moves: object.moves.get() });
        if self.is_observed() {
            let (object, moves) = (collection.label(id.index), object.moves.get());
            self.observe(|| Event::Moves { object: &object, to, moves });
        }
        self.trace_move(object, to);
        self.services.on_depart(collection, object, to);
        let past = self.settle_measured(object);
        self.slots.remove(object.slot.get());
        collection.count_member(-1);
        collection.set_place(id.index, Place::At { pe: to, moves: object.moves.get() });
        let header = Box::new(pack_up(object, past));
        let payload = self.payload(collection.chare, head, to);
        if let Payload::Packed(packed) = &payload
            && packed.refusal().is_some()
        {
            return self.refuse_to_move(collection, id.index, to, packed);
        }
        self.tell(to, LocationMessage::Arrive { id, header, payload });
        self.limit_learnt(collection, id.index);
    }

    fn payload(&self, chare: &'static ChareType, head: NonNull<Head>, to: PeId) -> Payload {
        let within = self.node.shape.node_of(to) == self.node.number;
        let moving = Moving { head: Some(head), chare };
        if within && !self.node.config.pack_all && !self.node.config.packs_within {
            Payload::Object(moving)
        } else {
            if chare.departs.is_some() {
                self.execute(head, Call::Departs);
            }
            self.port.begin_packing();
            Payload::Packed(moving.into_packed())
        }
    }

    /// An object arrives.
    pub fn on_arrive(&self, from: PeId, id: ObjId, header: ObjectHeader, payload: Payload) {
        let Some(collection) = self.collections.get(id.collection) else { return };
        if self.find_here(id).is_some() {
            let who = collection.label(id.index);
            return self
                .node
                .job
                .end(1, Some(format!("{who} arrives from PE {from}, and is on PE {} already", self.id)));
        }
        let head = match payload {
            Payload::Object(moving) => moving.take(),
            Payload::Packed(packed) => match self.unpack_object(collection, id.index, packed) {
                Ok(head) => head,
                Err(error) => {
                    let whence = format!("from PE {from}");
                    return self.unreadable_element(collection, id.index, &whence, &error);
                }
            },
        };
        // SAFETY: the object is live and this PE's.
        let object = unsafe { head.as_ref() };
        object.collection.set(NonNull::from(collection));
        let past = header.past;
        unpack_header(object, header);
        let moves = object.moves.get();
        self.services.on_arrive(self, collection, object, from);
        self.install(collection, head);
        if let Some(past) = past {
            self.restore_past(object, past);
        }
        self.tell_restored(head, Restored::AfterMigration);
        self.services.after_arrival(self, id, moves);
    }

    pub fn unpack_object(
        &self,
        collection: &Collection,
        index: u128,
        packed: Packed,
    ) -> Result<NonNull<Head>, PupError> {
        let chare = collection.chare;
        let head = (chare.allocate)(Head::new(index, NonNull::from(collection), self.flag_of_traced()));
        witness::see_allocated(head);
        // SAFETY: just allocated as this type, without a state.
        let unpacked = packed.read(Purpose::Migration, |u| unsafe { (chare.unpack)(head, u) });
        if unpacked.is_err() {
            witness::see_freed(head);
            // SAFETY: allocated above; nobody else has it.
            unsafe { (chare.free)(head) };
        }
        unpacked.map(|()| head)
    }

    pub fn tell_restored(&self, head: NonNull<Head>, why: Restored) {
        self.execute(head, Call::Restored(why));
    }

    /// Packs an object and builds it anew in its place: what migration does, without leaving. For tests.
    pub fn repack(&self, old: NonNull<Head>) {
        sometimes("an object was packed and built anew");
        // SAFETY: the object is live, and between entries.
        let object = unsafe { old.as_ref() };
        let collection = object.collection();
        // SAFETY: as above.
        let packed = unsafe { pack_object(collection.chare, old) };
        let new = match self.unpack_object(collection, object.index(), packed) {
            Ok(new) => new,
            Err(error) => {
                return self.unreadable_element(collection, object.index(), "back in its place", &error);
            }
        };
        // SAFETY: just made.
        unsafe { new.as_ref() }.take_over(object);
        self.slots.put(object.slot.get(), new);
        witness::see_freed(old);
        // SAFETY: allocated as this type; the slot has the new one, so nothing finds the old one any more.
        unsafe { (collection.chare.free)(old) };
        self.execute(new, Call::Repacked);
    }
}

/// What moves with an object.
fn pack_up(object: &Head, past: Option<Smooth>) -> ObjectHeader {
    let mut extras: Extras = *object.take_extras().unwrap_or_default();
    mark_what_travels(&extras);
    if mutated("births-stay-behind") {
        extras.born = Born::default();
    }
    if mutated("order-stays-behind") {
        extras.order = Order::default();
    }
    header_with(object, extras, past)
}

/// What would move with an object, which stays as it is.
pub fn header_of(object: &Head, past: Option<Smooth>) -> ObjectHeader {
    let extras = object.take_extras();
    let copied = extras.as_deref().map(Extras::that_travel).unwrap_or_default();
    object.put_extras(extras);
    header_with(object, copied, past)
}

fn header_with(object: &Head, extras: Extras, past: Option<Smooth>) -> ObjectHeader {
    ObjectHeader {
        flags: object.flags.get() & flag::TRAVELS,
        reduction: object.reduction.get(),
        broadcasts: object.broadcasts.get(),
        moves: object.moves.get(),
        messages: object.messages.get(),
        load: object.load.get(),
        birth: extras.birth,
        born: extras.born,
        rng: extras.rng,
        sections: extras.sections,
        order: extras.order,
        given: extras.given,
        past,
    }
}

fn mark_what_travels(extras: &Extras) {
    if extras.born.count > 0 {
        sometimes("an object moved before it had announced what it inserted");
    }
    if !extras.sections.is_empty() {
        sometimes("an object moved between reductions of a section");
    }
    if extras.order.has_early() {
        sometimes("a message that had come early moved with its receiver");
    }
}

pub fn unpack_header(object: &Head, header: ObjectHeader) {
    object.flags.set(header.flags | object.flags.get() & flag::TRACED);
    if !mutated("reduction-number-stays-behind") {
        object.reduction.set(header.reduction);
    }
    object.broadcasts.set(header.broadcasts);
    object.moves.set(header.moves);
    object.messages.set(header.messages);
    object.load.set(header.load);
    let extras = Extras {
        birth: header.birth,
        born: header.born,
        rng: header.rng,
        sections: header.sections,
        order: header.order,
        given: header.given,
        ..Extras::default()
    };
    object.put_extras((!extras.is_empty()).then(|| Box::new(extras)));
}
