//! Members of groups that were made late: on a PE that joined a job whose others had begun.
//!
//! What made the others contribute may be long past, so a late member may never contribute to what is open, or to what they
//! come to next. It numbers its contributions itself ([`ReductionKey::Late`]), and the root alone finds out which reductions those
//! are for, by the broadcasts that whoever contributes has received. When everybody else has contributed to a reduction, late
//! members take part from this one on if any of the others had received a broadcast that late ones received too, or if they have
//! contributed and had received nothing that the others had not. Otherwise it is complete without them, and the next one is looked at.
//!
//! A late member that is waited for may have been told nothing all the same. When nothing is left to do in the whole job, its
//! contribution will not come: the reduction is complete without it, and it begins anew after that. If it was waited for in vain a
//! second time, it is not waited for any more before it contributes; what it contributes to one that is complete by then counts for nothing.

use std::collections::BTreeMap;

use easy_ext::ext;

use super::{Pending, Root};
use crate::reduction::ReductionsOfCollection;
use crate::reduction::gathering::GatheringOnPe;
use crate::reduction::message::ReductionMessage;
use talisman_base::birth::BirthId;
use talisman_base::ids::ObjId;
use talisman_base::ids::ReductionKey;
use talisman_kernel::collection::Collection;
use talisman_kernel::object::flag;
use talisman_kernel::pe::Pe;
use talisman_observe::sometimes::sometimes;
use talisman_pup::Pup;
use talisman_reduce::ReduceError;

/// Late members of a group, at its root.
#[derive(Default)]
pub struct LateMembers {
    all: BTreeMap<u32, Begin>,
    /// How many broadcasts any contributor to reductions that are complete had received.
    heard: u32,
    /// The reduction whose late members were asked for when nothing was left to do.
    asked_for: Option<u32>,
}

/// With which reduction a late member begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Begin {
    /// Not known yet. It has no part in so many broadcasts.
    After(u32),
    /// The same of one that was waited for in vain.
    Again(u32),
    /// The same of one that is not waited for.
    Untold(u32),
    /// This one, with its contribution of this number; whether it had been waited for in vain before.
    With { first: u32, nth: u32, again: bool },
}

impl Root {
    /// Late members as a checkpoint keeps them, and how many broadcasts anybody had received who contributed to what is complete.
    pub fn late(&self) -> (u32, Vec<(u32, Begin)>) {
        (self.late.heard, self.late.all.iter().map(|(member, begin)| (*member, *begin)).collect())
    }

    /// After going back to a checkpoint.
    pub fn go_on_with_late(&mut self, heard: u32, late: Vec<(u32, Begin)>) {
        self.late = LateMembers { all: late.into_iter().collect(), heard, asked_for: None };
    }

    /// A broadcast is what async entries wait for, of which late members have none: as if there had not been any after the last one
    /// that they have no part in.
    pub fn pass_over(&mut self, broadcast: u32) {
        for begin in self.late.all.values_mut() {
            match begin {
                Begin::After(passed) | Begin::Again(passed) if *passed == broadcast => *passed += 1,
                _ => {}
            }
        }
    }

    /// The `nth` contribution of a late member, or its end.
    pub(super) fn add_late(&mut self, member: u32, nth: u32, part: Pending) -> Result<(), ReduceError> {
        let key = match self.late.all.get(&member) {
            Some(Begin::With { first, nth: from, .. }) => {
                ReductionKey::All(first.saturating_add(nth.saturating_sub(*from)))
            }
            Some(_) if part.tally.is_end() => {
                self.forget_late(member);
                return Ok(());
            }
            Some(Begin::Untold(broadcasts))
                if *broadcasts < part.tally.heard && part.tally.heard <= self.late.heard =>
            {
                sometimes("a late member of a group contributed to what was complete");
                return Ok(());
            }
            Some(_) => ReductionKey::Late { member, nth },
            // It was lost and is forgotten.
            None => return Ok(()),
        };
        self.open.entry(key).or_default().absorb(&part.tally, part.value, part.to)
    }

    fn forget_late(&mut self, member: u32) {
        sometimes("a late member of a group was lost before it took part in a reduction");
        self.late.all.remove(&member);
        self.open.retain(|key, _| !matches!(key, ReductionKey::Late { member: of, .. } if *of == member));
    }

