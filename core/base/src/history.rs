//! When a table that has entries of what has been is looked through for those that can be forgotten.
//!
//! To look through a table costs as much as it has entries, and some of those stay. So it is done whenever half as many have come as there are, but
//! not for few. Then a table has at most about twice as many entries as are needed, and each that came has been looked at twice or so.

use std::cell::Cell;

/// So many entries of what has been are no burden for any table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Few(pub u32);

impl Default for Few {
    /// Some ten KB.
    fn default() -> Self {
        Few(512)
    }
}

impl Few {
    /// Whether tables that have their room anyway are looked through as well, so that tests of few elements come to it.
    pub fn is_of_tests(self) -> bool {
        self != Few::default()
    }
}

/// Entries that have come into a table since it was looked through.
#[derive(Debug, Default)]
pub struct SinceLook(Cell<usize>);

impl SinceLook {
    /// One more has come into a table that has so many now: whether to look through it, all of it.
    pub fn is_due(&self, few: Few, entries: usize) -> bool {
        let come = self.0.get() + 1;
        let is_due = come >= (entries / 2).max(few.0 as usize);
        self.0.set(if is_due { 0 } else { come });
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries at most, of so many that come one after the other, of which the first ones stay; and how many were looked at.
    fn most(few: Few, come: usize, stay: usize) -> (usize, usize) {
        let (since, mut entries, mut most, mut looked_at) = (SinceLook::default(), 0, 0, 0);
        for nth in 0..come {
            entries += 1;
            most = most.max(entries);
            if since.is_due(few, entries) {
                looked_at += entries;
                entries = entries.min(stay.min(nth + 1));
            }
        }
        (most, looked_at)
    }

    #[test]
    fn a_table_is_bounded_by_what_stays_in_it() {
        assert_eq!(most(Few(512), 1_000_000, 0), (512, 999_936));
        for stay in [1, 1_000, 100_000] {
            let (most, looked_at) = most(Few(512), 1_000_000, stay);
            assert!(most <= 2 * stay + 512, "{most} for {stay}");
            assert!(looked_at <= 4_000_000, "{looked_at} for {stay}");
        }
    }
}
