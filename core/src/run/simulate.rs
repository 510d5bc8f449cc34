//! A whole job in one thread: simulated clock, simulated network, and every choice made by a seed.
//!
//! The PEs are the real ones; only their clock and their port are not. Between nodes messages travel packed, as they
//! do on a wire. The same seed and program give the same events in the same order: the hash over all of them tells.

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
use crate::port::{Outbox, Parcel, Port};
use crate::rng::Rng;
use crate::wire;

/// What a message takes to run: between these, in nanoseconds.
const RUN_NS: (u64, u64) = (200, 2_000);
/// What a message takes to another PE of its node.
const WITHIN_NODE_NS: (u64, u64) = (100, 1_000);
/// What a message takes to another node.
const BETWEEN_NODES_NS: (u64, u64) = (2_000, 50_000);

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
    /// When each PE runs next, if that is planned.
    planned: Vec<Option<u64>>,
    /// When the last message between two PEs arrives: none overtakes another on its way.
    channels: BTreeMap<(PeId, PeId), u64>,
    trace: Trace,
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
    Arrival(PeId),
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
        Cluster {
            shape,
            pes: (0..shape.pes()).map(pe).collect(),
            rng: Rng::new(config.seed),
            events: BinaryHeap::new(),
            parcels: BTreeMap::new(),
            serial: 0,
            planned: vec![None; shape.pes() as usize],
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
                What::Arrival(pe) => self.arrive(pe, event),
            }
        }
    }

    fn turn(&mut self, id: PeId, at: u64) {
        if self.planned[id as usize] != Some(at) {
            return;
        }
        self.planned[id as usize] = None;
        let mut worked = false;
        let pe = &self.pes[id as usize];
        let _here = Here::enter(pe);
        caught(pe, || {
            worked = pe.run_timers() | pe.run_one()
                || pe.flush_reductions()
                || pe.run_idle_work()
                || pe.detect_quiescence();
        });
        drop(_here);
        self.trace.note(at, 0, id, pe.stats.run.get());
        self.collect(id);
        if worked {
            let took = self.between(RUN_NS);
            self.wake(id, at + took);
        } else if let Some(due) = self.pes[id as usize].timers.next() {
            self.wake(id, (due.as_nanos() as u64).max(at + 1));
        }
    }

    fn arrive(&mut self, id: PeId, event: Event) {
        let parcel = self.parcels.remove(&event.serial).expect("every arrival has its parcel");
        let pe = &self.pes[id as usize];
        {
            let _here = Here::enter(pe);
            caught(pe, || match parcel {
                Parcel::Message(envelope) => pe.accept(envelope),
                Parcel::Frame { head, segments } => match wire::receive(pe, &head, segments) {
                    Ok(envelope) => pe.accept(envelope),
                    Err(error) => pe.node.job.end(1, Some(error.to_string())),
                },
            });
        }
        self.trace.note(event.at, 1, id, event.serial);
        self.collect(id);
        self.wake(id, event.at);
    }

    /// Plans a turn of a PE, unless an earlier one is planned.
    fn wake(&mut self, id: PeId, at: u64) {
        let planned = &mut self.planned[id as usize];
        if planned.is_none_or(|planned| planned > at) {
            *planned = Some(at);
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
            let serial = self.plan(at, What::Arrival(to));
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
        for parcel in std::mem::take(&mut self.parcels).into_values() {
            if let Parcel::Message(envelope) = parcel {
                let _here = Here::enter(&self.pes[0]);
                self.pes[0].discard(envelope);
            }
        }
        let totals = self.pes.iter().map(|pe| pe.stats.totals()).collect();
        Done { wall, totals, trace: Some(self.trace.hash), events: self.trace.events }
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
