//! One message in memory: 128 bytes, of which 64 are for the arguments.

use std::cell::Cell;
use std::mem::MaybeUninit;

use super::cell::{WORDS, Words};
use super::control::{Cast, ObjectMessage};
use super::send_options::SendOptions;
use super::service::PeMessage;
use crate::entry_info::{EntryInfo, InitInfo};
use crate::order::Order;
use crate::route::Route;
use crate::witness::Shadow;
use talisman_base::birth::BirthId;
use talisman_base::ids::{CollectionId, ObjId, PeId, wire};
use talisman_pup::Packed;
use talisman_sched::priority::Priority;

/// A message between objects or PEs. Two cache lines, of which the first has what running a small message takes; from a
/// PE's [`Pool`](super::pool::Pool), which links free ones through their words.
#[repr(C, align(64))]
pub struct Envelope {
    pub body: Body,
    /// The receiver's place on this PE, as the sender found it: valid while `generation` is that of the slot.
    pub slot: u32,
    pub generation: u32,
    /// What few messages need.
    pub extra: Option<Box<Extra>>,
    pub words: Words,
    index: [u64; 2],
    collection: CollectionId,
    /// Where it was sent from.
    pub from: PeId,
    /// An integer priority other than the default one, 0, or [`EXPEDITED`](super::send_options::EXPEDITED): what fits needs no [`Extra`].
    pub priority: i16,
    /// Came by way of another PE than its sender's.
    pub forwarded: bool,
    /// Came from another node to another PE of this one, which has not looked whether it can be.
    pub unchecked: bool,
    /// What a witness knows it by.
    pub shadow: Shadow,
}

