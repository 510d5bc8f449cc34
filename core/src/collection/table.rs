//! A PE's collections by name.

use std::cell::{Cell, UnsafeCell};
use std::ptr::NonNull;

use super::Collection;
use crate::ids::{CollectionId, PeId};

/// A PE's view of every collection it knows. Collections are never removed before the PE ends, so a reference to
/// one stays good for as long as the table.
#[derive(Default)]
pub(crate) struct Collections {
    // The functions below neither keep a reference into the vectors nor run user code, so there is never more than
    // one; the collections themselves are shared by reference and change through cells.
    tables: UnsafeCell<Tables>,
    /// The one asked for last. Most messages are for the same collection as the one before, and then the way through the
    /// tables, a chain of loads, is left out.
    recent: Cell<Option<(CollectionId, NonNull<Collection>)>>,
}

#[derive(Default)]
struct Tables {
    /// By creator and serial number.
    made: Vec<Vec<Option<NonNull<Collection>>>>,
    /// Of singletons, by their type's number.
    singles: Vec<Option<NonNull<Collection>>>,
}

impl Collections {
    #[inline(always)]
    pub(crate) fn get(&self, id: CollectionId) -> Option<&Collection> {
        match self.recent.get() {
            // SAFETY: as in `look_up`, where it comes from.
            Some((recent, found)) if recent == id => Some(unsafe { found.as_ref() }),
            _ => self.look_up(id),
        }
    }

    #[inline(never)]
    fn look_up(&self, id: CollectionId) -> Option<&Collection> {
        // SAFETY: see `tables`.
        let tables = unsafe { &*self.tables.get() };
        let table = if id.is_singles() { &tables.singles } else { tables.made.get(id.creator as usize)? };
        let found = (*table.get(id.serial as usize)?)?;
        self.recent.set(Some((id, found)));
        // SAFETY: allocated by `insert`, and freed with the table only.
        Some(unsafe { found.as_ref() })
    }

    /// One above the highest number of this creator's collections that are known.
    pub(crate) fn next_serial(&self, creator: PeId) -> u32 {
        // SAFETY: see `tables`.
        let tables = unsafe { &*self.tables.get() };
        tables.made.get(creator as usize).map_or(0, |table| table.len() as u32)
    }

    pub(crate) fn insert(&self, collection: Collection) -> &Collection {
        let id = collection.id;
        let made = NonNull::from(Box::leak(Box::new(collection)));
        // SAFETY: see `tables`.
        let tables = unsafe { &mut *self.tables.get() };
        let table = if id.is_singles() {
            &mut tables.singles
        } else {
            if tables.made.len() <= id.creator as usize {
                tables.made.resize_with(id.creator as usize + 1, Vec::new);
            }
            &mut tables.made[id.creator as usize]
        };
        if table.len() <= id.serial as usize {
            table.resize(id.serial as usize + 1, None);
        }
        assert!(table[id.serial as usize].replace(made).is_none(), "{id:?} is made once");
        // SAFETY: just allocated.
        unsafe { made.as_ref() }
    }

    /// Every collection, singletons first, in the order of their names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Collection> {
        // SAFETY: see `tables`; copied, so that the caller may insert.
        let tables = unsafe { &*self.tables.get() };
        let all: Vec<_> = tables.singles.iter().chain(tables.made.iter().flatten()).copied().collect();
        // SAFETY: as in `get`.
        all.into_iter().flatten().map(|collection| unsafe { collection.as_ref() })
    }
}

impl Drop for Collections {
    fn drop(&mut self) {
        let tables = self.tables.get_mut();
        for collection in tables.singles.drain(..).chain(tables.made.drain(..).flatten()).flatten() {
            // SAFETY: allocated by `insert` as a box, and freed once.
            drop(unsafe { Box::from_raw(collection.as_ptr()) });
        }
    }
}
