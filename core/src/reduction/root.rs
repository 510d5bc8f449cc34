//! Where the trees of a collection end: which of its reductions are open, and when one is complete.

use std::collections::BTreeMap;

use super::{Generation, Pending, ReductionKey, Tally};
use crate::collection::insertion::Census;
use crate::mutations::mutated;
use crate::pup::Packed;
use crate::route::Route;
use crate::sometimes::sometimes;

/// What a collection's trees end in.
pub(crate) struct Root {
    /// Elements that take part in the next reduction, unless they go; unknown until `done_inserting`.
    alive: Option<u64>,
    /// The next reduction to complete.
    pub(super) next: u32,
    pub(super) open: BTreeMap<ReductionKey, Pending>,
    pub(crate) census: Census,
}

impl Root {
    pub(crate) fn new(elements: Option<u64>) -> Self {
        Root { alive: elements, next: 0, open: BTreeMap::new(), census: Census::default() }
    }

    pub(crate) fn elements(&self) -> Option<u64> {
        self.alive
    }

    pub(crate) fn begin_with(&mut self, elements: u64) {
        self.alive = Some(elements);
    }

    /// An element is inserted from outside: it takes part from the next reduction that is not complete.
    pub(crate) fn admit(&mut self) -> u32 {
        sometimes("an element was inserted from outside into an array that was complete");
        let first =
            Tally { generations: vec![Generation { born: 1, ..Generation::default() }], ..Tally::default() };
        if !mutated("insertion-from-outside-not-counted") {
            self.open.entry(ReductionKey::All(self.next)).or_default().tally.add(&first);
        }
        self.next
    }

    /// So many members that there were not take part from this reduction on.
    pub(crate) fn expect_newborn(&mut self, reduction: u32, members: u64) {
        let born = Generation { born: members, ..Generation::default() };
        let first = Tally { generations: vec![born], ..Tally::default() };
        self.open.entry(ReductionKey::All(reduction)).or_default().tally.add(&first);
    }

    /// One of them takes part from this one on, or there is none. Until that is said, the next reduction cannot complete.
    pub(crate) fn put_off_newborn(&mut self, reduction: Option<u32>) {
        if reduction.is_some_and(|first| first <= self.next) {
            return;
        }
        let next = self.open.entry(ReductionKey::All(self.next)).or_default();
        let born = &mut next.tally.generation(1).born;
        *born = born.saturating_sub(1);
        reduction.into_iter().for_each(|first| self.expect_newborn(first, 1));
    }

    pub(crate) fn expect_answers(&mut self, key: ReductionKey, to: Route) {
        self.open.entry(key).or_default().to = Some(to);
    }

    /// Takes out a reduction that is complete.
    pub(super) fn take_complete(&mut self) -> Option<(ReductionKey, Pending)> {
        let key = ReductionKey::All(self.next);
        if let (Some(alive), Some(pending)) = (self.alive, self.open.get(&key))
            && pending.tally.is_complete(alive)
        {
            self.alive = Some(pending.tally.contributions());
            self.next += 1;
            return self.open.remove_entry(&key);
        }
        None
    }

    pub(super) fn take_answers(&mut self, key: ReductionKey, pes: u32) -> Option<Pending> {
        let tally = &self.open.get(&key)?.tally;
        if tally.reports >= pes && tally.contributions() < tally.expected {
            sometimes("the receivers of a broadcast were counted before all had answered");
        }
        let reported = tally.reports >= pes || mutated("answers-before-all-reports");
        if !reported || tally.contributions() < tally.expected {
            return None;
        }
        self.open.remove(&key)
    }

    /// The next reduction to complete, and what has come of those that are open.
    pub(crate) fn saved(&self) -> (u32, Vec<(ReductionKey, Packed)>) {
        (self.next, self.open.iter().map(|(key, pending)| (*key, Packed::of(pending))).collect())
    }

    /// After going back to a checkpoint.
    pub(crate) fn go_on_from(&mut self, alive: Option<u64>, next: u32) {
        (self.alive, self.next) = (alive, next);
    }

    /// Reductions that wait for somebody, for the report of a job that is stuck.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (ReductionKey, u64)> + '_ {
        self.open.iter().map(|(key, pending)| (*key, pending.tally.contributions()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reductions_complete_in_order() {
        let mut root = Root::new(Some(1));
        root.open.entry(ReductionKey::All(1)).or_default().tally.old = 1;
        assert!(root.take_complete().is_none());
        root.open.entry(ReductionKey::All(0)).or_default().tally.old = 1;
        assert_eq!(root.take_complete().map(|done| done.0), Some(ReductionKey::All(0)));
        assert_eq!(root.take_complete().map(|done| done.0), Some(ReductionKey::All(1)));
        assert!(root.take_complete().is_none());
    }
}
