//! The chare that another PE has this one make, and what comes for it before it is made.
//!
//! Whoever makes a chare mostly calls it at once. On its own PE it names it after the slot that is kept for it, so that the call goes into
//! the queue behind what makes the chare. Another PE cannot know of a slot. But the call comes right behind what makes the chare: so the
//! slot is kept when that comes, and it is enough to remember whose it was last. Calls of others, and later ones, wait for the chare as for
//! any object that is nowhere; once one waits, all do, so that none is overtaken.

use std::cell::Cell;

use super::Collection;
use crate::location::Place;
use crate::message::envelope::Envelope;
use crate::pe::Pe;
use crate::pe::send::entry_called;
use talisman_base::ids::{CollectionId, ObjId, single_home, slot_of};

/// In place of the slot that is kept for the object of a creation: none is.
pub const NO_SLOT: u32 = u32::MAX;

/// The last chare that another PE has asked for.
pub struct ExpectedChare {
    id: Cell<ObjId>,
    /// The slot that is kept for it, and its generation.
    kept: Cell<(u32, u32)>,
}

impl Default for ExpectedChare {
    fn default() -> Self {
        let nobody = ObjId { collection: CollectionId::singles(u32::MAX), index: u128::MAX };
        ExpectedChare { id: Cell::new(nobody), kept: Cell::new((NO_SLOT, 0)) }
    }
}

impl ExpectedChare {
    /// The slot that was kept for this one, if it is the last that was asked for.
    pub fn slot_of(&self, id: ObjId) -> Option<(u32, u32)> {
        (self.id.get() == id).then(|| self.kept.get())
    }
}

impl Pe {
    /// What makes a single chare goes into the queue: a slot is kept for that one, unless its name says which.
    pub fn expect_chare(&self, collection: &Collection, creation: &mut Envelope) {
        let id = creation.to();
        creation.slot = NO_SLOT;
        if slot_of(id.index).is_some() || single_home(id.index) != self.id {
            return;
        }
        let kept = self.slots.reserve();
        (creation.slot, creation.generation) = kept;
        if !collection.is_waited_for(id.index) {
            self.expected_chare.id.set(id);
            self.expected_chare.kept.set(kept);
        }
    }

    /// The slot that is kept for what this makes.
    pub fn slot_kept_for(&self, creation: &Envelope) -> Option<(u32, u32)> {
        let kept = Some((creation.slot, creation.generation));
        kept.filter(|(slot, generation)| self.slots.is_kept(*slot, *generation))
    }

    /// The place of the object that a message from elsewhere is for; of the expected chare, which may not be made yet, if this calls it.
    #[inline(always)]
    pub fn place_for(&self, collection: &Collection, message: &Envelope) -> Place {
        let id = message.to();
        if collection.id.is_singles()
            && let Some((slot, generation)) = self.expected_chare.slot_of(id)
            && self.slots.is_of(slot, generation)
            && entry_called(message).is_some()
        {
            return Place::Here { slot, generation };
        }
        self.place_of(collection, id.index)
    }
}
