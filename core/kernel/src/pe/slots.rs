//! Where a PE's objects are: a table of slots, with a generation each so that a stale slot number is noticed.

use std::cell::UnsafeCell;
use std::ptr::NonNull;

use crate::message::queue::prefetch;
use crate::object::Head;

/// One slot: 16 bytes.
#[derive(Clone, Copy)]
struct Slot {
    head: Option<NonNull<Head>>,
    /// Of whoever is in the slot, or of who will be next.
    generation: u32,
    /// The next free slot, while this one is.
    next_free: u32,
}

const NONE: u32 = u32::MAX;
/// In place of the next free slot: this one is not free.
const KEPT: u32 = u32::MAX - 1;
/// The same, and what has come for its object waits elsewhere until that is there.
const AWAITED: u32 = u32::MAX - 2;
/// Generations are packed into 30 bits beside a place (`location.rs`), and wrap there.
const GENERATIONS: u32 = (1 << 30) - 1;

/// A PE's objects by slot.
pub struct Slots {
    // Every function below takes copies out or puts values in; no reference into the table outlives its call, and
    // none of them runs user code. So there is never more than one.
    table: UnsafeCell<Table>,
}

struct Table {
    slots: Vec<Slot>,
    free: u32,
    /// The generation of a new slot.
    first: u32,
}

impl Default for Slots {
    fn default() -> Self {
        Slots { table: UnsafeCell::new(Table { slots: Vec::new(), free: NONE, first: 0 }) }
    }
}

impl Slots {
    /// Puts an object into a free slot: its number and generation.
    pub fn insert(&self, head: NonNull<Head>) -> (u32, u32) {
        let (number, generation) = self.reserve();
        self.put(number, head);
        (number, generation)
    }

    /// Empties a slot; whoever still has its number finds another generation.
    pub fn remove(&self, number: u32) {
        // SAFETY: see `table`.
        let table = unsafe { &mut *self.table.get() };
        let slot = &mut table.slots[number as usize];
        debug_assert!(slot.head.is_some(), "a slot is emptied once");
        *slot = Slot { head: None, generation: (slot.generation + 1) & GENERATIONS, next_free: table.free };
        table.free = number;
    }

    /// Puts an object into its reserved slot; or its new memory in place of its old.
    pub fn put(&self, number: u32, head: NonNull<Head>) {
        // SAFETY: see `table`.
        let slot = &mut unsafe { &mut *self.table.get() }.slots[number as usize];
        (slot.head, slot.next_free) = (Some(head), KEPT);
    }

    /// Something waits for the object of a kept slot: what comes next is to wait behind it.
    pub fn note_awaited(&self, number: u32, generation: u32) {
        if self.is_kept(number, generation) {
            // SAFETY: see `table`.
            unsafe { &mut *self.table.get() }.slots[number as usize].next_free = AWAITED;
        }
    }

    /// The object in a slot, if it is the one meant.
    #[inline(always)]
    pub fn get(&self, number: u32, generation: u32) -> Option<NonNull<Head>> {
        // SAFETY: see `table`.
        let slot = unsafe { &*self.table.get() }.slots.get(number as usize)?;
        if slot.generation == generation { slot.head } else { None }
    }

    /// The object in a slot, whoever it is, and its generation.
    #[inline(always)]
    pub fn at(&self, number: u32) -> Option<(NonNull<Head>, u32)> {
        // SAFETY: see `table`.
        let slot = unsafe { &*self.table.get() }.slots.get(number as usize)?;
        slot.head.map(|head| (head, slot.generation))
    }

    /// Fetches an object that will run soon: its head, and the line of its state's first fields.
    #[inline(always)]
    pub fn prefetch(&self, number: u32) {
        if let Some((head, _)) = self.at(number) {
            prefetch(head);
        }
    }

    /// Whether a slot is kept for an object to come, under this generation.
    pub fn is_kept(&self, number: u32, generation: u32) -> bool {
        // SAFETY: see `table`.
        let slot = unsafe { &*self.table.get() }.slots.get(number as usize).copied();
        slot.is_some_and(|slot| {
            slot.head.is_none() && slot.generation == generation && [KEPT, AWAITED].contains(&slot.next_free)
        })
    }

