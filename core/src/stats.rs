//! What a PE counts.

use std::cell::Cell;

/// Counters of one PE. They only grow.
#[derive(Default)]
pub(crate) struct Stats {
    /// Messages whose receiver was on this PE.
    pub(crate) local: Cell<u64>,
    /// Messages to other PEs of this node.
    pub(crate) between_pes: Cell<u64>,
    /// Messages to other nodes.
    pub(crate) between_nodes: Cell<u64>,
    /// Their bytes.
    pub(crate) bytes_between_nodes: Cell<u64>,
    /// Messages to other PEs that quiescence waits for.
    pub(crate) sent: Cell<u64>,
    /// Such messages that arrived.
    pub(crate) received: Cell<u64>,
    /// Nanoseconds without work.
    pub(crate) idle_ns: Cell<u64>,
    /// Nanoseconds since the start.
    pub(crate) wall_ns: Cell<u64>,
}

/// Adds to a counter.
#[inline(always)]
pub(crate) fn count(counter: &Cell<u64>, more: u64) {
    counter.set(counter.get() + more);
}

/// A PE's counters at the end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) local: u64,
    pub(crate) between_pes: u64,
    pub(crate) between_nodes: u64,
    pub(crate) bytes_between_nodes: u64,
    pub(crate) idle_ns: u64,
    pub(crate) wall_ns: u64,
}

impl Stats {
    pub(crate) fn totals(&self) -> Totals {
        Totals {
            local: self.local.get(),
            between_pes: self.between_pes.get(),
            between_nodes: self.between_nodes.get(),
            bytes_between_nodes: self.bytes_between_nodes.get(),
            idle_ns: self.idle_ns.get(),
            wall_ns: self.wall_ns.get(),
        }
    }
}
