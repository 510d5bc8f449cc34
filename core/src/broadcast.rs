//! Broadcasts: numbered by the collection's root, spread down its tree, received once by every element.
//!
//! An element that moves could miss a broadcast, or get one twice: its old PE may be behind its new one. So each
//! element counts what it received, and the old PE sends after it what it missed (`Missed`), until the new PE has told
//! how far it had come when the element arrived. What is sent after an element goes to its new PE, not to the element:
//! so it comes in order behind it, and what comes for one that was removed before it had caught up is still counted.
//! Newer broadcasts wait with an element until it has caught up, so each receives all of them in the order of their numbers.
//! With which broadcast an element begins that is inserted meanwhile, [`births`] says.

pub mod births;
pub mod message;
mod short_words;
mod state;

use state::Uncertain;
pub use state::{BroadcastState, BroadcastsOfCollection};

use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use easy_ext::ext;

use crate::broadcast::births::BirthsOnPe;
use crate::broadcast::message::BroadcastMessage;
use crate::group_members::GroupMembersOnPe;
use crate::lifecycle::admission::AdmissionsOnPe;
use crate::lifecycle::census::CensusOnPe;
use crate::lifecycle::destroy::DestructionOnPe;
use crate::reduction::ReductionsOfCollection;
use crate::reduction::contributing::ContributionsOnPe;
use crate::reduction::gathering::GatheringOnPe;
use crate::reduction::{Contribution, Tally};
use talisman_base::ids::ReductionKey;
use talisman_base::ids::{CollectionId, ObjId, PeId, SectionId};
use talisman_base::limits::BROADCASTS;
use talisman_kernel::collection::Collection;
use talisman_kernel::entry_info::EntryInfo;
use talisman_kernel::location::Place;
use talisman_kernel::message::cell::WORDS;
use talisman_kernel::message::control::{Cast, CastCall, ObjectMessage};
use talisman_kernel::message::envelope::{Body, Envelope, Extra};
use talisman_kernel::message::service::{PeMessage, Service};
use talisman_kernel::object::{Head, flag};
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::execute::Call;
use talisman_kernel::route::{Collect, Route};
use talisman_kernel::witness::{self, Seen};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::Packed;

/// So many elements before it receives a broadcast, an element is fetched from memory: there are more than a cache holds.
const AHEAD: usize = 8;

#[ext(CastExtra)]
pub impl Cast {
    /// What an element's message carries: where its answer goes.
    fn extra(&self, pe: &Pe, id: ObjId, section: Option<SectionId>, number: u32) -> Option<Box<Extra>> {
        let (reducer, _) = self.collect.as_ref()?;
        let collect =
            Collect { collection: id.collection, section, number, index: id.index, reducer: *reducer };
        let mut extra = pe.spare_extra.take();
        extra.reply = Some(Route::Collect(collect));
        Some(extra)
    }
}

#[ext(BroadcastsOnPe)]
pub impl Pe {
    /// To where an element came from: it is here after so many moves, and broadcasts up to this number have passed.
    fn tell_arrived(&self, to: PeId, id: ObjId, moves: u32, broadcasts: u32) {
        self.tell(to, BroadcastMessage::Arrived { id, moves, broadcasts });
    }

    /// What asks a collection's root for a broadcast.
    fn broadcast_request(&self, collection: CollectionId, cast: Cast) -> Box<dyn PeMessage> {
        Box::new(BroadcastMessage::Request { collection, cast })
    }

    /// Sends a broadcast on its way.
    fn broadcast(&self, id: CollectionId, cast: Cast) {
        if self.admissions_open.get() && self.holds_broadcast(id, &cast) {
            return;
        }
        self.tell(self.view().acting_for(id.creator), BroadcastMessage::Request { collection: id, cast });
    }

    /// At the root: a broadcast gets its number.
    fn on_cast_request(&self, id: CollectionId, cast: Cast) {
        let Some(collection) = self.collections.get(id) else { return };
        if self.is_too_late(collection, &cast) {
            return;
        }
        if collection.is_inserting() && !mutated("broadcast-before-first-elements") {
            sometimes("a broadcast waited for the first elements");
            let is_end = matches!(cast.call, CastCall::Destroy);
            // Its first elements are on their way, and would miss what passes before them.
            collection.casts().held.borrow_mut().push(cast);
            if is_end {
                sometimes("an array was destroyed whose insertions had not been said to be over");
                self.on_done_inserting(id);
            }
            return;
        }
        let number = collection.casts().numbered.get();
        collection.casts().numbered.set(self.one_more(BROADCASTS, number, collection, None));
        witness::see(|| Seen::Numbered { collection: id, number });
        if let (CastCall::Reply(_), Some(root)) = (cast.call, collection.root()) {
            root.borrow_mut().pass_over(number);
        }
        self.on_cast(id, number, cast);
    }

