//! What is counted on the way to the root of a reduction.

use crate::mutations::mutated;
use crate::pup::Pup;
use crate::sometimes::sometimes;

/// What is counted on the way to the root. All counts add up, but for the one that says the most.
#[derive(Clone, Default, Debug, PartialEq, Eq, Pup)]
pub(crate) struct Tally {
    /// Contributions of elements that the previous reduction knew.
    pub(crate) old: u64,
    /// Such elements that went instead.
    pub(crate) old_gone: u64,
    /// Elements inserted since, the first generation first.
    pub(crate) generations: Vec<Generation>,
    /// For answers: PEs that said how many elements received the broadcast.
    pub(crate) reports: u32,
    /// How many those are.
    pub(crate) expected: u64,
    /// How many broadcasts any of the contributors had received.
    pub(crate) heard: u32,
}

/// Elements inserted since the previous reduction, of one generation (`Birth::generation`).
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Pup)]
pub(crate) struct Generation {
    /// Inserted, as announced by those who inserted them.
    pub(super) born: u64,
    /// Contributions.
    pub(super) contributed: u64,
    /// Those that went instead.
    pub(super) gone: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Tally) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.old, other.old);
        add(&mut self.old_gone, other.old_gone);
        for (number, other) in (1..).zip(&other.generations) {
            let sum = self.generation(number);
            add(&mut sum.born, other.born);
            add(&mut sum.contributed, other.contributed);
            add(&mut sum.gone, other.gone);
        }
        self.reports = self.reports.saturating_add(other.reports);
        add(&mut self.expected, other.expected);
        self.heard = self.heard.max(other.heard);
    }

    /// Whether all of `alive` elements, and all that they inserted, have contributed or gone.
    ///
    /// The announcement of an insertion travels with a contribution (or the end) of the inserter. So when all of the
    /// old elements have been heard of, all of the first generation have been announced; when all of those have been
    /// heard of, all of the second have, and so on. One count for all generations would not do: one that is missing
    /// and the child that it has not announced would cancel out.
    pub(super) fn is_complete(&self, alive: u64) -> bool {
        let all = |generation: &Generation| {
            let heard_of = generation.contributed.saturating_add(generation.gone);
            if heard_of > generation.born {
                sometimes("an element contributed before it was announced");
            }
            heard_of == generation.born
        };
        let old = self.old.saturating_add(self.old_gone) == alive;
        if mutated("newborn-not-waited-for") {
            return old;
        }
        if mutated("generations-in-one-sum") {
            let heard_of: u64 = self.generations.iter().map(|one| one.contributed + one.gone).sum();
            let born: u64 = self.generations.iter().map(|one| one.born).sum();
            return old && heard_of == born;
        }
        old && self.generations.iter().all(all)
    }

    /// What one has contributed, or that it went, is that of one born since the previous reduction.
    pub(super) fn become_newborn(&mut self) {
        let contributed = std::mem::take(&mut self.old);
        self.generation(1).contributed += contributed;
    }

    /// Whether somebody goes, and contributes no more.
    pub(super) fn is_end(&self) -> bool {
        self.old_gone > 0 || self.generations.iter().any(|generation| generation.gone > 0)
    }

    pub(super) fn contributions(&self) -> u64 {
        self.generations.iter().fold(self.old, |sum, generation| sum.saturating_add(generation.contributed))
    }

    /// The counts of a generation, numbered from 1.
    pub(super) fn generation(&mut self, number: u32) -> &mut Generation {
        if self.generations.len() < number as usize {
            self.generations.resize_with(number as usize, Generation::default);
        }
        &mut self.generations[number as usize - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_insertion_that_is_not_announced_yet_is_waited_for() {
        // Two elements; the second inserted a third, which contributed first.
        let mut tally = Tally { old: 1, ..Tally::default() };
        tally.add(&inserted(1, 0, 1, 0));
        assert!(!tally.is_complete(2));
        tally.add(&Tally { old: 1, ..inserted(1, 1, 0, 0) });
        assert!(tally.is_complete(2));
        assert_eq!(tally.contributions(), 3);
    }

    #[test]
    fn a_child_does_not_stand_in_for_its_parent() {
        // One element inserted another, and that one a third, which contributed before its parent.
        let mut tally = Tally { old: 1, ..inserted(1, 1, 0, 0) };
        tally.add(&inserted(2, 0, 1, 0));
        assert!(!tally.is_complete(1));
        tally.add(&inserted(1, 0, 1, 0));
        tally.add(&inserted(2, 1, 0, 0));
        assert!(tally.is_complete(1));
    }

    fn inserted(number: u32, born: u64, contributed: u64, gone: u64) -> Tally {
        let mut tally = Tally::default();
        *tally.generation(number) = Generation { born, contributed, gone };
        tally
    }

    #[test]
    fn who_goes_is_not_waited_for() {
        let mut tally = Tally { old: 1, old_gone: 1, ..Tally::default() };
        assert!(tally.is_complete(2));
        tally.add(&inserted(1, 1, 0, 0));
        assert!(!tally.is_complete(2));
        tally.add(&inserted(1, 0, 0, 1));
        assert!(tally.is_complete(2));
    }
}
