//! Where user code runs: one function, whatever the call.
//!
//! What a program's types do by themselves is elsewhere: they are packed, shown and dropped, and reducers combine, wherever the
//! runtime has such a value in its hands. None of that can reach the PE's state but by a call that ends here or in `send`.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use super::Pe;
use crate::entry_info::{EntryInfo, InitInfo};
use crate::message::cell::{WORDS, Words};
use crate::message::envelope::Extra;
use crate::object::{Head, flag};
use crate::registry::ChareType;
use talisman_observe::sometimes::sometimes;
use talisman_pup::{Packed, Pup, Purpose};

/// What an object is called for.
pub enum Call<'a> {
    /// An entry method, with its arguments in place: they are moved out. Also a broadcast, for each of its elements.
    Entry { entry: &'static EntryInfo, extra: &'a mut Option<Box<Extra>>, words: &'a mut Words },
    /// An answer for the async entry that waits for it, which goes on.
    Reply { wait: u64, value: Packed },
    /// Its `#[init]`: it has no state yet.
    Init { init: &'a InitInfo, words: &'a mut Words },
    /// It has come from elsewhere, or from a checkpoint.
    Restored(Restored),
    /// The same where it is built anew in its place, in the midst of what is done after an entry: what it asks for waits for the next one.
    Repacked,
    /// It is about to be packed for another node.
    Departs,
    /// The state of a lost member for which it acts.
    Lost { state: Packed },
}

/// Why an object was rebuilt from its packed state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pup)]
pub enum Restored {
    /// It moved to another PE.
    AfterMigration,
    /// The PE it was on died: it is what it was at the last checkpoint, on another.
    AfterFailure,
    /// The job went back to a checkpoint, and it is where it was then, or at home again: its PE had been lost, and is there now.
    FromCheckpoint,
}

impl Call<'_> {
    /// Whether it is one of those that a program sends: these are counted and timed.
    #[inline(always)]
    fn is_message(&self) -> bool {
        matches!(self, Call::Entry { .. } | Call::Reply { .. })
    }

    #[inline(always)]
    fn is_of_arrival(&self) -> bool {
        matches!(self, Call::Init { .. } | Call::Restored(_) | Call::Repacked | Call::Departs)
    }

    #[inline(always)]
    fn entry(&self) -> Option<&'static EntryInfo> {
        match self {
            Call::Entry { entry, .. } => Some(entry),
            _ => None,
        }
    }
}

impl Pe {
    /// Runs user code: this object, called for this. All of it comes by here, and runs to its end before anything else does.
    ///
    /// The object is one of this PE, live (of an `#[init]`: allocated), of the type that the call is for; words hold the arguments of the
    /// entry or `#[init]`. Each caller knows which call it makes, so the branches here are gone in what is compiled.
    #[inline(always)]
    pub fn execute(&self, head: NonNull<Head>, call: Call<'_>) {
        // SAFETY: the object is live, and freed after its entry, not in it.
        let object = unsafe { head.as_ref() };
        let (is_message, is_of_arrival) = (call.is_message(), call.is_of_arrival());
        let is_lost = matches!(call, Call::Lost { .. });
        let is_in_midst = matches!(call, Call::Repacked | Call::Departs);
        let is_restored = matches!(call, Call::Restored(_));
        if is_message || is_lost {
            self.stats.run.add(1);
        }
        let is_watched = if is_message { self.may_be_timed(object) } else { object.has(flag::TRACED) };
        match is_watched {
            true => self.call_watched(head, call),
            false => self.call(head, call),
        }
        if is_message {
            object.count_message();
        }
        if !is_in_midst && (object.has(flag::AFTER) || (self.repacks && !is_of_arrival)) {
            if is_restored {
                sometimes("an object wanted to move on, or to go, when it had arrived");
            }
            self.after_entry(head);
        }
    }

