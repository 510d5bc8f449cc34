//! A small world for the network alone: a clock, a queue of events, and a record of what happened.

mod cuts;
mod endings;
mod faults;
mod storm;
mod streams;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{ConnId, Event, Happening, Network, Side};
use crate::plan::{Line, Plan};
use talisman_base::rng::Rng;

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLISECOND;

struct Bench {
    network: Network,
    now: u64,
    /// By time, then by when they were planned.
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    serial: u64,
    happened: Vec<(u64, Happening)>,
}

impl Bench {
    /// All nodes listen.
    fn new(plan: &Plan) -> Self {
        let mut network =
            Network::new(plan, (0..plan.nodes()).map(|node| plan.host_of(node)), Rng::new(plan.seed));
        (0..plan.nodes()).for_each(|node| network.listening(node, true));
        Bench { network, now: 0, events: BinaryHeap::new(), serial: 0, happened: Vec::new() }
    }

    /// Does something to the network now, and keeps what is planned.
    fn act<R>(&mut self, act: impl FnOnce(&mut Network, u64, &mut Vec<(u64, Event)>) -> R) -> R {
        let mut planned = Vec::new();
        let result = act(&mut self.network, self.now, &mut planned);
        for (at, event) in planned {
            assert!(at >= self.now, "{event:?} is planned for the past");
            self.serial += 1;
            self.events.push(Reverse((at, self.serial, event)));
        }
        result
    }

    /// One event, unless there is none before then.
    fn step(&mut self, until: u64) -> bool {
        let Some(&Reverse((at, _, event))) = self.events.peek() else { return false };
        if at > until {
            return false;
        }
        self.events.pop();
        self.now = at;
        let mut happenings = Vec::new();
        self.act(|network, now, planned| network.happen(now, event, planned, &mut happenings));
        self.happened.extend(happenings.into_iter().map(|happening| (at, happening)));
        true
    }

    fn run(&mut self) {
        while self.step(u64::MAX) {}
    }

    fn run_for(&mut self, ns: u64) {
        let until = self.now + ns;
        while self.step(until) {}
        self.now = until;
    }

    fn dial(&mut self, from: u32, to: u32) -> ConnId {
        self.act(|network, now, planned| network.dial(now, from, to, planned))
    }

    /// A connection that both sides know of; nothing of that is recorded.
    fn connect(&mut self, from: u32, to: u32) -> ConnId {
        let conn = self.dial(from, to);
        self.run();
        assert_eq!(self.take(), [Happening::Dialled(conn), Happening::Connected(conn)]);
        conn
    }

    fn write(&mut self, conn: ConnId, side: Side, bytes: &[u8]) -> usize {
        self.act(|network, now, planned| network.write(now, conn, side, bytes, planned))
    }

    fn shut(&mut self, conn: ConnId, side: Side) {
        self.act(|network, now, planned| network.shut(now, conn, side, planned));
    }

    fn mend(&mut self, from: &[u32], to: &[u32]) {
        self.act(|network, now, planned| network.mend(now, from, to, planned));
    }

    /// What happened since it was last asked.
    fn take(&mut self) -> Vec<Happening> {
        std::mem::take(&mut self.happened).into_iter().map(|(_, happening)| happening).collect()
    }

    /// All bytes that have come to an end, and what else happened.
    fn take_bytes(&mut self, conn: ConnId, side: Side) -> (Vec<u8>, Vec<Happening>) {
        let (mut all, mut others) = (Vec::new(), Vec::new());
        for happening in self.take() {
            match happening {
                Happening::Arrived { conn: c, side: s, bytes } if (c, s) == (conn, side) => all.extend(bytes),
                other => others.push(other),
            }
        }
        (all, others)
    }
}

/// Nodes on these hosts, lines of a fixed latency.
fn exact(hosts: &[u32]) -> Plan {
    let mut plan = Plan::calm(1, 1, 1);
    plan.hosts = hosts.to_vec();
    plan.network.near = Line { latency_ns: (100, 100), late_ppm: 0, bytes_per_us: 4_000.0 };
    plan.network.far = Line { latency_ns: (10_000, 10_000), late_ppm: 0, bytes_per_us: 1_000.0 };
    plan
}

fn numbered(len: usize) -> Vec<u8> {
    (0..len).map(|number| ((number * 31) >> 3) as u8).collect()
}
