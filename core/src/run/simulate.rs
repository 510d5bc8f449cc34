//! A whole job in one thread: simulated clock, simulated network, and every choice made by a seed.
//!
//! The PEs are the real ones; only their clock and their port are not. Between nodes messages travel packed, as they
//! do on a wire. The same seed and program give the same events in the same order: the hash over all of them tells.
//!
//! A PE works as on a thread: it takes in what has arrived, from one sender after the other, runs a batch of messages,
//! and looks again. Now and then it stands still for as long as many messages take, as a thread does that is interrupted
//! or runs a long entry; what arrives meanwhile meets in its queue, in orders that even turns would never lead to.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::Done;
use super::panics::caught;
use crate::clock::Clock;
use crate::ids::PeId;
use crate::node::{Config, Job, Node, Shape};
use crate::pe::{Here, Pe};
use crate::port::{self, Outbox, Parcel, Port};
use crate::rng::Rng;
use crate::wire;
use crate::witness::{self, Seen, Why};

/// What a message takes to run: between these, in nanoseconds.
const RUN_NS: (u64, u64) = (200, 2_000);
/// What a message takes to another PE of its node.
const WITHIN_NODE_NS: (u64, u64) = (100, 1_000);
/// What a message takes to another node.
const BETWEEN_NODES_NS: (u64, u64) = (2_000, 50_000);

/// What an interrupted PE stands still.
const PAUSE_NS: (u64, u64) = (5_000, 500_000);
/// Turns between two interruptions, about; a seed takes one of these. None at all is likely enough in a short job.
const TURNS_TO_PAUSE: [u64; 4] = [8, 64, 512, 1 << 20];
/// Messages run before a PE looks at what has arrived; a seed takes one of these.
const BATCHES: [u32; 3] = [1, 4, 64];

/// So often in a row nothing is planned at most.
const VAIN_MAX: u32 = 1000;

pub(super) fn run(shape: Shape, config: Config, job: &Arc<Job>, main: impl FnOnce(&Pe)) -> Done {
    let mut cluster = Cluster::new(shape, config, job);
    main(&cluster.pes[0]);
    cluster.collect(0);
    cluster.wake(0, 0);
    cluster.run(job);
    cluster.done()
}

struct Cluster {
    shape: Shape,
    pes: Vec<Pe>,
    clock: Rc<Cell<u64>>,
    rng: Rng,
    events: BinaryHeap<Reverse<Event>>,
    /// Parcels by their event's serial number.
    parcels: BTreeMap<u64, Parcel>,
    serial: u64,
    states: Vec<State>,
    turns_to_pause: u64,
    batch: u32,
    /// When the last message between two PEs arrives: none overtakes another on its way.
    channels: BTreeMap<(PeId, PeId), u64>,
    trace: Trace,
}

/// What the simulator knows of a PE.
#[derive(Default)]
struct State {
    /// When it runs next, if that is planned.
    planned: Option<u64>,
    /// Until when it is busy with what it ran last.
    busy_until: u64,
    /// Messages that it runs before it looks at what has arrived.
    batch_left: u32,
    /// What has arrived, and from whom.
    arrived: Vec<(PeId, Parcel)>,
}

/// Something that happens at a time. Ordered by time, then by when it was planned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: u64,
    serial: u64,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// A PE runs its next message.
    Turn(PeId),
    /// The parcel of this serial number arrives.
    Arrival { from: PeId, to: PeId },
}

impl Cluster {
    fn new(shape: Shape, config: Config, job: &Arc<Job>) -> Self {
        let clock = Rc::new(Cell::new(0));
        let nodes: Vec<_> =
            (0..shape.nodes).map(|number| Node::new(shape, number, config, job.clone())).collect();
        let pe = |id: PeId| {
            let node = nodes[shape.node_of(id) as usize].clone();
            Pe::new(id, node, Clock::Simulated(clock.clone()), Port::Simulated(Outbox::default()))
        };
        let mut rng = Rng::new(config.seed);
        Cluster {
            shape,
            pes: (0..shape.pes()).map(pe).collect(),
            turns_to_pause: TURNS_TO_PAUSE[rng.below(TURNS_TO_PAUSE.len() as u64) as usize],
            batch: BATCHES[rng.below(BATCHES.len() as u64) as usize],
            rng,
            events: BinaryHeap::new(),
            parcels: BTreeMap::new(),
            serial: 0,
            states: (0..shape.pes()).map(|_| State::default()).collect(),
            channels: BTreeMap::new(),
            trace: Trace::default(),
            clock,
        }
    }

    fn run(&mut self, job: &Job) {
        let mut vain = 0;
        while !job.is_over() {
            let Some(Reverse(event)) = self.events.pop() else {
                // Nothing will happen any more, unless PE 0 finds out why; it takes a few turns without any event.
                vain += 1;
                if vain > VAIN_MAX {
                    job.end(
                        1,
                        Some("the simulation makes no progress; this is a mistake of the runtime".into()),
                    );
                }
                self.pes[0].suspect_stuck();
                self.wake(0, self.clock.get());
                continue;
            };
            self.clock.set(event.at);
            match event.what {
                What::Turn(pe) => self.turn(pe, event.at),
                What::Arrival { from, to } => self.arrive(from, to, event),
            }
        }
    }

