//! Names that were given out and mean nothing any more.

use std::collections::BTreeMap;

use talisman_pup::Pup;

/// Numbers of what was destroyed, of those that one PE gave out. What is destroyed in the order in which it was made is one range, so this
/// is as large as what lives, not as what ever lived.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Gone {
    /// The first number of each range, and the one behind its last.
    ranges: BTreeMap<u32, u32>,
}

impl Gone {
    pub fn has(&self, number: u32) -> bool {
        self.ranges.range(..=number).next_back().is_some_and(|(_, end)| number < *end)
    }

    pub fn insert(&mut self, number: u32) {
        self.insert_range(number, number.saturating_add(1));
    }

    /// All of another's too.
    pub fn add(&mut self, other: &Gone) {
        other.ranges.iter().for_each(|(first, end)| self.insert_range(*first, *end));
    }

    /// Ranges that meet become one. Those of a checkpoint may be anything.
    fn insert_range(&mut self, mut first: u32, mut end: u32) {
        if first >= end {
            return;
        }
        while let Some((met, its_end)) = self.ranges.range(..=end).next_back().map(|(met, end)| (*met, *end))
            && its_end >= first
        {
            self.ranges.remove(&met);
            (first, end) = (first.min(met), end.max(its_end));
        }
        self.ranges.insert(first, end);
    }

    /// One above the highest.
    pub fn end(&self) -> u32 {
        self.ranges.last_key_value().map_or(0, |(_, end)| *end)
    }

    #[cfg(test)]
    pub fn ranges(&self) -> usize {
        self.ranges.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_destroyed_in_order_is_one_range() {
        let mut gone = Gone::default();
        (0..100_000).for_each(|number| gone.insert(number));
        assert_eq!(
            (gone.ranges(), gone.end(), gone.has(99_999), gone.has(100_000)),
            (1, 100_000, true, false)
        );
    }

    #[test]
    fn there_are_no_more_ranges_than_what_is_kept() {
        let mut gone = Gone::default();
        (0..10_000).filter(|number| number % 2 == 0).for_each(|number| gone.insert(number));
        assert_eq!(gone.ranges(), 5_000, "every other one lives");
        (0..10_000).filter(|number| number % 200 != 1).for_each(|number| gone.insert(number));
        assert_eq!(gone.ranges(), 51);
    }

    #[test]
    fn ranges_meet() {
        let mut gone = Gone::default();
        for number in [7, 3, 5, 4, 4] {
            gone.insert(number);
        }
        assert_eq!((gone.ranges(), gone.has(6), gone.has(2)), (2, false, false));
        gone.insert(6);
        assert_eq!(gone.ranges(), 1);
        assert!((3..=7).all(|number| gone.has(number)));
        let mut other = Gone::default();
        other.insert(u32::MAX - 1);
        other.add(&gone);
        assert_eq!((other.ranges(), other.has(5), other.has(u32::MAX - 1)), (2, true, true));
    }
}
