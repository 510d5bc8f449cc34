//! What takes how long as the model of a machine says.
//!
//! A PE works as on a thread: it takes in what has arrived, runs a batch of messages, and looks again. All of it moves its
//! clock on, and with it the time at which each message leaves. What goes between hosts waits for the line of its own host
//! and for that of the other.

use std::cell::Cell;

use super::cores::{Core, Turn};
use super::flights::Stage;
use super::hosts::{Host, Seat};
use super::machine::{Machine, Way};
use super::{Arrived, Cluster, Rules, What, accept};
use talisman_base::ids::PeId;
use talisman_base::topology::Shape;
use talisman_kernel::panics::caught;
use talisman_kernel::pe::turn::Feed;
use talisman_kernel::pe::{Here, Pe};
use talisman_observe::stats::count;

/// Messages run before a PE looks at what has arrived, as on a thread.
const BATCH: u32 = 64;

pub(super) struct Model {
    machine: Machine,
    shape: Shape,
    hosts: Vec<Host>,
    seats: Vec<Seat>,
    /// Of each PE, how long it has been asleep or without its core; none where its core is nobody else's.
    gone_ns: Vec<Option<u64>>,
    /// There are more PEs on a host than cores.
    is_crowded: bool,
    /// There is one PE on a host. What it sends comes to its line in the order of time; of several, each is ahead of the
    /// others in its turn.
    is_alone: bool,
}

impl Model {
    pub(super) fn new(machine: &Machine, shape: Shape) -> Self {
        let hosts = shape.nodes.div_ceil(machine.nodes_per_host);
        let pes_per_host = shape.nodes.min(machine.nodes_per_host) * shape.pes_per_node;
        Model {
            machine: machine.clone(),
            shape,
            hosts: (0..hosts).map(|_| Host::new(machine.cores_per_host)).collect(),
            seats: vec![Seat::Away; shape.pes() as usize],
            gone_ns: vec![
                machine.cores.iter().any(|core| core.guest.is_some()).then_some(0);
                shape.pes() as usize
            ],
            is_crowded: pes_per_host > machine.cores_per_host,
            is_alone: pes_per_host == 1,
        }
    }

    fn core_of(&self, pe: PeId) -> Core {
        let cores = &self.machine.cores;
        if cores.is_empty() { Core::default() } else { cores[pe as usize % cores.len()] }
    }

    /// A PE was asleep until its turn, which begins.
    fn begin_turn(&mut self, cluster: &Cluster, id: PeId, asleep: u64) {
        let gone_ns = self.gone_ns[id as usize].map(|gone| gone + asleep);
        if gone_ns.is_some() {
            cluster.pes[id as usize].was_idle(0, asleep);
        }
        Turn { core: self.core_of(id), gone_ns }.begin();
    }

    fn host_of(&self, pe: PeId) -> usize {
        (self.shape.node_of(pe) / self.machine.nodes_per_host) as usize
    }

    fn way(&self, from: PeId, to: PeId) -> &Way {
        if self.shape.node_of(from) == self.shape.node_of(to) {
            &self.machine.within
        } else if self.host_of(from) == self.host_of(to) {
            &self.machine.near
        } else {
            &self.machine.far
        }
    }

    /// Whether a PE has a core to run on.
    fn gets_core(&mut self, cluster: &mut Cluster, id: PeId, at: u64) -> bool {
        if !self.is_crowded {
            return true;
        }
        let host = self.host_of(id);
        let (seat, next) = self.hosts[host].seat(id, self.seats[id as usize], at, self.machine.slice_ns);
        self.seats[id as usize] = seat;
        self.hand_over(cluster, next, at);
        let Seat::Taken { since } = seat else { return false };
        if since == at {
            cluster.clock.set(at + self.machine.wake_ns);
        }
        true
    }

    /// A PE has nothing to do.
    fn leaves_core(&mut self, cluster: &mut Cluster, id: PeId, at: u64) {
        if self.is_crowded {
            self.seats[id as usize] = Seat::Away;
            let host = self.host_of(id);
            let next = self.hosts[host].leave();
            self.hand_over(cluster, next, at);
        }
    }

    fn hand_over(&mut self, cluster: &mut Cluster, next: Option<PeId>, at: u64) {
        if let Some(next) = next {
            self.seats[next as usize] = Seat::Taken { since: at };
            cluster.wake(next, at);
        }
    }

    /// One round: what has arrived, a batch of messages, and if there is none, what is done then. Whether anything was done.
    fn work(&mut self, cluster: &mut Cluster, id: PeId, at: u64) -> bool {
        let mut worked = self.take_in(cluster, id);
        while cluster.states[id as usize].batch_left > 0
            && cluster.clock.get() - at <= self.machine.slice_ns
            && self.run_one(cluster, id)
        {
            cluster.states[id as usize].batch_left -= 1;
            worked = true;
        }
        let pe = &cluster.pes[id as usize];
        let here = Here::enter(pe);
        caught(pe, || worked |= pe.turn(Rest { has_worked: worked }));
        drop(here);
        self.collect(cluster, id);
        worked
    }