    /// If all others have contributed to the next reduction, late members may take part from it on: those that do now.
    pub(super) fn admit_late(&mut self) -> Result<Vec<TakesPart>, ReduceError> {
        let Some(others) = self.others() else { return Ok(Vec::new()) };
        let begins = |(member, begin): (&u32, &Begin)| {
            let first = self.first_of(*member);
            let nth = first.map_or(0, |(nth, _)| nth);
            let is_due = match *begin {
                Begin::With { .. } => false,
                Begin::After(broadcasts) | Begin::Again(broadcasts) => {
                    others.heard > broadcasts || others.is_nobody || is_for_now(first, broadcasts, &others)
                }
                Begin::Untold(broadcasts) => is_for_now(first, broadcasts, &others),
            };
            is_due.then_some((*member, nth))
        };
        let now: Vec<_> = self.late.all.iter().filter_map(begins).collect();
        now.into_iter().map(|(member, nth)| self.begin_late(member, nth)).collect()
    }

    /// Of a late member: its first contribution that is kept, and how many broadcasts it had received.
    fn first_of(&self, member: u32) -> Option<(u32, u32)> {
        let all = ReductionKey::Late { member, nth: 0 }..=ReductionKey::Late { member, nth: u32::MAX };
        match self.open.range(all).next()? {
            (ReductionKey::Late { nth, .. }, pending) => Some((*nth, pending.tally.heard)),
            _ => None,
        }
    }

    /// Of the next reduction, once all but late members have contributed or gone.
    fn others(&self) -> Option<Others> {
        if self.late.all.is_empty() {
            return None;
        }
        let (alive, next) = (self.elements()?, self.open.get(&ReductionKey::All(self.next)));
        let (others, gone, heard) = next
            .map_or((0, 0, 0), |pending| (pending.tally.old, pending.tally.old_gone, pending.tally.heard));
        let are_all = others.saturating_add(gone) == alive;
        are_all.then_some(Others { heard, is_nobody: others == 0 })
    }

    /// A late member takes part from the next reduction on, with what it has contributed.
    fn begin_late(&mut self, member: u32, from: u32) -> Result<TakesPart, ReduceError> {
        sometimes("a late member of a group took part in a reduction");
        let first = self.next;
        let again = matches!(self.late.all.get(&member), Some(Begin::Again(_) | Begin::Untold(_)));
        self.late.all.insert(member, Begin::With { first, nth: from, again });
        let birth = BirthId::of_late(member);
        self.open.entry(ReductionKey::All(first)).or_default().tally.announce(1, birth.mark());
        for nth in from.. {
            let Some(mut part) = self.open.remove(&ReductionKey::Late { member, nth }) else { break };
            if nth == from {
                part.tally.become_newborn(birth);
            }
            self.add_late(member, nth, part)?;
        }
        Ok(TakesPart { member, first, nth: from })
    }

    /// A reduction is complete.
    pub(super) fn note_heard(&mut self, heard: u32) {
        self.late.heard = self.late.heard.max(heard);
    }

    /// Whether late members may have to be asked for what the next reduction waits for. Once is enough for each.
    fn may_wait_for_late(&self) -> bool {
        let next = self.open.get(&ReductionKey::All(self.next));
        let has_late = self.late.all.values().any(|begin| matches!(begin, Begin::With { .. }));
        has_late
            && self.late.asked_for != Some(self.next)
            && next.is_some_and(|next| next.contributions() > 0)
    }

    /// Those to be asked, if any are.
    fn late_to_ask(&mut self) -> Option<(u32, Vec<u32>)> {
        if !self.may_wait_for_late() {
            return None;
        }
        self.late.asked_for = Some(self.next);
        let part = self.late.all.iter().filter(|(_, begin)| matches!(begin, Begin::With { .. }));
        Some((self.next, part.map(|(member, _)| *member).collect()))
    }

    /// A late member will not contribute to this reduction. `is_first`: it has never contributed since it took part.
    fn put_off(&mut self, member: u32, reduction: u32, is_first: bool) {
        let Some(Begin::With { first, again, .. }) = self.late.all.get(&member).copied() else { return };
        if reduction != self.next {
            return;
        }
        sometimes("a late member of a group was not waited for when nothing was left to do");
        let tally = &mut self.open.entry(ReductionKey::All(reduction)).or_default().tally;
        let is_told_nothing = again && first == reduction;
        let begin = if is_told_nothing { Begin::Untold(tally.heard) } else { Begin::Again(tally.heard) };
        self.late.all.insert(member, begin);
        if is_first {
            tally.take_back(BirthId::of_late(member));
        } else {
            tally.old_gone = tally.old_gone.saturating_add(1);
        }
    }
}

/// A late member takes part from this reduction on, with its contribution of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TakesPart {
    member: u32,
    first: u32,
    nth: u32,
}