    /// Whether the object of this generation is in a slot, or the slot is kept for it and nothing waits for that.
    #[inline(always)]
    pub fn is_of(&self, number: u32, generation: u32) -> bool {
        // SAFETY: see `table`.
        let slot = unsafe { &*self.table.get() }.slots.get(number as usize);
        slot.is_some_and(|slot| slot.generation == generation && slot.next_free == KEPT)
    }

    /// A free slot for an object to come: its number and generation.
    pub fn reserve(&self) -> (u32, u32) {
        // SAFETY: see `table`.
        let table = unsafe { &mut *self.table.get() };
        if table.free == NONE {
            assert!(table.slots.len() < AWAITED as usize, "a PE holds at most 2^32 - 3 objects");
            table.slots.push(Slot { head: None, generation: table.first, next_free: KEPT });
            return (table.slots.len() as u32 - 1, table.first);
        }
        let number = table.free;
        let slot = &mut table.slots[number as usize];
        table.free = std::mem::replace(&mut slot.next_free, KEPT);
        (number, slot.generation)
    }

    /// Slots in use or free.
    pub fn count(&self) -> u32 {
        // SAFETY: see `table`.
        unsafe { &*self.table.get() }.slots.len() as u32
    }

    /// No slot has had a higher generation.
    pub fn highest_generation(&self) -> u32 {
        // SAFETY: see `table`.
        let table = unsafe { &*self.table.get() };
        table.slots.iter().map(|slot| slot.generation).fold(table.first, u32::max)
    }

    /// New slots begin with this generation, so that none is taken for one of the same number in a former table.
    pub fn begin_with(&self, generation: u32) {
        // SAFETY: see `table`.
        unsafe { &mut *self.table.get() }.first = generation & GENERATIONS;
    }

    /// Every object, by slot.
    pub fn iter(&self) -> impl Iterator<Item = NonNull<Head>> + '_ {
        (0..self.count()).filter_map(|number| self.at(number)).map(|(head, _)| head)
    }

    /// Takes every object out.
    pub fn drain(&self) -> Vec<NonNull<Head>> {
        let all: Vec<_> = self.iter().collect();
        // SAFETY: see `table`.
        unsafe { *self.table.get() = Table { slots: Vec::new(), free: NONE, first: 0 } };
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(n: usize) -> NonNull<Head> {
        // Never followed: the table only keeps it.
        NonNull::new(std::ptr::without_provenance_mut(n * 64)).expect("not zero")
    }

    #[test]
    fn a_reused_slot_has_another_generation() {
        let slots = Slots::default();
        let (a, first) = slots.insert(head(1));
        let (b, _) = slots.insert(head(2));
        assert_ne!(a, b);
        slots.remove(a);
        assert_eq!(slots.get(a, first), None);
        let (again, second) = slots.insert(head(3));
        assert_eq!(again, a);
        assert_ne!(first, second);
        assert_eq!(slots.get(a, first), None);
        assert_eq!(slots.get(a, second), Some(head(3)));
        assert_eq!(slots.iter().count(), 2);
    }

    #[test]
    fn a_slot_whose_object_is_awaited_is_kept_and_has_nothing_sent_to_it() {
        let slots = Slots::default();
        let (number, generation) = slots.reserve();
        assert!(slots.is_kept(number, generation) && slots.is_of(number, generation));
        slots.note_awaited(number, generation + 1);
        assert!(slots.is_of(number, generation));
        slots.note_awaited(number, generation);
        assert!(slots.is_kept(number, generation) && !slots.is_of(number, generation));
        slots.put(number, head(1));
        assert!(!slots.is_kept(number, generation) && slots.is_of(number, generation));
        // It is there: nothing is to wait for it.
        slots.note_awaited(number, generation);
        assert!(slots.is_of(number, generation));
    }
}
