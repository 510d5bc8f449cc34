//! The way of partial results up the tree, and what follows when all are at its root.

use easy_ext::ext;

use super::{By, Contribution, Pending};
use crate::reduction::ReductionsOfCollection;
use crate::reduction::blame::BlameOnPe;
use crate::reduction::contributing::ContributionsOnPe;
use crate::reduction::late::LateElementsOnPe;
use crate::reduction::message::ReductionMessage;
use crate::section::SectionsOnPe;
use talisman_base::ids::ReductionKey;
use talisman_base::ids::{CollectionId, PeId};
use talisman_kernel::collection::Collection;
use talisman_kernel::message::service::Service;
use talisman_kernel::pe::Pe;
use talisman_kernel::route::Route;
use talisman_kernel::witness::{self, Seen};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::Packed;
use talisman_reduce::{AnyPartial, ReduceError};

#[ext(GatheringOnPe)]
pub impl Pe {
    /// A count, or a part from below in the tree.
    fn contribution_made(&self, collection: &Collection, part: Contribution) {
        let Contribution { key, tally, value, to, .. } = part;
        self.with_pending(collection, key, By::Pe(self.id), |pending| pending.absorb(&tally, value, to));
    }

    /// A part from another node.
    fn on_part(&self, from: PeId, collection: CollectionId, part: Packed) {
        match part.into_value::<Contribution>() {
            Ok(part) => self.on_contribution(from, part),
            Err(error) => {
                if let Some(collection) = self.collections.get(collection) {
                    let what = format!("(reduction), sent by PE {from},");
                    self.unreadable(collection, &what, &error.to_string());
                }
            }
        }
    }

    fn on_contribution(&self, from: PeId, part: Contribution) {
        let Some(collection) = self.collections.get(part.collection) else { return };
        if self.is_of_nobody(&part) {
            return sometimes(
                "a member that was made again contributed to a section that was made before it",
            );
        }
        let by = part.by(from);
        let Contribution { key, tally, value, to, .. } = part;
        if self.ends_here(collection, key) {
            self.absorb_at_root(collection, key, by, |pending| pending.absorb(&tally, value, to));
        } else {
            self.with_pending(collection, key, by, |pending| pending.absorb(&tally, value, to));
        }
    }

    /// At the root of a section: whether nobody waits for it, since another had the member's name when the section was made.
    fn is_of_nobody(&self, part: &Contribution) -> bool {
        match (part.key, part.made_again) {
            (ReductionKey::Section(section, _), Some(index)) => self.sections().has_lost(section, index),
            _ => false,
        }
    }

    /// Of a broadcast whose answers are reduced: so many PEs, this one among them, tell how many receive it before what gathers here of
    /// the answers goes on.
    fn await_reports(&self, collection: &Collection, number: u32) {
        // At the root, what comes from below is not kept with what has gathered there.
        let root = collection.root_pe();
        let pes = if collection.root().is_some() { 1 } else { self.view().branch(self.id, root) };
        collection.answers_here().expect(number, pes);
        self.note_unflushed(collection);
    }

    /// All from whom this PE awaits that have told how many receive a broadcast: what has gathered of the answers goes on.
    fn all_have_told(&self, collection: &Collection, key: ReductionKey, part: Pending) {
        if mutated("told-answers-lost") {
            return;
        }
        if part.is_due(key, collection.members.get()) {
            return self.send_pending_up(collection, key, part);
        }
        sometimes("all PEs below had told of a broadcast before all here had answered");
        self.put_pending(collection, key, part);
        self.flush_later(collection);
    }

    fn put_pending(&self, collection: &Collection, key: ReductionKey, part: Pending) {
        let put = {
            let mut all = collection.pending().borrow_mut();
            let pending = all.entry(key).or_default();
            pending.made_here += part.made_here;
            pending.absorb(&part.tally, part.value, part.to)
        };
        if let Err(error) = put {
            self.reduction_failed(collection, None, &error);
        }
    }

    /// What waits for PEs below does not any longer.
    fn take_awaited(&self, collection: &Collection) {
        for (number, part) in collection.answers_here().take_parts() {
            self.put_pending(collection, ReductionKey::Answers(number), part);
        }
    }

