//! Ranks that have gone back to a checkpoint begin together.
//!
//! Some of them may write to the same file, and have done so since. It is cut to the length that it had, before any of
//! them writes again. Each has noted that length when it was copied, one a little after the other, and with what was in
//! the buffers of those before: so the greatest counts. Who starts the ranks asks all for what they have noted, gives
//! all the greatest of it, and lets them go on when each has cut its files.

use talisman_pup::Pup;

use crate::slot::Noted;

/// What has come of all ranks, at who has started them.
#[derive(Debug, Default, Pup)]
pub(super) struct Rollback {
    /// How often the job has gone back. What belongs to an earlier time is not heard.
    time: u32,
    noted: Noted,
    /// How many have said what they have noted, and how many have cut their files.
    back: u32,
    cut: u32,
}

impl Rollback {
    /// The job has gone back: which time it is.
    pub fn begin(&mut self) -> u32 {
        *self = Rollback { time: self.time + 1, ..Rollback::default() };
        self.time
    }

    /// One of so many ranks is back. When all are: the greatest of what they have noted.
    pub fn is_back(&mut self, time: u32, ranks: u32, noted: Vec<(Vec<u8>, u64)>) -> Option<Noted> {
        if time != self.time {
            return None;
        }
        for (name, number) in noted {
            let greatest = self.noted.entry(name).or_default();
            *greatest = number.max(*greatest);
        }
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
        assert_eq!(rollback.is_back(first, 2, vec![(file.clone(), 9)]), None);
        // It goes back once more before all had come.
        let time = rollback.begin();
        assert_eq!(rollback.is_back(first, 2, vec![(file.clone(), 9)]), None);
        assert_eq!(rollback.is_back(time, 2, vec![(file.clone(), 5), (other.clone(), 1)]), None);
        let noted = rollback.is_back(time, 2, vec![(file.clone(), 7)]);
        assert_eq!(noted, Some(Noted::from([(file, 7), (other, 1)])));
        assert!(!rollback.has_cut(time, 2) && !rollback.has_cut(first, 2) && rollback.has_cut(time, 2));
    }
}
