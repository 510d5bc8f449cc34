//! What a PE writes down of what it does (`--trace`): records into a ring of its own, which another thread empties.
//!
//! A PE that is not traced does nothing for it on a message's way within it: objects of one that is have a flag, which is
//! looked at with those that say whether an entry is to be timed, and calls look at the word by which traffic is measured.
//! Between PEs it is one branch.
//!
//! Which message an entry is called by has to be known when it runs. Meanwhile the message may wait in the queue, or for
//! its object. So its way is kept beside, by the place of its envelope in memory.

mod channels;
mod sink;

use std::cell::{Cell, RefCell};
use std::mem::offset_of;
use std::ptr::{NonNull, from_ref};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

pub use channels::Origin;
pub use sink::{Drained, TraceSettings, TraceSink};

use crate::message::cell::Words;
use crate::message::envelope::Envelope;
use crate::object::{Head, flag};
use crate::pe::Pe;
use crate::pe::execute::Call;
use crate::registry::{ChareType, Registry};
use channels::Channels;
use sink::Input;
use talisman_base::ids::PeId;
use talisman_observe::event::Event;
use talisman_observe::trace::{Kind, Record, calls, seconds};

/// What a PE that is traced has for it.
pub struct Tracer {
    input: RefCell<Input>,
    channels: RefCell<Channels>,
    /// The ways of messages that wait here, by their envelopes.
    waiting: RefCell<HashMap<usize, Origin, FxBuildHasher>>,
    /// That of the message that is being run, where it is in no envelope any more.
    cause: Cell<Option<Origin>>,
    /// The chare type that was last looked up.
    last: Cell<(usize, u32)>,
}

impl Tracer {
    fn new(input: Input) -> Tracer {
        Tracer {
            input: RefCell::new(input),
            channels: RefCell::default(),
            waiting: RefCell::default(),
            cause: Cell::default(),
            last: Cell::new((0, 0)),
        }
    }

    #[inline]
    fn put(&self, record: Record) {
        self.input.borrow_mut().put(record);
    }

    /// The number of a chare type among those of the program.
    #[inline]
    fn number_of(&self, chare: &'static ChareType) -> u32 {
        let place = from_ref(chare).addr();
        match self.last.get() {
            (last, number) if last == place => number,
            _ => {
                let number = Registry::get().find(chare.key).map_or(u32::MAX, |(number, _)| number);
                self.last.set((place, number));
                number
            }
        }
    }

    /// A message leaves for the end of a way, perhaps one that had come by another.
    fn leaves(&self, ticks: u64, to: PeId, bytes: u64, relayed: Option<Origin>) -> u64 {
        if let Some(Origin { from, number }) = relayed {
            self.put(Record { wide: from, low: number, ..Record::at(ticks, Kind::Relayed) });
        }
        let number = self.channels.borrow_mut().sent(to);
        self.put(Record { wide: to, low: number, high: bytes, ..Record::at(ticks, Kind::Sent) });
        number
    }

    /// The way of the message that a call is for.
    #[inline]
    fn cause_of(&self, call: &Call<'_>) -> Option<Origin> {
        let in_envelope = match call {
            Call::Entry { words, .. } => self.waiting.borrow_mut().remove(&key_of(words)),
            _ => None,
        };
        in_envelope.or(self.cause.get())
    }
}