    /// At the root: every first element is there.
    fn release_casts(&self, collection: &Collection) {
        let held = collection.casts().held.take();
        held.into_iter().for_each(|cast| self.on_cast_request(collection.id, cast));
    }

    fn on_cast(&self, id: CollectionId, number: u32, cast: Cast) {
        let Some(collection) = self.collections.get(id) else { return };
        let is_next = number == collection.casts().passed.get();
        if !is_next {
            sometimes("a broadcast overtook another");
        }
        if mutated("broadcasts-out-of-order") && self.lacks(cast.args.needs()).is_none() {
            return self.pass(collection, number, &cast);
        }
        if is_next && self.lacks(cast.args.needs()).is_none() {
            self.pass(collection, number, &cast);
        } else {
            collection.casts().early.borrow_mut().insert(number, cast);
        }
        if !collection.casts().early.borrow().is_empty() {
            self.pass_early(collection);
        }
    }

    /// Those that overtook another, or could not be read yet, and are next now.
    fn pass_early(&self, collection: &Collection) {
        loop {
            let number = collection.casts().passed.get();
            let Some(cast) = collection.casts().early.borrow_mut().remove(&number) else { break };
            // Nobody counts as having received it before it can be read here: an element for which it had to be kept, for
            // the want of a shared value, could be removed meanwhile, and its answer would be waited for. So what has
            // passed a PE can be read there, and so can what is sent there after an element.
            if let Some(lacking) = self.lacks(cast.args.needs()) {
                sometimes("a broadcast came before a shared value in it");
                let again =
                    self.pe_message(BroadcastMessage::Cast { collection: collection.id, number, cast });
                return self.defer(lacking, again);
            }
            self.pass(collection, number, &cast);
        }
        collection.give_back(&mut collection.casts().early.borrow_mut());
    }

    /// The next broadcast in order: on to the children, and to every element here.
    fn pass(&self, collection: &Collection, number: u32, cast: &Cast) {
        for child in self.view().children(self.id, collection.root_pe()) {
            let id = collection.id;
            if !self.tell_in_words(child, Service::Broadcasts, || short_words::to_words(id, number, cast)) {
                self.tell(child, BroadcastMessage::Cast { collection: id, number, cast: cast.clone() });
            }
        }
        if cast.collect.is_some() {
            self.await_reports(collection, number);
        }
        // Elements that come while this one is delivered count it as received.
        collection.casts().passed.set(number + 1);
        if let CastCall::Destroy = cast.call {
            collection.going.set(true);
        }
        let (casts, frozen) = (collection.casts(), self.frozen.get());
        let bare = if frozen { None } else { bare_entry(collection, cast) };
        let mut receivers = casts.give_to_kept(number, cast) + casts.births.pass(number, cast);
        let roster = collection.roster();
        for (at, slot) in roster.iter().enumerate() {
            if let Some(soon) = roster.get(at + AHEAD) {
                self.slots.prefetch(*soon);
            }
            // An element may have left, and another come into its slot, while those before it ran.
            let Some((head, _)) = self.slots.at(*slot) else {
                sometimes("an element left while those before it received a broadcast");
                continue;
            };
            // SAFETY: an object in a slot is live.
            let object = unsafe { head.as_ref() };
            if object.collection().id != collection.id {
                continue;
            }
            let is_next = object.broadcasts.get() <= number && !object.has(flag::CATCHING_UP);
            receivers += match bare.filter(|_| is_next) {
                Some(entry) => self.receive_bare(head, number, cast, entry),
                None => u64::from(self.give(head, number, cast, frozen)),
            };
        }
        self.send_after_departed(collection, number, cast, receivers);
    }

    /// Gives an element a broadcast, at once or when it has caught up; `false` if it had received it elsewhere.
    fn give(&self, head: NonNull<Head>, number: u32, cast: &Cast, frozen: bool) -> bool {
        // SAFETY: the object is live.
        let object = unsafe { head.as_ref() };
        if object.has(flag::CATCHING_UP) {
            if mutated("newer-broadcast-does-not-wait") {
                self.run_cast(head, number, cast);
            } else {
                sometimes("a broadcast waited for those that an element had missed");
                object.extras(|extras| extras.later.push_back((number, cast.clone())));
            }
            return true;
        }
        if object.broadcasts.get() > number && !mutated("broadcast-received-again") {
            sometimes("an element had received a broadcast on another PE");
            return false;
        }
        if frozen {
            sometimes("a broadcast waited for the end of a checkpoint");
            object.set(flag::CATCHING_UP);
            object.extras(|extras| extras.later.push_back((number, cast.clone())));
            return true;
        }
        self.receive(head, number, cast);
        true
    }

