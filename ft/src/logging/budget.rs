//! `--log-budget`: how much a node keeps for others, and what is done about it. At three quarters those who hold most
//! are asked for images, which let it be forgotten; at the budget senders wait, and go on serving those who restart.

use std::collections::{BTreeMap, BTreeSet};

use crate::NodeId;
use talisman_observe::mutations::mutated;

/// A node's budget, in bytes.
#[derive(Clone, Debug)]
pub struct Budget {
    limit: u64,
    /// What is kept for each receiver.
    kept: BTreeMap<NodeId, u64>,
    /// Receivers that were asked for an image, and have not taken one since.
    asked: BTreeSet<NodeId>,
}

impl Budget {
    /// So many bytes at most.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Budget { limit, kept: BTreeMap::new(), asked: BTreeSet::new() }
    }

    /// So much is kept for a receiver by now.
    pub fn set(&mut self, receiver: NodeId, bytes: u64) {
        self.kept.insert(receiver, bytes);
    }

    /// A receiver's image is committed.
    pub fn on_imaged(&mut self, receiver: NodeId) {
        self.asked.remove(&receiver);
    }

    /// What is kept for all.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.kept.values().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    /// Receivers that are to take an image: as few as bring what is kept below half of the budget, those first for
    /// whom most is kept. Each is asked once.
    #[must_use]
    pub fn to_ask(&mut self) -> Vec<NodeId> {
        if self.bytes() < self.limit / 4 * 3 {
            return Vec::new();
        }
        let mut largest: Vec<_> = self.kept.iter().map(|(node, bytes)| (*bytes, *node)).collect();
        largest.sort_by_key(|(bytes, node)| (std::cmp::Reverse(*bytes), *node));
        let mut left = self.bytes();
        let mut ask = Vec::new();
        for (bytes, node) in largest {
            if left < self.limit / 2 || bytes == 0 {
                break;
            }
            left -= bytes;
            if self.asked.insert(node) {
                ask.push(node);
            }
        }
        ask
    }

    /// Whether whoever sends so much has to wait. A single frame that is larger than the budget goes when nothing
    /// else is kept.
    #[must_use]
    pub fn must_wait(&self, bytes: u64) -> bool {
        let kept = self.bytes();
        kept > 0 && kept.saturating_add(bytes) > self.limit && !mutated("budget-not-kept")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Budget {
        let mut budget = Budget::new(1000);
        [(1, 300), (2, 10), (3, 430)].into_iter().for_each(|(node, bytes)| budget.set(node, bytes));
        budget
    }

    #[test]
    fn those_who_hold_most_are_asked_at_three_quarters_and_once() {
        let mut budget = budget();
        assert_eq!(budget.to_ask(), []);
        budget.set(2, 20);
        assert_eq!(budget.to_ask(), [3], "what is left is below half");
        assert_eq!(budget.to_ask(), []);
        budget.set(1, 700);
        assert_eq!(budget.to_ask(), [1]);
        budget.on_imaged(3);
        budget.set(3, 900);
        assert_eq!(budget.to_ask(), [3]);
    }

    fn senders_wait() {
        let mut budget = budget();
        assert!(!budget.must_wait(260) && budget.must_wait(261));
        (1..4).for_each(|node| budget.set(node, 0));
        assert!(!budget.must_wait(5000), "it would wait for ever");
    }

    #[test]
    fn at_the_budget_senders_wait() {
        senders_wait();
        #[cfg(feature = "mutations")]
        {
            talisman_observe::mutations::choose(Some("budget-not-kept"));
            assert!(std::panic::catch_unwind(senders_wait).is_err());
            talisman_observe::mutations::choose(None);
        }
    }
}
