//! Sums over all PEs, and the level that follows from them.

use super::census::Odd;
use crate::member::place::Place;
use crate::member::{Local, tree};
use talisman_pup::Pup;

/// What a PE brings to the sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Own {
    /// Its PE.
    pub place: Place,
    /// Load of objects that stay.
    pub fixed: f64,
    /// Load of objects that may go.
    pub movable: f64,
    /// How many these are.
    pub movable_count: u64,
    /// Bytes of all objects.
    pub bytes: u64,
    /// Its node and the bytes that may be there, if there is a limit.
    pub limit: Option<(u32, u64)>,
}

impl Own {
    /// Of what is measured.
    pub fn new(local: &Local) -> Self {
        let load = |migratable: bool| {
            let of_kind = local.objects.iter().filter(|object| object.migratable == migratable);
            of_kind.map(|object| object.work()).sum()
        };
        Own {
            place: Place::from(&local.pe),
            fixed: load(false),
            movable: load(true),
            movable_count: local.objects.iter().filter(|object| object.migratable).count() as u64,
            bytes: local.objects.iter().fold(0, |sum, object| sum.saturating_add(object.bytes)),
            limit: local.node.memory.map(|memory| (local.pe.node, memory)),
        }
    }

    /// Seconds that the PE takes as long as nothing moves.
    pub fn seconds(&self) -> f64 {
        self.place.seconds(self.fixed + self.movable)
    }

    /// Its part of the sums, if a PE takes nothing that alone is above the level.
    pub fn totals(&self, level: f64) -> Totals {
        let Place { speed, background, available } = self.place;
        if !available {
            return Totals { work: self.movable, homeless: self.movable_count, ..Totals::default() };
        }
        let floor = self.place.seconds(self.fixed);
        let longest = self.seconds();
        if floor >= level {
            let longest = if self.movable > 0.0 { longest } else { 0.0 };
            return Totals { work: self.movable, longest, ..Totals::default() };
        }
        let work = self.movable + self.fixed + background * speed;
        Totals { work, capacity: speed, longest, floor, homeless: 0 }
    }
}

/// Sums and maxima over some PEs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pup)]
pub(crate) struct Totals {
    /// Load that may go, and what PEs below the level have to do anyway, as load.
    pub work: f64,
    /// Speeds of PEs that are below the level.
    pub capacity: f64,
    /// Seconds of the slowest PE that takes objects, if something may go from it.
    pub longest: f64,
    /// The most seconds that a PE takes without objects that may go, of those below the level.
    pub floor: f64,
    /// Objects that have to leave their PEs, and may.
    pub homeless: u64,
}

impl Totals {
    /// Seconds with the work spread evenly.
    pub fn level(&self) -> f64 {
        if self.capacity > 0.0 { self.work / self.capacity } else { 0.0 }
    }

    fn add(&mut self, other: &Totals) {
        self.work += other.work;
        self.capacity += other.capacity;
        self.longest = self.longest.max(other.longest);
        self.floor = self.floor.max(other.floor);
        self.homeless = self.homeless.saturating_add(other.homeless);
    }
}

/// Adds up what a PE and those right below it in the tree have, again and again.
///
/// The children are added in their order, so that the sums do not depend on who is fast.
#[derive(Debug)]
pub(crate) struct Gather {
    own: Option<Totals>,
    children: Vec<(u32, Option<Totals>)>,
    above: bool,
}

impl Gather {
    pub fn new(pe: u32, pes: u32) -> Self {
        let children = tree::children(pe, pes).map(|child| (child, None)).collect();
        Gather { own: None, children, above: false }
    }

    /// What the PE itself has. A new round begins with it, or with what a child has.
    pub fn own(&mut self, totals: Totals) {
        self.own = Some(totals);
        self.above = false;
    }

    /// What a child has.
    pub fn child(&mut self, from: u32, totals: Totals) -> Result<(), Odd> {
        match self.children.iter_mut().find(|(child, _)| *child == from) {
            Some((_, told @ None)) => {
                *told = Some(totals);
                Ok(())
            }
            _ => Err("that PE was not to count anything now"),
        }
    }

    /// All sums, once.
    pub fn complete(&mut self) -> Option<Totals> {
        let mut sum = self.own?;
        for (_, told) in &self.children {
            sum.add(told.as_ref()?);
        }
        self.own = None;
        self.children.iter_mut().for_each(|(_, told)| *told = None);
        self.above = true;
        Some(sum)
    }

    /// Whether those above have to say now what is next.
    pub fn is_waiting_above(&self) -> bool {
        self.above
    }
}