/// All that contribute to a reduction, late members aside.
struct Others {
    /// How many broadcasts any of them had received.
    heard: u32,
    is_nobody: bool,
}

/// Whether a late member's first contribution, made after so many broadcasts, is for what these have contributed to.
fn is_for_now(first: Option<(u32, u32)>, broadcasts: u32, others: &Others) -> bool {
    first.is_some_and(|(_, heard)| others.is_nobody || heard <= others.heard.max(broadcasts))
}

#[ext(LateElementsOnPe)]
pub impl Pe {
    /// At a root: late members that take part from now on, and are told so.
    fn admit_late(&self, collection: &Collection) -> Result<(), ReduceError> {
        let Some(root) = collection.root() else { return Ok(()) };
        let admitted = root.borrow_mut().admit_late()?;
        for TakesPart { member, first, nth } in admitted {
            let id = collection.object(member.into());
            self.tell(collection.home(id.index), ReductionMessage::TakesPart { member: id, first, nth });
        }
        Ok(())
    }

    /// A member knows now which reductions it contributes to, as soon as it is made. Until then its root knows.
    fn on_takes_part(&self, member: ObjId, first: u32, nth: u32) {
        let Some(head) = self.find_here(member) else { return };
        // SAFETY: an object in a slot is live.
        let object = unsafe { head.as_ref() };
        if object.has(flag::LATE) {
            object.clear(flag::LATE);
            object.reduction.set(first.saturating_add(object.reduction.get().saturating_sub(nth)));
        }
    }

    /// Whether a root here may wait for late members that will not contribute, if nothing is left to do.
    fn may_wait_for_late(&self) -> bool {
        let mut roots = self.collections.iter().filter_map(|collection| collection.root());
        roots.any(|root| root.borrow().may_wait_for_late())
    }

    /// Nothing is left to do: roots ask the late members that they may wait for.
    fn ask_late(&self) {
        for collection in self.collections.iter() {
            let asked = collection.root().and_then(|root| root.borrow_mut().late_to_ask());
            let Some((reduction, members)) = asked else { continue };
            for member in members {
                let id = collection.object(member.into());
                self.tell(collection.home(id.index), ReductionMessage::IsWaitedFor { member: id, reduction });
            }
        }
    }

    /// A reduction may wait for a member that will not contribute to it: then it begins anew.
    fn on_is_waited_for(&self, member: ObjId, reduction: u32) {
        let Some(head) = self.find_here(member) else { return };
        // SAFETY: an object in a slot is live.
        let object = unsafe { head.as_ref() };
        if object.has(flag::LATE) || object.reduction.get() != reduction {
            return;
        }
        let birth = BirthId::of_late(member.index as u32);
        let is_first = object.extras(|extras| !std::mem::replace(&mut extras.birth, birth).is_none());
        object.set(flag::LATE);
        object.reduction.set(0);
        let root = object.collection().root_pe();
        self.tell(root, ReductionMessage::PutOff { member, reduction, is_first });
    }

