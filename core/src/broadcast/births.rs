//! Which broadcasts an inserted element receives: those that its inserter had not received.
//!
//! An element that is inserted by another of its collection receives the broadcasts that this one receives afterwards, had it
//! stayed; one that is inserted from outside those that the root numbers after the insertion has come there. Where and when it is
//! made has no part in that. So an insertion carries the number of the first broadcast that is for the newborn. Until it is made
//! it is treated like an element that moves: its home, and then the PE where it is to be, count it among those that receive what
//! passes there, and keep that for it. What passes a PE that sent it off goes after it (`MissedUnborn`), until the next one has
//! told how far it had come (`Settled`). It is made when it has all that it may have missed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ptr::NonNull;

use easy_ext::ext;

use crate::broadcast::BroadcastsOfCollection;
use crate::broadcast::BroadcastsOnPe;
use crate::broadcast::message::BroadcastMessage;
use talisman_base::birth::BirthId;
use talisman_base::ids::{CollectionId, ObjId, PeId};
use talisman_kernel::collection::Collection;
use talisman_kernel::message::control::Cast;
use talisman_kernel::message::envelope::{Birth, Envelope};
use talisman_kernel::pe::Pe;
use talisman_kernel::witness::Until;
use talisman_observe::sometimes::sometimes;

/// Elements of a collection that were inserted and are not made yet, as one PE knows them.
#[derive(Default)]
pub struct Births {
    /// Sent off from here.
    sent: RefCell<BTreeMap<BirthId, Sent>>,
    /// To be made here, or to be sent on by this PE, their home.
    unborn: RefCell<BTreeMap<BirthId, Unborn>>,
    /// After going back to a checkpoint: what those are to receive that were not made before it.
    saved: RefCell<BTreeMap<BirthId, Vec<(u32, Cast)>>>,
}

/// An element that was sent off to be made.
struct Sent {
    id: ObjId,
    to: PeId,
    /// The first broadcast for it that passes here, or would.
    first: u32,
    /// Broadcasts that had passed there when it came, once that is known.
    until: Option<u32>,
}

impl Sent {
    /// Whether a broadcast that passes here has to go after it.
    fn may_miss(&self, number: u32) -> bool {
        self.first <= number && self.until.is_none_or(|until| number < until)
    }
}

/// An element to be made.
struct Unborn {
    /// Broadcasts that it will receive, in their order.
    given: Vec<(u32, Cast)>,
    /// From this number on, those that pass here are for it.
    first: u32,
    /// The next that has to come after it from where it was sent off, and where those end.
    next: u32,
    until: u32,
    /// The message that makes it, while that waits for those.
    creation: Option<NonNull<Envelope>>,
}

impl Unborn {
    fn has_all(&self) -> bool {
        self.next >= self.until
    }

    /// One that it had missed has come, before those that have passed here since.
    fn take_missed(&mut self, number: u32, cast: Cast) {
        if number == self.next && number < self.until {
            let before = self.given.partition_point(|(given, _)| *given < number);
            self.given.insert(before, (number, cast));
            self.next += 1;
        }
    }
}

/// Broadcasts that go after elements that were sent off.
#[derive(Default)]
pub struct Followed {
    /// After these.
    pub(super) births: Vec<(BirthId, ObjId, PeId)>,
    /// So many of them receive it for certain.
    pub(super) certain: u64,
    /// Of so many it is not known whether it had passed where they came to.
    pub(super) open: u32,
}

impl Births {
    /// Whether nothing is under way that a checkpoint would miss.
    pub(super) fn is_at_rest(&self) -> bool {
        self.sent.borrow().is_empty() && self.unborn.borrow().values().all(|unborn| unborn.creation.is_none())
    }

    /// A broadcast passes: those that are to be made here will receive it. How many those are.
    pub(super) fn pass(&self, number: u32, cast: &Cast) -> u64 {
        let mut unborn = self.unborn.borrow_mut();
        let receivers = unborn.values_mut().filter(|one| one.first <= number);
        receivers.map(|one| one.given.push((number, cast.clone()))).count() as u64
    }

    /// A broadcast passes: which of those that were sent off may miss it.
    pub(super) fn follow(&self, number: u32) -> Followed {
        let mut followed = Followed::default();
        self.sent.borrow_mut().retain(|birth, sent| {
            if sent.may_miss(number) {
                followed.births.push((*birth, sent.id, sent.to));
                followed.certain += u64::from(sent.until.is_some());
                followed.open += u32::from(sent.until.is_none());
            }
            sent.until.is_none_or(|until| number + 1 < until)
        });
        followed
    }

