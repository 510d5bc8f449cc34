//! Taking a PE's part: one pass over what it has.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::time::Duration;

use easy_ext::ext;

use super::Checkpoints;
use super::message::{Checkpoint, Taken};
use super::part::{Part, SavedCollection, SavedObject, SavedRoot};
use super::prepack::States;
use super::waiting::Messages;
use crate::balance::BalancingOnPe;
use crate::balance::message::Balance;
use crate::broadcast::BroadcastsOfCollection;
use crate::checkpoint::CheckpointsOnPe;
use crate::checkpoint::contents::ContentsOnPe;
use crate::checkpoint::drain::DrainOnPe;
use crate::lifecycle::admission::AdmissionsOnPe;
use crate::quiescence::QuiescenceOnPe;
use crate::reduction::ReductionsOfCollection;
use crate::reduction::blame::BlameOnPe;
use crate::section::SectionsOnPe;
use talisman_base::birth::BirthId;
use talisman_base::ids::ReductionKey;
use talisman_base::ids::{CollectionId, PeId};
use talisman_ft::Version;
use talisman_job::output_commit::SavedPeriod;
use talisman_kernel::collection::Collection;
use talisman_kernel::message::control::Cast;
use talisman_kernel::message::envelope::{Body, Envelope};
use talisman_kernel::message::service::{PeMessage, WhenFrozen};
use talisman_kernel::migrate::{header_of, pack_object, pack_object_in};
use talisman_kernel::object::{Head, flag};
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::names::SavedNames;
use talisman_kernel::pe::turn::world;
use talisman_kernel::route::Route;
use talisman_kernel::wire;
use talisman_kernel::witness::{self, Seen};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::{Lender, Packed, Packer, Pup, PupError, Purpose};
use talisman_store::contents::Counts;
use talisman_store::memory_probe::would_be_given;
use talisman_store::slabs::Room;

/// Why a part is not there. What the system refuses now it may give later, so the job goes on.
pub(super) const NO_MEMORY: &str = "the system gives no memory for its part";
/// The same of a copy, with whoever is to have that.
pub(super) const NO_MEMORY_FOR_COPY: &str = "its keeper has no memory for a copy of its part";

/// Something has more than what is packed of it.
pub(super) const NOT_WHOLE: &str = "an object there has more than a checkpoint can keep";

/// Of the bytes of a part, so many times less are to be there beside it: what stands around it asks for memory without asking whether there
/// is any. At least so many.
const BESIDE: usize = 8;
const BESIDE_MIN: usize = 1 << 20;

/// Broadcasts that wait with elements.
type BroadcastState = BTreeMap<(CollectionId, u32), Cast>;

/// Whether what was refused for this reason will be at any time.
fn is_for_good(why: &PupError) -> bool {
    !why.is_memory()
}

/// What a PE begins with that is made in the place of the one of which this is the only part: large slices are where they are in the part.
fn part_for_cut(parts: &[Part; 1]) -> Packed {
    let mut lender = Lender::new(Packer::new(Purpose::Message));
    lender.packer().len(parts.len());
    lender.nested::<Part>(|l| parts[0].lend(l));
    lender.finish().into()
}

#[ext(CaptureOnPe)]
pub impl Pe {
    /// Takes this PE's part into the store, if there is memory for it.
    fn take_part(&self, checkpoints: &Checkpoints) -> (Taken, Counts) {
        let version = checkpoints.version.get();
        witness::see(|| Seen::Captured { pe: self.id, version });
        let (mut states, mut room) = checkpoints.ahead.end();
        let parts = [Part { said: self.cut_what_was_said(version), ..self.capture(&mut states, &mut room) }];
        let (objects, counts) = (parts[0].objects.len() as u64, self.count_objects(&parts[0].objects));
        let part = self.packed(checkpoints, &parts[0], &mut room);
        if checkpoints.refused.get() {
            return (Taken::default(), counts);
        }
        let cut = checkpoints.settings.renews.then(|| part_for_cut(&parts));
        let bytes = part.size();
        if self.lacks_memory(checkpoints, [Some(&part), cut.as_ref()].into_iter().flatten(), bytes) {
            return (Taken::default(), counts);
        }
        // All would go on from it, also if nobody is lost.
        if checkpoints.settings.renews && self.has_partial() {
            self.refuse_part_of_cut(checkpoints, checkpoints.version.get(), NOT_WHOLE);
            return (Taken::default(), counts);
        }
        *checkpoints.cut.borrow_mut() = cut.map(|cut| (version, cut));
        drop(parts);
        // How many pages a virtual rank has touched nothing determines.
        let bytes = world(|| part.size() as u64);
        let taken = Taken { bytes, objects, run: self.stats.run.get() };
        self.node.store.put(version, self.view(), self.id, part);
        drop(room.scratch());
        self.node.store.keep_slabs(version, self.id, room);
        (taken, counts)
    }