    /// At a root: that one does not.
    fn on_put_off(&self, member: ObjId, reduction: u32, is_first: bool) {
        let Some(collection) = self.collections.get(member.collection) else { return };
        let Some(root) = collection.root() else { return };
        root.borrow_mut().put_off(member.index as u32, reduction, is_first);
        self.complete_reductions(collection);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tally;
    use super::*;

    const NONE: [u64; 0] = [];

    /// Two members that there always were, and a late one after the broadcasts that had passed.
    fn root() -> Root {
        let mut root = Root::new(Some(2));
        root.go_on_with_late(5, vec![(7, Begin::After(5))]);
        root
    }

    fn contribute(root: &mut Root, reduction: u32, heard: u32) {
        let tally = Tally { old: 1, heard, ..Tally::default() };
        root.open.entry(ReductionKey::All(reduction)).or_default().tally.add(&tally);
    }

    fn contribute_late(root: &mut Root, nth: u32, heard: u32) {
        let mut tally = Tally { heard, ..Tally::default() };
        if nth == 0 {
            tally.hear_of(BirthId::of_late(7), true)
        } else {
            tally.old = 1
        }
        root.add_late(7, nth, Pending { tally, ..Pending::default() }).expect("there is no value");
    }

    /// How many contributed to each reduction that is complete now.
    fn complete(root: &mut Root) -> Vec<u64> {
        let mut complete = Vec::new();
        loop {
            root.admit_late().expect("there is no value");
            let Some((_, pending)) = root.take_complete() else { return complete };
            complete.push(pending.contributions());
        }
    }

    #[test]
    fn what_was_begun_before_is_complete_without_late_ones() {
        let mut root = root();
        for reduction in 0..2 {
            contribute(&mut root, reduction, 4);
            assert_eq!(complete(&mut root), NONE);
            contribute(&mut root, reduction, 5);
            assert_eq!(complete(&mut root), [2]);
        }
        contribute(&mut root, 2, 5);
        contribute(&mut root, 2, 6);
        assert_eq!(complete(&mut root), NONE);
        contribute_late(&mut root, 0, 6);
        assert_eq!(complete(&mut root), [3]);
    }

    #[test]
    fn what_a_late_one_contributes_before_the_others_is_kept_for_its_turn() {
        let mut root = root();
        contribute_late(&mut root, 0, 6);
        contribute_late(&mut root, 1, 7);
        for reduction in [0, 0, 1, 1, 2, 2] {
            contribute(&mut root, reduction, 5 + reduction);
        }
        assert_eq!(complete(&mut root), [2, 3, 3]);
        contribute(&mut root, 3, 7);
        contribute(&mut root, 3, 8);
        assert_eq!(complete(&mut root), NONE);
        contribute_late(&mut root, 2, 8);
        assert_eq!(complete(&mut root), [3]);
    }

    #[test]
    fn without_broadcasts_who_contributes_takes_part() {
        let mut root = root();
        (0..4).for_each(|nth| contribute(&mut root, nth / 2, 5));
        assert_eq!(complete(&mut root), [2, 2]);
        contribute_late(&mut root, 0, 5);
        (0..2).for_each(|_| contribute(&mut root, 2, 5));
        assert_eq!(complete(&mut root), [3]);
        (0..2).for_each(|_| contribute(&mut root, 3, 5));
        assert_eq!(complete(&mut root), NONE);
    }

    #[test]
    fn who_is_told_nothing_takes_part_when_it_contributes() {
        let mut root = root();
        for reduction in 0..2 {
            (0..2).for_each(|_| contribute(&mut root, reduction, 6 + reduction));
            assert_eq!(complete(&mut root), NONE);
            assert_eq!(root.late_to_ask(), Some((reduction, vec![7])));
            assert_eq!(root.late_to_ask(), None, "it was asked");
            root.put_off(7, reduction, true);
            assert_eq!(complete(&mut root), [2]);
        }
        (0..2).for_each(|_| contribute(&mut root, 2, 8));
        assert_eq!(complete(&mut root), [2]);
        // To what was complete by then, and to the next.
        contribute_late(&mut root, 0, 8);
        contribute_late(&mut root, 1, 9);
        (0..2).for_each(|_| contribute(&mut root, 3, 9));
        assert_eq!(complete(&mut root), [3]);
    }

    #[test]
    fn who_is_missing_later_is_waited_for_again() {
        let mut root = root();
        (0..2).for_each(|_| contribute(&mut root, 0, 6));
        contribute_late(&mut root, 0, 6);
        assert_eq!(complete(&mut root), [3]);
        (0..2).for_each(|_| contribute(&mut root, 1, 7));
        assert_eq!((complete(&mut root), root.late_to_ask()), (NONE.to_vec(), Some((1, vec![7]))));
        root.put_off(7, 1, false);
        assert_eq!(complete(&mut root), [2]);
        assert!(!root.may_wait_for_late());
        (0..2).for_each(|_| contribute(&mut root, 2, 8));
        assert_eq!(complete(&mut root), NONE);
        contribute_late(&mut root, 0, 8);
        assert_eq!(complete(&mut root), [3]);
    }

    #[test]
    fn who_is_lost_before_is_not_waited_for() {
        let mut root = root();
        contribute_late(&mut root, 0, 6);
        let end = Tally { old_gone: 1, ..Tally::default() };
        root.add_late(7, 1, Pending { tally: end, ..Pending::default() }).expect("there is no value");
        (0..2).for_each(|_| contribute(&mut root, 0, 9));
        assert_eq!(complete(&mut root), [2]);
        assert!(root.open.is_empty() && root.late().1.is_empty());
    }

    #[test]
    fn answers_to_async_entries_tell_late_ones_nothing() {
        let mut root = root();
        root.pass_over(5);
        root.pass_over(7);
        assert_eq!(root.late().1, [(7, Begin::After(6))]);
    }

    #[test]
    fn late_ones_go_on_alone() {
        let mut root = root();
        let gone = Tally { old_gone: 2, ..Tally::default() };
        root.open.entry(ReductionKey::All(0)).or_default().tally.add(&gone);
        assert_eq!(complete(&mut root), NONE);
        contribute_late(&mut root, 0, 8);
        assert_eq!(complete(&mut root), [1]);
    }
}
