//! What a PE counts.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// Counters of one PE. They only grow.
#[derive(Default)]
pub struct Stats {
    /// Entries run, and answers given to async entries.
    pub run: Counter,
    /// Messages for objects that came from other PEs.
    pub arrived: Cell<u64>,
    /// Messages for objects on other PEs of this node.
    pub between_pes: Cell<u64>,
    /// Messages for objects on other nodes.
    pub between_nodes: Cell<u64>,
    /// Bytes to other nodes, of all messages.
    pub bytes_between_nodes: Cell<u64>,
    /// Messages to other PEs that quiescence waits for.
    pub sent: Cell<u64>,
    /// Such messages that arrived.
    pub received: Cell<u64>,
    /// Nanoseconds without work.
    pub idle_ns: Cell<u64>,
    /// Of these, asleep or with the core left to others who wanted it.
    pub released_ns: Cell<u64>,
    /// Nanoseconds since the start.
    pub wall_ns: Cell<u64>,
}

/// One that other threads may read, and only its PE adds to: that costs no more than a cell.
#[derive(Default)]
pub struct Counter(AtomicU64);

impl Counter {
    #[inline(always)]
    pub fn add(&self, more: u64) {
        self.0.store(self.get() + more, Ordering::Relaxed);
    }

    #[inline(always)]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Adds to a counter.
#[inline(always)]
pub fn count(counter: &Cell<u64>, more: u64) {
    counter.set(counter.get() + more);
}

/// A PE's counters at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Messages that came from objects on the same PE.
    pub local: u64,
    pub between_pes: u64,
    pub between_nodes: u64,
    pub bytes_between_nodes: u64,
    pub idle_ns: u64,
    pub wall_ns: u64,
}

impl Totals {
    /// Of a PE that has had several lives, this being the latest.
    pub fn add(&mut self, other: &Totals) {
        self.local += other.local;
        self.between_pes += other.between_pes;
        self.between_nodes += other.between_nodes;
        self.bytes_between_nodes += other.bytes_between_nodes;
        self.idle_ns += other.idle_ns;
        self.wall_ns = other.wall_ns;
    }
}

impl Stats {
    pub fn totals(&self) -> Totals {
        Totals {
            local: self.run.get().saturating_sub(self.arrived.get()),
            between_pes: self.between_pes.get(),
            between_nodes: self.between_nodes.get(),
            bytes_between_nodes: self.bytes_between_nodes.get(),
            idle_ns: self.idle_ns.get(),
            wall_ns: self.wall_ns.get(),
        }
    }
}
