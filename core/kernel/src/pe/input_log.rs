//! What a PE was given, and what it sent: kept in memory, for a fresh PE to be given the same and send the same.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ptr::NonNull;

use bytes::Bytes;

use super::Pe;
use super::recorder::Recorder;
use super::turn::Command;
use super::turn::world;
use crate::message::envelope::Envelope;
use crate::port::{Parcel, Sent};
use crate::wire;
use talisman_base::clock::Clock;
use talisman_base::ids::PeId;
use talisman_pup::{Packed, Pup, Purpose, Segment};

/// Whether a PE keeps what it is given.
#[derive(Default)]
pub enum InputLog {
    /// It does not: costs a branch for each turn.
    #[default]
    Off,
    /// It does not either, and its trace is told of turns.
    Traced,
    /// It does.
    Kept(Box<Kept>),
    /// It is given what another was.
    Again(Box<Again>),
    /// Somebody else keeps it, or says what another was given.
    Told(Box<dyn Recorder>),
}

/// What a PE was given, and sent, in order.
#[derive(Debug)]
pub struct Kept {
    /// Its clock when it was made, in nanoseconds.
    pub made_at: u64,
    steps: RefCell<Vec<Logged>>,
    values: RefCell<VecDeque<Vec<u8>>>,
    time: Cell<u64>,
}

/// For a PE that runs again: values of the world.
#[derive(Debug)]
pub struct Again {
    values: RefCell<VecDeque<Vec<u8>>>,
    is_short: Cell<bool>,
}

/// One thing that a PE was given, or what it sent since the last time that it was asked.
#[derive(Debug)]
pub enum Logged {
    /// Its clock says this from now on, in nanoseconds.
    Time(u64),
    /// It begins with what waits in its queue: a message from nobody.
    Begins(Packed),
    /// It begins with these parts of a checkpoint.
    Restored(Packed),
    /// A message from another PE was taken in.
    Taken { from: PeId, frame: Frame },
    /// A message of its queue ran.
    Ran,
    /// Timers that were due fired.
    Timers,
    /// It had nothing else to do: idle work, reductions to send on, waves to answer.
    Rested,
    /// It was told that it had been idle, in nanoseconds, and had given its core to others.
    Idle(u64, u64),
    /// Somebody beside the PEs asked for something.
    Asked(Command),
    /// It had sent these, and run so many entries in all.
    Sent { frames: Vec<(PeId, Frame)>, run: u64 },
}

impl Logged {
    /// What it is, for people.
    pub fn describe(&self, pe: &Pe) -> String {
        match self {
            Logged::Time(now) => format!("its clock said {now} ns"),
            Logged::Begins(_) => "its first message".into(),
            Logged::Restored(_) => "its parts of a checkpoint".into(),
            Logged::Taken { from, frame } => {
                format!("a message taken in from PE {from} ({})", frame.describe(pe))
            }
            Logged::Ran => "a message that ran".into(),
            Logged::Timers => "timers that fired".into(),
            Logged::Rested => "its idle work".into(),
            Logged::Idle(idle_ns, _) => format!("that it had been idle for {idle_ns} ns"),
            Logged::Asked(command) => format!("a request from outside, {command:?}"),
            Logged::Sent { frames, .. } => format!("that it had sent {} messages", frames.len()),
        }
    }
}

/// A message as it goes between PEs.
#[derive(Clone, Debug)]
pub struct Frame {
    pub head: Bytes,
    pub segments: Vec<Segment>,
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        let beside = self.segments.iter().map(Segment::bytes).eq(other.segments.iter().map(Segment::bytes));
        self.head == other.head && beside
    }
}

impl Frame {
    /// With a copy of this head.
    pub fn with_head(head: &[u8], segments: Vec<Segment>) -> Frame {
        Frame { head: Bytes::copy_from_slice(head), segments }
    }

    /// A copy of what is in a parcel; none of one that has not been packed.
    pub fn of(parcel: &Parcel) -> Option<Frame> {
        match parcel {
            Parcel::Message(_) => None,
            Parcel::Frame { head, segments } => {
                Some(Frame { head: head.clone(), segments: segments.iter().map(Segment::copied).collect() })
            }
        }
    }

    pub fn into_parcel(self) -> Parcel {
        Parcel::Frame { head: self.head, segments: self.segments }
    }

    /// What it is, for people.
    pub fn describe(&self, pe: &Pe) -> String {
        let beside: usize = self.segments.iter().map(|segment| segment.bytes().len()).sum();
        let bytes = self.head.len() + beside;
        format!("{bytes} bytes: {}", wire::describe(pe, &self.head))
    }
}

