//! A PE's collections by name.

use std::cell::{Cell, UnsafeCell};
use std::ptr::NonNull;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::Collection;
use super::gone::Gone;
use talisman_base::ids::{CollectionId, PeId};

/// A PE's view of every collection it knows. A reference to one stays good until the PE takes the collection out, which it does between
/// two messages only ([`Collections::remove`]).
#[derive(Default)]
pub struct Collections {
    // The functions below neither keep a reference into the tables nor run user code, so there is never more than
    // one; the collections themselves are shared by reference and change through cells.
    tables: UnsafeCell<Tables>,
    /// The one asked for last. Most messages are for the same collection as the one before, and then the way through the
    /// tables, a chain of loads, is left out.
    recent: Cell<Option<(CollectionId, NonNull<Collection>)>>,
}

#[derive(Default)]
struct Tables {
    /// By creator.
    made: Vec<Made>,
    /// Of singletons, by their type's number.
    singles: Vec<Option<NonNull<Collection>>>,
}

/// Collections that one PE made.
#[derive(Default)]
struct Made {
    /// The first ones, by serial number: most programs have no others.
    first: Vec<Option<NonNull<Collection>>>,
    /// All others that are there, so that those that were destroyed leave nothing behind.
    others: HashMap<u32, NonNull<Collection>, FxBuildHasher>,
    gone: Gone,
    /// One above the highest number that was ever known.
    next: u32,
}

/// Serial numbers below this are in a plain table, which a message gets through faster.
const FIRST_ONES: u32 = 64;

impl Made {
    #[inline]
    fn get(&self, serial: u32) -> Option<NonNull<Collection>> {
        if serial < FIRST_ONES {
            *self.first.get(serial as usize)?
        } else {
            self.others.get(&serial).copied()
        }
    }

    fn put(&mut self, serial: u32, made: NonNull<Collection>) -> Option<NonNull<Collection>> {
        self.next = self.next.max(serial.saturating_add(1));
        if serial >= FIRST_ONES {
            return self.others.insert(serial, made);
        }
        put_in(&mut self.first, serial, made)
    }

    fn take(&mut self, serial: u32) -> Option<NonNull<Collection>> {
        if serial < FIRST_ONES {
            return self.first.get_mut(serial as usize)?.take();
        }
        let taken = self.others.remove(&serial);
        // A burst of them would keep its room for ever.
        if self.others.len() * 4 < self.others.capacity() {
            self.others.shrink_to(self.others.len() * 2);
        }
        taken
    }

    /// All, in the order of their numbers.
    fn all(&self) -> impl Iterator<Item = NonNull<Collection>> {
        let mut others: Vec<_> = self.others.iter().map(|(serial, made)| (*serial, *made)).collect();
        others.sort_unstable_by_key(|(serial, _)| *serial);
        self.first.iter().flatten().copied().chain(others.into_iter().map(|(_, made)| made))
    }
}

fn put_in(
    table: &mut Vec<Option<NonNull<Collection>>>,
    serial: u32,
    made: NonNull<Collection>,
) -> Option<NonNull<Collection>> {
    if table.len() <= serial as usize {
        table.resize(serial as usize + 1, None);
    }
    table[serial as usize].replace(made)
}

impl Collections {
    #[inline(always)]
    pub fn get(&self, id: CollectionId) -> Option<&Collection> {
        match self.recent.get() {
            // SAFETY: as in `look_up`, where it comes from; `remove` forgets it.
            Some((recent, found)) if recent == id => Some(unsafe { found.as_ref() }),
            _ => self.look_up(id),
        }
    }

    #[inline(never)]
    fn look_up(&self, id: CollectionId) -> Option<&Collection> {
        // SAFETY: see `tables`.
        let tables = unsafe { &*self.tables.get() };
        let found = match id.is_singles() {
            true => (*tables.singles.get(id.serial as usize)?)?,
            false => tables.made.get(id.creator as usize)?.get(id.serial)?,
        };
        self.recent.set(Some((id, found)));
        // SAFETY: allocated by `insert`; freed by `remove`, when nobody has a reference, or with the table.
        Some(unsafe { found.as_ref() })
    }