    /// What has arrived at a PE goes into its queue, if it is time to look; whether that was anything.
    fn take_in(&mut self, cluster: &mut Cluster, id: PeId) -> bool {
        let mut arrived = cluster.look(id, BATCH, cluster.clock.get());
        let any = !arrived.is_empty();
        let pe = &cluster.pes[id as usize];
        let here = Here::enter(pe);
        pe.turn(Arrivals { model: self, clock: &cluster.clock, arrived: &mut arrived });
        drop(here);
        cluster.spare_arrived = arrived;
        any
    }

    fn run_one(&mut self, cluster: &mut Cluster, id: PeId) -> bool {
        let pe = &cluster.pes[id as usize];
        if pe.is_queue_empty() || pe.stopped.get() {
            return false;
        }
        cluster.clock.set(cluster.clock.get() + self.machine.run_ns as u64);
        let here = Here::enter(pe);
        caught(pe, || {
            pe.turn(OneMessage);
        });
        drop(here);
        self.collect(cluster, id);
        true
    }
}

/// What has arrived: each message takes its receiver some time.
struct Arrivals<'a> {
    model: &'a Model,
    clock: &'a Cell<u64>,
    arrived: &'a mut Vec<Arrived>,
}

impl Feed for Arrivals<'_> {
    fn take_in(&mut self, pe: &Pe) -> bool {
        let any = !self.arrived.is_empty();
        for Arrived { from, bytes, parcel, .. } in self.arrived.drain(..) {
            let takes = self.model.way(from, pe.id).receive(bytes);
            self.clock.set(self.clock.get() + takes);
            caught(pe, || accept(pe, from, parcel));
        }
        any
    }
}

/// One message.
struct OneMessage;

impl Feed for OneMessage {
    fn most(&self) -> usize {
        1
    }
}

/// What is left at the end of a turn.
struct Rest {
    has_worked: bool,
}

impl Feed for Rest {
    fn looks_at_timers(&self) -> bool {
        true
    }

    fn may_rest(&self, pe: &Pe) -> bool {
        !self.has_worked && pe.chores.get()
    }
}

impl Rules for Model {
    fn turn(&mut self, cluster: &mut Cluster, id: PeId, at: u64) {
        if !cluster.takes_turn(id, at) || !self.gets_core(cluster, id, at) {
            return;
        }
        let asleep = cluster.note_idle(id, at);
        self.begin_turn(cluster, id, asleep);
        let worked = self.work(cluster, id, at);
        self.gone_ns[id as usize] = Turn::end().gone_ns;
        let until = cluster.clock.get();
        cluster.trace.note(at, 0, id, cluster.pes[id as usize].stats.run.get());
        cluster.states[id as usize].busy_until = until;
        if worked && (self.is_crowded || cluster.has_work(id)) {
            cluster.wake(id, until);
        } else {
            self.leaves_core(cluster, id, until);
            cluster.wake_later(id, until);
        }
    }

    fn advance(&mut self, cluster: &mut Cluster, number: u32, at: u64) {
        let flight = cluster.flights.get_mut(number);
        let (stage, takes) = (flight.stage, self.machine.far.line(flight.bytes));
        if stage == Stage::Leaves {
            flight.stage = Stage::Reaches;
            let host = self.host_of(flight.from);
            let reaches = self.hosts[host].send(at, takes) + self.machine.far.latency();
            return cluster.plan(reaches, What::Flight(number));
        }
        let flight = cluster.flights.take(number);
        let to = flight.to;
        let host = self.host_of(to);
        let there = if stage == Stage::Reaches { self.hosts[host].receive(at, takes) } else { at };
        cluster.arrive(flight, there);
        cluster.wake(to, there);
    }

    fn collect(&mut self, cluster: &mut Cluster, from: PeId) {
        let mut all = cluster.take_sent(from);
        let mut work = 0;
        for sent in all.drain(..) {
            let way = *self.way(from, sent.to);
            work += way.send(sent.bytes);
            let leaves = sent.at + work;
            let host = self.host_of(from);
            if host == self.host_of(sent.to) {
                cluster.depart(from, sent, Stage::Arrives, leaves + way.latency());
            } else if self.is_alone {
                let reaches = self.hosts[host].send(leaves, way.line(sent.bytes)) + way.latency();
                cluster.depart(from, sent, Stage::Reaches, reaches);
            } else {
                cluster.depart(from, sent, Stage::Leaves, leaves);
            }
        }
        cluster.spare_sent = all;
        cluster.clock.set(cluster.clock.get() + work);
    }

    fn finish(&mut self, cluster: &mut Cluster) {
        let now = cluster.clock.get();
        for (pe, state) in cluster.pes.iter().zip(&cluster.states) {
            count(&pe.stats.idle_ns, now.saturating_sub(state.busy_until));
            pe.stats.wall_ns.set(now.max(state.busy_until));
        }
    }
}