    /// The part, packed: all of it that is worth a slice is in slabs then.
    fn packed(&self, checkpoints: &Checkpoints, part: &Part, room: &mut Room) -> Packed {
        let packer = Packer::over(Purpose::Message, checkpoints.scratch.take());
        let mut lender = Lender::new(packer);
        part.lend(&mut lender);
        if let Some(why) =
            lender.packer().refusal().filter(|why| !checkpoints.refused.get() && is_for_good(why))
        {
            self.refuse_part_of_pe(part, why);
        }
        let packed = lender.finish_in(|bytes, align| room.copy(&*self.node.store, bytes, align));
        let (packed, mut scratch) = room.packed(&*self.node.store, packed);
        // Memory that is new costs more than the copy, so it is given back little by little.
        scratch.shrink_to(scratch.capacity() / 8 * 7);
        checkpoints.scratch.set(scratch);
        room.hold_pages(&packed);
        packed
    }

    /// Whether there is no memory for the part of this PE, or just as much: then it has none, this version will never be complete, and whoever
    /// leads it is told. That is the world's to decide, and stays so for a PE that runs again.
    fn lacks_memory<'a>(
        &self,
        checkpoints: &Checkpoints,
        mut packed: impl Iterator<Item = &'a Packed>,
        bytes: usize,
    ) -> bool {
        let found =
            packed.any(|packed| packed.refusal().is_some()) || !would_be_given(bytes / BESIDE + BESIDE_MIN);
        let lacks = if mutated("refused-memory-not-logged") { found } else { world(|| found) };
        if found && !lacks {
            let why = "the process before it had memory for its part of a checkpoint, and this one has none";
            self.node.job.end(1, Some(format!("node {}: {why}", self.node.number)));
        }
        if lacks {
            sometimes("there was no memory for a part of a checkpoint");
            self.refuse_part_of_cut(checkpoints, checkpoints.version.get(), NO_MEMORY);
        }
        lacks
    }

    /// Whether an object here says that it has more than what is packed of it.
    fn has_partial(&self) -> bool {
        let objects = (0..self.slots.count()).filter_map(|slot| self.slots.at(slot));
        // SAFETY: an object in a slot is live.
        objects.into_iter().any(|(head, _)| unsafe { head.as_ref() }.has(flag::PARTIAL))
    }

    /// What this PE has cannot be kept, which none of its objects and messages is to blame for: what has come of a reduction, mostly.
    fn refuse_part_of_pe(&self, part: &Part, why: &PupError) {
        let of_roots = part.roots.iter().map(|root| (root.id, &root.open));
        let of_sections = part.sections.iter().map(|section| (section.of, &section.open));
        let refused = |(of, open): (CollectionId, &Vec<(ReductionKey, Packed)>)| {
            let why = open.iter().find_map(|(_, pending)| pending.refusal())?;
            Some((self.collections.get(of)?, why.clone()))
        };
        match of_roots.chain(of_sections).find_map(refused) {
            Some((of, why)) => self.refuse_to_keep_part(of, &why),
            None => self.refuse_checkpoint(&format!("PE {}", self.id), why),
        }
    }

    /// The period of the node ends, and what was said in it is in the part of its first PE.
    fn cut_what_was_said(&self, version: Version) -> Vec<SavedPeriod> {
        match self.id == self.first_pe {
            // The other PEs of its node have said some of it.
            true => world(|| self.node.job.cut(version, self.node.number)),
            false => Vec::new(),
        }
    }

    /// What is to be kept of this PE, which is frozen and has nothing left to do.
    fn capture(&self, states: &mut States, room: &mut Room) -> Part {
        let mut casts = BroadcastState::new();
        let objects = self.saved_objects(&mut casts, states, room);
        let collections = self.saved_collections().map(|known| saved_collection(known, &mut casts)).collect();
        let (births, messages, requests) = self.saved_messages(room);
        let now = match mutated("timers-by-what-is-measured") {
            true => self.clock.now() + Duration::from_nanos(self.clock.ticks() % 1_000),
            false => self.clock.now(),
        };
        Part {
            pe: self.id,
            steps: world(|| self.node.job.progress().done),
            shared: self.saved_shared(),
            collections,
            gone: self.collections.gone(),
            gone_shared: self.node.shared.gone(),
            doomed: self.node.shared.doomed(),
            too_late: self.too_late.saved(),
            roots: self.known_collections().filter_map(saved_root).collect(),
            sections: self.sections().saved(),
            objects,
            away: self.collections.iter().flat_map(|collection| collection.away(self.id)).collect(),
            casts: casts.into_iter().map(|((id, number), cast)| (id, number, cast)).collect(),
            births,
            messages,
            requests,
            timers: self.saved_timers(now),
            when_idle: self.timers.idle_work(),
            when_quiet: self.detector().asked(),
            names: self.saved_names(),
            said: Vec::new(),
            newborn: Vec::new(),
        }
    }

    /// With those who wait for this cut, if it will be there when PEs go on from this: they are told at once then.
    fn saved_timers(&self, now: Duration) -> Vec<(Duration, Route)> {
        let mut timers: Vec<_> =
            self.timers.all().into_iter().map(|(at, to)| (at.saturating_sub(now), to)).collect();
        if let Some(checkpoints) = self.checkpoints().filter(|checkpoints| checkpoints.settings.renews) {
            let waiting = checkpoints.root.borrow().waiting_for_cut().into_iter();
            let waiting = waiting.filter(|_| !mutated("waiting-for-a-cut-not-in-it"));
            timers.extend(waiting.map(|then| (Duration::ZERO, then)));
        }
        timers
    }

    /// Without those of singletons, which everybody knows from the start.
    fn known_collections(&self) -> impl Iterator<Item = &Collection> {
        self.collections.iter().filter(|collection| !collection.id.is_singles())
    }

    /// With those of singletons where some are gone whose counts of messages in order are kept here.
    fn saved_collections(&self) -> impl Iterator<Item = &Collection> {
        self.collections.iter().filter(|known| !known.id.is_singles() || !known.orders.is_empty())
    }

    fn saved_objects(
        &self,
        casts: &mut BroadcastState,
        states: &mut States,
        room: &mut Room,
    ) -> Vec<SavedObject> {
        let slots = (0..self.slots.count()).filter_map(|slot| Some((slot, self.slots.at(slot)?)));
        let live = slots.filter(|(_, (head, _))| is_live(*head));
        let saved = |(slot, (head, generation))| {
            // What refers to a value that was destroyed since holds it itself when it is packed again.
            let is_current = |state: &Packed| !self.shared_heard.is_any_dropped(state.needs());
            let state = states.take(slot, generation).filter(is_current);
            debug_assert!(
                state.as_ref().is_none_or(|state| is_state_of(head, state)),
                "nothing changes a state on a frozen PE"
            );
            let state = state.unwrap_or_else(|| self.packed_state(head, room));
            self.saved_object(head, state, casts)
        };
        live.map(saved).collect()
    }

    fn saved_object(&self, head: NonNull<Head>, state: Packed, casts: &mut BroadcastState) -> SavedObject {
        // SAFETY: the caller's object, live and between entries.
        let object = unsafe { head.as_ref() };
        let (collection, id) = (object.collection(), object.id());
        let mut given = object.broadcasts.get();
        if object.has(flag::CATCHING_UP) {
            object.extras(|extras| {
                for (number, cast) in &extras.later {
                    debug_assert_eq!(*number, given, "what an element had missed has come");
                    given = number + 1;
                    casts.entry((collection.id, *number)).or_insert_with(|| cast.clone());
                }
            });
        }
        let header = header_of(object, self.past_of(object));
        let destination = object.has(flag::MIGRATE).then(|| object.extras(|extras| extras.destination));
        SavedObject { id, header, given, destination, state }
    }

    /// The state of an object, which is live and between entries, as it is packed for a migration.
    fn packed_state(&self, head: NonNull<Head>, room: &mut Room) -> Packed {
        // SAFETY: the caller's object.
        let chare = unsafe { head.as_ref() }.collection().chare;
        let packer = Packer::over(Purpose::Migration, room.scratch());
        let store = &*self.node.store;
        // SAFETY: as above, and of this type.
        let packed =
            unsafe { pack_object_in(chare, head, packer, |bytes, align| room.copy(store, bytes, align)) };
        if let Some(why) = packed.0.refusal().filter(|why| is_for_good(why)) {
            self.refuse_to_keep(head, why);
        }
        let (packed, scratch) = room.packed(store, packed);
        room.keep_scratch(scratch);
        packed
    }

    /// Objects to be made here, messages for objects, and what the program has asked of PEs.
    fn saved_messages(&self, room: &mut Room) -> (Vec<Packed>, Messages, Vec<Packed>) {
        let (mut births, mut messages, mut requests) = (Vec::new(), Vec::new(), self.saved_requests());
        for envelope in self.all_kept() {
            // SAFETY: kept by this PE, which does nothing else before its part is packed.
            let message: &Envelope = unsafe { envelope.as_ref() };
            let apart = match message.pe_message().map(<dyn PeMessage>::when_frozen) {
                Some(WhenFrozen::IsPutOff) => continue,
                Some(_) => Some(&mut requests),
                None if self.is_decided_birth(message) => Some(&mut births),
                None if mutated("message-not-captured") && messages.is_empty() => continue,
                None => None,
            };
            self.see_message(message.shadow, |message, pe| Seen::Saved { message, pe });
            match apart {
                Some(apart) => {
                    let kept = wire::copy_to_keep(message);
                    if let Some(why) = kept.refusal().filter(|why| is_for_good(why)) {
                        self.refuse_to_keep_message(message, why);
                    }
                    apart.push(kept);
                }
                None => messages.push(message),
            }
        }
        self.save_held(&mut requests);
        if mutated("messages-in-order-of-memory") {
            messages.sort_by_key(|message| std::ptr::from_ref(*message).addr());
        }
        let refuse = |message: &Envelope, why: &PupError| {
            if is_for_good(why) {
                self.refuse_to_keep_message(message, why);
            }
        };
        (births, Messages::pack(messages.into_iter(), &self.node.store, room, refuse), requests)
    }

    /// Whether a message is for an object to be made away from its home, which then has decided that.
    fn is_decided_birth(&self, message: &Envelope) -> bool {
        let to = message.to();
        let is_away = |collection: &Collection| collection.home(to.index) != self.id;
        message.is_creation() && self.collections.get(to.collection).is_some_and(is_away)
    }

    /// Every message that waits here. Questions among them are not needed: places are found out anew, and orders
    /// end another time.
    fn all_kept(&self) -> Vec<NonNull<Envelope>> {
        let mut all =
            self.checkpoints().map_or_else(Vec::new, |checkpoints| checkpoints.kept.borrow().clone());
        all.extend(self.collections.iter().flat_map(Collection::kept));
        all.extend(self.kept_for_others());
        all.retain(|envelope| {
            // SAFETY: kept by this PE.
            let message = unsafe { envelope.as_ref() };
            !message.is_question() && !matches!(message.body, Body::Empty)
        });
        all
    }

    /// At the root: who waits for a balancing step or a checkpoint asks for it again.
    fn saved_requests(&self) -> Vec<Packed> {
        let balancing = self.balancer().into_iter().flat_map(|balancer| balancer.root.borrow().waiting());
        let balancing =
            balancing.map(|(why, then)| wire::for_pe(self.id, &Balance::Request { why, then: Some(then) }));
        let waiting =
            |checkpoints: &Checkpoints| checkpoints.root.borrow().waiting(checkpoints.settings.renews);
        let checkpoints = self.checkpoints().into_iter().flat_map(waiting);
        let checkpoints = checkpoints
            .map(|(why, then)| wire::for_pe(self.id, &Checkpoint::Request { why, then: Some(then) }));
        balancing.chain(checkpoints).collect()
    }

    /// Broadcasts that wait for insertions, and what waits behind them. Going back, those insertions are with their roots: among what
    /// waits there, which may be here, so that this comes after it.
    fn save_held(&self, requests: &mut Vec<Packed>) {
        self.admissions().with_held(|message| requests.push(wire::for_pe(self.id, message)));
    }

    /// Values that this PE made, or those for whom it acts.
    fn saved_shared(&self) -> Vec<(u64, Packed)> {
        let names = self.node.shared.names();
        let own = names.into_iter().filter(|id| self.view().acting_for((id >> 32) as u32) == self.id);
        own.filter_map(|id| Some((id, self.node.shared.get(id)?.packed))).collect()
    }

    /// Its own, and those that it keeps for others who are lost.
    fn saved_names(&self) -> Vec<(PeId, SavedNames)> {
        let names = self.names();
        let own = SavedNames {
            collections: names.collections.get(),
            sections: names.sections.get(),
            singles: names.singles.get(),
            shared: names.shared.get(),
            placed: names.placed.get(),
            births: names.births.get(),
            generation: self.slots.highest_generation(),
        };
        [vec![(self.id, own)], names.of_others.borrow().clone()].concat()
    }
}

