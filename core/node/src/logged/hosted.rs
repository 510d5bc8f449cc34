//! A PE of a node that logs, with its clock: what it does on its thread.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::LoggedNode;
use super::kept::shelf_of;
use super::round::{Pace, Round};
use super::task::{Answer, Done, Handed, Stand, Task};
use crate::node_record::{end_record, record_writer_of};
use talisman_base::clock::Clock;
use talisman_base::ids::PeId;
use talisman_core::checkpoint::cut::CutOnPe;
use talisman_core::leftovers::LeftoversOnPe;
use talisman_core::logging::image::{Beginning, Image};
use talisman_core::logging::recorder::Record;
use talisman_core::logging::replay::{Again, may_run, run_again};
use talisman_core::quiescence::QuiescenceOnPe;
use talisman_core::record::item::Begins;
use talisman_core::record::writer::RecordWriter;
use talisman_core::services::SERVICES;
use talisman_kernel::node::Node;
use talisman_kernel::panics::caught;
use talisman_kernel::pe::input_log::InputLog;
use talisman_kernel::pe::recorder::Recorder;
use talisman_kernel::pe::turn::Feed;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::port::{Outbox, Parcel, Port, Shelf};
use talisman_kernel::witness::Why;
use talisman_observe::stats::{Totals, count};

/// Messages that a PE runs again before the others are heard.
const STEPS: usize = 64;
/// The rank of the PE in whose place the driver of its node sleeps.
const FIRST: usize = 0;

/// A PE, by its rank in its node. It sends into an outbox, and its clock stands still in a turn.
pub(super) struct Hosted<'a> {
    of: &'a LoggedNode,
    program: &'a (dyn Fn(&Pe) + Sync),
    rank: u32,
    /// None before its image has come.
    pe: Option<Pe>,
    /// In nanoseconds.
    clock: Rc<Cell<u64>>,
    /// What it is told with. Between two tasks all that is in it is with the driver.
    record: Record,
    /// Where it is written what it is given, if that is asked for.
    writer: Option<RecordWriter>,
    /// What the PEs before this one have counted.
    totals: Totals,
    pace: Pace,
    /// For so long of the time that it is idle its core has been others'.
    asleep: Cell<Duration>,
    /// Where the next PE's frames come to lie, between two PEs.
    shelf: Shelf,
}

impl<'a> Hosted<'a> {
    pub(super) fn new(of: &'a LoggedNode, program: &'a (dyn Fn(&Pe) + Sync), rank: u32) -> Self {
        let node = of.node();
        let writer = record_writer_of(&node, node.shape.first_pe(node.number) + rank, of.task.life);
        let (clock, record, totals) = (Rc::default(), Record::default(), Totals::default());
        let (pace, asleep) = (Pace::default(), Cell::default());
        let shelf = Shelf::keeping(shelf_of(of.log_budget, of.task.pes));
        Hosted { of, program, rank, pe: None, clock, record, writer, totals, pace, asleep, shelf }
    }

    pub(super) fn rank(&self) -> u32 {
        self.rank
    }

    /// Does something, and tells all that has come of it.
    pub(super) fn perform(&mut self, Handed { now, record, task, room }: Handed) -> Done {
        self.record.take_back(record);
        self.clock.set(self.clock.get().max(now));
        let answer = self.answer(task);
        let mut sent = room;
        self.outbox().into_iter().for_each(|outbox| outbox.swap(&mut sent));
        let said = self.of.said.take(self.rank);
        Done { record: self.record.lend(), sent, said, stand: None, answer }
    }

    /// The turn that it had last, if it has had one, is over since then at the latest.
    pub(super) fn end_turn(&self, now: impl FnOnce() -> Instant) {
        self.pace.look(now);
    }

    fn answer(&mut self, task: Task) -> Answer {
        match task {
            Task::Begin { id, node, image } => return or_failed(self.begin(id, node, &image)),
            Task::EndInLine { shelf } => {
                self.end_in_line(shelf);
                return Answer::Nothing;
            }
            Task::End(wall) => return Answer::Totals(self.end(wall)),
            _ => {}
        }
        let Some(pe) = &self.pe else { return Answer::Nothing };
        if !self.runs_again() {
            pe.trace_goes_on();
        }
        match task {
            Task::Turn { taken, runs, bytes, since } => {
                let until = pe.stats.bytes_between_nodes.get().saturating_add(bytes);
                return Answer::Did(self.turn(pe, Round::new((taken, runs), since, &self.pace, until)));
            }
            Task::Again(again) => return or_failed(self.again(pe, again)),
            Task::Command(command) => {
                let _here = Here::enter(pe);
                caught(pe, || pe.command(command));
            }
            Task::Figures { kept } => pe.tell_figures(|| kept),
            Task::Part(version) => {
                let gone =
                    |error| Answer::Failed(format!("its part of checkpoint {version} is gone: {error}"));
                return pe.part_of_cut(version).map_or_else(gone, Answer::Part);
            }
            Task::Contents(version) => {
                let gone =
                    |error| Answer::Failed(format!("its part of checkpoint {version} is gone: {error}"));
                return pe.contents_of_cut(version).map_or_else(gone, Answer::Contents);
            }
            Task::Describe(differs) => return Answer::Described(differs.frame.describe(pe)),
            Task::Discard(parcels) => discard(pe, parcels),
            Task::Begin { .. } | Task::EndInLine { .. } | Task::End(_) => {}
        }
        Answer::Nothing
    }

