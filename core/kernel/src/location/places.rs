//! The places that a PE knows, 8 bytes each.

use std::cell::{Cell, OnceCell, RefCell};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use talisman_base::history::{Few, SinceLook};
use talisman_base::ids::PeId;
use talisman_observe::sometimes::sometimes;

/// What a PE knows of an object's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nothing: ask its home.
    Unknown,
    /// On this PE.
    Here { slot: u32, generation: u32 },
    /// On another, after so many moves.
    At { pe: PeId, moves: u32 },
    /// A marker, or the object itself, is on its way; messages are kept.
    Switching,
    /// At the home: nowhere, since so many moves.
    Gone { moves: u32 },
}

const KIND: u64 = 0b11 << 62;
pub(super) const HERE: u64 = 0b01 << 62;
const AT: u64 = 0b10 << 62;
/// Of the fourth kind there are two: the low bits tell.
const GONE: u64 = KIND | 1;
/// Moves and generations in a packed place.
const HIGH: u32 = (1 << 30) - 1;

impl Place {
    #[inline(always)]
    pub fn unpack(bits: u64) -> Place {
        let (high, low) = ((bits >> 32) as u32 & HIGH, bits as u32);
        match bits & KIND {
            HERE => Place::Here { slot: low, generation: high },
            AT => Place::At { pe: low, moves: high },
            0 => Place::Unknown,
            _ if low == 0 => Place::Switching,
            _ => Place::Gone { moves: high },
        }
    }

    /// The slot and generation in the packed place of an object that is here.
    #[inline(always)]
    pub fn slot_in(packed: u64) -> Option<(u32, u32)> {
        (packed & KIND == HERE).then_some((packed as u32, (packed >> 32) as u32 & HIGH))
    }

    fn pack(self) -> u64 {
        match self {
            Place::Unknown => 0,
            Place::Here { slot, generation } => HERE | ((generation & HIGH) as u64) << 32 | slot as u64,
            Place::At { pe, moves } => AT | ((moves & HIGH) as u64) << 32 | pe as u64,
            Place::Switching => KIND,
            Place::Gone { moves } => GONE | ((moves & HIGH) as u64) << 32,
        }
    }
}

const PAGE: usize = 512;
/// Room for so many places is not given back.
pub(super) const KEPT_ROOM: usize = 1 << 12;
type Page = Box<[Cell<u64>]>;

/// Places of the elements of one collection, 8 bytes each: by ordinal in a dense box, else by index.
pub struct Places {
    /// Allocated by the page, since a PE of a large job touches few.
    dense: Box<[OnceCell<Page>]>,
    /// Elements of the box: the last page, which is all of a small array, has no more.
    len: usize,
    sparse: RefCell<HashMap<u128, u64, FxBuildHasher>>,
    /// In a group, whose members do not move: the index of the one that can be here, and its place.
    own: Option<(u128, Cell<u64>)>,
    /// At the home: the highest moves of those that are gone and were forgotten.
    moves: Cell<u32>,
    few: Few,
    /// At the home: ends.
    gone: SinceLook,
    /// Elsewhere: places.
    learnt: SinceLook,
}

impl Places {
    /// For a box of so many elements; or for a group, of which this member can be here.
    pub fn new(dense: u64, own: Option<u128>, few: Few) -> Self {
        let pages = (dense as usize).div_ceil(PAGE);
        Places {
            dense: (0..pages).map(|_| OnceCell::new()).collect(),
            len: dense as usize,
            sparse: RefCell::default(),
            own: own.map(|index| (index, Cell::new(0))),
            moves: Cell::new(0),
            few,
            gone: SinceLook::default(),
            learnt: SinceLook::default(),
        }
    }

    /// At the home: the moves with which an element begins of whose former life nothing is known.
    pub fn first_moves(&self) -> u32 {
        self.moves.get()
    }

    /// At the home: one more is gone, and noted. When they are many, all are forgotten but for the highest moves.
    pub fn limit_gone(&self, ordinal: Option<u64>) {
        if !self.is_counted(ordinal) || !self.gone.is_due(self.few, self.noted()) {
            return;
        }
        sometimes("a home forgot that objects were gone");
        let mut highest = self.moves.get();
        let mut is_kept = |packed: u64| match Place::unpack(packed) {
            Place::Gone { moves } => {
                highest = highest.max(moves);
                false
            }
            _ => true,
        };
        let mut sparse = self.sparse.borrow_mut();
        sparse.retain(|_, packed| is_kept(*packed));
        give_back(&mut sparse);
        if self.few.is_of_tests() {
            let cells = self.dense.iter().filter_map(OnceCell::get).flat_map(|page| page.iter());
            cells.filter(|cell| !is_kept(cell.get())).for_each(|cell| cell.set(0));
        }
        self.moves.set(highest);
    }

    /// One more place elsewhere is known, of an object whose home is elsewhere too: whether to ask for all of them.
    pub fn are_many_learnt(&self, ordinal: Option<u64>) -> bool {
        self.is_counted(ordinal) && self.learnt.is_due(self.few, self.noted())
    }

    /// Whether a place takes room that it would not take without being known.
    fn is_counted(&self, ordinal: Option<u64>) -> bool {
        ordinal.is_none() || self.few.is_of_tests()
    }

    fn noted(&self) -> usize {
        self.sparse.borrow().len()
    }

    #[inline(always)]
    pub fn get(&self, index: u128, ordinal: Option<u64>) -> Place {
        Place::unpack(self.packed(index, ordinal))
    }