    /// Sends on what has gathered, but for answers that wait for PEs below; whether that was anything. A frozen PE keeps nothing.
    fn flush_reductions(&self) -> bool {
        let mut any = false;
        for id in self.unflushed.take() {
            let Some(collection) = self.collections.get(id) else { continue };
            collection.is_unflushed().set(false);
            if self.frozen.get() {
                self.take_awaited(collection);
            }
            let mut keys: Vec<_> = collection.pending().borrow().keys().copied().collect();
            if mutated("partial-result-kept-back") && keys.len() > 1 {
                keys.pop();
            }
            any |= !keys.is_empty();
            for key in keys {
                self.mark_partial(collection, key);
                self.send_up(collection, key);
            }
            if collection.answers_here().is_waiting() {
                sometimes("answers to a broadcast waited for PEs below");
                self.note_unflushed(collection);
            }
        }
        any
    }

    /// What has gathered goes on when nothing else is to do.
    fn flush_later(&self, collection: &Collection) {
        self.note_unflushed(collection);
        self.chores.set(true);
    }

    /// There is something here that is not sent on yet.
    fn note_unflushed(&self, collection: &Collection) {
        if collection.is_unflushed().replace(true) {
            return;
        }
        let mut all = self.unflushed.borrow_mut();
        // Answers that wait for others are looked for at the next flush, which may not come as long as nobody has anything to send on.
        if all.len() == all.capacity() {
            all.retain(|id| self.collections.get(*id).is_some());
        }
        all.push(collection.id);
    }

    fn mark_partial(&self, collection: &Collection, key: ReductionKey) {
        let made_here = collection.pending().borrow().get(&key).map(|pending| pending.made_here);
        if made_here.is_some_and(|made| 0 < made && made < u64::from(collection.members.get())) {
            sometimes("a partial result was sent on before every element here had contributed");
        }
    }

    fn send_up(&self, collection: &Collection, key: ReductionKey) {
        if let Some(pending) = collection.take_pending(key) {
            self.send_pending_up(collection, key, pending);
        }
    }

    fn send_pending_up(&self, collection: &Collection, key: ReductionKey, pending: Pending) {
        if collection.going.get() && matches!(key, ReductionKey::Answers(_)) {
            // That all elements have gone is told behind all that they had contributed.
            self.take_awaited(collection);
            let others: Vec<_> =
                collection.pending().borrow().keys().copied().filter(|other| *other != key).collect();
            for other in others {
                let part = collection.take_pending(other);
                part.into_iter().for_each(|part| self.send_part_up(collection, other, part));
            }
        }
        self.send_part_up(collection, key, pending);
    }

    fn send_part_up(&self, collection: &Collection, key: ReductionKey, pending: Pending) {
        let Pending { tally, value, to, .. } = pending;
        if self.ends_here(collection, key) {
            return self
                .absorb_at_root(collection, key, By::Pe(self.id), |sum| sum.absorb(&tally, value, to));
        }
        let part = Contribution { value, to, ..Contribution::count(collection.id, key, tally) };
        let above = self.above(collection, key);
        if !self.tell_in_words(above, Service::Reductions, || part.to_words()) {
            self.tell(above, ReductionMessage::Contribution(Box::new(part)));
        }
    }

    fn above(&self, collection: &Collection, key: ReductionKey) -> PeId {
        match key {
            ReductionKey::All(_) | ReductionKey::Answers(_) | ReductionKey::Late { .. } => {
                let above = self.view().parent(self.id, collection.root_pe());
                above.expect("the root sends nothing up")
            }
            ReductionKey::Section(section, _) | ReductionKey::SectionAnswers(section, _) => {
                self.view().acting_for(section.creator)
            }
        }
    }

    fn ends_here(&self, collection: &Collection, key: ReductionKey) -> bool {
        match key {
            ReductionKey::All(_) | ReductionKey::Answers(_) | ReductionKey::Late { .. } => {
                collection.root().is_some()
            }
            ReductionKey::Section(section, _) | ReductionKey::SectionAnswers(section, _) => {
                self.view().acting_for(section.creator) == self.id
            }
        }
    }

