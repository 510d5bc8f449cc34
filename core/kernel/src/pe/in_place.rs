//! Messages of an entry that does not end while it waits for others, such as one with a virtual rank in it: calls are sent from where
//! their bytes are, and those that come for it are given to it where it waits.
//!
//! Only where a thread drives the PE, and to and from other nodes. What is heard so counts as any message that has run.

use std::cell::Cell;
use std::ptr::NonNull;

use super::Pe;
use crate::entry_info::{EntryInfo, EntryOptions};
use crate::location::Place;
use crate::net::Net;
use crate::object::{Head, flag};
use crate::port::{Port, Threads};
use talisman_base::ids::ObjId;
use talisman_observe::stats::count;
use talisman_pup::Lender;
use talisman_transport::{Arrived, Rest};

/// Ticks for which an entry waits for the next message, about 4 µs: one on its way to another process of the host and back comes
/// within that. To end the entry and to be called again takes a tenth of it.
const TICKS_OF_WAIT: u64 = 12_000;
/// Ticks after which it has to end, about 20 µs, however much comes for it: the PE has other things to see to.
const TICKS_OF_ENTRY: u64 = 60_000;

/// So many looks for a message between two at the clock, which takes longer than they do while none is seen.
const LOOKS_PER_TIME: u32 = 8;

/// So many entries call each other directly at most: as many as messages that run before a PE looks at others.
const CALLS_IN_A_ROW: u32 = 64;
/// So many of them between two at the clock, if they are short.
const CALLS_PER_TIME: u32 = 8;

/// The entry that is called when the one that runs has ended, and how many were called so one after the other.
#[derive(Default)]
pub struct NextCall {
    call: Cell<Option<(NonNull<Head>, &'static EntryInfo)>>,
    /// The object that has the turn of the one whose entry began, if that has [passed](Pe::pass_turn) it on.
    has_turn: Cell<Option<NonNull<Head>>>,
    /// The entry that runs is timed.
    is_timed: Cell<bool>,
    in_a_row: Cell<u32>,
    /// When the first of them was, in ticks.
    since: Cell<u64>,
}

impl NextCall {
    /// The one that comes now.
    #[inline(always)]
    pub(super) fn take(&self) -> Option<(NonNull<Head>, &'static EntryInfo)> {
        self.call.take()
    }

    /// The object that an entry has passed its turn to, up to its end; none if it has had it itself at last.
    #[inline(always)]
    pub(super) fn take_turn_of(&self, first: NonNull<Head>) -> Option<NonNull<Head>> {
        self.has_turn.take().filter(|last| *last != first)
    }

    /// The entry that begins is timed, or not.
    #[inline(always)]
    pub(super) fn times(&self, is_timed: bool) {
        self.is_timed.set(is_timed);
    }

    /// None follows.
    #[inline(always)]
    pub(super) fn end(&self) {
        self.in_a_row.set(0);
    }

    /// Whether one more may follow, without keeping what else the PE has to see to waiting for too long. If the first takes long, others
    /// are likely to.
    fn has_time(&self, ticks: impl FnOnce() -> u64) -> bool {
        match self.in_a_row.get() {
            0 => self.since.set(ticks()),
            CALLS_IN_A_ROW => return false,
            n if n == 1 || n % CALLS_PER_TIME == 0 => {
                return ticks().wrapping_sub(self.since.get()) <= TICKS_OF_ENTRY;
            }
            _ => {}
        }
        true
    }
}

/// What has come where an entry waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nothing.
    Nothing,
    /// A message, which has been taken.
    Taken,
    /// Something else, or something else is to be done: the entry is to end.
    Other,
}

/// Since when an entry has heard what comes for it.
#[derive(Clone, Copy, Debug)]
pub struct Hearing {
    since: Option<u64>,
    /// For how many ticks at most.
    most: u64,
}

impl Default for Hearing {
    fn default() -> Self {
        Hearing::for_ticks(TICKS_OF_ENTRY)
    }
}

impl Hearing {
    /// It hears for so many ticks at most.
    pub fn for_ticks(most: u64) -> Self {
        Hearing { since: None, most }
    }
}