    /// The packed place, which is one word in a register: the message path's question.
    #[inline(always)]
    pub fn packed(&self, index: u128, ordinal: Option<u64>) -> u64 {
        match ordinal {
            Some(ordinal) => match self.dense[ordinal as usize / PAGE].get() {
                Some(page) => page[ordinal as usize % PAGE].get(),
                None => 0,
            },
            None => match &self.own {
                Some((own, place)) => {
                    if *own == index {
                        place.get()
                    } else {
                        0
                    }
                }
                None => self.sparse.borrow().get(&index).copied().unwrap_or(0),
            },
        }
    }

    /// The indices of those that are on other PEs and whose places take room by being known, in the same order in every run.
    pub fn learnt(&self, name: impl Fn(u64) -> Option<u128>) -> Vec<u128> {
        match self.few.is_of_tests() {
            true => self.elsewhere(name),
            false => self.elsewhere_sparse(),
        }
    }

    /// The indices of those that are on other PEs, in the same order in every run; `name` gives the index of an ordinal.
    pub fn elsewhere(&self, name: impl Fn(u64) -> Option<u128>) -> Vec<u128> {
        let pages = self.dense.iter().enumerate().filter_map(|(page, cell)| Some((page * PAGE, cell.get()?)));
        let places = pages.flat_map(|(first, page)| (first..).zip(page.iter().map(Cell::get)));
        let dense = places.filter(|(_, packed)| is_away(*packed)).filter_map(|(at, _)| name(at as u64));
        dense.chain(self.elsewhere_sparse()).collect()
    }

    fn elsewhere_sparse(&self) -> Vec<u128> {
        let sparse = self.sparse.borrow();
        let away = sparse.iter().filter(|(_, packed)| is_away(**packed));
        let mut all: Vec<_> = away.map(|(index, _)| *index).collect();
        all.sort_unstable();
        all
    }

    /// The slots of those that are here, in the order of their indices; `name` gives the index of an ordinal.
    pub fn here(&self, name: impl Fn(u64) -> Option<u128>) -> Vec<u32> {
        let pages = self.dense.iter().enumerate().filter_map(|(page, cell)| Some((page * PAGE, cell.get()?)));
        let places = pages.flat_map(|(first, page)| (first..).zip(page.iter().map(Cell::get)));
        let dense = places.filter_map(|(at, packed)| {
            let (slot, _) = Place::slot_in(packed)?;
            Some((name(at as u64)?, slot))
        });
        let sparse = self.sparse.borrow();
        let others = sparse.iter().map(|(index, packed)| (*index, *packed));
        let own = self.own.as_ref().map(|(index, place)| (*index, place.get()));
        let others = others.chain(own).filter_map(|(index, packed)| Some((index, Place::slot_in(packed)?.0)));
        let mut all: Vec<_> = dense.chain(others).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, slot)| slot).collect()
    }

    pub fn set(&self, index: u128, ordinal: Option<u64>, place: Place) {
        match ordinal {
            Some(ordinal) => {
                let before = ordinal as usize / PAGE * PAGE;
                let page = self.dense[ordinal as usize / PAGE]
                    .get_or_init(|| vec![Cell::new(0); PAGE.min(self.len - before)].into());
                page[ordinal as usize % PAGE].set(place.pack());
            }
            None if self.own.as_ref().is_some_and(|(own, _)| *own == index) => {
                self.own.iter().for_each(|(_, own)| own.set(place.pack()));
            }
            None if place == Place::Unknown => {
                let mut sparse = self.sparse.borrow_mut();
                if !sparse.is_empty() {
                    sparse.remove(&index);
                    give_back(&mut sparse);
                }
            }
            None => drop(self.sparse.borrow_mut().insert(index, place.pack())),
        }
    }
}

fn is_away(packed: u64) -> bool {
    matches!(Place::unpack(packed), Place::At { .. })
}

/// A burst of places would keep its room for ever.
fn give_back(sparse: &mut HashMap<u128, u64, FxBuildHasher>) {
    if sparse.capacity() > KEPT_ROOM && sparse.len() < sparse.capacity() / 8 {
        sparse.shrink_to(sparse.capacity() / 4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_survives_packing() {
        let places = [
            Place::Unknown,
            Place::Switching,
            Place::Gone { moves: HIGH },
            Place::Here { slot: u32::MAX, generation: HIGH },
            Place::At { pe: 9999, moves: 12 },
        ];
        for place in places {
            assert_eq!(Place::unpack(place.pack()), place);
        }
    }

    #[test]
    fn places_are_kept_by_ordinal_and_by_index() {
        let places = Places::new(1000, None, Few::default());
        let here = Place::Here { slot: 3, generation: 1 };
        assert_eq!(places.get(0, Some(999)), Place::Unknown);
        places.set(0, Some(999), here);
        places.set(77, None, here);
        assert_eq!((places.get(0, Some(999)), places.get(77, None)), (here, here));
        assert_eq!(places.get(999, None), Place::Unknown);
        places.set(77, None, Place::Unknown);
        assert!(places.sparse.borrow().is_empty());
    }

    #[test]
    fn of_a_group_one_member_can_be_here() {
        let places = Places::new(0, Some(3), Few::default());
        let here = Place::Here { slot: 3, generation: 1 };
        places.set(3, None, here);
        assert_eq!((places.get(3, None), places.get(2, None)), (here, Place::Unknown));
        assert!(places.sparse.borrow().is_empty());
    }
}
