//! What the runtime keeps of an object beside its state.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::ptr::NonNull;

use crate::collection::Collection;
use crate::measure::Given;
use crate::message::control::Cast;
use crate::order::Order;
use crate::registry::ChareType;
use talisman_base::birth::BirthId;
use talisman_base::ids::{ObjId, SectionId};
use talisman_base::rng::Rng;
use talisman_lb::smooth::Smooth;
use talisman_pup::Pup;

/// What the runtime keeps of an object beside its state: 64 bytes. Only the object's PE touches it.
#[repr(C)]
pub struct Head {
    index: [u64; 2],
    /// Its PE's view of its collection, which outlives the object.
    pub collection: Cell<NonNull<Collection>>,
    pub slot: Cell<u32>,
    pub flags: Cell<u32>,
    /// The next reduction of its collection that it will contribute to; see [`flag::LATE`].
    pub reduction: Cell<u32>,
    /// Broadcasts of its collection that it has received.
    pub broadcasts: Cell<u32>,
    /// How often it moved; of two places the one with more moves is the later one.
    pub moves: Cell<u32>,
    /// Messages received in this balancing period.
    pub messages: Cell<u32>,
    /// Ticks of the PE's clock spent in its entries in this balancing period, as metered.
    pub load: Cell<i64>,
    /// What few objects need.
    extras: Cell<Option<Box<Extras>>>,
}

/// Bits of [`Head::flags`].
pub mod flag {
    /// Its state exists; unset while its `#[init]` runs.
    pub const LIVE: u32 = 1;
    /// To be removed after the entry that runs.
    pub const DESTROY: u32 = 2;
    /// To be moved after the entry that runs.
    pub const MIGRATE: u32 = 4;
    /// It is not known how long its entries are.
    pub const NEW: u32 = 8;
    /// Waits for broadcasts that its former PE forwards; does not move until it has them.
    pub const CATCHING_UP: u32 = 16;
    /// Its entries are long enough to time every one.
    pub const LONG: u32 = 32;
    /// So long that they are timed by what the thread computes.
    pub const HUGE: u32 = 64;
    /// A member of a group that was made on a PE which had been lost: in sections made before it, another had its name.
    pub const MADE_AGAIN: u32 = 128;
    /// Made late, and does not know to which reductions it contributes: it numbers its contributions from 0.
    pub const LATE: u32 = 256;
    /// It does not move before it says so itself.
    pub const HELD: u32 = 512;
    /// What is done to it is traced.
    pub const TRACED: u32 = 1024;
    /// What it calls is called when its entry has ended.
    pub const CALLS_NEXT: u32 = 2048;
    /// It has more than what is packed of it: nothing can go on from a copy.
    pub const PARTIAL: u32 = 4096;
    /// What keeps it where it is.
    pub const STAYS: u32 = CATCHING_UP | HELD;
    /// Anything of the above that has to be looked at after an entry.
    pub const AFTER: u32 = DESTROY | MIGRATE | CALLS_NEXT;
    /// What stays with the object when it moves.
    pub const TRAVELS: u32 = LIVE | NEW | LONG | HUGE | MADE_AGAIN | LATE;
}

/// What few objects need beside the [`Head`]; allocated on first use.
#[derive(Default)]
pub struct Extras {
    /// Where to move to.
    pub destination: u32,
    /// Of one inserted late that has not contributed yet: its birth.
    pub birth: BirthId,
    /// Elements of its own collection that it inserted since it last contributed.
    pub born: Born,
    /// `cx.rng()`.
    pub rng: Option<Rng>,
    /// Its next reduction in each section.
    pub sections: BTreeMap<SectionId, u32>,
    /// Its messages to and in ordered collections.
    pub order: Order,
    /// Broadcasts up to this number come from its former PE.
    pub catch_up: u32,
    /// Those that have come here since, and wait until it has caught up.
    pub later: VecDeque<(u32, Cast)>,
    /// What the program said of it for load balancing.
    pub given: Option<Given>,
}

/// Elements that one inserted, and has to announce with its next contribution.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Pup)]
pub struct Born {
    pub count: u32,
    /// The sum of their marks.
    pub marks: u128,
}

impl Born {
    /// One more.
    pub fn add(&mut self, birth: BirthId) {
        self.count += 1;
        self.marks = self.marks.wrapping_add(birth.mark());
    }
}

impl Extras {
    /// A copy of what moves with an object.
    pub fn that_travel(&self) -> Self {
        let (rng, sections, order) = (self.rng.clone(), self.sections.clone(), self.order.clone());
        let (birth, born, given) = (self.birth, self.born, self.given);
        Extras { birth, born, rng, sections, order, given, ..Extras::default() }
    }

    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        let plain =
            self.birth.is_none() && self.born.count == 0 && self.rng.is_none() && self.given.is_none();
        plain && self.sections.is_empty() && self.order.is_empty()
    }
}

