//! What a PE knows of the broadcasts of a collection, and of elements that have left it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use easy_ext::ext;

use super::births::Births;
use talisman_base::ids::PeId;
use talisman_kernel::collection::Collection;
use talisman_kernel::collection::states::{CollectionState, Keeper};
use talisman_kernel::message::control::Cast;
use talisman_kernel::object::Head;
use talisman_observe::sometimes::sometimes;

/// A PE's part in the broadcasts of a collection.
#[derive(Default)]
pub struct BroadcastState {
    /// At the root: the next number.
    pub(super) numbered: Cell<u32>,
    /// At the root: broadcasts that wait for `done_inserting`.
    pub(super) held: RefCell<Vec<Cast>>,
    /// Broadcasts that went through this PE.
    pub(super) passed: Cell<u32>,
    /// Those that overtook another, which could not be read yet.
    pub(super) early: RefCell<BTreeMap<u32, Cast>>,
    /// Elements that left and may have missed something, by their names and moves: many may leave at once.
    pub(super) departed: RefCell<BTreeMap<(u128, u32), Departed>>,
    /// Counts of receivers that wait for word of those.
    pub(super) uncertain: RefCell<Vec<Uncertain>>,
    /// Elements that were removed here before they had caught up.
    pub(super) ghosts: RefCell<Vec<Ghost>>,
    /// Arrivals that wait for something else, and what came after them.
    pub(super) expected: RefCell<Vec<Expected>>,
    /// What elements of a checkpoint, which cannot be read yet, were given.
    pub(super) kept: RefCell<BTreeMap<u128, Vec<(u32, Cast)>>>,
    /// Elements that were inserted and are not made yet.
    pub births: Births,
}

/// An element that left.
pub(super) struct Departed {
    pub(super) to: PeId,
    /// Broadcasts it had received.
    pub(super) had: u32,
    /// Broadcasts that had passed its new PE when it arrived there, once that is known.
    pub(super) until: Option<u32>,
}

/// The receivers of a broadcast whose number is not certain.
pub(super) struct Uncertain {
    pub(super) number: u32,
    pub(super) receivers: u64,
    /// Departed elements that may be among them.
    pub(super) open: u32,
}

/// An element that was removed before it had caught up: it received nothing more, but was counted as a receiver.
pub(super) struct Ghost {
    pub(super) index: u128,
    pub(super) moves: u32,
    /// Broadcasts that it had received, and those that it would have caught up with.
    pub(super) next: u32,
    pub(super) last: u32,
}

/// An element that has come and cannot be read yet.
pub(super) struct Expected {
    pub(super) index: u128,
    pub(super) moves: u32,
    pub(super) missed: Vec<(u32, Cast)>,
}

impl CollectionState for BroadcastState {
    const KEEPER: Keeper = Keeper::Broadcasts;

    fn new(_: &Collection) -> Self {
        BroadcastState::default()
    }
}

#[ext(BroadcastsOfCollection)]
pub impl Collection {
    /// Its broadcasts, as this PE knows them.
    fn casts(&self) -> &BroadcastState {
        self.state()
    }
}

impl BroadcastState {
    pub fn passed(&self) -> u32 {
        self.passed.get()
    }

    /// At the root: the next number.
    pub fn numbered(&self) -> u32 {
        self.numbered.get()
    }

    /// Broadcasts that wait for `done_inserting`.
    pub fn held(&self) -> usize {
        self.held.borrow().len()
    }

    /// At the root: the next number, and those that wait for theirs.
    pub fn to_be_numbered(&self) -> (u32, Vec<Cast>) {
        (self.numbered.get(), self.held.borrow().clone())
    }

    /// After going back to a checkpoint: so many have passed.
    pub fn go_on_from(&self, passed: u32) {
        self.passed.set(passed);
    }

    /// The same at the root.
    pub fn go_on_at_root(&self, numbered: u32, held: Vec<Cast>) {
        self.numbered.set(numbered);
        self.held.replace(held);
    }

    /// Whether nothing of what is done for elements that move is under way.
    pub fn is_at_rest(&self) -> bool {
        let early = self.early.borrow().is_empty() && self.expected.borrow().is_empty();
        early
            && self.births.is_at_rest()
            && self.kept.borrow().is_empty()
            && self.departed.borrow().is_empty()
            && self.uncertain.borrow().is_empty()
            && self.ghosts.borrow().is_empty()
    }

    /// An element leaves; the move is counted already.
    pub fn depart(&self, object: &Head, to: PeId) {
        let departed = Departed { to, had: object.broadcasts.get(), until: None };
        self.departed.borrow_mut().insert((object.index(), object.moves.get()), departed);
    }

    /// An element is removed, and may have lacked some from one number up to another.
    pub(super) fn bury(&self, object: &Head, next: u32, last: u32) {
        if next < last {
            let (index, moves) = (object.index(), object.moves.get());
            self.ghosts.borrow_mut().push(Ghost { index, moves, next, last });
        }
    }

    /// An element of a checkpoint cannot be read yet, and was given these.
    pub fn keep_for(&self, index: u128, given: Vec<(u32, Cast)>) {
        self.kept.borrow_mut().insert(index, given);
    }

    /// Such an element can be read: what it was given before, and since.
    pub fn take_kept_for(&self, index: u128) -> Vec<(u32, Cast)> {
        self.kept.borrow_mut().remove(&index).unwrap_or_default()
    }

    /// A broadcast passes those that cannot be read yet: they receive it when they can. How many those are.
    pub(super) fn give_to_kept(&self, number: u32, cast: &Cast) -> u64 {
        let mut kept = self.kept.borrow_mut();
        kept.values_mut().for_each(|given| given.push((number, cast.clone())));
        kept.len() as u64
    }

    /// An element has come and cannot be read yet: perhaps again, where it lacks several things.
    pub fn expect(&self, index: u128, moves: u32) {
        let mut expected = self.expected.borrow_mut();
        if !expected.iter().any(|one| (one.index, one.moves) == (index, moves)) {
            sometimes("an element came before a shared value in it");
            expected.push(Expected { index, moves, missed: Vec::new() });
        }
    }

    /// An element has come: what came after it while it could not be read.
    pub fn take_expected(&self, index: u128, moves: u32) -> Vec<(u32, Cast)> {
        let mut expected = self.expected.borrow_mut();
        let found = expected.iter().position(|one| (one.index, one.moves) == (index, moves));
        found.map(|at| expected.swap_remove(at).missed).unwrap_or_default()
    }

    /// Whether a broadcast was for one that was removed, and would have received it.
    pub(super) fn haunts(&self, index: u128, moves: u32, number: u32) -> bool {
        let mut ghosts = self.ghosts.borrow_mut();
        let found = ghosts.iter().position(|ghost| (ghost.index, ghost.moves) == (index, moves));
        let Some(at) = found.filter(|at| ghosts[*at].next == number) else { return false };
        ghosts[at].next += 1;
        if ghosts[at].next == ghosts[at].last {
            ghosts.swap_remove(at);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_that_lacks_two_things_is_expected_once() {
        let casts = BroadcastState::default();
        casts.expect(3, 1);
        casts.expect(3, 1);
        casts.expect(3, 2);
        casts.take_expected(3, 1);
        let left: Vec<_> = casts.expected.borrow().iter().map(|one| (one.index, one.moves)).collect();
        assert_eq!(left, [(3, 2)]);
    }
}
