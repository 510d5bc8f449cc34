//! Reductions: values of all elements become one, with the same bits in every run.
//!
//! Contributions are combined on each PE, and sent up the collection's tree when every element here has contributed, or
//! when the PE has nothing else to do. Nothing depends on when that is: the root counts contributions, and
//! partial results may meet in any order ([`Reducer`](crate::reduce::Reducer)).
//!
//! Elements come and go meanwhile. An element that inserts another says so with its own next contribution, so
//! the root waits for as many newborn as were announced, generation by generation; one that goes says so too. See
//! [`Tally::is_complete`].

use std::collections::BTreeMap;

use crate::collection::Collection;
use crate::collection::insertion::Census;
use crate::ids::{CollectionId, ObjId, PeId, SectionId};
use crate::message::control::PeMessage;
use crate::mutations::mutated;
use crate::object::{Head, flag};
use crate::pe::Pe;
use crate::pup::{Packed, Pup, Purpose, Unpacker};
use crate::reduce::{AnyPartial, ReduceError, ReduceInfo, Reducer};
use crate::route::{Collect, Route};
use crate::sometimes::sometimes;
use crate::witness::{self, Seen};

/// Which reduction of a collection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Pup)]
pub(crate) enum ReductionKey {
    /// The `n`th to which its elements contribute.
    All(u32),
    /// Of the answers to its `n`th broadcast.
    Answers(u32),
    /// The `n`th to which a section's members contribute.
    Section(SectionId, u32),
    /// Of the answers to a section's `n`th multicast.
    SectionAnswers(SectionId, u32),
}

/// What is counted on the way to the root. All counts add up.
#[derive(Clone, Default, Debug, PartialEq, Eq, Pup)]
pub(crate) struct Tally {
    /// Contributions of elements that the previous reduction knew.
    pub(crate) old: u64,
    /// Such elements that went instead.
    pub(crate) old_gone: u64,
    /// Elements inserted since, the first generation first.
    pub(crate) generations: Vec<Generation>,
    /// For answers: PEs that said how many elements received the broadcast.
    pub(crate) reports: u32,
    /// How many those are.
    pub(crate) expected: u64,
}

/// Elements inserted since the previous reduction, of one generation (`Birth::generation`).
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Pup)]
pub(crate) struct Generation {
    /// Inserted, as announced by those who inserted them.
    born: u64,
    /// Contributions.
    contributed: u64,
    /// Those that went instead.
    gone: u64,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.old, other.old);
        add(&mut self.old_gone, other.old_gone);
        for (number, other) in (1..).zip(&other.generations) {
            let sum = self.generation(number);
            add(&mut sum.born, other.born);
            add(&mut sum.contributed, other.contributed);
            add(&mut sum.gone, other.gone);
        }
        self.reports = self.reports.saturating_add(other.reports);
        add(&mut self.expected, other.expected);
    }

    /// Whether all of `alive` elements, and all that they inserted, have contributed or gone.
    ///
    /// The announcement of an insertion travels with a contribution (or the end) of the inserter. So when all of the
    /// old elements have been heard of, all of the first generation have been announced; when all of those have been
    /// heard of, all of the second have, and so on. One count for all generations would not do: one that is missing
    /// and the child that it has not announced would cancel out.
    fn is_complete(&self, alive: u64) -> bool {
        let all = |generation: &Generation| {
            let heard_of = generation.contributed.saturating_add(generation.gone);
            if heard_of > generation.born {
                sometimes("an element contributed before it was announced");
            }
            heard_of == generation.born
        };
        let old = self.old.saturating_add(self.old_gone) == alive;
        if mutated("newborn-not-waited-for") {
            return old;
        }
        if mutated("generations-in-one-sum") {
            let heard_of: u64 = self.generations.iter().map(|one| one.contributed + one.gone).sum();
            let born: u64 = self.generations.iter().map(|one| one.born).sum();
            return old && heard_of == born;
        }
        old && self.generations.iter().all(all)
    }

    fn contributions(&self) -> u64 {
        self.generations.iter().fold(self.old, |sum, generation| sum.saturating_add(generation.contributed))
    }

    /// The counts of a generation, numbered from 1.
    fn generation(&mut self, number: u32) -> &mut Generation {
        if self.generations.len() < number as usize {
            self.generations.resize_with(number as usize, Generation::default);
        }
        &mut self.generations[number as usize - 1]
    }
}