impl InputLog {
    /// That of a new PE, whose inputs are kept if so, or which is traced.
    pub fn of(is_kept: bool, is_traced: bool, clock: &Clock) -> InputLog {
        match is_traced {
            _ if is_kept => {}
            true => return InputLog::Traced,
            false => return InputLog::Off,
        }
        let now = clock.now().as_nanos() as u64;
        let (steps, values) = (RefCell::default(), RefCell::default());
        InputLog::Kept(Box::new(Kept { made_at: now, steps, values, time: Cell::new(now) }))
    }

    /// For a PE that runs again.
    pub fn again(values: VecDeque<Vec<u8>>) -> InputLog {
        InputLog::Again(Box::new(Again { values: RefCell::new(values), is_short: Cell::new(false) }))
    }

    #[inline(always)]
    pub fn is_off(&self) -> bool {
        matches!(self, InputLog::Off)
    }

    /// Whether somebody else keeps what comes, or says what had come.
    pub fn is_told(&self) -> bool {
        matches!(self, InputLog::Told(_))
    }

    fn is_kept(&self) -> bool {
        matches!(self, InputLog::Kept(_))
    }

    fn note(&self, pe: &Pe, step: impl FnOnce() -> Logged) {
        if let InputLog::Kept(kept) = self {
            kept.note_time(pe);
            kept.steps.borrow_mut().push(step());
        }
    }

    fn tell(&self, pe: &Pe, what: impl FnOnce(&dyn Recorder)) {
        if let InputLog::Told(recorder) = self {
            recorder.time(pe.clock.now().as_nanos() as u64);
            what(&**recorder);
        }
    }

    pub(super) fn note_time(&self, pe: &Pe) {
        if let InputLog::Kept(kept) = self {
            kept.note_time(pe);
        }
        self.tell(pe, |_| ());
    }

    pub(super) fn note_run(&self, pe: &Pe) {
        self.note(pe, || Logged::Ran);
        self.tell(pe, |recorder| recorder.runs());
    }

    pub(super) fn note_timers(&self, pe: &Pe) {
        if pe.timers.next().is_some_and(|due| due <= pe.clock.now()) {
            self.note(pe, || Logged::Timers);
            self.tell(pe, |recorder| recorder.timers());
        }
    }

    pub(super) fn note_rest(&self, pe: &Pe) {
        self.note(pe, || Logged::Rested);
        self.tell(pe, |recorder| recorder.rests());
    }

    pub(super) fn note_command(&self, pe: &Pe, command: &Command) {
        self.note(pe, || Logged::Asked(command.clone()));
        self.tell(pe, |recorder| recorder.asked(command));
    }

    pub(super) fn note_idle(&self, pe: &Pe, idle_ns: u64, released_ns: u64) {
        if idle_ns + released_ns > 0 {
            self.note(pe, || Logged::Idle(idle_ns, released_ns));
            self.tell(pe, |recorder| recorder.idle(idle_ns, released_ns));
        }
    }

    pub(super) fn note_end_of_turn(&self) {
        if let InputLog::Told(recorder) = self {
            recorder.turn_is_over();
        }
    }

    pub(super) fn note_value(&self, bytes: impl FnOnce() -> Vec<u8>) {
        match self {
            InputLog::Kept(kept) => kept.values.borrow_mut().push_back(bytes()),
            InputLog::Told(recorder) => recorder.value(bytes()),
            InputLog::Off | InputLog::Traced | InputLog::Again(_) => {}
        }
    }

    /// The next value of the world, of a PE that runs again.
    pub(super) fn next_value(&self) -> Option<Vec<u8>> {
        match self {
            InputLog::Again(again) => {
                let value = again.values.borrow_mut().pop_front();
                again.is_short.set(again.is_short.get() || value.is_none());
                value
            }
            InputLog::Told(recorder) => recorder.value_again(),
            InputLog::Off | InputLog::Traced | InputLog::Kept(_) => None,
        }
    }

    /// Whether what the PE does beside sending is done already.
    pub(super) fn runs_again(&self) -> bool {
        match self {
            InputLog::Again(_) => true,
            InputLog::Told(recorder) => recorder.runs_again(),
            InputLog::Off | InputLog::Traced | InputLog::Kept(_) => false,
        }
    }

    /// Whether it runs again alone, and nobody gets what it sends.
    pub(super) fn runs_alone(&self) -> bool {
        matches!(self, InputLog::Told(recorder) if recorder.runs_alone())
    }

    /// What is packed now has bytes that do not follow from what the PE was given.
    pub(super) fn note_undetermined(&self) {
        if let InputLog::Told(recorder) = self {
            recorder.packs_undetermined();
        }
    }

    /// Whether a PE that runs again has asked the world for more values than the one before it.
    pub fn is_short(&self) -> bool {
        matches!(self, InputLog::Again(again) if again.is_short.get())
    }