    /// One that was sent off has come where so many had passed: the first that it could miss here.
    fn settle(&self, birth: BirthId, until: u32, passed: u32) -> Option<u32> {
        let mut all = self.sent.borrow_mut();
        let sent = all.get_mut(&birth).filter(|sent| sent.until.is_none())?;
        let first = sent.first;
        sent.until = Some(until);
        if until <= passed {
            all.remove(&birth);
        }
        Some(first)
    }

    /// An element is made now: the first broadcast for it, and those that it receives at once.
    pub fn take(&self, birth: BirthId, passed: u32) -> (u32, Vec<(u32, Cast)>) {
        let taken = self.unborn.borrow_mut().remove(&birth);
        let (first, given) = taken.map_or((0, Vec::new()), |unborn| (unborn.first, unborn.given));
        (given.first().map_or(first.max(passed), |(number, _)| *number), given)
    }

    /// What those that are not made yet are to receive, from which number on up to those that have passed.
    pub fn unborn(&self) -> Vec<(BirthId, Vec<(u32, Cast)>)> {
        let unborn = self.unborn.borrow();
        let given = unborn.iter().filter(|(_, one)| !one.given.is_empty());
        given.map(|(birth, one)| (*birth, one.given.clone())).collect()
    }

    /// The same after going back to a checkpoint.
    pub fn go_on_with(&self, birth: BirthId, given: Vec<(u32, Cast)>) {
        self.saved.borrow_mut().insert(birth, given);
    }

    /// Messages that wait, when the PE ends.
    pub fn take_kept(&self) -> impl Iterator<Item = NonNull<Envelope>> {
        self.unborn.take().into_values().filter_map(|unborn| unborn.creation)
    }
}

/// How an element comes into its collection, if what it receives depends on that.
fn birth_of(message: &mut Envelope) -> Option<&mut Birth> {
    let birth = message.extra.as_mut()?.birth.as_mut()?;
    (!birth.id.is_none()).then_some(birth)
}

#[ext(BirthsOnPe)]
pub impl Pe {
    /// Sends off a message that makes an element: to its home, or from there to where it is to be.
    fn send_birth(&self, collection: &Collection, to: PeId, mut envelope: NonNull<Envelope>) {
        if to == self.id {
            return self.enqueue_creation(collection, envelope);
        }
        // SAFETY: the caller gives the envelope away.
        let message = unsafe { envelope.as_mut() };
        let id = message.to();
        if let Some(birth) = birth_of(message) {
            let (births, passed) = (&collection.casts().births, collection.casts().passed());
            if let Some(unborn) = births.unborn.borrow_mut().remove(&birth.id) {
                birth.first = unborn.first.max(passed);
                birth.given = unborn.given;
            }
            birth.sender = Some(self.id);
            let sent = Sent { id, to, first: birth.first, until: None };
            births.sent.borrow_mut().insert(birth.id, sent);
        }
        self.transmit(to, envelope);
    }

    /// A message that makes an element has come. What passes from now on is kept for it; its sender is told so.
    fn expect_birth(&self, collection: &Collection, mut envelope: NonNull<Envelope>) {
        // SAFETY: the caller's envelope.
        let message = unsafe { envelope.as_mut() };
        let id = message.to();
        let Some(birth) = birth_of(message) else { return };
        let (births, passed) = (&collection.casts().births, collection.casts().passed());
        if births.unborn.borrow().contains_key(&birth.id) {
            return;
        }
        let (given, sender) = (std::mem::take(&mut birth.given), birth.sender.take());
        let until = if sender.is_some() { passed } else { 0 };
        let unborn = Unborn { given, first: birth.first, next: birth.first, until, creation: None };
        births.unborn.borrow_mut().insert(birth.id, unborn);
        if let Some(sender) = sender {
            self.tell(sender, BroadcastMessage::Settled { id, birth: birth.id, broadcasts: passed });
        }
    }

    /// Whether an element has all that it may have missed, and that can be read; else its message is kept until then.
    fn can_be_born(&self, collection: &Collection, mut envelope: NonNull<Envelope>) -> bool {
        // SAFETY: the caller's envelope.
        let Some(birth) = birth_of(unsafe { envelope.as_mut() }) else { return true };
        let mut all = collection.casts().births.unborn.borrow_mut();
        let Some(unborn) = all.get_mut(&birth.id) else { return true };
        if !unborn.has_all() {
            sometimes("an element waited to be made for broadcasts that it had missed");
            unborn.creation = Some(envelope);
            self.see_kept(envelope, Until::Broadcasts);
            return false;
        }
        let Some(lacking) = unborn.given.iter().find_map(|(_, cast)| self.lacks(cast.args.needs())) else {
            return true;
        };
        drop(all);
        sometimes("an element waited to be made for a shared value in a broadcast");
        self.defer(lacking, envelope);
        false
    }

