//! Ranks that have gone back to a checkpoint begin together.
//!
//! Some of them may write to the same file, and have done so since. It is cut to the length that it had, before any of
//! them writes again. Each has noted that length when it was copied, one a little after the other, and with what was in
//! the buffers of those before: so the greatest counts. Who starts the ranks asks all for what they have noted, gives
//! all the greatest of it, and lets them go on when each has cut its files.
//!
//! Where a lost node goes back alone, its ranks do that again, and others have written on since. A file that ranks on
//! other PEs have open as well is not cut again then: it would lose what these have written. What the lost ranks had
//! written to it they write again.

use std::collections::BTreeMap;

use talisman_core::record::world;
use talisman_pup::Pup;

use crate::slot::Noted;

/// What has come of all ranks, at who has started them.
#[derive(Debug, Default, Pup)]
pub(super) struct Rollback {
    /// How often the job has gone back. What belongs to an earlier time is not heard.
    time: u32,
    noted: Together,
    /// How many have said what they have noted, and how many have cut their files.
    back: u32,
    cut: u32,
}

/// What all ranks have noted, by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Together(BTreeMap<Vec<u8>, Greatest>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
struct Greatest {
    number: u64,
    /// A PE on which some rank has noted it; whether one on another PE has, too.
    pe: u32,
    is_shared: bool,
}

impl Together {
    fn add(&mut self, pe: u32, name: Vec<u8>, number: u64) {
        let greatest = self.0.entry(name).or_insert(Greatest { number, pe, is_shared: false });
        greatest.number = number.max(greatest.number);
        greatest.is_shared |= greatest.pe != pe;
    }

    /// What files are cut to.
    pub(super) fn lengths(self) -> Noted {
        let mut again = true;
        world(|| again = false);
        self.lengths_when(again)
    }

    /// The same for the first time, or `again`.
    fn lengths_when(self, again: bool) -> Noted {
        let length = |of: Greatest| if again && of.is_shared { u64::MAX } else { of.number };
        self.0.into_iter().map(|(name, greatest)| (name, length(greatest))).collect()
    }
}

impl Rollback {
    /// The job has gone back: which time it is.
    pub fn begin(&mut self) -> u32 {
        *self = Rollback { time: self.time + 1, ..Rollback::default() };
        self.time
    }

    /// One of so many ranks is back, on this PE. When all are: what they have noted.
    pub fn is_back(
        &mut self,
        time: u32,
        ranks: u32,
        pe: u32,
        noted: Vec<(Vec<u8>, u64)>,
    ) -> Option<Together> {
        if time != self.time {
            return None;
        }
        noted.into_iter().for_each(|(name, number)| self.noted.add(pe, name, number));
        self.back += 1;
        (self.back == ranks).then(|| std::mem::take(&mut self.noted))
    }

    /// One of them has cut its files; whether all have.
    pub fn has_cut(&mut self, time: u32, ranks: u32) -> bool {
        self.cut += u32::from(time == self.time);
        time == self.time && self.cut == ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_of_all_that_was_noted_counts() {
        let mut rollback = Rollback::default();
        let (file, other) = (b"file".to_vec(), b"other".to_vec());
        let first = rollback.begin();
        assert_eq!(rollback.is_back(first, 2, 0, vec![(file.clone(), 9)]), None);
        // It goes back once more before all had come.
        let time = rollback.begin();
        assert_eq!(rollback.is_back(first, 2, 0, vec![(file.clone(), 9)]), None);
        assert_eq!(rollback.is_back(time, 2, 0, vec![(file.clone(), 5), (other.clone(), 1)]), None);
        let noted = rollback.is_back(time, 2, 0, vec![(file.clone(), 7)]).expect("all are back");
        assert_eq!(noted.lengths_when(false), Noted::from([(file, 7), (other, 1)]));
        assert!(!rollback.has_cut(time, 2) && !rollback.has_cut(first, 2) && rollback.has_cut(time, 2));
    }

    #[test]
    fn what_others_write_to_is_not_cut_again() {
        let mut rollback = Rollback::default();
        let (own, shared) = (b"own".to_vec(), b"shared".to_vec());
        let time = rollback.begin();
        let both = vec![(own.clone(), 5), (shared.clone(), 8)];
        assert_eq!(rollback.is_back(time, 3, 1, both), None);
        assert_eq!(rollback.is_back(time, 3, 1, vec![(own.clone(), 6)]), None);
        let noted = rollback.is_back(time, 3, 0, vec![(shared.clone(), 7)]).expect("all are back");
        assert_eq!(noted.clone().lengths_when(false), Noted::from([(own.clone(), 6), (shared.clone(), 8)]));
        assert_eq!(noted.lengths_when(true), Noted::from([(own, 6), (shared, u64::MAX)]));
    }
}