    /// A fresh one begins with what an image has.
    fn begin(&mut self, id: PeId, node: Arc<Node>, image: &Image) -> Result<(), String> {
        self.clock.set(image.made_at);
        node.config.trace.iter().for_each(|sink| sink.begin_line(image.line));
        let clock = Clock::set_in_turns(self.clock.clone(), self.of.start);
        let mut pe = Pe::new(
            id,
            node,
            clock,
            Port::Simulated(Outbox::lending(std::mem::take(&mut self.shelf))),
            SERVICES,
        );
        pe.begin_measuring();
        pe.input_log = InputLog::Told(self.recorder(image));
        if self.runs_again() {
            pe.trace_replays(image.line);
        }
        let mut begun = Ok(());
        let here = Here::enter(&pe);
        caught(&pe, || begun = image.begin(&pe, self.rank, self.program));
        drop(here);
        self.pe = Some(pe);
        begun
    }

    /// Tells its record what the PE is given, and writes it down if that is asked for.
    fn recorder(&self, image: &Image) -> Box<dyn Recorder> {
        let recorder = self.record.recorder();
        let Some(writer) = &self.writer else { return recorder };
        let with = match image.states.get(self.rank as usize) {
            // No job is recorded that goes on from a former one.
            None | Some(Beginning::Nothing | Beginning::Message(_) | Beginning::Former) => Begins::Nothing,
            Some(Beginning::Program) => Begins::Program,
            Some(Beginning::Parts(parts)) => Begins::Parts(parts.clone()),
        };
        writer.begins(image.made_at, image.line, with);
        writer.recorder(Some(recorder))
    }

    /// Whether anything was done.
    fn turn(&self, pe: &Pe, feed: impl Feed) -> bool {
        let mut did = false;
        let _here = Here::enter(pe);
        let _seen = pe.node.windows[self.rank as usize].open(pe);
        caught(pe, || did = pe.turn(feed));
        did
    }

    fn again(&self, pe: &Pe, again: Again) -> Result<(), String> {
        let _seen = pe.node.windows[self.rank as usize].open(pe);
        again.perform(pe, |time| self.clock.set(time))?;
        let mut steps = 1;
        while steps < STEPS && self.record.runs_on() && may_run(pe) {
            run_again(pe);
            steps += 1;
        }
        pe.trace_replayed();
        Ok(())
    }

    /// Whether the PEs of the node do what others did before them.
    fn runs_again(&self) -> bool {
        self.of.runs_again.load(Ordering::Relaxed)
    }

    /// What it sends into, while it is there.
    fn outbox(&self) -> Option<&Outbox> {
        match &self.pe {
            Some(Pe { port: Port::Simulated(outbox), .. }) => Some(outbox),
            _ => None,
        }
    }

    /// How it stands with it.
    pub(super) fn stand(&self) -> Stand {
        let Some(pe) = &self.pe else { return Stand::default() };
        Stand {
            is_there: true,
            clock: self.clock.get(),
            may_run: may_run(pe),
            waiting: pe.waiting_messages(),
            has_chores: pe.chores.get(),
            is_frozen: pe.frozen.get(),
            timer: pe.timers.next(),
            hopes: pe.timers.next_for_progress().is_some(),
            may_suspect: pe.is_first() && !pe.detector().is_counting(),
            spare: self.outbox().map_or(0, Outbox::spare) as u64,
            cut: pe.has_cut(),
            given_up: pe.given_up_cut(),
        }
    }

    /// The PE was idle for so long; or its core was others' for so long of the time for which it will have been.
    pub(super) fn count_idleness(&self, idle: Duration, released: Duration) {
        if let Some(pe) = &self.pe {
            let asleep = self.asleep.get() + released;
            self.asleep.set(if idle.is_zero() { asleep } else { Duration::ZERO });
            if !idle.is_zero() {
                pe.trace_idle(idle.as_nanos() as u64, asleep.min(idle).as_nanos() as u64);
            }
            count(&pe.stats.idle_ns, idle.as_nanos() as u64);
            count(&pe.stats.released_ns, released.as_nanos() as u64);
        }
    }

    /// The driver may sleep. While there is no PE, it waits for what this one does.
    pub(super) fn wake_driver(&self) {
        self.pe.iter().for_each(|pe| pe.node.parkers[FIRST].unpark_if_parked());
    }

    fn end_in_line(&mut self, shelf: Option<usize>) {
        if let Some(pe) = self.pe.take() {
            pe.end_cut();
            self.totals.add(&pe.stats.totals());
            self.keep_shelf(pe, shelf);
        }
    }

    /// Its PE goes: the next one's frames come to lie where its own are, when nobody has these any more.
    fn keep_shelf(&mut self, mut pe: Pe, keeps: Option<usize>) {
        let port = std::mem::replace(&mut pe.port, Port::Simulated(Outbox::default()));
        if let Port::Simulated(outbox) = port {
            self.shelf = outbox.into_shelf();
            self.shelf.begin_line(keeps);
        }
    }

    /// What its PEs have counted.
    fn end(&mut self, wall: Duration) -> Totals {
        self.writer.iter().for_each(|writer| end_record(writer, &self.of.job));
        if let Some(pe) = self.pe.take() {
            pe.stats.wall_ns.set(wall.as_nanos() as u64);
            let here = Here::enter(&pe);
            pe.tell_of_undelivered();
            drop(here);
            self.totals.add(&pe.stats.totals());
        }
        std::mem::take(&mut self.totals)
    }
}

fn or_failed(done: Result<(), String>) -> Answer {
    done.map_or_else(Answer::Failed, |()| Answer::Nothing)
}

fn discard(pe: &Pe, parcels: Vec<Parcel>) {
    let _here = Here::enter(pe);
    for parcel in parcels {
        if let Parcel::Message(envelope) = parcel {
            pe.discard(envelope, Why::Over);
        }
    }
}