    fn absorb_at_root(
        &self,
        collection: &Collection,
        key: ReductionKey,
        by: By,
        change: impl FnOnce(&mut Pending) -> Result<(), ReduceError>,
    ) {
        match key {
            ReductionKey::Section(section, _) | ReductionKey::SectionAnswers(section, _) => {
                match self.sections().with_open(section, key, change) {
                    Some(Ok(())) => self.complete_over_section(collection, section, key),
                    Some(Err(error)) => self.reduction_failed(collection, Some(by), &error),
                    None if self.sections().has(section) => {}
                    None => self.note_too_late("a contribution to a section that was destroyed".into()),
                }
            }
            ReductionKey::Late { member, nth } => {
                let root = collection.root().expect("`ends_here`");
                let mut part = Pending::default();
                let added = change(&mut part).and_then(|()| root.borrow_mut().add_late(member, nth, part));
                match added {
                    Ok(()) => self.complete_reductions(collection),
                    Err(error) => self.reduction_failed(collection, Some(by), &error),
                }
            }
            ReductionKey::All(_) | ReductionKey::Answers(_) => {
                let root = collection.root().expect("`ends_here`");
                if matches!(key, ReductionKey::All(number) if number > root.borrow().next) {
                    sometimes("a contribution came for a reduction whose former one was open");
                }
                let changed = change(root.borrow_mut().open.entry(key).or_default());
                if let Err(error) = changed {
                    return self.reduction_failed(collection, Some(by), &error);
                }
                self.complete(collection, key);
            }
        }
    }

    /// At the root, after going back to a checkpoint: what had come of a reduction. All PEs had said how many elements
    /// received what is answered, however many there were.
    fn on_reopen(&self, id: CollectionId, key: ReductionKey, pending: Packed) {
        let Some(collection) = self.collections.get(id) else { return };
        match pending.into_value::<Pending>() {
            Ok(Pending { mut tally, value, to, .. }) => {
                if let ReductionKey::Answers(_) = key {
                    tally.reports = u32::MAX;
                }
                self.absorb_at_root(collection, key, By::Pe(self.id), |sum| sum.absorb(&tally, value, to));
            }
            Err(error) => self.unreadable(collection, "(reduction)", &error.to_string()),
        }
    }

    fn complete(&self, collection: &Collection, key: ReductionKey) {
        let Some(root) = collection.root() else { return };
        if let ReductionKey::All(_) = key {
            return self.complete_reductions(collection);
        }
        let done = root.borrow_mut().take_answers(key, self.view().pes());
        done.into_iter().for_each(|pending| self.finish(collection, key, pending));
    }

    /// Every reduction of a collection that is complete, in order.
    fn complete_reductions(&self, collection: &Collection) {
        let Some(root) = collection.root() else { return };
        loop {
            if let Err(error) = self.admit_late(collection) {
                return self.reduction_failed(collection, None, &error);
            }
            let complete = root.borrow_mut().take_complete();
            let Some((key, pending)) = complete else { break };
            self.finish(collection, key, pending);
        }
    }

    /// The result goes where it is wanted.
    fn finish(&self, collection: &Collection, key: ReductionKey, pending: Pending) {
        let contributions = pending.contributions();
        witness::see(|| Seen::Reduced { collection: collection.id, reduction: key.into(), contributions });
        match (pending.value.map(AnyPartial::finish), pending.to) {
            // Everybody went, and nobody contributed.
            (_, None) => sometimes("a reduction was complete because everybody went"),
            (_, Some(to @ Route::Destroyed(_))) => self.route(&to, Packed::default()),
            (Some(Ok(value)), Some(to)) => match value.refusal() {
                None => self.route(&to, value),
                Some(why) => self.refuse_result(collection, why),
            },
            (Some(Err(error)), _) => self.reduction_failed(collection, None, &error),
            (None, Some(_)) => self.reduction_failed(collection, None, &ReduceError::Nobody),
        }
    }
}
