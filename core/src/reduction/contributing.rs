//! What elements contribute, and what is made of that on their PE.

use easy_ext::ext;

use super::{By, Contribution, Pending, Tally};
use crate::reduction::ReductionsOfCollection;
use crate::reduction::blame::BlameOnPe;
use crate::reduction::gathering::GatheringOnPe;
use crate::reduction::message::ReductionMessage;
use talisman_base::birth::BirthId;
use talisman_base::ids::ReductionKey;
use talisman_base::ids::{ObjId, SectionId};
use talisman_base::limits::REDUCTIONS;
use talisman_kernel::collection::Collection;
use talisman_kernel::object::{Head, flag};
use talisman_kernel::pe::Pe;
use talisman_kernel::route::{Collect, Route};
use talisman_kernel::witness::{self, Seen};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::{Packed, Pup, Purpose, Unpacker};
use talisman_reduce::{AnyPartial, ReduceError, Reducer};

#[ext(ContributionsOnPe)]
pub impl Pe {
    /// An element contributes to the next reduction of its collection. What all others contributed while they were made has long been
    /// reduced, when a late member is made.
    #[track_caller]
    fn contribute<T: Pup + Send + 'static, R: Reducer<T>>(&self, object: &Head, value: T, to: Route) {
        let collection = object.collection();
        if collection.id.is_singles() {
            panic!(
                "`{}` is no element of an array or group: it has nobody to reduce with",
                collection.label(object.index())
            );
        }
        if object.has(flag::LATE) && !object.has(flag::LIVE) {
            return sometimes("what a late member contributed while it was made was for nothing");
        }
        let key = next_of(object);
        self.see_contribution(object.id(), key);
        let tally = Tally { heard: object.broadcasts.get(), ..self.tally_of(object, true) };
        let (before, index) = (object.reduction.get(), object.index());
        object.reduction.set(self.one_more(REDUCTIONS, before, collection, Some(index)));
        self.add_value::<T, R>(collection, key, tally, value, object.index(), Some(to));
    }

    /// An element that will not contribute any more.
    fn report_death(&self, object: &Head) {
        let collection = object.collection();
        if collection.id.is_singles() || mutated("end-not-reported") {
            return;
        }
        let key = next_of(object);
        let tally = self.tally_of(object, false);
        self.contribution_made(collection, Contribution::count(collection.id, key, tally));
    }

    fn tally_of(&self, object: &Head, contributes: bool) -> Tally {
        let (mut tally, mut birth) = (Tally::default(), BirthId::NONE);
        if let Some(mut extras) = object.take_extras() {
            birth = std::mem::take(&mut extras.birth);
            let born = std::mem::take(&mut extras.born);
            if born.count > 0 && !mutated("birth-not-announced") {
                tally.announce(born.count.into(), born.marks);
            }
            object.put_extras(Some(extras));
        }
        tally.hear_of(birth, contributes);
        tally
    }

    /// The packed answer of one element to a broadcast or multicast whose answers are reduced.
    fn answer(&self, to: Collect, value: Packed) {
        let (bytes, segments) = value.into_parts();
        self.answer_with(to, &mut Unpacker::with_segments(&bytes, Purpose::Message, segments));
    }

    fn answer_with(&self, to: Collect, value: &mut Unpacker<'_>) {
        let Some(collection) = self.collections.get(to.collection) else { return };
        self.see_contribution(collection.object(to.index), to.key());
        let add = |pending: &mut Pending| {
            pending.tally.add(&Tally { old: 1, ..Tally::default() });
            add_packed(&mut pending.value, to, value)
        };
        self.with_pending(collection, to.key(), By::Element(to.index), add);
    }

    /// The same of an answer that is not packed.
    fn answer_as_is<R: Pup + 'static>(&self, to: Collect, value: R) {
        let Some(collection) = self.collections.get(to.collection) else { return };
        self.see_contribution(collection.object(to.index), to.key());
        let add = |pending: &mut Pending| {
            pending.tally.old = pending.tally.old.saturating_add(1);
            match AnyPartial::take_in(&mut pending.value, to.reducer, value, to.index) {
                None => Ok(()),
                // The reducer is not one of such values: what it says of its bytes is told.
                Some(value) => {
                    let (bytes, segments) = Packed::of(&value).into_parts();
                    let value = &mut Unpacker::with_segments(&bytes, Purpose::Message, segments);
                    add_packed(&mut pending.value, to, value)
                }
            }
        };
        self.with_pending(collection, to.key(), By::Element(to.index), add);
    }

    /// A member contributes to the next reduction of a section.
    fn contribute_to_section<T: Pup + Send + 'static, R: Reducer<T>>(
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
        if object.has(flag::MADE_AGAIN) {
            return self.contribute_alone::<T, R>(object, key, value, to);
        }
        let tally = Tally { old: 1, ..Tally::default() };
        self.add_value::<T, R>(object.collection(), key, tally, value, object.index(), Some(to));
    }

    /// Only the section's root knows whether a member that was made again has a part in it.
    fn contribute_alone<T: Pup + Send + 'static, R: Reducer<T>>(
        &self,
        object: &Head,
        key: ReductionKey,
        value: T,
        to: Route,
    ) {
        let (collection, index) = (object.collection(), object.index());
        let value = match AnyPartial::lift::<T, R>(value, index) {
            Ok(value) => value,
            Err(error) => return self.reduction_failed(collection, Some(By::Element(index)), &error),
        };
        let part = Contribution {
            value: Some(value),
            to: Some(to),
            made_again: Some(index),
            ..Contribution::count(collection.id, key, Tally { old: 1, ..Tally::default() })
        };
        self.tell(self.above(collection, key), ReductionMessage::Contribution(Box::new(part)));
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
        self.with_pending(collection, key, By::Element(index), add);
    }

    /// Changes a reduction's parts here, and sends them on if nothing more will come from this PE, or from below.
    fn with_pending(
        &self,
        collection: &Collection,
        key: ReductionKey,
        by: By,
        change: impl FnOnce(&mut Pending) -> Result<(), ReduceError>,
    ) {
        let change = |pending: &mut Pending| {
            pending.made_here += u64::from(matches!(by, By::Element(_)));
            change(pending)
        };
        if let ReductionKey::Answers(number) = key
            && let Some(at) = collection.answers_here().place_of(number)
        {
            match collection.answers_here().change(at, change) {
                Err(error) => self.reduction_failed(collection, Some(by), &error),
                Ok(None) => {}
                Ok(Some(part)) => self.all_have_told(collection, key, part),
            }
            return;
        }
        let (changed, is_due) = {
            let mut all = collection.pending().borrow_mut();
            let pending = all.entry(key).or_default();
            let changed = change(pending);
            (changed, pending.is_due(key, collection.members.get()))
        };
        match changed {
            Err(error) => self.reduction_failed(collection, Some(by), &error),
            Ok(()) if is_due => self.send_up(collection, key),
            Ok(()) => self.flush_later(collection),
        }
    }

    fn see_contribution(&self, object: ObjId, key: ReductionKey) {
        witness::see(|| Seen::Contributed { object, pe: self.id, reduction: key.into() });
    }
}

/// Takes in a packed answer.
fn add_packed(
    total: &mut Option<AnyPartial>,
    to: Collect,
    value: &mut Unpacker<'_>,
) -> Result<(), ReduceError> {
    match total {
        Some(total) => total.add_packed(to.reducer, value, to.index),
        empty => {
            *empty = Some(AnyPartial::lift_packed(to.reducer, value, to.index)?);
            Ok(())
        }
    }
}

/// The next reduction that an element contributes to.
fn next_of(object: &Head) -> ReductionKey {
    let number = object.reduction.get();
    match object.has(flag::LATE) {
        true => ReductionKey::Late { member: object.index() as u32, nth: number },
        false => ReductionKey::All(number),
    }
}
