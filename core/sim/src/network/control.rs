//! The control connections between hosts: few words, in order, never lost.

use std::collections::BTreeMap;

use super::ways::Ways;
use talisman_base::rng::Rng;

/// What was sent last between hosts.
pub(super) struct Control {
    rng: Rng,
    /// When the last message from a host to another arrives.
    last: BTreeMap<(u32, u32), u64>,
}

impl Control {
    pub(super) fn new(rng: Rng) -> Self {
        Control { rng, last: BTreeMap::new() }
    }

    /// When a message arrives that is sent now; `None` if nothing passes.
    pub(super) fn arrival(
        &mut self,
        now: u64,
        from: u32,
        to: u32,
        bytes: usize,
        ways: &mut Ways,
    ) -> Option<u64> {
        if ways.cuts.holds(from, to) {
            return None;
        }
        let lost = if from == to { 0 } else { ways.harms.control_delay_ns(&mut self.rng) };
        let at = now + lost + ways.lines.alone_ns(from, to, bytes, &mut self.rng);
        let last = self.last.entry((from, to)).or_default();
        *last = at.max(*last + 1);
        Some(*last)
    }
}