/// Whether this is the packed state of an object that is live and between entries. One that is held may have threads of the
/// system that go on with its memory: nobody can go on from its state.
fn is_state_of(head: NonNull<Head>, state: &Packed) -> bool {
    // SAFETY: the caller's object.
    if unsafe { head.as_ref() }.has(flag::HELD) {
        return true;
    }
    // SAFETY: as above, and of this type.
    let again = unsafe { pack_object(head.as_ref().collection().chare, head) };
    let lacks_memory = |packed: &Packed| packed.refusal().is_some_and(PupError::is_memory);
    again == *state || lacks_memory(state) || lacks_memory(&again)
}

/// Whether an object that is in a slot has its state.
pub(super) fn is_live(head: NonNull<Head>) -> bool {
    // SAFETY: an object in a slot is live.
    unsafe { head.as_ref() }.has(flag::LIVE)
}

fn saved_collection(collection: &Collection, casts: &mut BroadcastState) -> SavedCollection {
    debug_assert!(collection.casts().is_at_rest(), "nothing is on its way after any element");
    debug_assert!(collection.pending().borrow().is_empty(), "contributions are at their roots");
    debug_assert!(!collection.answers_here().is_waiting(), "all have told how many receive each broadcast");
    SavedCollection {
        of: collection.description(),
        passed: collection.casts().passed(),
        closed: collection.insertion.closed.get(),
        sent: collection.insertion.sent.get(),
        made: collection.insertion.made.get(),
        orders: collection.orders.all(),
        unborn: saved_unborn(collection, casts),
    }
}

