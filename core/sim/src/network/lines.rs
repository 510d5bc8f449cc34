//! What carries bytes, and how long that takes: between hosts a line out of each and one into each, and a line within each.

use super::ways::Way;
use crate::plan::{Line, Plan};
use talisman_base::rng::Rng;

const MILLION: u64 = 1_000_000;
/// So many times as long takes what is late.
const LATE_TIMES: u64 = 10;

/// The lines of all hosts.
pub(super) struct Lines {
    near: Kind,
    far: Kind,
    hosts: Vec<Busy>,
    rng: Rng,
}

/// Until when the lines of a host are busy.
#[derive(Clone, Copy, Default)]
struct Busy {
    out: u64,
    into: u64,
    within: u64,
}

/// What is the same for all lines of a kind.
#[derive(Clone, Copy)]
struct Kind {
    line: Line,
    ns_per_byte: f64,
}

impl Kind {
    fn new(line: Line) -> Self {
        Kind { line, ns_per_byte: 1_000.0 / line.bytes_per_us }
    }

    fn takes_ns(&self, bytes: usize) -> u64 {
        (bytes as f64 * self.ns_per_byte) as u64
    }

    /// Always as many draws, so that a plan without late chunks keeps the other delays.
    fn latency_ns(&self, rng: &mut Rng) -> u64 {
        let (low, high) = self.line.latency_ns;
        let latency = low + rng.below(high.saturating_sub(low) + 1);
        let late = rng.below(MILLION) < u64::from(self.line.late_ppm);
        if late { latency * LATE_TIMES } else { latency }
    }
}

impl Lines {
    pub(super) fn new(plan: &Plan, rng: Rng) -> Self {
        Lines {
            near: Kind::new(plan.network.near),
            far: Kind::new(plan.network.far),
            hosts: vec![Busy::default(); plan.hosts.len()],
            rng,
        }
    }

    /// Sends bytes out: when the last of them has left. They wait until the line is free.
    pub(super) fn leave(&mut self, now: u64, way: Way, bytes: usize) -> u64 {
        let takes = self.kind(way).takes_ns(bytes);
        let host = &mut self.hosts[way.from_host as usize];
        let busy = if way.from_host == way.to_host { &mut host.within } else { &mut host.out };
        *busy = now.max(*busy) + takes;
        *busy
    }

    /// The last of these bytes is at the line into their host: when that has taken them in. That is at once if the line was
    /// free, since it took in the first of them while the last were still on their way.
    pub(super) fn enter(&mut self, now: u64, way: Way, bytes: usize) -> u64 {
        if way.from_host == way.to_host {
            return now;
        }
        let takes = self.far.takes_ns(bytes);
        let into = &mut self.hosts[way.to_host as usize].into;
        *into = now.max(*into + takes);
        *into
    }

    /// What is added to the time on the lines.
    pub(super) fn latency_ns(&mut self, way: Way) -> u64 {
        self.kind(way).latency_ns(&mut self.rng)
    }

    /// How long bytes take that do not wait for the line: those of a host's system itself, which has no node's bytes to
    /// send. Their latency comes from the caller's generator.
    pub(super) fn alone_ns(&self, from_host: u32, to_host: u32, bytes: usize, rng: &mut Rng) -> u64 {
        let kind = if from_host == to_host { self.near } else { self.far };
        kind.takes_ns(bytes) + kind.latency_ns(rng)
    }

    fn kind(&self, way: Way) -> Kind {
        if way.from_host == way.to_host { self.near } else { self.far }
    }
}