/// What a message is for.
#[derive(Clone, Copy)]
pub enum Body {
    /// An entry, with its arguments in the words.
    Invoke(&'static EntryInfo),
    /// An element to be made, with the arguments of its `#[init]` in the words.
    Create(&'static InitInfo),
    /// Something else for an object: the words hold a `Box<ObjectMessage>`.
    Object,
    /// For a PE itself: the words hold a `Box<dyn PeMessage>`.
    Pe,
    /// Nothing: the envelope is free.
    Empty,
}

/// What few messages need.
#[derive(Clone, Default, Debug)]
pub struct Extra {
    /// Who wants the result.
    pub reply: Option<Route>,
    /// The priority, if it was said and does not fit into the envelope.
    pub priority: Option<Priority>,
    pub expedited: bool,
    /// In an ordered collection: the sender and its sequence number for this receiver.
    pub order: Option<(ObjId, u32)>,
    /// Of an element to be made.
    pub birth: Option<Birth>,
}

/// Memory for the next [`Extra`], of one that had nothing but who wants the result: each element that answers a broadcast has one.
#[derive(Default)]
pub struct SpareExtra(Cell<Option<Box<Extra>>>);

impl SpareExtra {
    /// An empty one.
    #[inline]
    pub fn take(&self) -> Box<Extra> {
        self.0.take().unwrap_or_default()
    }

    /// Keeps one whose receiver has been taken out, unless it has more.
    #[inline]
    pub fn keep(&self, extra: Box<Extra>) {
        if matches!(*extra, Extra { reply: None, priority: None, expedited: false, order: None, birth: None })
        {
            self.0.set(Some(extra));
        }
    }
}

/// How an element comes into its collection.
#[derive(Clone, Default, Debug, talisman_pup::Pup)]
pub struct Birth {
    /// The first reduction it takes part in.
    pub reduction: u32,
    /// Its name, unless it is one of the first elements: whoever inserts it announces it to that reduction.
    pub id: BirthId,
    /// Counted by `done_inserting`.
    pub counted: bool,
    /// Where to, if not to its home.
    #[pup(with = wire::any_pe)]
    pub on: Option<PeId>,
    /// Moves of former elements of its name: its own are counted on from there.
    pub moves: u32,
    /// What the former element of its name left.
    pub order: Option<Box<Order>>,
    /// The first broadcast for it that passes where it was sent off from.
    pub first: u32,
    /// Those that have passed there and are for it.
    pub given: Vec<(u32, Cast)>,
    /// Where that is: others follow from there, until it has been told that this has come.
    #[pup(with = wire::any_pe)]
    pub sender: Option<PeId>,
}

impl Envelope {
    /// A free one.
    pub fn empty() -> Envelope {
        Envelope {
            body: Body::Empty,
            slot: u32::MAX,
            generation: 0,
            index: [0; 2],
            collection: CollectionId { creator: 0, serial: 0 },
            from: 0,
            priority: 0,
            forwarded: false,
            unchecked: false,
            shadow: Shadow::NONE,
            extra: None,
            words: [const { MaybeUninit::uninit() }; WORDS],
        }
    }

    /// The next in a list of free ones.
    ///
    /// # Safety
    /// This one is in such a list: its words hold what `set_link` put there.
    #[inline(always)]
    pub unsafe fn link(&self) -> *mut Envelope {
        // SAFETY: the caller's promise.
        unsafe { self.words.as_ptr().cast::<*mut Envelope>().read() }
    }

    /// Links this one, which is empty, to the next in a list of free ones.
    #[inline(always)]
    pub(crate) fn set_link(&mut self, next: *mut Envelope) {
        // SAFETY: a pointer fits into the words, which are free.
        unsafe { self.words.as_mut_ptr().cast::<*mut Envelope>().write(next) };
    }

    /// Whether it waits for its turn among others, and for nothing else.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.priority == 0 && self.extra.is_none()
    }

    /// Takes out how it was sent.
    pub fn take_send_options(&mut self) -> SendOptions {
        SendOptions { priority: std::mem::take(&mut self.priority), extra: self.extra.take() }
    }

    /// How it was sent.
    pub fn send_options(&self) -> SendOptions {
        SendOptions { priority: self.priority, extra: self.extra.clone() }
    }

    #[inline(always)]
    pub fn address(&mut self, to: ObjId) {
        self.index = [to.index as u64, (to.index >> 64) as u64];
        self.collection = to.collection;
    }

    #[inline(always)]
    pub fn to(&self) -> ObjId {
        ObjId { collection: self.collection, index: self.index[0] as u128 | (self.index[1] as u128) << 64 }
    }

    pub fn put_object_message(&mut self, message: Box<ObjectMessage>) {
        self.body = Body::Object;
        // SAFETY: a box fits into the words, which are free.
        unsafe { self.words.as_mut_ptr().cast::<Box<ObjectMessage>>().write(message) };
    }

    pub fn put_pe_message(&mut self, message: Box<dyn PeMessage>) {
        self.body = Body::Pe;
        // SAFETY: a box with its table fits into the words, which are free.
        unsafe { self.words.as_mut_ptr().cast::<Box<dyn PeMessage>>().write(message) };
    }

    /// Takes the message out; the envelope is empty then.
    pub fn take_object_message(&mut self) -> Option<Box<ObjectMessage>> {
        matches!(self.body, Body::Object).then(|| {
            self.body = Body::Empty;
            // SAFETY: `Body::Object` says that the words hold this box, and it is read once.
            unsafe { self.words.as_ptr().cast::<Box<ObjectMessage>>().read() }
        })
    }

    /// Takes the message out; the envelope is empty then.
    pub fn take_pe_message(&mut self) -> Option<Box<dyn PeMessage>> {
        matches!(self.body, Body::Pe).then(|| {
            self.body = Body::Empty;
            // SAFETY: `Body::Pe` says that the words hold this box, and it is read once.
            unsafe { self.words.as_ptr().cast::<Box<dyn PeMessage>>().read() }
        })
    }

    pub fn object_message(&self) -> Option<&ObjectMessage> {
        // SAFETY: `Body::Object` says that the words hold this box.
        matches!(self.body, Body::Object)
            .then(|| unsafe { &**self.words.as_ptr().cast::<Box<ObjectMessage>>() })
    }

    pub fn pe_message(&self) -> Option<&dyn PeMessage> {
        // SAFETY: `Body::Pe` says that the words hold this box.
        matches!(self.body, Body::Pe).then(|| unsafe { &**self.words.as_ptr().cast::<Box<dyn PeMessage>>() })
    }

    /// What has to be known before it is read.
    pub fn needs(&self) -> &[u64] {
        let packed = match self.body {
            Body::Object => self.object_message().and_then(ObjectMessage::packed),
            Body::Pe => self.pe_message().and_then(<dyn PeMessage>::packed),
            Body::Invoke(_) | Body::Create(_) | Body::Empty => None,
        };
        packed.map_or(&[], Packed::needs)
    }

    /// Whether it makes an object.
    pub fn is_creation(&self) -> bool {
        match self.body {
            Body::Create(_) => true,
            Body::Object => matches!(self.object_message(), Some(ObjectMessage::Create { .. })),
            Body::Invoke(_) | Body::Pe | Body::Empty => false,
        }
    }

    /// Drops what it carries.
    pub fn clear(&mut self) {
        self.extra = None;
        match self.body {
            // SAFETY: the body says what the words hold; it is dropped once, since the body is empty afterwards.
            Body::Invoke(entry) => unsafe { (entry.args.drop)(&mut self.words) },
            // SAFETY: as above.
            Body::Create(init) => unsafe { (init.args.drop)(&mut self.words) },
            Body::Object => drop(self.take_object_message()),
            Body::Pe => drop(self.take_pe_message()),
            Body::Empty => {}
        }
        self.body = Body::Empty;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_is_two_cache_lines() {
        let lines = if cfg!(feature = "oracles") { 3 } else { 2 };
        assert_eq!((size_of::<Envelope>(), align_of::<Envelope>()), (lines * 64, 64));
    }

    #[test]
    fn what_has_more_than_a_receiver_is_not_kept_for_the_next() {
        let (spare, at) = (SpareExtra::default(), |extra: &Extra| std::ptr::from_ref(extra).addr());
        let first = spare.take();
        let place = at(&first);
        spare.keep(first);
        let mut again = spare.take();
        assert_eq!(at(&again), place);
        again.expedited = true;
        spare.keep(again);
        assert!(!spare.take().expedited);
    }
}
