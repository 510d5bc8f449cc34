//! A hash over all events in order.

use talisman_base::ids::PeId;

/// FNV-1a over all events so far.
#[derive(Clone)]
pub(super) struct Trace {
    pub(super) hash: u64,
    pub(super) events: u64,
}

impl Default for Trace {
    fn default() -> Self {
        Trace { hash: 0xcbf2_9ce4_8422_2325, events: 0 }
    }
}

impl Trace {
    pub(super) fn note(&mut self, at: u64, kind: u64, pe: PeId, detail: u64) {
        self.events += 1;
        for word in [at, kind, pe.into(), detail] {
            for byte in word.to_le_bytes() {
                self.hash = (self.hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
}