/// The place of the envelope that has these words, if one does.
fn key_of(words: &Words) -> usize {
    from_ref(words).addr().wrapping_sub(offset_of!(Envelope, words))
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

    /// User code begins: the object is called for this.
    pub fn trace_begin(&self, object: &Head, call: &Call<'_>) {
        let Some(tracer) = &self.tracer else { return };
        let ticks = self.clock.ticks();
        if let Some(Origin { from, number }) = tracer.cause_of(call) {
            tracer.put(Record { wide: from, low: number, ..Record::at(ticks, Kind::Caused) });
        }
        let (small, wide) = (number_of(call), tracer.number_of(object.collection().chare));
        tracer.put(Record { small, wide, ..Record::at(ticks, Kind::Begins) }.of_index(object.index()));
    }

    /// It has ended.
    pub fn trace_end(&self) {
        self.trace_kind(Kind::Ends);
    }

    /// Something happened that needs no more words.
    pub fn trace_kind(&self, kind: Kind) {
        if let Some(tracer) = &self.tracer {
            tracer.put(Record::at(self.clock.ticks(), kind));
        }
    }

    /// A message was made that stays on this PE; the words are in its envelope.
    #[cold]
    pub fn trace_made(&self, words: &Words) {
        let Some(tracer) = &self.tracer else { return };
        let number = tracer.leaves(self.clock.ticks(), self.id, 0, None);
        // A PE gets from itself what it sends to itself.
        tracer.waiting.borrow_mut().insert(key_of(words), Origin { from: self.id, number });
    }

    /// A message is put into the queue; if it has been made here, and not told yet, it is now.
    pub fn trace_stays(&self, message: &Envelope) {
        let Some(tracer) = &self.tracer else { return };
        let is_told = tracer.waiting.borrow().contains_key(&key_of(&message.words));
        if message.from == self.id && !is_told {
            self.trace_made(&message.words);
        }
    }

    /// A message goes to the end of a way, and has come by another, if it says so.
    #[inline]
    pub fn trace_leaves(&self, to: PeId, bytes: u64, relayed: Option<Origin>) {
        if let Some(tracer) = &self.tracer {
            tracer.leaves(self.clock.ticks(), to, bytes, relayed);
        }
    }

    /// When something begins that is told afterwards, in ticks.
    #[inline]
    pub fn clock_of_trace(&self) -> u64 {
        if self.tracer.is_some() { self.clock.ticks() } else { 0 }
    }

    /// The same as [`Pe::trace_leaves`] of one that left then.
    #[inline]
    pub fn trace_left(&self, ticks: u64, to: PeId, bytes: u64, relayed: Option<Origin>) {
        if let Some(tracer) = &self.tracer {
            tracer.leaves(ticks, to, bytes, relayed);
        }
    }

    /// A message has come from the PE at the other end of a way.
    #[inline]
    pub fn trace_comes(&self, from: PeId) -> Option<Origin> {
        let tracer = self.tracer.as_ref()?;
        Some(Origin { from, number: tracer.channels.borrow_mut().received(from) })
    }

    /// It is in this envelope from now on.
    #[inline]
    pub fn trace_keep(&self, envelope: NonNull<Envelope>, origin: Option<Origin>) {
        if let (Some(tracer), Some(origin)) = (&self.tracer, origin) {
            tracer.waiting.borrow_mut().insert(envelope.addr().get(), origin);
        }
    }

    /// The message of this envelope is not in it any more: by which way it has come.
    #[inline]
    pub fn trace_take(&self, envelope: NonNull<Envelope>) -> Option<Origin> {
        self.tracer.as_ref()?.waiting.borrow_mut().remove(&envelope.addr().get())
    }

    /// What is called from now on is called by the message that came by this way; or by none in particular.
    #[inline]
    pub fn trace_cause(&self, origin: Option<Origin>) {
        if let Some(tracer) = &self.tracer {
            tracer.cause.set(origin);
        }
    }

    /// The same of the message in this envelope.
    #[inline]
    pub fn trace_cause_in(&self, envelope: NonNull<Envelope>) {
        if self.tracer.is_some() {
            self.trace_cause(self.trace_take(envelope));
        }
    }

    /// It was idle until now, for so many nanoseconds, and gave its core away or slept for some of them.
    pub fn trace_idle(&self, idle_ns: u64, released_ns: u64) {
        if let Some(tracer) = &self.tracer {
            let idle = Record::at(self.clock.ticks(), Kind::Idle);
            tracer.put(Record { low: idle_ns, high: released_ns, ..idle });
        }
    }

    /// An object leaves for another PE.
    pub fn trace_move(&self, object: &Head, to: PeId) {
        if let Some(tracer) = &self.tracer {
            let small = tracer.number_of(object.collection().chare).min(u16::MAX.into()) as u16;
            let moves = Record { small, wide: to, ..Record::at(self.clock.ticks(), Kind::Moves) };
            tracer.put(moves.of_index(object.index()));
        }
    }

    /// Something that people may want to see happened.
    pub(crate) fn trace_event(&self, event: &Event<'_>) {
        let Some(tracer) = &self.tracer else { return };
        let at = |kind| Record::at(self.clock.ticks(), kind);
        let few = |count: u64| count.min(u32::MAX.into()) as u32;
        match *event {
            Event::CheckpointBegins { version, .. } => {
                tracer.put(Record { low: version, ..at(Kind::CheckpointBegins) });
            }
            Event::CheckpointTaken { version, objects, bytes } => {
                let taken = Record { wide: few(objects), low: version, ..at(Kind::CheckpointTaken) };
                tracer.put(Record { high: bytes, ..taken });
            }
            Event::CheckpointCommitted { version } => {
                tracer.put(Record { low: version, ..at(Kind::CheckpointCommitted) });
            }
            Event::GoesBack { version, .. } => tracer.put(Record { low: version, ..at(Kind::GoesBack) }),
            Event::StepBegins { step, .. } => tracer.put(Record { low: step, ..at(Kind::StepBegins) }),
            Event::StepEnds {
                step, moves, max_before_s, average_before_s, max_predicted_s, step_s, ..
            } => {
                let ends = Record { wide: few(moves), low: step, ..at(Kind::StepEnds) };
                tracer.put(Record { high: seconds(max_before_s, average_before_s), ..ends });
                tracer.put(Record { low: seconds(max_predicted_s, step_s), ..at(Kind::StepGain) });
            }
            // Moves are told with their index (`trace_move`).
            Event::LoadsSeen { .. } | Event::Moves { .. } => {}
        }
    }
}