/// A part of a reduction on its way up.
#[derive(Debug, Pup)]
pub(crate) struct Contribution {
    #[pup(with = crate::ids::wire::rooted)]
    pub(crate) collection: CollectionId,
    pub(crate) key: ReductionKey,
    tally: Tally,
    value: Option<AnyPartial>,
    to: Option<Route>,
}

impl Contribution {
    /// Only a count.
    pub(crate) fn count(collection: CollectionId, key: ReductionKey, tally: Tally) -> Self {
        Contribution { collection, key, tally, value: None, to: None }
    }
}

/// A reduction's parts on one PE.
#[derive(Default, Debug, Pup)]
pub(crate) struct Pending {
    tally: Tally,
    value: Option<AnyPartial>,
    to: Option<Route>,
    /// Contributions made on this PE.
    made_here: u64,
}

impl Pending {
    pub(crate) fn contributions(&self) -> u64 {
        self.tally.contributions()
    }

    /// Of a section: how many receivers answer, and who gets the result.
    pub(crate) fn expect_answers(&mut self, receivers: u64, to: Route) {
        self.tally.expected = receivers;
        self.to = Some(to);
    }

    /// How many receivers answer.
    pub(crate) fn expected(&self) -> u64 {
        self.tally.expected
    }

    fn absorb(
        &mut self,
        tally: &Tally,
        value: Option<AnyPartial>,
        to: Option<Route>,
    ) -> Result<(), ReduceError> {
        self.tally.add(tally);
        self.to = self.to.take().or(to);
        match (&mut self.value, value) {
            (_, None) => Ok(()),
            (Some(_), Some(_)) if mutated("partial-results-not-combined") => Ok(()),
            (Some(total), Some(value)) => total.combine(value),
            (empty, Some(value)) => {
                *empty = Some(value);
                Ok(())
            }
        }
    }
}