/// Elements to be made that are to receive what has passed, from which number on.
fn saved_unborn(collection: &Collection, casts: &mut BroadcastState) -> Vec<(BirthId, u32)> {
    let keep = |(birth, given): (BirthId, Vec<(u32, Cast)>)| {
        let first = given.first()?.0;
        for (number, cast) in given {
            casts.entry((collection.id, number)).or_insert(cast);
        }
        Some((birth, first))
    };
    collection.casts().births.unborn().into_iter().filter_map(keep).collect()
}

fn saved_root(collection: &Collection) -> Option<SavedRoot> {
    let root = collection.root()?.borrow();
    let (next, mut open) = root.saved();
    if mutated("open-reductions-not-saved") {
        open.clear();
    }
    let (numbered, held) = collection.casts().to_be_numbered();
    let (alive, (heard, late)) = (root.elements(), root.late());
    let counts = alive.is_none() && root.census.is_open();
    Some(SavedRoot { id: collection.id, alive, next, open, numbered, held, counts, heard, late })
}

#[ext(Questions)]
impl Envelope {
    fn is_question(&self) -> bool {
        use talisman_kernel::message::control::ObjectMessage;
        matches!(self.object_message(), Some(ObjectMessage::Marker { .. } | ObjectMessage::Reconcile(_)))
    }
}
