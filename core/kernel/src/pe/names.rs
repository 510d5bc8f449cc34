//! Names that a PE gives out: of collections, sections, singletons, read-only values and births.

use std::cell::{Cell, RefCell};

use talisman_base::ids::PeId;
use talisman_pup::Pup;

/// Counts for names that a PE gives out: collections, sections, singletons, shared values.
#[derive(Default)]
pub struct Names {
    pub collections: Cell<u32>,
    pub sections: Cell<u32>,
    pub singles: Cell<u64>,
    pub shared: Cell<u32>,
    pub placed: Cell<u32>,
    /// Insertions of elements, each a [`BirthId`](talisman_base::birth::BirthId).
    pub births: Cell<u64>,
    /// Those of PEs that are lost, for when such come again.
    pub of_others: RefCell<Vec<(PeId, SavedNames)>>,
}

impl Names {
    /// The next collection in this PE's own name.
    pub fn name_collection(&self) -> u32 {
        let serial = self.collections.get();
        self.collections.set(serial + 1);
        serial
    }

    /// The same in the name of a PE that is lost.
    pub fn name_collection_of(&self, lost: PeId) -> u32 {
        let mut others = self.of_others.borrow_mut();
        let known = others.iter().position(|(pe, _)| *pe == lost);
        let place = known.unwrap_or_else(|| {
            others.push((lost, SavedNames::default()));
            others.len() - 1
        });
        let serial = others[place].1.collections;
        others[place].1.collections += 1;
        serial
    }

    /// After going back to a checkpoint: so many have been given out.
    pub fn go_on_from(&self, saved: &SavedNames) {
        self.collections.set(saved.collections);
        self.sections.set(saved.sections);
        self.singles.set(saved.singles);
        self.shared.set(saved.shared);
        self.placed.set(saved.placed);
        self.births.set(saved.births);
    }
}

/// [`Names`] in a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pup)]
pub struct SavedNames {
    pub collections: u32,
    pub sections: u32,
    pub singles: u64,
    pub shared: u32,
    pub placed: u32,
    pub births: u64,
    /// The highest generation of its slots so far: singletons are named after slots.
    pub generation: u32,
}