/// What a collection's trees end in.
pub(crate) struct Root {
    /// Elements that take part in the next reduction, unless they go; unknown until `done_inserting`.
    alive: Option<u64>,
    /// The next reduction to complete.
    next: u32,
    open: BTreeMap<ReductionKey, Pending>,
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
    fn take_complete(&mut self) -> Option<(ReductionKey, Pending)> {
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

    fn take_answers(&mut self, key: ReductionKey, pes: u32) -> Option<Pending> {
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

impl Pe {
    /// An element contributes to the next reduction of its collection.
    #[track_caller]
    pub(crate) fn contribute<T: Pup + Send + 'static, R: Reducer<T>>(
        &self,
        object: &Head,
        value: T,
        to: Route,
    ) {
        let collection = object.collection();
        if collection.id.is_singles() {
            panic!(
                "`{}` is no element of an array or group: it has nobody to reduce with",
                collection.label(object.index())
            );
        }
        let key = ReductionKey::All(object.reduction.get());
        self.see_contribution(object.id(), key);
        let tally = self.tally_of(object, true);
        object.reduction.set(object.reduction.get() + 1);
        self.add_value::<T, R>(collection, key, tally, value, object.index(), Some(to));
    }

    /// An element that will not contribute any more.
    pub(crate) fn report_death(&self, object: &Head) {
        let collection = object.collection();
        if collection.id.is_singles() || mutated("end-not-reported") {
            return;
        }
        let key = ReductionKey::All(object.reduction.get());
        let tally = self.tally_of(object, false);
        self.contribution_made(collection, Contribution::count(collection.id, key, tally));
    }

    fn tally_of(&self, object: &Head, contributes: bool) -> Tally {
        let born = match object.take_extras() {
            None => 0,
            Some(mut extras) => {
                let born = std::mem::take(&mut extras.born);
                object.put_extras(Some(extras));
                born.into()
            }
        };
        let mut tally = Tally::default();
        let generation = object.generation();
        object.clear(u32::MAX << flag::GENERATION);
        if born > 0 && !mutated("birth-not-announced") {
            tally.generation(generation + 1).born = born;
        }
        *match (generation, contributes) {
            (0, true) => &mut tally.old,
            (0, false) => &mut tally.old_gone,
            (number, true) => &mut tally.generation(number).contributed,
            (number, false) => &mut tally.generation(number).gone,
        } = 1;
        tally
    }

    /// The packed answer of one element to a broadcast or multicast whose answers are reduced.
    pub(crate) fn answer(&self, to: Collect, value: Packed) {
        let Some(collection) = self.collections.get(to.collection) else { return };
        let Some(reducer) = ReduceInfo::known(to.reducer) else {
            return self.reduction_failed(collection, &ReduceError::Unknown { id: to.reducer });
        };
        self.see_contribution(collection.object(to.index), answers_key(&to));
        let add = |pending: &mut Pending| {
            pending.tally.add(&Tally { old: 1, ..Tally::default() });
            let (bytes, segments) = value.into_parts();
            let mut value = Unpacker::with_segments(&bytes, Purpose::Message, segments);
            match &mut pending.value {
                Some(total) => total.add_packed(reducer, &mut value, to.index),
                empty => {
                    *empty = Some(AnyPartial::lift_packed(reducer, &mut value, to.index)?);
                    Ok(())
                }
            }
        };
        self.with_pending(collection, answers_key(&to), add, true);
    }

    /// A member contributes to the next reduction of a section.
    pub(crate) fn contribute_to_section<T: Pup + Send + 'static, R: Reducer<T>>(
        &self,
        object: &Head,
        section: SectionId,
        value: T,
        to: Route,
    ) {
        let number = object.extras(|extras| {
            let next = extras.sections.entry(section).or_default();
            *next += 1;
            *next - 1
        });
        let key = ReductionKey::Section(section, number);
        self.see_contribution(object.id(), key);
        let tally = Tally { old: 1, ..Tally::default() };
        self.add_value::<T, R>(object.collection(), key, tally, value, object.index(), Some(to));
    }

    fn add_value<T: Pup + Send + 'static, R: Reducer<T>>(
        &self,
        collection: &Collection,
        key: ReductionKey,
        tally: Tally,
        value: T,
        index: u128,
        to: Option<Route>,
    ) {
        let add = |pending: &mut Pending| {
            pending.tally.add(&tally);
            pending.to = pending.to.take().or(to);
            match &mut pending.value {
                Some(total) => total.add::<T, R>(value, index),
                empty => {
                    *empty = Some(AnyPartial::lift::<T, R>(value, index)?);
                    Ok(())
                }
            }
        };
        self.with_pending(collection, key, add, true);
    }

    /// Changes a reduction's parts here, and sends them on if nothing more will come from this PE.
    fn with_pending(
        &self,
        collection: &Collection,
        key: ReductionKey,
        change: impl FnOnce(&mut Pending) -> Result<(), ReduceError>,
        made_here: bool,
    ) {
        let (changed, full) = {
            let mut all = collection.pending.borrow_mut();
            let first = all.is_empty();
            let pending = all.entry(key).or_default();
            pending.made_here += u64::from(made_here);
            let changed = change(pending);
            if first {
                self.unflushed.borrow_mut().push(collection.id);
                self.chores.set(true);
            }
            (changed, pending.made_here >= u64::from(collection.members.get()))
        };
        match changed {
            Err(error) => self.reduction_failed(collection, &error),
            Ok(()) if full => self.send_up(collection, key),
            Ok(()) => {}
        }
    }

    /// A count, or a part from below in the tree.
    pub(crate) fn contribution_made(&self, collection: &Collection, part: Contribution) {
        let Contribution { key, tally, value, to, .. } = part;
        self.with_pending(collection, key, |pending| pending.absorb(&tally, value, to), false);
    }