    /// Whether a collection of this name was destroyed. One that comes back with a checkpoint is there all the same.
    #[cold]
    pub fn is_gone(&self, id: CollectionId) -> bool {
        // SAFETY: see `tables`.
        let tables = unsafe { &*self.tables.get() };
        !id.is_singles() && tables.made.get(id.creator as usize).is_some_and(|made| made.gone.has(id.serial))
    }

    /// One above the highest number of this creator's collections that are, or were, known.
    pub fn next_serial(&self, creator: PeId) -> u32 {
        // SAFETY: see `tables`.
        let tables = unsafe { &*self.tables.get() };
        tables.made.get(creator as usize).map_or(0, |made| made.next.max(made.gone.end()))
    }

    pub fn insert(&self, collection: Collection) -> &Collection {
        let id = collection.id;
        let made = NonNull::from(Box::leak(Box::new(collection)));
        // SAFETY: see `tables`.
        let tables = unsafe { &mut *self.tables.get() };
        let former = match id.is_singles() {
            true => put_in(&mut tables.singles, id.serial, made),
            false => tables.made_by(id.creator).put(id.serial, made),
        };
        assert!(former.is_none(), "{id:?} is made once");
        // SAFETY: just allocated.
        unsafe { made.as_ref() }
    }

    /// Takes a collection out, which has no objects any more, and notes that it is gone.
    ///
    /// # Safety
    /// Nobody has a reference to it: no message to it is being worked on, and no object of it is left.
    pub unsafe fn remove(&self, id: CollectionId) -> Option<Box<Collection>> {
        self.recent.take();
        // SAFETY: see `tables`.
        let tables = unsafe { &mut *self.tables.get() };
        let made = tables.made_by(id.creator);
        made.gone.insert(id.serial);
        // SAFETY: allocated by `insert` as a box, and out of the table now; the caller's promise.
        made.take(id.serial).map(|taken| unsafe { Box::from_raw(taken.as_ptr()) })
    }

    /// Names of those that were destroyed, by creator.
    pub fn gone(&self) -> Vec<(PeId, Gone)> {
        // SAFETY: see `tables`.
        let tables = unsafe { &*self.tables.get() };
        let all = (0..).zip(&tables.made).filter(|(_, made)| made.gone != Gone::default());
        all.map(|(creator, made)| (creator, made.gone.clone())).collect()
    }

    /// After going back to a checkpoint: these were destroyed.
    pub fn go_on_without(&self, creator: PeId, gone: &Gone) {
        // SAFETY: see `tables`.
        unsafe { &mut *self.tables.get() }.made_by(creator).gone.add(gone);
    }

    /// Every collection, singletons first, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Collection> {
        // SAFETY: see `tables`; copied, so that the caller may insert.
        let tables = unsafe { &*self.tables.get() };
        let all: Vec<_> = tables.all().collect();
        // SAFETY: as in `get`.
        all.into_iter().map(|collection| unsafe { collection.as_ref() })
    }
}

impl Tables {
    fn made_by(&mut self, creator: PeId) -> &mut Made {
        if self.made.len() <= creator as usize {
            self.made.resize_with(creator as usize + 1, Made::default);
        }
        &mut self.made[creator as usize]
    }

    fn all(&self) -> impl Iterator<Item = NonNull<Collection>> {
        self.singles.iter().flatten().copied().chain(self.made.iter().flat_map(Made::all))
    }
}

impl Drop for Collections {
    fn drop(&mut self) {
        let all: Vec<_> = self.tables.get_mut().all().collect();
        for collection in all {
            // SAFETY: allocated by `insert` as a box, and freed once.
            drop(unsafe { Box::from_raw(collection.as_ptr()) });
        }
    }
}