    /// An element receives its next broadcast, which calls an entry without arguments; that is one.
    #[inline]
    fn receive_bare(&self, head: NonNull<Head>, number: u32, cast: &Cast, entry: &'static EntryInfo) -> u64 {
        // SAFETY: the object is live.
        let object = unsafe { head.as_ref() };
        object.broadcasts.set(number + 1);
        let id = object.id();
        witness::see(|| Seen::Received { object: id, pe: self.id, number });
        let mut extra = cast.extra(self, id, None, number);
        // There is nothing in the words.
        let words = &mut [const { MaybeUninit::uninit() }; WORDS];
        self.run_entry(head, entry, &mut extra, words, &mut Body::Empty);
        1
    }

    /// An element receives its next broadcast.
    fn receive(&self, head: NonNull<Head>, number: u32, cast: &Cast) {
        // SAFETY: the object is live.
        unsafe { head.as_ref() }.broadcasts.set(number + 1);
        self.run_cast(head, number, cast);
    }

    fn run_cast(&self, head: NonNull<Head>, number: u32, cast: &Cast) {
        // SAFETY: the object is live.
        let id = unsafe { head.as_ref() }.id();
        witness::see(|| Seen::Received { object: id, pe: self.id, number });
        self.deliver_cast(head, cast, cast.extra(self, id, None, number));
    }

    /// Runs an element's part of a broadcast or multicast, once the shared values in it have come.
    fn deliver_cast(&self, head: NonNull<Head>, cast: &Cast, extra: Option<Box<Extra>>) {
        if let Some(lacking) = self.lacks(cast.args.needs()) {
            sometimes("a part of a multicast waited for a shared value");
            // SAFETY: the object is live.
            let id = unsafe { head.as_ref() }.id();
            return self.defer(lacking, self.cast_message(id, cast, extra));
        }
        match cast.call {
            CastCall::Destroy => self.destroy_element(head, extra),
            CastCall::Forget(section) => self.forget_section(head, section),
            CastCall::Reply(wait) => self.execute(head, Call::Reply { wait, value: cast.args.clone() }),
            CastCall::Entry(entry) => self.run_packed_entry(head, entry, Cow::Borrowed(&cast.args), extra),
        }
    }

    /// An element's part of a broadcast or multicast as a message of its own.
    fn cast_message(&self, id: ObjId, cast: &Cast, extra: Option<Box<Extra>>) -> NonNull<Envelope> {
        let args = cast.args.clone();
        let message = match cast.call {
            CastCall::Entry(entry) => ObjectMessage::Invoke { entry, args },
            CastCall::Reply(wait) => ObjectMessage::Reply { wait, value: args },
            CastCall::Forget(section) => ObjectMessage::Forget { section },
            // Only a peer that makes things up sends this one to some of them.
            CastCall::Destroy => ObjectMessage::to_nobody(),
        };
        let mut envelope = self.object_message(id, message);
        // SAFETY: just made.
        unsafe { envelope.as_mut() }.extra = extra;
        envelope
    }

    /// Sends a broadcast after those that left and may miss it, and counts its receivers where answers are wanted.
    fn send_after_departed(&self, collection: &Collection, number: u32, cast: &Cast, here: u64) {
        let (mut receivers, mut open, mut missed) = (here, 0, Vec::new());
        collection.casts().departed.borrow_mut().retain(|(index, moves), departed| {
            if departed.had <= number && departed.until.is_none_or(|until| number < until) {
                missed.push((collection.object(*index), departed.to, *moves));
                if departed.until.is_some() { receivers += 1 } else { open += 1 }
            }
            departed.until.is_none_or(|until| number + 1 < until)
        });
        let followed = collection.casts().births.follow(number);
        (receivers, open) = (receivers + followed.certain, open + followed.open);
        self.send_after_births(collection.id, number, cast, &followed);
        for (id, to, moves) in missed {
            sometimes("a broadcast was sent after an element that moved");
            if !mutated("departed-misses-broadcasts") {
                self.tell(to, BroadcastMessage::Missed { id, moves, number, cast: cast.clone() });
            }
        }
        if cast.collect.is_none() {
            return;
        }
        self.note_answers_wanted(collection, number, cast);
        match open {
            _ if mutated("receivers-counted-too-early") => {
                self.report_receivers(collection, number, receivers)
            }
            0 => self.report_receivers(collection, number, receivers),
            _ => {
                sometimes("a broadcast's receivers could not be counted at once");
                collection.casts().uncertain.borrow_mut().push(Uncertain { number, receivers, open });
            }
        }
    }

