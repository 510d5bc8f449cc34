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

    /// One more than the highest that has been.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.beyond.last().map_or(self.below, |last| last + 1)
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
