//! A rank: its thread, and all of MPI's own state of it.
//!
//! The program runs on its thread and calls MPI by [`call`], which works on the state at once; a call that cannot go
//! on [waits](wait_all), which suspends the thread. Frames come while it is suspended. Who has the rank sends the
//! frames that come out, and moves it when it likes, as it is `Pup` data.

mod activity;
mod agenda;
mod births;
mod blocking;
mod element;
mod giving;
mod held;

mod lending;
mod memory;
mod near_windows;
mod neighbor_memory;
mod neighbors;
mod operations;
mod other_threads;
mod outside;
mod posts;
mod program;
mod rollback;
mod running;
mod sayings;
mod sending;
mod site;
mod traced;
mod waiting;
mod world_launch;

use std::collections::VecDeque;
use std::ptr::NonNull;

use talisman_core::activity::State;
use talisman_observe::mutations::mutated;
use talisman_pup::Pup;

use crate::comm::World;
use crate::engine::{Body, Engine, Frame, FrameError, Head, Payload, Rank as Number};
use crate::process::{Incoming, PerformError, Process};
use crate::slot::{Slot, SlotError};
use crate::thread::{Resumed, Thread};

use activity::Activity;
use agenda::Agenda;
pub(crate) use births::start;
pub use births::{Birth, Command, Hint};
pub(crate) use blocking::{receive, send};
pub use element::RankElement;
use lending::Lending;
use memory::ProgramMemory;
pub use near_windows::Near;
pub(crate) use near_windows::{access_near, call_near};
use neighbors::Place;
pub use operations::is_in_operation;
pub use other_threads::{
    Threads, end_by_thread, give_way, is_asked, is_other_thread, let_threads_call, nap, set_threads,
};
pub use outside::{Alone, Outside, Wish};
pub(crate) use posts::{mailbox, next_post, pause};
pub use program::{Memory, Program, end};
use running::Running;
pub use running::{CallError, call, end_job};
pub(crate) use running::{Caller, call_outside_operations, hear_all, outside, state};
pub use sayings::Said;
pub use site::Site;
pub use traced::TracedCall;
pub use waiting::{wait_all, wait_any, wait_message};
pub(crate) use waiting::{wait_for, wait_in_call};
pub use world_launch::Launch;

use thiserror::Error;

/// A frame to be sent.
pub type Outgoing = (Number, Frame<Payload>);

/// A rank that is suspended.
#[derive(Debug, Pup)]
pub struct Rank {
    process: Process,
    thread: Thread,
    /// What it waits for has come, or it waits for nothing.
    is_ready: bool,
    /// It waits to be released; and how often it was without having paused.
    is_paused: bool,
    released: u32,
    /// What its program is given, and what that has returned.
    texts: Texts,
    /// The call that it waits in.
    site: Site,
    /// What messages have led to and is not done yet.
    agenda: Agenda,
    /// It is called by a message that is on its way.
    is_called: bool,
    /// It waits, and goes on to look again, as it has threads beside its first one: such a rank stays where it is.
    #[pup(skip)]
    looks_again: bool,
    /// Why it cannot go on, of what was found when it did not run.
    failure: Option<String>,
    #[pup(skip)]
    lending: Lending,
    /// Where other ranks of its PE find it.
    #[pup(skip)]
    place: Place,
    /// As others see it.
    #[pup(skip)]
    activity: Activity,
}

/// Values that go into a rank's program and come out of it, packed: they are neither in its slot nor of another rank's.
#[derive(Debug, Default, Pup)]
struct Texts {
    arguments: Vec<u8>,
    result: Vec<u8>,
    /// What chares have sent and the program has not taken.
    posts: VecDeque<Vec<u8>>,
    /// The program waits for one.
    awaits_post: bool,
}

/// Why a rank cannot go on.
#[derive(Debug, Error)]
pub enum RankError {
    /// A frame that no peer would send.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// Something that the program has given to a call is not there.
    #[error(transparent)]
    Perform(#[from] PerformError),
    /// Its memory cannot be put where it belongs.
    #[error(transparent)]
    Slot(#[from] SlotError),
}

impl Rank {
    /// A rank of a world of so many. It runs the program when it is resumed for the first time. In a job a rank's
    /// slot has its number: messages about the slot name the rank by it.
    pub fn new<F: FnOnce() + Send + 'static>(slot: Slot, number: Number, ranks: u32, program: F) -> Rank {
        Rank::of_world(slot, number, &World::at_start(ranks), program)
    }

    /// The same of this world.
    pub fn of_world<F: FnOnce() + Send + 'static>(
        slot: Slot,
        number: Number,
        world: &World,
        program: F,
    ) -> Rank {
        Rank {
            process: Process::new(Engine::new(number), world),
            thread: Thread::new(slot, program),
            is_ready: true,
            is_paused: false,
            released: 0,
            texts: Texts::default(),
            site: Site::default(),
            agenda: Agenda::default(),
            is_called: false,
            looks_again: false,
            failure: None,
            lending: Lending::default(),
            place: Place::default(),
            activity: Activity::default(),
        }
    }