    /// A part from another node.
    pub(crate) fn on_part(&self, collection: CollectionId, part: Packed) {
        match part.into_value::<Contribution>() {
            Ok(part) => self.on_contribution(part),
            Err(error) => {
                if let Some(collection) = self.collections.get(collection) {
                    self.unreadable(collection, "(reduction)", &error.to_string());
                }
            }
        }
    }

    pub(crate) fn on_contribution(&self, part: Contribution) {
        let Some(collection) = self.collections.get(part.collection) else { return };
        if self.ends_here(collection, part.key) {
            let Contribution { key, tally, value, to, .. } = part;
            self.absorb_at_root(collection, key, |pending| pending.absorb(&tally, value, to));
        } else {
            self.contribution_made(collection, part);
        }
    }

    /// Sends on what has gathered; whether that was anything.
    pub(crate) fn flush_reductions(&self) -> bool {
        let collections = self.unflushed.take();
        for id in &collections {
            let Some(collection) = self.collections.get(*id) else { continue };
            let mut keys: Vec<_> = collection.pending.borrow().keys().copied().collect();
            if mutated("partial-result-kept-back") && keys.len() > 1 {
                keys.pop();
            }
            for key in keys {
                self.mark_partial(collection, key);
                self.send_up(collection, key);
            }
        }
        !collections.is_empty()
    }

    fn mark_partial(&self, collection: &Collection, key: ReductionKey) {
        let made_here = collection.pending.borrow().get(&key).map(|pending| pending.made_here);
        if made_here.is_some_and(|made| 0 < made && made < u64::from(collection.members.get())) {
            sometimes("a partial result was sent on before every element here had contributed");
        }
    }

    fn send_up(&self, collection: &Collection, key: ReductionKey) {
        let Some(pending) = collection.pending.borrow_mut().remove(&key) else { return };
        let Pending { tally, value, to, .. } = pending;
        if self.ends_here(collection, key) {
            return self.absorb_at_root(collection, key, |sum| sum.absorb(&tally, value, to));
        }
        let part = Contribution { collection: collection.id, key, tally, value, to };
        self.tell(self.above(collection, key), PeMessage::Contribution(Box::new(part)));
    }

    fn above(&self, collection: &Collection, key: ReductionKey) -> PeId {
        match key {
            ReductionKey::All(_) | ReductionKey::Answers(_) => {
                let above = self.view().parent(self.id, collection.root_pe());
                above.expect("the root sends nothing up")
            }
            ReductionKey::Section(section, _) | ReductionKey::SectionAnswers(section, _) => {
                self.view().seat(section.creator)
            }
        }
    }

    fn ends_here(&self, collection: &Collection, key: ReductionKey) -> bool {
        match key {
            ReductionKey::All(_) | ReductionKey::Answers(_) => collection.root.is_some(),
            ReductionKey::Section(section, _) | ReductionKey::SectionAnswers(section, _) => {
                self.view().seat(section.creator) == self.id
            }
        }
    }

    fn absorb_at_root(
        &self,
        collection: &Collection,
        key: ReductionKey,
        change: impl FnOnce(&mut Pending) -> Result<(), ReduceError>,
    ) {
        match key {
            ReductionKey::Section(section, _) | ReductionKey::SectionAnswers(section, _) => {
                match self.sections.with_open(section, key, change) {
                    Some(Ok(())) => self.complete_over_section(collection, section, key),
                    Some(Err(error)) => self.reduction_failed(collection, &error),
                    None => {}
                }
            }
            ReductionKey::All(_) | ReductionKey::Answers(_) => {
                let root = collection.root.as_ref().expect("`ends_here`");
                if matches!(key, ReductionKey::All(number) if number > root.borrow().next) {
                    sometimes("a contribution came for a reduction whose former one was open");
                }
                let changed = change(root.borrow_mut().open.entry(key).or_default());
                if let Err(error) = changed {
                    return self.reduction_failed(collection, &error);
                }
                self.complete(collection, key);
            }
        }
    }