    fn turn(&mut self, id: PeId, at: u64) {
        let state = &mut self.states[id as usize];
        if state.planned != Some(at) {
            return;
        }
        state.planned = None;
        witness::see(|| Seen::Turn { pe: id });
        let received = self.take_in(id);
        let mut worked = received;
        let pe = &self.pes[id as usize];
        let _here = Here::enter(pe);
        caught(pe, || {
            worked = received | pe.run_one() | pe.run_timers()
                || pe.flush_reductions()
                || pe.run_idle_work()
                || pe.detect_quiescence();
        });
        drop(_here);
        self.trace.note(at, 0, id, pe.stats.run.get());
        self.collect(id);
        if worked {
            let until = at + self.between(RUN_NS) + self.pause();
            self.states[id as usize].busy_until = until;
            self.wake(id, until);
        } else if let Some(due) = self.pes[id as usize].timers.next() {
            self.wake(id, (due.as_nanos() as u64).max(at + 1));
        }
    }

    /// What has arrived at a PE goes into its queue, if it is time to look; whether that was anything.
    fn take_in(&mut self, id: PeId) -> bool {
        let (pe, state) = (&self.pes[id as usize], &mut self.states[id as usize]);
        state.batch_left = state.batch_left.saturating_sub(1);
        if state.batch_left > 0 && !pe.is_queue_empty() {
            return false;
        }
        state.batch_left = self.batch;
        let mut arrived = std::mem::take(&mut state.arrived);
        // What one PE sent stays in order.
        arrived.sort_by_key(|(from, _)| *from);
        let any = !arrived.is_empty();
        let _here = Here::enter(pe);
        for (_, parcel) in arrived {
            caught(pe, || accept(pe, parcel));
        }
        any
    }

    fn arrive(&mut self, from: PeId, to: PeId, event: Event) {
        let parcel = self.parcels.remove(&event.serial).expect("every arrival has its parcel");
        let state = &mut self.states[to as usize];
        state.arrived.push((from, parcel));
        // A PE that sleeps may take its time to wake up.
        let late = if state.planned.is_none() { self.pause() } else { 0 };
        self.trace.note(event.at, 1, to, event.serial);
        self.wake(to, event.at + late);
    }

    /// How long a PE stands still for no reason: mostly not at all.
    fn pause(&mut self) -> u64 {
        if self.rng.below(self.turns_to_pause) == 0 { self.between(PAUSE_NS) } else { 0 }
    }

    /// Plans a turn of a PE, unless an earlier one is planned.
    fn wake(&mut self, id: PeId, at: u64) {
        let state = &mut self.states[id as usize];
        let at = at.max(state.busy_until);
        if state.planned.is_none_or(|planned| planned > at) {
            state.planned = Some(at);
            self.plan(at, What::Turn(id));
        }
    }

    /// Puts what a PE sent on the network.
    fn collect(&mut self, from: PeId) {
        let Port::Simulated(outbox) = &self.pes[from as usize].port else { return };
        for (to, parcel) in outbox.take() {
            let near = self.shape.node_of(from) == self.shape.node_of(to);
            let takes = self.between(if near { WITHIN_NODE_NS } else { BETWEEN_NODES_NS });
            let last = self.channels.entry((from, to)).or_default();
            let at = (self.clock.get() + takes).max(*last + 1);
            *last = at;
            let serial = self.plan(at, What::Arrival { from, to });
            self.parcels.insert(serial, parcel);
        }
    }

    fn plan(&mut self, at: u64, what: What) -> u64 {
        self.serial += 1;
        self.events.push(Reverse(Event { at, serial: self.serial, what }));
        self.serial
    }

    fn between(&mut self, (low, high): (u64, u64)) -> u64 {
        low + self.rng.below(high - low)
    }

    /// Ends every PE, with what is on its way to it.
    fn done(mut self) -> Done {
        let wall = Duration::from_nanos(self.clock.get());
        let arrived = self.states.iter_mut().flat_map(|state| std::mem::take(&mut state.arrived));
        let arrived = arrived.map(|(_, parcel)| parcel);
        for parcel in std::mem::take(&mut self.parcels).into_values().chain(arrived) {
            if let Parcel::Message(envelope) = parcel {
                let _here = Here::enter(&self.pes[0]);
                self.pes[0].discard(envelope, Why::Over);
            }
        }
        let totals = self.pes.iter().map(|pe| pe.stats.totals()).collect();
        Done { wall, totals, trace: Some(self.trace.hash), events: self.trace.events }
    }
}

fn accept(pe: &Pe, parcel: Parcel) {
    match parcel {
        Parcel::Message(envelope) => port::take_in_message(pe, envelope),
        Parcel::Frame { head, segments } => match wire::receive(pe, &head, segments) {
            Ok(envelope) => pe.accept(envelope),
            Err(error) => pe.node.job.end(1, Some(error.to_string())),
        },
    }
}

/// A hash over all events in order (FNV-1a).
struct Trace {
    hash: u64,
    events: u64,
}

impl Default for Trace {
    fn default() -> Self {
        Trace { hash: 0xcbf2_9ce4_8422_2325, events: 0 }
    }
}

impl Trace {
    fn note(&mut self, at: u64, kind: u64, pe: PeId, detail: u64) {
        self.events += 1;
        for word in [at, kind, pe.into(), detail] {
            for byte in word.to_le_bytes() {
                self.hash = (self.hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
}