    /// Runs the entry that the one before has [called](Pe::call_next), and what that calls so: each as any other, but out of no queue.
    #[inline(never)]
    pub(super) fn execute_next(&self) {
        while let Some((head, entry)) = self.next_call.take() {
            // SAFETY: the object is live: nothing has run since it was found.
            let object = unsafe { head.as_ref() };
            // It has no arguments.
            let (extra, words) = (&mut None, &mut [MaybeUninit::uninit(); WORDS]);
            self.stats.run.add(1);
            match self.may_be_timed(object) {
                true => self.call_watched(head, Call::Entry { entry, extra, words }),
                false => self.call(head, Call::Entry { entry, extra, words }),
            }
            object.count_message();
            object.clear(flag::CALLS_NEXT);
            let last = self.next_call.take_turn_of(head);
            if object.has(flag::AFTER) {
                self.after_entry(head);
            }
            last.into_iter().for_each(|last| self.after_turn(last));
        }
        self.next_call.end();
    }

    /// What is done with an object after an entry of another one that has [passed](Pe::pass_turn) its turn to it.
    pub(super) fn after_turn(&self, last: NonNull<Head>) {
        // SAFETY: the object was live when it got the turn, and nothing has run since it had that.
        let object = unsafe { last.as_ref() };
        // What it calls is called next, by whoever calls this.
        object.clear(flag::CALLS_NEXT);
        if object.has(flag::AFTER) {
            self.after_entry(last);
        }
    }

    /// Out of the way of those that are neither timed nor traced.
    #[inline(never)]
    fn call_watched(&self, head: NonNull<Head>, call: Call<'_>) {
        // SAFETY: the object is live, and freed after its entry, not in it.
        let object = unsafe { head.as_ref() };
        if !object.has(flag::TRACED) {
            return self.call_timed(head, call);
        }
        let is_timed = call.is_message() && self.is_to_be_timed(object);
        let begun = self.trace_begin(object, &call);
        match is_timed {
            true => self.call_timed(head, call),
            false => self.call(head, call),
        }
        self.trace_end(begun);
    }

    #[inline(always)]
    fn call_timed(&self, head: NonNull<Head>, call: Call<'_>) {
        // SAFETY: the object is live, and freed after its entry, not in it.
        let object = unsafe { head.as_ref() };
        let timing = self.begin_timing(object);
        self.next_call.times(timing.is_some());
        self.call(head, call);
        self.next_call.times(false);
        if let Some(timing) = timing {
            self.end_timing(object, timing);
        }
    }

    #[inline(always)]
    fn call(&self, head: NonNull<Head>, call: Call<'_>) {
        self.running.set(Some(head));
        self.running.set_entry(call.entry());
        // SAFETY: the object is live, of the type that the call is for (the collection's), and an object runs one entry at a time; words
        // hold the arguments of this entry or `#[init]`, and an object without a state is called for its `#[init]` only.
        unsafe {
            match call {
                Call::Entry { entry, extra, words } => (entry.invoke)(head, self, extra, words),
                Call::Reply { wait, value } => (chare_of(head).replied)(head, self, wait, value),
                Call::Init { init, words } => (init.construct)(head, self, words),
                Call::Restored(why) => (chare_of(head).restored)(head, self, why),
                Call::Repacked => (chare_of(head).restored)(head, self, Restored::AfterMigration),
                Call::Departs => chare_of(head).departs.into_iter().for_each(|departs| departs(head)),
                Call::Lost { state } => self.call_for_lost(head, state),
            }
        }
        self.running.set(None);
    }

    /// Hands the state of a lost member to the one that acts for it.
    ///
    /// # Safety
    /// The object is live, and runs nothing else.
    unsafe fn call_for_lost(&self, head: NonNull<Head>, state: Packed) {
        // SAFETY: the object is live.
        let object = unsafe { head.as_ref() };
        let (collection, index) = (object.collection(), object.index());
        let heard = match collection.chare.lost {
            // SAFETY: the caller's promise; the object is of this type.
            Some(lost) => state.read(Purpose::Migration, |u| unsafe { lost(head, self, u) }),
            None => {
                let why = "its members do not hear of lost ones";
                return self.unreadable_for(collection, index, "(lost)", why);
            }
        };
        if let Err(error) = heard {
            self.unreadable_for(collection, index, "(lost)", &error.to_string());
        }
    }
}

/// # Safety
/// The object is live.
#[inline(always)]
unsafe fn chare_of(head: NonNull<Head>) -> &'static ChareType {
    // SAFETY: the caller's promise.
    unsafe { head.as_ref() }.collection().chare
}