    /// At the root, after going back to a checkpoint: what had come of a reduction. All PEs had said how many elements
    /// received what is answered, however many there were.
    pub(crate) fn on_reopen(&self, id: CollectionId, key: ReductionKey, pending: Packed) {
        let Some(collection) = self.collections.get(id) else { return };
        match pending.into_value::<Pending>() {
            Ok(Pending { mut tally, value, to, .. }) => {
                if let ReductionKey::Answers(_) = key {
                    tally.reports = u32::MAX;
                }
                self.absorb_at_root(collection, key, |sum| sum.absorb(&tally, value, to));
            }
            Err(error) => self.unreadable(collection, "(reduction)", &error.to_string()),
        }
    }

    fn complete(&self, collection: &Collection, key: ReductionKey) {
        let Some(root) = &collection.root else { return };
        if let ReductionKey::All(_) = key {
            return self.complete_reductions(collection);
        }
        let done = root.borrow_mut().take_answers(key, self.view().pes());
        done.into_iter().for_each(|pending| self.finish(collection, key, pending));
    }

    /// Every reduction of a collection that is complete, in order.
    pub(crate) fn complete_reductions(&self, collection: &Collection) {
        let Some(root) = &collection.root else { return };
        loop {
            let complete = root.borrow_mut().take_complete();
            let Some((key, pending)) = complete else { break };
            self.finish(collection, key, pending);
        }
    }

    /// The result goes where it is wanted.
    pub(crate) fn finish(&self, collection: &Collection, key: ReductionKey, pending: Pending) {
        let contributions = pending.contributions();
        witness::see(|| Seen::Reduced { collection: collection.id, reduction: key.into(), contributions });
        match (pending.value.map(AnyPartial::finish), pending.to) {
            // Everybody went, and nobody contributed.
            (_, None) => sometimes("a reduction was complete because everybody went"),
            (Some(Ok(value)), Some(to)) => self.route(&to, value),
            (Some(Err(error)), _) => self.reduction_failed(collection, &error),
            (None, Some(_)) => self.reduction_failed(collection, &ReduceError::Nobody),
        }
    }

    pub(crate) fn see_contribution(&self, object: ObjId, key: ReductionKey) {
        witness::see(|| Seen::Contributed { object, pe: self.id, reduction: key.into() });
    }

    fn reduction_failed(&self, collection: &Collection, error: &ReduceError) {
        let name = (collection.chare.name)();
        self.node.job.end(1, Some(format!("a reduction over the elements of `{name}` failed: {error}")));
    }
}

/// The reduction that an answer is for.
pub(crate) fn answers_key(to: &Collect) -> ReductionKey {
    match to.section {
        None => ReductionKey::Answers(to.number),
        Some(section) => ReductionKey::SectionAnswers(section, to.number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_insertion_that_is_not_announced_yet_is_waited_for() {
        // Two elements; the second inserted a third, which contributed first.
        let mut tally = Tally { old: 1, ..Tally::default() };
        tally.add(&inserted(1, 0, 1, 0));
        assert!(!tally.is_complete(2));
        tally.add(&Tally { old: 1, ..inserted(1, 1, 0, 0) });
        assert!(tally.is_complete(2));
        assert_eq!(tally.contributions(), 3);
    }

    #[test]
    fn a_child_does_not_stand_in_for_its_parent() {
        // One element inserted another, and that one a third, which contributed before its parent.
        let mut tally = Tally { old: 1, ..inserted(1, 1, 0, 0) };
        tally.add(&inserted(2, 0, 1, 0));
        assert!(!tally.is_complete(1));
        tally.add(&inserted(1, 0, 1, 0));
        tally.add(&inserted(2, 1, 0, 0));
        assert!(tally.is_complete(1));
    }

    fn inserted(number: u32, born: u64, contributed: u64, gone: u64) -> Tally {
        let mut tally = Tally::default();
        *tally.generation(number) = Generation { born, contributed, gone };
        tally
    }

    #[test]
    fn who_goes_is_not_waited_for() {
        let mut tally = Tally { old: 1, old_gone: 1, ..Tally::default() };
        assert!(tally.is_complete(2));
        tally.add(&inserted(1, 1, 0, 0));
        assert!(!tally.is_complete(2));
        tally.add(&inserted(1, 0, 0, 1));
        assert!(tally.is_complete(2));
    }

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
