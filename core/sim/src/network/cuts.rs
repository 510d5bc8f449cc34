//! Between which hosts nothing passes.

use std::collections::{BTreeMap, BTreeSet};

/// Cuts between hosts, and hosts that are silent.
#[derive(Default)]
pub(super) struct Cuts {
    /// How many cuts there are from a host to another; never none.
    cuts: BTreeMap<(u32, u32), u32>,
    lost: BTreeSet<u32>,
}

impl Cuts {
    /// Whether what is sent from a host to another is held.
    pub(super) fn holds(&self, from: u32, to: u32) -> bool {
        let is_cut = !self.cuts.is_empty() && self.cuts.contains_key(&(from, to));
        is_cut || !self.lost.is_empty() && (self.lost.contains(&from) || self.lost.contains(&to))
    }

    /// A host is never cut off from itself: what is between its nodes is no cable.
    pub(super) fn cut(&mut self, from: &[u32], to: &[u32]) {
        for pair in pairs(from, to) {
            *self.cuts.entry(pair).or_default() += 1;
        }
    }

    /// Takes one cut back. One that was never made, or that healing has taken back, is none.
    pub(super) fn mend(&mut self, from: &[u32], to: &[u32]) {
        for pair in pairs(from, to) {
            match self.cuts.get_mut(&pair) {
                Some(1) => drop(self.cuts.remove(&pair)),
                Some(count) => *count -= 1,
                None => {}
            }
        }
    }

    pub(super) fn heal(&mut self) {
        self.cuts.clear();
    }

    pub(super) fn lose(&mut self, host: u32) {
        self.lost.insert(host);
    }

    pub(super) fn is_lost(&self, host: u32) -> bool {
        self.lost.contains(&host)
    }

    pub(super) fn restore(&mut self, host: u32) {
        self.lost.remove(&host);
    }
}

fn pairs(from: &[u32], to: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    from.iter().flat_map(move |&from| to.iter().map(move |&to| (from, to))).filter(|(from, to)| from != to)
}