impl Head {
    pub fn new(index: u128, collection: NonNull<Collection>, flags: u32) -> Self {
        Head {
            index: [index as u64, (index >> 64) as u64],
            collection: Cell::new(collection),
            slot: Cell::new(u32::MAX),
            flags: Cell::new(flags),
            reduction: Cell::new(0),
            broadcasts: Cell::new(0),
            moves: Cell::new(0),
            messages: Cell::new(0),
            load: Cell::new(0),
            extras: Cell::new(None),
        }
    }

    pub fn index(&self) -> u128 {
        self.index[0] as u128 | (self.index[1] as u128) << 64
    }

    /// Chare type and index, for another thread than that of its PE.
    ///
    /// # Safety
    /// It runs, or ran, and is not freed meanwhile.
    pub unsafe fn seen_by_others(head: NonNull<Head>) -> (&'static ChareType, u128) {
        let head = head.as_ptr();
        // SAFETY: the caller's promise: these are not written once it can run. No reference is made to what its PE writes. A collection outlives
        // its objects.
        let (index, collection) = unsafe {
            let collection = (&raw const (*head).collection).cast::<NonNull<Collection>>();
            ((&raw const (*head).index).read(), collection.read())
        };
        // SAFETY: as above.
        let chare = unsafe { (&raw const (*collection.as_ptr()).chare).read() };
        (chare, index[0] as u128 | (index[1] as u128) << 64)
    }

    /// Its PE's view of its collection.
    pub fn collection(&self) -> &Collection {
        // SAFETY: a PE never frees a `Collection` before its objects, and `migrate` sets the pointer on arrival.
        unsafe { self.collection.get().as_ref() }
    }

    pub fn id(&self) -> ObjId {
        ObjId { collection: self.collection().id, index: self.index() }
    }

    #[inline(always)]
    pub fn count_message(&self) {
        self.messages.set(self.messages.get().wrapping_add(1));
    }

    /// Adds to its load.
    pub fn charge(&self, ticks: i64) {
        self.load.set(self.load.get() + ticks);
    }

    pub fn has(&self, flags: u32) -> bool {
        self.flags.get() & flags != 0
    }

    pub fn set(&self, flags: u32) {
        self.flags.set(self.flags.get() | flags);
    }

    pub fn clear(&self, flags: u32) {
        self.flags.set(self.flags.get() & !flags);
    }

    /// Reads or changes what few objects need.
    pub fn extras<R>(&self, f: impl FnOnce(&mut Extras) -> R) -> R {
        let mut extras = self.extras.take().unwrap_or_default();
        let result = f(&mut extras);
        self.extras.set(Some(extras));
        result
    }

    /// What the program said of it for load balancing.
    pub fn given(&self) -> Option<Given> {
        let extras = self.extras.take();
        let given = extras.as_ref().and_then(|extras| extras.given);
        self.extras.set(extras);
        given
    }

    /// The program says something more.
    pub fn give(&self, change: impl FnOnce(&mut Given)) {
        self.extras(|extras| change(extras.given.get_or_insert_default()));
    }

    /// Becomes, for the runtime, the object that it was built anew from.
    pub fn take_over(&self, old: &Head) {
        self.slot.set(old.slot.get());
        self.flags.set(old.flags.get());
        self.reduction.set(old.reduction.get());
        self.broadcasts.set(old.broadcasts.get());
        self.moves.set(old.moves.get());
        self.messages.set(old.messages.get());
        self.load.set(old.load.get());
        self.put_extras(old.take_extras());
    }

    /// Takes out what few objects need, if anything was put there yet.
    pub fn take_extras(&self) -> Option<Box<Extras>> {
        self.extras.take()
    }

    pub fn put_extras(&self, extras: Option<Box<Extras>>) {
        self.extras.set(extras);
    }
}

/// The part of [`Extras`] and [`Head`] that moves with an object.
#[derive(Debug, Pup)]
pub struct ObjectHeader {
    pub flags: u32,
    pub reduction: u32,
    pub broadcasts: u32,
    pub moves: u32,
    pub messages: u32,
    pub load: i64,
    pub birth: BirthId,
    pub born: Born,
    pub rng: Option<Rng>,
    pub sections: BTreeMap<SectionId, u32>,
    pub order: Order,
    pub given: Option<Given>,
    /// Its loads in past periods, if they are measured.
    pub past: Option<Smooth>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_one_cache_line() {
        assert_eq!(size_of::<Head>(), 64);
    }
}
