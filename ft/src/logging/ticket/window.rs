//! The SNs that have been received of one sender: all below one, and some beyond.

use std::collections::BTreeSet;

/// A sliding window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    below: u64,
    beyond: BTreeSet<u64>,
}

impl Window {
    /// Whether this one has been received.
    #[must_use]
    pub fn has(&self, sn: u64) -> bool {
        sn < self.below || self.beyond.contains(&sn)
    }

    /// It has.
    pub fn add(&mut self, sn: u64) {
        if sn >= self.below {
            self.beyond.insert(sn);
        }
        while self.beyond.remove(&self.below) {
            self.below += 1;
        }
    }
}