    /// From now on others can see what it does, in this process, which is this node.
    pub(super) fn show(&mut self, node: u32) {
        if self.activity.begin(self.process.engine.rank(), node) {
            self.show_state();
        }
    }

    fn show_state(&mut self) {
        match (self.is_ready, self.waits()) {
            (true, _) => self.activity.rests(State::Ready),
            (false, true) => self.activity.waits(&self.process.engine, &self.site.call),
            (false, false) => self.activity.rests(State::Ended),
        }
    }

    /// Whether other ranks of this process may read what this one announces where it is, and it what they announce: if
    /// the slots of all that do are in place. And those of other processes of the host, too.
    pub fn set_lending(&mut self, lends: bool, also_abroad: bool) {
        let number = self.process.engine.rank();
        self.lending.set(lends.then_some(number), also_abroad);
    }

    /// With what its program is given, packed.
    #[must_use]
    pub fn with_arguments(mut self, arguments: Vec<u8>) -> Rank {
        self.texts.arguments = arguments;
        self
    }

    /// What its program has returned, packed; empty before it has.
    pub fn result(&self) -> &[u8] {
        &self.texts.result
    }

    /// The call that it waits in.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// Where in its program it waits: of one that was mapped the place of the call, as its loader knows it.
    pub fn place(&self) -> String {
        self.thread.place().unwrap_or_else(|| format!("{}:{}", self.site.file, self.site.line))
    }

    /// MPI's state of it.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Whether it would do something if it was resumed. One that has ended would not.
    pub fn is_ready(&self) -> bool {
        self.is_ready || self.agenda.has_due()
    }

    /// Its memory.
    pub fn slot_mut(&mut self) -> &mut Slot {
        self.thread.slot_mut()
    }

    /// A frame has come. Adds the frames that it leads to.
    ///
    /// # Errors
    /// If no peer would send it, or the rank's memory is not there.
    pub fn on_frame(&mut self, frame: Frame<Payload>, sent: &mut Vec<Outgoing>) -> Result<(), RankError> {
        self.activity.has_got();
        if !self.receives_at_once(&frame)? {
            self.process.on_frame(frame, &mut self.agenda.actions)?;
        }
        self.perform(sent)
    }

    /// Whether the frame finds a receive that waits for it, and nothing is to be done before: the common case.
    fn receives_at_once(&mut self, frame: &Frame<Payload>) -> Result<bool, RankError> {
        if !self.agenda.is_empty() || !matches!(frame.body, Body::Eager(_)) {
            return Ok(false);
        }
        self.thread.slot_mut().put_back_in_turn()?;
        // SAFETY: as in `perform`.
        let mut program = unsafe { ProgramMemory::new(self.lending.lender()) };
        let is_received = self.process.receive_at_once(frame, &mut program, &mut self.agenda.actions)?;
        self.is_ready |= self.process.engine.has_received();
        Ok(is_received)
    }

    /// The bytes of a message while it waits and another rank runs, if it has a receive for it and nothing is to be done
    /// before. Whether it is to be called then.
    fn takes(&mut self, head: &Head, bytes: &[u8], sent: &mut Vec<Outgoing>) -> Option<bool> {
        // One that has come here and has not run is not in place yet. If it cannot be, that is said when a frame comes.
        if !self.agenda.is_empty() || self.thread.slot_mut().put_back_in_turn().is_err() {
            return None;
        }
        // SAFETY: as in `perform`.
        let mut program = unsafe { ProgramMemory::new(self.lending.lender()) };
        match self.process.receive_awaited(head, bytes, &mut program) {
            Ok(true) => {
                self.activity.has_got();
                self.is_ready = true;
                return Some(self.is_to_be_called());
            }
            Ok(false) => {}
            Err(error) => {
                self.failure = Some(error.to_string());
                return Some(self.is_to_be_called());
            }
        }
        match self.process.receive_whole(Incoming::of(head, bytes), &mut program, &mut self.agenda.actions) {
            Ok(false) => return None,
            Ok(true) => {
                self.activity.has_got();
                self.is_ready |= self.process.engine.has_received();
                if !self.agenda.actions.is_empty()
                    && let Err(error) = self.perform(sent)
                {
                    self.failure = Some(error.to_string());
                }
            }
            Err(error) => self.failure = Some(error.to_string()),
        }
        Some(self.is_to_be_called())
    }

    /// A frame while it waits and another rank runs. Whether it is to be called, as it is ready and nobody has called it:
    /// what went wrong it says [then](Rank::take_failure).
    fn is_called_by(&mut self, frame: Frame<Payload>, sent: &mut Vec<Outgoing>) -> bool {
        if let Err(error) = self.on_frame(frame, sent) {
            self.failure = Some(error.to_string());
        }
        self.is_to_be_called()
    }

    /// Whether it is to be called, as it is ready and nobody has called it. It is called then.
    fn is_to_be_called(&mut self) -> bool {
        let is_to_be =
            (self.is_ready() || self.has_failed()) && !std::mem::replace(&mut self.is_called, true);
        if is_to_be {
            self.activity.rests(State::Ready);
        }
        is_to_be
    }

