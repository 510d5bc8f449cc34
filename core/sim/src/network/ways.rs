//! From node to node: what every connection needs to get its bytes across.

use super::cuts::Cuts;
use super::frame_faults::Harms;
use super::lines::Lines;
use crate::plan::Plan;
use talisman_base::rng::Rng;

/// From a node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) from_host: u32,
    pub(super) to_host: u32,
}

impl Way {
    /// The way back.
    pub(super) fn back(self) -> Way {
        Way { from: self.to, to: self.from, from_host: self.to_host, to_host: self.from_host }
    }
}

/// All ways, and what stands in them. Each part draws from a generator of its own.
pub(super) struct Ways {
    pub(super) cuts: Cuts,
    pub(super) lines: Lines,
    pub(super) harms: Harms,
    /// Where chunks end.
    pub(super) ends: Rng,
    /// The host of each node.
    hosts: Vec<u32>,
}

impl Ways {
    pub(super) fn new(plan: &Plan, hosts: Vec<u32>, rng: &mut Rng) -> Self {
        Ways {
            cuts: Cuts::default(),
            lines: Lines::new(plan, Rng::new(rng.next_u64())),
            harms: Harms::new(plan.network.rates, Rng::new(rng.next_u64())),
            ends: Rng::new(rng.next_u64()),
            hosts,
        }
    }

    pub(super) fn nodes(&self) -> usize {
        self.hosts.len()
    }

    pub(super) fn put(&mut self, node: u32, host: u32) {
        self.hosts[node as usize] = host;
    }

    pub(super) fn host_of(&self, node: u32) -> u32 {
        self.hosts[node as usize]
    }

    pub(super) fn way(&self, from: u32, to: u32) -> Way {
        Way { from, to, from_host: self.host_of(from), to_host: self.host_of(to) }
    }

    pub(super) fn holds(&self, way: Way) -> bool {
        self.cuts.holds(way.from_host, way.to_host)
    }
}
