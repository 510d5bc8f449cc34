//! What a PE writes down of what it does (`--trace`): words into a ring of its own, which another thread empties.
//!
//! A PE that is not traced does nothing for it on a message's way within it: objects of one that is have a flag, which is
//! looked at with those that say whether an entry is to be timed, and calls look at the word by which traffic is measured.
//! Between PEs it is one branch.
//!
//! Nothing is looked up here. Which message an entry is called by is found when the words are read: they say into which
//! envelope a message came, and by which envelope an entry was called.
//!
//! The clock is what a record costs most. An entry that follows another begins when that one ended, as far as nothing lies
//! between. And in an entry whose calls are short it is not looked when messages were sent that stay here: the last one is told
//! with the end, those before it have the time of what was told before them.

mod channels;
mod ring;
mod short_calls;
mod sink;
mod tracer;

use std::mem::offset_of;
use std::num::NonZero;
use std::ptr::{NonNull, from_ref};

pub use channels::Origin;
pub use sink::{Drained, TraceSettings, TraceSink};
pub use tracer::{Begun, Tracer};

use crate::message::cell::Words;
use crate::message::envelope::Envelope;
use crate::object::{Head, flag};
use crate::pe::Pe;
use crate::pe::execute::Call;
use talisman_base::ids::PeId;
use talisman_observe::event::Event;
use talisman_observe::trace::words::{Called, Item, Way, place_of};
use talisman_observe::trace::{Kind, Record, calls, seconds};

/// The place of the envelope that has these words, if one does.
#[inline(always)]
fn place_with(words: &Words) -> u64 {
    place_of(from_ref(words).addr().wrapping_sub(offset_of!(Envelope, words)))
}

#[inline(always)]
fn place(envelope: NonNull<Envelope>) -> u64 {
    place_of(envelope.addr().get())
}

fn way(Origin { from, number }: Origin) -> Way {
    Way { from, number }
}

/// What is called, as a trace has it.
fn number_of(call: &Call<'_>) -> u16 {
    match call {
        Call::Entry { entry, .. } => entry.number,
        Call::Reply { .. } => calls::REPLY,
        Call::Init { .. } => calls::INIT,
        Call::Restored(_) | Call::Repacked => calls::RESTORED,
        Call::Departs => calls::DEPARTS,
        Call::Lost { .. } => calls::LOST,
    }
}

impl Pe {
    /// What a new object of this PE has among its flags.
    pub fn flag_of_traced(&self) -> u32 {
        if self.tracer.is_some() { flag::TRACED } else { 0 }
    }

    /// Where it says whether the PE is traced, for a test that nobody looks there on a message's way.
    #[doc(hidden)]
    pub fn state_of_trace(&self) -> [(*const (), usize); 2] {
        [(from_ref(&self.tracer).cast(), size_of_val(&self.tracer)), self.measuring.state_of_trace()]
    }

    /// User code begins: the object is called for this.
    #[inline]
    pub fn trace_begin(&self, object: &Head, call: &Call<'_>) -> Option<Begun> {
        let tracer = self.tracer.as_ref()?;
        let ticks = tracer.boundary.get().map_or_else(|| self.clock.ticks(), NonZero::get);
        let place = match call {
            Call::Entry { words, .. } => place_with(words),
            _ => 0,
        };
        let chare = object.collection().number;
        Some(tracer.begin(ticks, place, Called { call: number_of(call), chare, index: object.index() }))
    }

    /// It has ended.
    #[inline]
    pub fn trace_end(&self, begun: Option<Begun>) {
        if let (Some(tracer), Some(begun)) = (&self.tracer, begun) {
            tracer.end(self.clock.ticks(), begun);
        }
    }

    /// What is called next does not begin at once.
    pub fn trace_pause(&self) {
        self.tracer.iter().for_each(|tracer| tracer.boundary.set(None));
    }