    /// Whether others of its PE find it where it waits for them, and it has nothing else to do.
    #[inline]
    fn is_found_waiting(&self) -> bool {
        self.place.is_set() && !self.is_ready() && !self.has_failed()
    }

    /// Whether it cannot go on, by what was found when it did not run.
    fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Why it cannot go on, by what was found when it did not run.
    fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// Runs it until it waits or ends. Adds the frames that it sends.
    ///
    /// # Errors
    /// If its memory cannot be put where it belongs.
    pub fn resume(&mut self, sent: &mut Vec<Outgoing>) -> Result<Resumed, RankError> {
        self.resume_in(&mut Alone, sent)
    }

    /// The same with what it may call besides MPI.
    ///
    /// # Errors
    /// As for [`Rank::resume`].
    pub fn resume_in(
        &mut self,
        outside: &mut dyn Outside,
        sent: &mut Vec<Outgoing>,
    ) -> Result<Resumed, RankError> {
        self.run_in(outside, sent)?;
        Ok(self.outcome())
    }

    /// The same. Returns whether it waits; else [it is over](Rank::outcome).
    ///
    /// It may have passed its turn to another one, which is the one that waits then, or is over: see [`Outside::pass_turn`].
    fn run_in(&mut self, outside: &mut dyn Outside, sent: &mut Vec<Outgoing>) -> Result<bool, RankError> {
        self.activity.runs();
        self.looks_again = false;
        let at = NonNull::from(self);
        // SAFETY: this one is borrowed for the time of this call, and used by what is made here alone.
        let mut running = unsafe { Running::new(at, outside, sent) };
        let is_suspended = running.run()?;
        let (mut at, sent, got) = (running.at(), running.has_sent(), running.got());
        // SAFETY: this one, or one of the same PE that has its turn.
        unsafe { at.as_mut() }.has_run(is_suspended, sent, got);
        Ok(is_suspended)
    }

    /// It does not run any more, and has sent and got so many messages.
    fn has_run(&mut self, is_suspended: bool, sent: usize, got: usize) {
        self.activity.is_suspended();
        if is_suspended && self.waits() {
            return self.waits_on(sent, got);
        }
        self.is_ready = is_suspended;
        self.activity.has_moved(sent, got);
        self.show_state();
    }

    /// The same where it waits for something.
    fn waits_on(&mut self, sent: usize, got: usize) {
        self.is_ready = false;
        self.activity.has_moved(sent, got);
        self.activity.waits(&self.process.engine, &self.site.call);
    }

    /// What has come of its program.
    fn outcome(&self) -> Resumed {
        self.thread.outcome()
    }

    /// Whether it is suspended for something. In an operation it has only let others run, whatever the call that the
    /// operation is called in waits for.
    fn waits(&self) -> bool {
        let waits = self.process.engine.waits_for().is_some() || self.is_paused || self.texts.awaits_post;
        waits && !self.agenda.is_in_operation() && !self.looks_again
    }

    /// A chare has sent this, packed.
    pub fn post(&mut self, value: Vec<u8>) {
        self.texts.posts.push_back(value);
        self.is_ready |= std::mem::take(&mut self.texts.awaits_post);
    }

    /// A rank that has paused goes on. One that has not does not pause the next time.
    pub fn release(&mut self) {
        match std::mem::take(&mut self.is_paused) {
            true => self.is_ready = true,
            false => self.released += 1,
        }
    }

    /// It is about to leave for another place: what it has announced is sent, and its addresses are free from then on. That
    /// may be what it waits for: then it is ready, and is to be resumed where it arrives.
    ///
    /// # Errors
    /// If its memory is not there, or cannot be moved.
    pub fn depart(&mut self, sent: &mut Vec<Outgoing>) -> Result<(), RankError> {
        self.lending.end();
        self.place.leave();
        self.activity.end();
        self.process.pay(&mut self.agenda.actions);
        self.perform(sent)?;
        if mutated("message-left-by-its-rank") {
            self.process.engine.forget_a_message();
        }
        Ok(self.thread.slot_mut().put_aside()?)
    }

    /// It is back from a checkpoint.
    fn restored(&mut self) {
        if mutated("frame-number-not-restored") {
            self.process.engine.forget_numbers();
        }
    }

    /// Its addresses are free while it waits: nobody reads from them, or gives it anything, meanwhile.
    fn give_way(&mut self) -> Result<(), SlotError> {
        self.lending.end();
        self.place.leave();
        self.thread.slot_mut().put_aside()
    }

    fn perform(&mut self, sent: &mut Vec<Outgoing>) -> Result<(), RankError> {
        if self.agenda.actions.is_empty() {
            return Ok(());
        }
        self.thread.slot_mut().put_back_in_turn()?;
        // SAFETY: the slot is in place, as are those of all that lend, and its rank is suspended. The addresses that the
        // process knows are those of calls that have not ended.
        let mut program = unsafe { ProgramMemory::new(self.lending.lender()) };
        self.is_ready |= self.agenda.perform(&mut self.process, &mut program, sent)?;
        Ok(())
    }
}
