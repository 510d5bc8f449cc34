//! Where the trees of a collection end: which of its reductions are open, and when one is complete.

use std::collections::BTreeMap;

use super::Pending;
use super::late::LateMembers;
use crate::lifecycle::census::Census;
use talisman_base::birth::BirthId;
use talisman_base::ids::ReductionKey;
use talisman_kernel::route::Route;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::Packed;

/// What a collection's trees end in.
pub struct Root {
    /// Elements that take part in the next reduction, unless they go; unknown until `done_inserting`.
    alive: Option<u64>,
    /// The next reduction to complete.
    pub(super) next: u32,
    pub(super) open: BTreeMap<ReductionKey, Pending>,
    pub(super) late: LateMembers,
    pub census: Census,
}

impl Root {
    pub fn new(elements: Option<u64>) -> Self {
        let (open, late, census) = (BTreeMap::new(), LateMembers::default(), Census::default());
        Root { alive: elements, next: 0, open, late, census }
    }

    pub fn elements(&self) -> Option<u64> {
        self.alive
    }

    pub fn begin_with(&mut self, elements: u64) {
        self.alive = Some(elements);
    }

    /// An element is inserted from outside: it takes part from the next reduction that is not complete.
    pub fn admit(&mut self, birth: BirthId) -> u32 {
        sometimes("an element was inserted from outside into an array that was complete");
        if !mutated("insertion-from-outside-not-counted") {
            self.open.entry(ReductionKey::All(self.next)).or_default().tally.announce(1, birth.mark());
        }
        self.next
    }

    pub fn expect_answers(&mut self, key: ReductionKey, to: Route) {
        self.open.entry(key).or_default().to = Some(to);
    }

    /// Takes out a reduction that is complete.
    pub(super) fn take_complete(&mut self) -> Option<(ReductionKey, Pending)> {
        let key = ReductionKey::All(self.next);
        if let (Some(alive), Some(pending)) = (self.alive, self.open.get(&key))
            && pending.tally.is_complete(alive)
        {
            let (contributions, heard) = (pending.tally.contributions(), pending.tally.heard);
            self.alive = Some(contributions);
            self.next += 1;
            self.note_heard(heard);
            let complete = self.open.remove_entry(&key);
            if contributions == 0 && self.open.is_empty() {
                // Nobody is left; the room would stay.
                self.open = BTreeMap::new();
            }
            return complete;
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
    pub fn saved(&self) -> (u32, Vec<(ReductionKey, Packed)>) {
        (self.next, self.open.iter().map(|(key, pending)| (*key, Packed::of(pending))).collect())
    }

    /// After going back to a checkpoint.
    pub fn go_on_from(&mut self, alive: Option<u64>, next: u32) {
        (self.alive, self.next) = (alive, next);
    }

    /// How many contributed to each reduction that is not complete, and whose result somebody waits for.
    pub fn wanted(&self) -> Vec<u64> {
        let wanted = self.open.values().filter(|pending| pending.is_wanted());
        wanted.map(Pending::contributions).collect()
    }

    /// Reductions that wait for somebody, for the report of a job that is stuck.
    pub fn waiting(&self) -> impl Iterator<Item = (ReductionKey, u64)> + '_ {
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
