//! What is counted on the way to the root of a reduction.

use talisman_base::birth::BirthId;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::Pup;

/// What is counted on the way to the root. All counts add up, but for the one that says the most.
#[derive(Clone, Default, Debug, PartialEq, Eq, Pup)]
pub struct Tally {
    /// Contributions of elements that the previous reduction knew.
    pub old: u64,
    /// Such elements that went instead.
    pub old_gone: u64,
    /// Elements inserted since, if there is anything to say of any.
    pub newborn: Option<Newborn>,
    /// For answers: PEs that said how many elements received the broadcast.
    pub reports: u32,
    /// How many those are.
    pub expected: u64,
    /// How many broadcasts any of the contributors had received.
    pub heard: u32,
}

/// Elements inserted since the previous reduction: as many bytes, however many there were and however often one inserted another.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Pup)]
pub struct Newborn {
    /// Inserted, as announced by those who inserted them.
    announced: u64,
    /// Contributions.
    contributed: u64,
    /// Those that went instead.
    gone: u64,
    /// The marks of those that were announced, less the marks of those that contributed or went.
    marks: u128,
}

impl Newborn {
    fn add(&mut self, other: &Newborn) {
        self.announced = self.announced.saturating_add(other.announced);
        self.contributed = self.contributed.saturating_add(other.contributed);
        self.gone = self.gone.saturating_add(other.gone);
        self.marks = self.marks.wrapping_add(other.marks);
    }

    fn heard_of(&self) -> u64 {
        self.contributed.saturating_add(self.gone)
    }

    /// Whether those that were announced are those that were heard of.
    fn are_all(&self) -> bool {
        if self.heard_of() > self.announced {
            sometimes("an element contributed before it was announced");
        }
        self.heard_of() == self.announced && (self.marks == 0 || mutated("newborn-not-told-apart"))
    }
}

impl Tally {
    pub(super) fn add(&mut self, other: &Tally) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.old, other.old);
        add(&mut self.old_gone, other.old_gone);
        if let Some(other) = &other.newborn {
            self.newborn.get_or_insert_default().add(other);
        }
        self.reports = self.reports.saturating_add(other.reports);
        add(&mut self.expected, other.expected);
        self.heard = self.heard.max(other.heard);
    }

    /// Whether all of `alive` elements, and all that they inserted, have contributed or gone.
    ///
    /// The announcement of an insertion travels with a contribution (or the end) of the inserter. So when all of the
    /// old elements have been heard of, all that they inserted have been announced; when all of those have been heard of,
    /// all that those inserted have, and so on. Numbers alone would not do: one that is missing and the child that it has
    /// not announced would cancel out. Marks tell them apart.
    pub(super) fn is_complete(&self, alive: u64) -> bool {
        let old = self.old.saturating_add(self.old_gone) == alive;
        if mutated("newborn-not-waited-for") {
            return old;
        }
        old && self.newborn.is_none_or(|newborn| newborn.are_all())
    }

    /// Elements were inserted: so many, with this sum of their marks.
    pub(super) fn announce(&mut self, born: u64, marks: u128) {
        let newborn = self.newborn.get_or_insert_default();
        newborn.announced = newborn.announced.saturating_add(born);
        newborn.marks = newborn.marks.wrapping_add(marks);
    }

    /// One that was announced is not waited for after all.
    pub(super) fn take_back(&mut self, birth: BirthId) {
        let newborn = self.newborn.get_or_insert_default();
        newborn.announced = newborn.announced.saturating_sub(1);
        newborn.marks = newborn.marks.wrapping_sub(birth.mark());
    }

    /// An element contributes, or goes.
    pub(super) fn hear_of(&mut self, birth: BirthId, contributes: bool) {
        let count = match (birth.is_none(), contributes) {
            (true, true) => &mut self.old,
            (true, false) => &mut self.old_gone,
            (false, contributes) => {
                let newborn = self.newborn.get_or_insert_default();
                newborn.marks = newborn.marks.wrapping_sub(birth.mark());
                if contributes { &mut newborn.contributed } else { &mut newborn.gone }
            }
        };
        *count = count.saturating_add(1);
    }

    /// What one has contributed is that of one born since the previous reduction.
    pub(super) fn become_newborn(&mut self, birth: BirthId) {
        for _ in 0..std::mem::take(&mut self.old).min(1) {
            self.hear_of(birth, true);
        }
    }

    /// Whether somebody goes, and contributes no more.
    pub(super) fn is_end(&self) -> bool {
        self.old_gone > 0 || self.newborn.is_some_and(|newborn| newborn.gone > 0)
    }

    pub(super) fn contributions(&self) -> u64 {
        self.old.saturating_add(self.newborn.map_or(0, |newborn| newborn.contributed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_pup::Packed;

    const OLD: BirthId = BirthId::NONE;

    /// The birth of this number on some PE.
    fn birth(number: u64) -> BirthId {
        BirthId::new(3, number)
    }

    /// One contributes, or goes, and announces those that it inserted.
    fn heard(of: BirthId, contributes: bool, inserted: &[u64]) -> Tally {
        let mut tally = Tally::default();
        tally.hear_of(of, contributes);
        inserted.iter().for_each(|number| tally.announce(1, birth(*number).mark()));
        tally
    }

    #[test]
    fn an_insertion_that_is_not_announced_yet_is_waited_for() {
        // Two elements; the second inserted a third, which contributed first.
        let mut tally = heard(OLD, true, &[]);
        tally.add(&heard(birth(1), true, &[]));
        assert!(!tally.is_complete(2));
        tally.add(&heard(OLD, true, &[1]));
        assert!(tally.is_complete(2));
        assert_eq!(tally.contributions(), 3);
    }

    #[test]
    fn a_child_does_not_stand_in_for_its_parent() {
        // One element inserted another, and that one a third, which contributed before its parent.
        let mut tally = heard(OLD, true, &[1]);
        tally.add(&heard(birth(2), true, &[]));
        assert!(!tally.is_complete(1));
        tally.add(&heard(birth(1), true, &[2]));
        assert!(tally.is_complete(1));
    }

    #[test]
    fn who_goes_is_not_waited_for() {
        let mut tally = heard(OLD, true, &[]);
        tally.add(&heard(OLD, false, &[]));
        assert!(tally.is_complete(2));
        tally.add(&heard(OLD, true, &[1]));
        assert!(!tally.is_complete(3));
        tally.add(&heard(birth(1), false, &[]));
        assert!(tally.is_complete(3));
    }

    #[test]
    fn a_tally_is_as_large_after_a_million_generations() {
        let mut tally = heard(OLD, false, &[1]);
        let size = Packed::of(&tally).size();
        for number in 1..1_000_000 {
            tally.add(&heard(birth(number), false, &[number + 1]));
            assert!(!tally.is_complete(1));
        }
        tally.add(&heard(birth(1_000_000), true, &[]));
        assert!(tally.is_complete(1));
        assert_eq!((tally.contributions(), Packed::of(&tally).size()), (1, size));
    }
}