    /// Something happened that needs no more words.
    pub fn trace_kind(&self, kind: Kind) {
        if let Some(tracer) = &self.tracer {
            tracer.whole(Record::at(self.clock.ticks(), kind));
        }
    }

    /// A message was made that stays on this PE; the words are in its envelope.
    #[inline]
    pub fn trace_made(&self, words: &Words) {
        let Some(tracer) = &self.tracer else { return };
        let place = place_with(words);
        if !tracer.defers(place) {
            tracer.put(Item::Made, self.clock.ticks(), place, []);
        }
    }

    /// A message is put into the queue; if it has been made here, and not told yet, it is now.
    pub fn trace_stays(&self, message: &Envelope) {
        if let Some(tracer) = &self.tracer
            && message.from == tracer.pe
        {
            tracer.put(Item::Stays, self.clock.ticks(), place(NonNull::from(message)), []);
        }
    }

    /// A message goes to the end of a way, and has come by another, if it says so.
    #[inline]
    pub fn trace_leaves(&self, to: PeId, relayed: Option<Origin>) {
        if let Some(tracer) = &self.tracer {
            relayed.into_iter().for_each(|relayed| tracer.note_way(Item::TakenDirectly, way(relayed)));
            tracer.leaves(self.clock.ticks(), to, 0, relayed.is_some());
        }
    }

    /// When something begins that is told afterwards, in ticks.
    #[inline]
    pub fn clock_of_trace(&self) -> u64 {
        if self.tracer.is_some() { self.clock.ticks() } else { 0 }
    }

    /// The message of this envelope is about to leave, and is not in it any more then.
    #[inline]
    pub fn trace_take(&self, envelope: NonNull<Envelope>) {
        if let Some(tracer) = &self.tracer {
            tracer.note(Item::Taken, place(envelope), []);
        }
    }

    /// The message that was taken has left at that time for the end of a way.
    #[inline]
    pub fn trace_left(&self, ticks: u64, to: PeId, bytes: u64, was_in_envelope: bool) {
        if let Some(tracer) = &self.tracer {
            tracer.leaves(ticks, to, bytes, was_in_envelope);
        }
    }

    /// A message has come from the PE at the other end of a way.
    #[inline]
    pub fn trace_comes(&self, from: PeId) -> Option<Origin> {
        let tracer = self.tracer.as_ref()?;
        // It may have left after the last call had ended here: what it calls does not begin before that.
        tracer.boundary.set(None);
        Some(Origin { from, number: tracer.channels.borrow_mut().received(from) })
    }

    /// It is in this envelope from now on.
    #[inline]
    pub fn trace_keep(&self, envelope: NonNull<Envelope>, origin: Option<Origin>) {
        if let (Some(tracer), Some(origin)) = (&self.tracer, origin) {
            tracer.keep(place(envelope), way(origin));
        }
    }

    /// The message of this envelope is gone.
    #[inline]
    pub fn trace_gone(&self, envelope: NonNull<Envelope>) {
        if let Some(tracer) = &self.tracer {
            tracer.note(Item::Taken, place(envelope), []);
        }
    }

    /// What is called from now on is called by the message that came by this way; or by none in particular.
    #[inline]
    pub fn trace_cause(&self, origin: Option<Origin>) {
        let Some(tracer) = &self.tracer else { return };
        match origin {
            Some(origin) => tracer.caused_directly(way(origin)),
            None => tracer.caused_no_more(),
        }
    }

    /// It is called by the message in this envelope, which is in it no more then.
    #[inline]
    pub fn trace_cause_in(&self, envelope: NonNull<Envelope>) {
        if let Some(tracer) = &self.tracer {
            tracer.caused_in(place(envelope));
        }
    }

    /// It was idle until now, for so many nanoseconds, and gave its core away or slept for some of them.
    pub fn trace_idle(&self, idle_ns: u64, released_ns: u64) {
        if let Some(tracer) = &self.tracer {
            let idle = Record::at(self.clock.ticks(), Kind::Idle);
            tracer.whole(Record { low: idle_ns, high: released_ns, ..idle });
        }
    }

