//! What was measured of each object in past periods, by the slot it is in.

use super::calls;
use crate::object::{Head, ObjectHeader};
use crate::pe::Pe;
use crate::pe::turn::world;
use talisman_lb::smooth::Smooth;
use talisman_observe::mutations::mutated;

/// Of the objects of one PE. Beside them rather than in them: a job that is not balanced has no room for it.
#[derive(Default)]
pub(super) struct Pasts(Vec<Option<(u32, Smooth)>>);

impl Pasts {
    /// Of the object of this generation in a slot.
    fn get(&mut self, slot: u32, generation: u32) -> Option<&mut Smooth> {
        let (of, past) = self.0.get_mut(slot as usize)?.as_mut()?;
        (*of == generation).then_some(past)
    }

    fn put(&mut self, slot: u32, generation: u32, past: Smooth) {
        let slot = slot as usize;
        if self.0.len() <= slot {
            self.0.resize(slot + 1, None);
        }
        self.0[slot] = Some((generation, past));
    }
}

impl Pe {
    /// An object's load, smoothed, in seconds.
    pub(super) fn smoothed(&self, object: &Head, computed: f64) -> f64 {
        let slot = object.slot.get();
        let generation = self.slots.at(slot).map_or(0, |(_, generation)| generation);
        let mut pasts = self.measuring.pasts.borrow_mut();
        match pasts.get(slot, generation) {
            Some(past) => {
                past.add(computed);
                past.value()
            }
            None => {
                pasts.put(slot, generation, Smooth::new(computed));
                computed
            }
        }
    }

    /// All objects are as new ones, and so is the core.
    pub fn forget_pasts(&self) {
        self.measuring.pasts.take();
        self.measuring.core.take();
    }

    /// What goes with an object that leaves its slot.
    pub fn past_of(&self, object: &Head) -> Option<Smooth> {
        let slot = object.slot.get();
        let (_, generation) = self.slots.at(slot)?;
        self.measuring.pasts.borrow_mut().get(slot, generation).copied()
    }

    /// What was measured of an object goes with it to another PE. A PE that runs again sends it with what it had measured before.
    pub(crate) fn settle_measured(&self, object: &Head) -> Option<Smooth> {
        let past = self.past_of(object);
        if !self.measuring.loads || mutated("measured-goes-unlogged") {
            return past;
        }
        let kinds = object.flags.get() & calls::KINDS;
        let (kinds, load, past) = world(|| (kinds, object.load.get(), past));
        object.clear(calls::KINDS);
        object.set(kinds & calls::KINDS);
        object.load.set(load);
        past
    }

    /// What came with an object that got its slot.
    pub fn restore_past(&self, object: &Head, past: Smooth) {
        if let Some((_, generation)) = self.slots.at(object.slot.get()).filter(|_| self.measuring.loads) {
            self.measuring.pasts.borrow_mut().put(object.slot.get(), generation, past);
        }
    }
}

impl ObjectHeader {
    /// The same of an object of which nothing was measured.
    #[must_use]
    pub fn without_measures(self) -> ObjectHeader {
        ObjectHeader { flags: self.flags & !calls::KINDS, load: 0, past: None, ..self }
    }
}