impl Pe {
    /// Calls an entry of an object on another node, with arguments that `lend` packs as those of the entry, up to their last bytes, which
    /// are `end`. `false` if it is to be called as others are: nothing has been done then.
    pub fn call_in_place<'a>(
        &self,
        (to, entry): (ObjId, &'static EntryInfo),
        lend: impl FnOnce(&mut Lender<'a>),
        end: &'a [u8],
    ) -> bool {
        if self.measuring.sees_heavy() || self.admissions_open.get() || entry.options != EntryOptions::new() {
            return false;
        }
        let Some(collection) = self.collections.get(to.collection) else { return false };
        if !collection.direct || collection.key != entry.chare {
            return false;
        }
        let pe = match self.place_of(collection, to.index) {
            Place::At { pe, .. } => pe,
            Place::Unknown if !Self::may_be_stray(collection, to.index) => collection.home(to.index),
            _ => return false,
        };
        let is_sent = pe != self.id && self.port.send_lent(self, pe, (to, entry), lend, end);
        if is_sent {
            count(&self.stats.sent, 1);
            self.drop_what_was_sent();
        }
        is_sent
    }

    /// Calls an entry without arguments of an object of this PE as soon as the entry that runs has ended, without a message: if nothing
    /// waits before it, so that a message would be the next one to run. An entry does so last of all. `false` if it is to be called as
    /// others are. After many in a row the turn of the PE ends first: links, timers and whoever asks for something are looked at.
    pub fn call_next(&self, to: ObjId, entry: &'static EntryInfo) -> bool {
        let Some(caller) = self.may_call_next() else { return false };
        if entry.options != EntryOptions::new() {
            return false;
        }
        let Some(head) = self.find_here(to) else { return false };
        // SAFETY: an object that is found is live.
        if unsafe { head.as_ref() }.collection().key != entry.chare || entry.args.size > 0 {
            return false;
        }
        if !self.next_call.has_time(|| self.clock.ticks()) {
            self.ends_turn.set(true);
            return false;
        }
        self.next_call.in_a_row.set(self.next_call.in_a_row.get() + 1);
        self.next_call.call.set(Some((head, entry)));
        caller.set(flag::CALLS_NEXT);
        true
    }

    /// The object that runs, if what it calls would be the next to run, and nothing is done with it when its entry has ended.
    #[inline(always)]
    fn may_call_next(&self) -> Option<&Head> {
        if !self.may_run_at_once() || self.frozen.get() || self.measuring.sees_heavy() || self.repacks {
            return None;
        }
        let caller = self.running().filter(|_| matches!(self.port, Port::Threads(_)))?;
        let is_last = !caller.has(flag::DESTROY | flag::MIGRATE) && self.next_call.call.get().is_none();
        is_last.then_some(caller)
    }

    /// As [`Pe::call_next`], but at once: what runs from now on is an entry of that object of the same collection, and what ran has ended,
    /// though it was not left. For entries that have stacks of their own: one goes on in the other, which waited there. The entry has no
    /// arguments and no options. `false` if the one that runs is to end: nothing has been done then.
    ///
    /// # Safety
    /// The object is one of this PE, live, and no entry of it runs.
    #[inline(always)]
    pub unsafe fn pass_turn(&self, to: NonNull<Head>, entry: &'static EntryInfo) -> bool {
        debug_assert!(
            entry.options == EntryOptions::new() && entry.args.size == 0,
            "it is called with nothing"
        );
        // SAFETY: the caller's promise.
        let object = unsafe { to.as_ref() };
        let Some(caller) = self.may_call_next() else { return false };
        let is_like =
            caller.collection.get() == object.collection.get() && !object.has(flag::DESTROY | flag::MIGRATE);
        if !is_like || self.next_call.is_timed.get() {
            return false;
        }
        if !self.next_call.has_time(|| self.clock.ticks()) || !self.is_not_timed(object) {
            return false;
        }
        self.next_call.in_a_row.set(self.next_call.in_a_row.get() + 1);
        if self.next_call.has_turn.replace(Some(to)).is_none() {
            // Who has the turn at last is looked at when this entry has ended.
            caller.set(flag::CALLS_NEXT);
        }
        self.stats.run.add(1);
        object.count_message();
        self.running.set(Some(to));
        self.running.set_entry(Some(entry));
        true
    }

    /// Gives `take` the packed arguments of the next call of this entry that has come for the object that runs, if it is the next
    /// message that comes through memory and nothing else is to be done: their start, and the rest where it is. What `take` does
    /// not take is left for its turn. If it `waits`, that is for some microseconds.
    pub fn hear_in_place(
        &self,
        call: (NonNull<Head>, &'static EntryInfo),
        hearing: &mut Hearing,
        waits: bool,
        take: &mut dyn FnMut(&[u8], &Rest<'_>) -> bool,
    ) -> Heard {
        let Port::Threads(Threads { net: Some(net), .. }) = &self.port else { return Heard::Other };
        // Sockets are not looked at meanwhile, and a clock that somebody sets stands still.
        let waits = waits && !net.has_sockets() && self.clock.measures_machine();
        let begun = self.clock.ticks();
        let since = *hearing.since.get_or_insert(begun);
        let mut now = begun;
        loop {
            if now.wrapping_sub(since) > hearing.most || !self.may_hear_in_place(call.0) {
                return Heard::Other;
            }
            for _ in 0..LOOKS_PER_TIME {
                let heard = self.hear_call(net, call, take);
                if heard != Heard::Nothing || !waits {
                    return heard;
                }
            }
            now = self.clock.ticks();
            if now.wrapping_sub(begun) > TICKS_OF_WAIT {
                return Heard::Nothing;
            }
        }
    }

    /// Whether the PE has nothing else to do than to wait for a message: then none but the entry that runs is kept waiting. Not where
    /// it is measured what an entry takes, and others want the core.
    #[inline]
    fn may_hear_in_place(&self, object: NonNull<Head>) -> bool {
        // SAFETY: the object is live: an entry of it runs.
        let wants_something = unsafe { object.as_ref() }.has(flag::AFTER);
        let is_free = self.may_run_at_once() && !self.chores.get() && !self.is_crowded.get();
        is_free && !wants_something && !self.repacks && !self.measuring.loads
    }

    #[inline]
    fn hear_call(
        &self,
        net: &Net,
        (object, entry): (NonNull<Head>, &'static EntryInfo),
        take: &mut dyn FnMut(&[u8], &Rest<'_>) -> bool,
    ) -> Heard {
        // SAFETY: as in `may_hear_in_place`.
        let object = unsafe { object.as_ref() };
        let is_for_it = |message: &Arrived<'_>| {
            let start = self.short_start(message.rank, message.start);
            let call = start.filter(|start| start.entry == entry.number && start.to == object.id());
            call.is_some_and(|start| take(start.args, &message.rest))
        };
        let heard = net.hear_first(self, is_for_it);
        if heard == Heard::Taken {
            count(&self.stats.received, 1);
            count(&self.stats.arrived, 1);
            self.stats.run.add(1);
            object.count_message();
        }
        heard
    }
}