    /// The program has done this step.
    pub fn trace_step(&self, step: u64) {
        if let Some(tracer) = &self.tracer {
            tracer.whole(Record { low: step, ..Record::at(self.clock.ticks(), Kind::Step) });
        }
    }

    /// A virtual rank, whose object runs, calls what has this name.
    pub fn trace_rank_call(&self, rank: u32, name: &str) {
        if let Some(tracer) = &self.tracer {
            let (calls, on) = Record::of_rank_call(self.clock.ticks(), rank, name);
            tracer.whole(calls);
            on.into_iter().for_each(|on| tracer.whole(on));
        }
    }

    /// Its call has ended.
    pub fn trace_rank_goes_on(&self, rank: u32) {
        if let Some(tracer) = &self.tracer {
            tracer.whole(Record { wide: rank, ..Record::at(self.clock.ticks(), Kind::RankGoesOn) });
        }
    }

    /// From now on it does again what a lost PE did, from this line on.
    pub fn trace_replays(&self, line: u64) {
        if let Some(tracer) = &self.tracer {
            let ticks = self.clock.ticks();
            tracer.whole(Record { low: line, ..Record::at(ticks, Kind::Replays) });
            tracer.again.set(Some(ticks));
        }
    }

    /// It has done some of that.
    pub fn trace_replayed(&self) {
        if let Some(tracer) = &self.tracer
            && tracer.again.get().is_some()
        {
            tracer.again.set(Some(self.clock.ticks()));
        }
    }

    /// It goes on like all others, if it did something again: that ended when it was last at it.
    pub fn trace_goes_on(&self) {
        if let Some(tracer) = &self.tracer
            && let Some(ticks) = tracer.again.take()
        {
            tracer.whole(Record::at(ticks, Kind::ReplayEnds));
        }
    }

    /// An object leaves for another PE.
    pub fn trace_move(&self, object: &Head, to: PeId) {
        if let Some(tracer) = &self.tracer {
            let small = object.collection().number.min(u16::MAX.into()) as u16;
            let moves = Record { small, wide: to, ..Record::at(self.clock.ticks(), Kind::Moves) };
            tracer.whole(moves.of_index(object.index()));
        }
    }

    /// Something that people may want to see happened.
    pub(crate) fn trace_event(&self, event: &Event<'_>) {
        let Some(tracer) = &self.tracer else { return };
        let at = |kind| Record::at(self.clock.ticks(), kind);
        let few = |count: u64| count.min(u32::MAX.into()) as u32;
        match *event {
            Event::CheckpointBegins { version, .. } => {
                tracer.whole(Record { low: version, ..at(Kind::CheckpointBegins) });
            }
            Event::CheckpointTaken { version, objects, bytes } => {
                let taken = Record { wide: few(objects), low: version, ..at(Kind::CheckpointTaken) };
                tracer.whole(Record { high: bytes, ..taken });
            }
            Event::CheckpointCommitted { version } => {
                tracer.whole(Record { low: version, ..at(Kind::CheckpointCommitted) });
            }
            Event::GoesBack { version, .. } => tracer.whole(Record { low: version, ..at(Kind::GoesBack) }),
            Event::StepBegins { step, .. } => tracer.whole(Record { low: step, ..at(Kind::StepBegins) }),
            Event::StepEnds {
                step, moves, max_before_s, average_before_s, max_predicted_s, step_s, ..
            } => {
                let ends = Record { wide: few(moves), low: step, ..at(Kind::StepEnds) };
                tracer.whole(Record { high: seconds(max_before_s, average_before_s), ..ends });
                tracer.whole(Record { low: seconds(max_predicted_s, step_s), ..at(Kind::StepGain) });
            }
            // Moves are told with their index (`trace_move`).
            Event::LoadsSeen { .. } | Event::Moves { .. } => {}
        }
    }
}