    /// An element that was sent off from here has come; so many broadcasts had passed there.
    fn on_settled(&self, id: ObjId, birth: BirthId, until: u32) {
        let Some(collection) = self.collections.get(id.collection) else { return };
        let first = collection.casts().births.settle(birth, until, collection.casts().passed());
        first.into_iter().for_each(|first| self.settle_uncertain(collection, first, until));
    }

    /// A broadcast sent after an element that is to be made here.
    fn on_missed_unborn(&self, id: ObjId, birth: BirthId, number: u32, cast: Cast) {
        let Some(collection) = self.collections.get(id.collection) else { return };
        let creation = match collection.casts().births.unborn.borrow_mut().get_mut(&birth) {
            None => return sometimes("a broadcast was sent after an element that was made"),
            Some(unborn) => {
                unborn.take_missed(number, cast);
                let has_all = unborn.has_all();
                unborn.creation.take_if(|_| has_all)
            }
        };
        creation.into_iter().for_each(|creation| self.enqueue_creation(collection, creation));
    }

    /// Sends a broadcast after those that were sent off and may miss it.
    fn send_after_births(&self, id: CollectionId, number: u32, cast: &Cast, followed: &Followed) {
        debug_assert!(followed.births.iter().all(|(_, to, _)| to.collection == id), "of this collection");
        for (birth, id, to) in &followed.births {
            sometimes("a broadcast was sent after an element that was not made yet");
            let (id, birth, cast) = (*id, *birth, cast.clone());
            self.tell(*to, BroadcastMessage::MissedUnborn { id, birth, number, cast });
        }
    }

    /// An element of a checkpoint is still to be made: from where everybody goes on it receives all, and what it was given before.
    fn give_back(&self, collection: &Collection, mut envelope: NonNull<Envelope>) {
        // SAFETY: the caller's envelope.
        let Some(birth) = birth_of(unsafe { envelope.as_mut() }) else { return };
        birth.first = birth.first.max(collection.casts().passed());
        birth.sender = None;
        birth.given = collection.casts().births.saved.borrow_mut().remove(&birth.id).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_kernel::message::control::CastCall;
    use talisman_pup::Packed;

    fn cast() -> Cast {
        Cast { call: CastCall::Entry(0), args: Packed::default(), collect: None }
    }

    fn birth(number: u64) -> BirthId {
        BirthId::new(1, number)
    }

    fn sent(births: &Births, number: u64, first: u32) {
        let collection = CollectionId { creator: 0, serial: 0 };
        let sent = Sent { id: ObjId { collection, index: number.into() }, to: 2, first, until: None };
        births.sent.borrow_mut().insert(birth(number), sent);
    }

    fn unborn(first: u32, until: u32) -> Unborn {
        Unborn { given: Vec::new(), first, next: first, until, creation: None }
    }

    #[test]
    fn what_passes_goes_after_those_that_may_miss_it() {
        let births = Births::default();
        sent(&births, 1, 3);
        sent(&births, 2, 4);
        assert_eq!((births.follow(3).open, births.follow(4).open), (1, 2));
        assert_eq!(births.settle(birth(1), 4, 5), Some(3));
        assert_eq!(births.settle(birth(2), 7, 5), Some(4));
        assert_eq!(births.settle(birth(2), 7, 5), None, "it has been told");
        let after = |number| {
            let followed = births.follow(number);
            (
                followed.births.iter().map(|(birth, ..)| *birth).collect::<Vec<_>>(),
                followed.certain,
                followed.open,
            )
        };
        assert_eq!(after(5), (vec![birth(2)], 1, 0));
        assert_eq!(after(6), (vec![birth(2)], 1, 0));
        assert!(births.is_at_rest());
    }

    #[test]
    fn who_is_to_be_made_has_all_from_its_first_on_in_order() {
        let births = Births::default();
        births.unborn.borrow_mut().insert(birth(1), unborn(3, 5));
        births.unborn.borrow_mut().insert(birth(2), unborn(7, 5));
        assert_eq!((births.pass(5, &cast()), births.pass(6, &cast())), (1, 1));
        {
            let mut all = births.unborn.borrow_mut();
            let one = all.get_mut(&birth(1)).expect("put in above");
            // The second before the first, and one that had passed here after it came, count for nothing.
            [4, 3, 4, 5].into_iter().for_each(|number| one.take_missed(number, cast()));
            assert!(one.has_all());
        }
        let (first, given) = births.take(birth(1), 7);
        assert_eq!(
            (first, given.iter().map(|(number, _)| *number).collect::<Vec<_>>()),
            (3, vec![3, 4, 5, 6])
        );
        assert_eq!(births.take(birth(2), 6).0, 7, "it begins with what has not passed here yet");
    }
}