    /// The reducer and the receiver of the answers are known to each PE from the broadcast; the root keeps them.
    fn note_answers_wanted(&self, collection: &Collection, number: u32, cast: &Cast) {
        if let (Some(root), Some((_, to))) = (collection.root(), &cast.collect) {
            root.borrow_mut().expect_answers(ReductionKey::Answers(number), to.clone());
        }
    }

    fn report_receivers(&self, collection: &Collection, number: u32, receivers: u64) {
        let tally = Tally { reports: 1, expected: receivers, ..Tally::default() };
        let key = ReductionKey::Answers(number);
        self.contribution_made(collection, Contribution::count(collection.id, key, tally));
    }

    /// An element that left here has arrived; so many broadcasts had passed there.
    fn on_arrived(&self, id: ObjId, moves: u32, until: u32) {
        let Some(collection) = self.collections.get(id.collection) else { return };
        let passed = collection.casts().passed.get();
        let had = {
            let mut all = collection.casts().departed.borrow_mut();
            let key = (id.index, moves);
            let Some(departed) = all.get_mut(&key).filter(|departed| departed.until.is_none()) else {
                return;
            };
            let had = departed.had;
            departed.until = Some(until);
            match until > passed {
                true => sometimes("an element arrived where more broadcasts had passed"),
                false => drop(all.remove(&key)),
            }
            had
        };
        self.settle_uncertain(collection, had, until);
    }

    fn settle_uncertain(&self, collection: &Collection, had: u32, until: u32) {
        let mut certain = Vec::new();
        collection.casts().uncertain.borrow_mut().retain_mut(|count| {
            if count.number >= had {
                count.open -= 1;
                count.receivers += u64::from(count.number < until);
            }
            if count.open == 0 {
                certain.push((count.number, count.receivers));
            }
            count.open > 0
        });
        certain
            .into_iter()
            .for_each(|(number, receivers)| self.report_receivers(collection, number, receivers));
    }

    /// A broadcast sent after an element that moved here.
    fn on_missed(&self, id: ObjId, moves: u32, number: u32, cast: Cast) {
        let Some(collection) = self.collections.get(id.collection) else { return };
        let mut expected = collection.casts().expected.borrow_mut();
        if let Some(one) = expected.iter_mut().find(|one| (one.index, one.moves) == (id.index, moves)) {
            return one.missed.push((number, cast));
        }
        drop(expected);
        // SAFETY: an object in a slot is live.
        match self.find_here(id).filter(|head| unsafe { head.as_ref() }.moves.get() == moves) {
            Some(head) => self.run_missed(head, number, &cast),
            None if collection.casts().haunts(id.index, moves, number) => {
                sometimes("a broadcast came after an element that was removed");
                self.answer_for_removed(collection, id, number, &cast);
            }
            // It has moved on, and had nothing to catch up with here.
            None => sometimes("a broadcast was sent after an element that had moved on"),
        }
    }

    fn run_missed(&self, head: NonNull<Head>, number: u32, cast: &Cast) {
        // SAFETY: the object is live.
        let object = unsafe { head.as_ref() };
        let last = if object.has(flag::CATCHING_UP) { object.extras(|extras| extras.catch_up) } else { 0 };
        if number >= last || number != object.broadcasts.get() + kept_missed(object) {
            return sometimes("a broadcast was sent after an element that had received it");
        }
        let id = object.id();
        if self.frozen.get() {
            return self.keep_missed(object, number, cast);
        }
        self.receive(head, number, cast);
        if number + 1 == last {
            self.receive_later_ones(id);
        }
        self.do_what_was_put_off(id);
    }

    /// A move that an element had to put off, unless it has gone by now.
    fn do_what_was_put_off(&self, id: ObjId) {
        if let Some(head) = self.find_here(id)
            // SAFETY: an object in a slot is live.
            && unsafe { head.as_ref() }.has(flag::MIGRATE)
        {
            sometimes("an element that was catching up had wanted to move");
            self.after_entry(head);
        }
    }

    /// One that it had missed waits for the end of a checkpoint, before those that came here later.
    fn keep_missed(&self, object: &Head, number: u32, cast: &Cast) {
        sometimes("a broadcast that an element had missed waited for the end of a checkpoint");
        let before = if mutated("missed-broadcast-waits-behind-newer") {
            object.extras(|extras| extras.later.len())
        } else {
            kept_missed(object) as usize
        };
        object.extras(|extras| extras.later.insert(before, (number, cast.clone())));
    }