    /// What was noted so far. Nothing is from here on.
    pub fn take(&mut self) -> Option<(u64, Vec<Logged>, VecDeque<Vec<u8>>)> {
        match std::mem::take(self) {
            InputLog::Kept(kept) => Some((kept.made_at, kept.steps.into_inner(), kept.values.into_inner())),
            InputLog::Off | InputLog::Traced | InputLog::Again(_) | InputLog::Told(_) => None,
        }
    }
}

impl Kept {
    fn note_time(&self, pe: &Pe) {
        let now = pe.clock.now().as_nanos() as u64;
        if self.time.replace(now) != now {
            self.steps.borrow_mut().push(Logged::Time(now));
        }
    }
}

impl Pe {
    /// A message from another PE is about to be taken in.
    pub fn note_taken(&self, from: PeId, parcel: &Parcel) {
        if self.input_log.is_kept()
            && let Some(frame) = Frame::of(parcel)
        {
            self.input_log.note(self, || Logged::Taken { from, frame });
        }
    }

    /// The same of a frame as it has come from another node, for who else keeps what comes.
    #[inline]
    pub fn note_taken_frame(&self, from: PeId, head: &[u8], segments: &[Segment]) {
        if self.input_log.is_told() {
            self.input_log.tell(self, |recorder| recorder.takes(from, head, segments));
        }
    }

    /// A frame for another node is packed, and goes.
    #[inline]
    pub(crate) fn note_sent_frame(&self, to: PeId, head: &[u8], segments: &[Segment]) {
        if self.input_log.is_told() {
            self.input_log.tell(self, |recorder| recorder.sends(self, to, head, segments));
        }
    }

    /// A message is about to go to another PE of the node, by a ring: where that is told, it goes as what can be read of it packed. None if
    /// nobody could read it: the job has ended then.
    pub(crate) fn note_sent_within(
        &self,
        to: PeId,
        envelope: NonNull<Envelope>,
    ) -> Option<NonNull<Envelope>> {
        if !self.input_log.is_told() {
            return Some(envelope);
        }
        let read = wire::pack(self, envelope, |head, segments| {
            self.note_sent_frame(to, head, &segments);
            wire::read_within_node(self, head, segments)
        });
        read?.map_err(|error| self.node.job.end(1, Some(error.to_string()))).ok()
    }

    /// Whether the ring of another PE of the node was full. How fast that one takes in is a value of the world for a PE that is to run again
    /// without it.
    pub fn has_unsent(&self) -> bool {
        let has_unsent = || self.port.has_unsent();
        if self.node.config.packs_within { world(has_unsent) } else { has_unsent() }
    }

    /// Another PE of the node has put a read-only value where this one may read it from now on.
    pub fn note_shared(&self, id: u64) {
        if let InputLog::Told(recorder) = &self.input_log
            && self.node.config.packs_within
            && let Some(value) = self.node.shared.get(id)
        {
            recorder.shared(id, &value.packed);
        }
    }

    /// A message stays on this PE, of a program whose messages are all looked at.
    #[cold]
    pub(crate) fn note_sent_here(&self, message: &Envelope) {
        if self.input_log.is_told() {
            let packed = wire::copy_to_keep(message);
            self.note_sent_frame(self.id, packed.bytes(), packed.segments());
        }
    }

    /// It begins with what is in its queue.
    pub fn note_beginning(&self) {
        if self.input_log.is_kept()
            && let Some(first) = self.beginning()
        {
            self.input_log.note(self, || Logged::Begins(first));
        }
    }

    /// A copy of the first message in its queue.
    pub fn beginning(&self) -> Option<Packed> {
        // SAFETY: what is in the queue is a live envelope.
        self.queue.ahead(0).map(|first| wire::copy_to_keep(unsafe { first.as_ref() }))
    }

    /// A PE that runs again begins with a message from nobody, as another did.
    pub fn begin_again(&self, message: Packed) -> Result<(), String> {
        let envelope = wire::read_kept(self, message, Purpose::Message).map_err(|error| error.to_string())?;
        // SAFETY: just read.
        let of = unsafe { envelope.as_ref() }.to().collection;
        match self.collections.get(of) {
            Some(collection) => self.enqueue_creation(collection, envelope),
            None => self.release(envelope),
        }
        Ok(())
    }

    /// It is about to begin with these parts of a checkpoint. They are packed and read for the log.
    pub fn note_restored<T: Pup>(&self, parts: T) -> T {
        if !self.input_log.is_kept() {
            return parts;
        }
        let packed = Packed::of(&parts);
        self.input_log.note(self, || Logged::Restored(packed.clone()));
        packed.into_value().expect("just packed")
    }

    /// It has sent this since it was last asked.
    pub fn note_sent(&self, sent: &[Sent]) {
        if !self.input_log.is_kept() {
            return;
        }
        let frames = sent.iter().filter_map(|sent| Some((sent.to, Frame::of(&sent.parcel)?))).collect();
        self.input_log.note(self, || Logged::Sent { frames, run: self.stats.run.get() });
    }
}