    /// A checkpoint is over: elements receive what waited for that. Nothing that any of them had missed is on its way then.
    fn receive_kept(&self) {
        (0..self.slots.count()).for_each(|slot| self.receive_kept_in(slot));
    }

    /// The same for the one in a slot.
    fn receive_kept_in(&self, slot: u32) {
        let Some((head, generation)) = self.slots.at(slot) else { return };
        // SAFETY: an object in a slot is live.
        let object = unsafe { head.as_ref() };
        if !object.has(flag::CATCHING_UP) {
            return;
        }
        let id = object.id();
        match object.collection().acting(id.index) {
            Some(own) => self.hand_over(slot, generation, own),
            None => {
                self.receive_later_ones(id);
                self.do_what_was_put_off(id);
            }
        }
    }

    /// An element was made that is to receive what had passed before, unless it went at once.
    fn receive_given(&self, id: ObjId) {
        if !self.frozen.get() {
            self.receive_later_ones(id);
            self.do_what_was_put_off(id);
        }
    }

    /// An element has what it missed: now it receives what came here meanwhile, unless it goes before the end of that.
    fn receive_later_ones(&self, id: ObjId) {
        while let Some(head) = self.find_here(id) {
            // SAFETY: an object in a slot is live.
            let object = unsafe { head.as_ref() };
            match object.extras(|extras| extras.later.pop_front()) {
                Some((number, cast)) => self.receive(head, number, &cast),
                None => return object.clear(flag::CATCHING_UP),
            }
        }
    }

    /// An element is removed: what it would have received is counted, and it answers nothing.
    fn bury(&self, object: &Head) {
        if !object.has(flag::CATCHING_UP) || mutated("ghost-forgotten") {
            return;
        }
        sometimes("an element was removed before it had caught up with the broadcasts");
        let next = object.broadcasts.get() + kept_missed(object);
        let (last, later) = object.extras(|extras| (extras.catch_up, std::mem::take(&mut extras.later)));
        object.collection().casts().bury(object, next, last);
        for (number, cast) in later {
            sometimes("an element was removed before a broadcast that waited for those that it had missed");
            self.answer_for_removed(object.collection(), object.id(), number, &cast);
        }
    }

    /// Of an element that counts as a receiver of a broadcast, and was removed before it.
    fn answer_for_removed(&self, collection: &Collection, id: ObjId, number: u32, cast: &Cast) {
        if cast.collect.is_some() {
            self.answer_nothing(collection, id, ReductionKey::Answers(number));
        }
    }

    /// Somebody counts as one who answers, and does not.
    fn answer_nothing(&self, collection: &Collection, id: ObjId, key: ReductionKey) {
        let tally = Tally { old: 1, ..Tally::default() };
        self.see_contribution(id, key);
        self.contribution_made(collection, Contribution::count(collection.id, key, tally));
    }

    /// An element came with so many broadcasts received: it may have to catch up.
    fn catch_up(&self, collection: &Collection, object: &Head) {
        let passed = collection.casts().passed.get();
        if passed > object.broadcasts.get() && !mutated("nothing-to-catch-up-with") {
            sometimes("an element arrived behind the broadcasts");
            object.set(flag::CATCHING_UP);
            object.extras(|extras| extras.catch_up = passed);
        }
    }

    /// Where an object is believed to be: for grouping, not for sending.
    fn believed_at(&self, collection: &Collection, index: u128) -> PeId {
        match self.place_of(collection, index) {
            Place::Here { .. } => self.id,
            Place::At { pe, .. } => pe,
            Place::Unknown | Place::Switching | Place::Gone { .. } => collection.home(index),
        }
    }
}

/// The entry that a broadcast calls, if it has no arguments, neither in memory nor in the broadcast: nothing is read of them for each element.
fn bare_entry(collection: &Collection, cast: &Cast) -> Option<&'static EntryInfo> {
    let CastCall::Entry(number) = cast.call else { return None };
    let entry = collection.chare.entries.get(number as usize)?;
    let is_bare = entry.args.size == 0 && cast.args == Packed::default();
    (is_bare && entry.args.read(Cow::Borrowed(&cast.args)).is_ok()).then_some(entry)
}

/// Broadcasts that an element had missed, and that wait with it for the end of a checkpoint.
fn kept_missed(object: &Head) -> u32 {
    object.extras(|extras| extras.later.iter().filter(|(number, _)| *number < extras.catch_up).count() as u32)
}
