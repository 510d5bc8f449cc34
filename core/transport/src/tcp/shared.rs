//! What the two halves of a link tell each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Both halves are the same PE's, so nothing is ordered by these: they are atomic in order to be shared at all.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Bytes of the peer's stream that have arrived as whole frames.
    received: AtomicU64,
    /// As much of that as frames have said.
    told: AtomicU64,
    /// Bytes of our stream that the peer says have arrived.
    acknowledged: AtomicU64,
    /// Bytes of our stream there are.
    end: AtomicU64,
    /// The peer should hear of `received` soon.
    due: AtomicBool,
    broken: AtomicBool,
    said_goodbye: AtomicBool,
}

macro_rules! value {
    ($get:ident, $set:ident, $kind:ty) => {
        #[inline]
        pub(super) fn $get(&self) -> $kind {
            self.$get.load(Ordering::Relaxed)
        }

        #[inline]
        pub(super) fn $set(&self, value: $kind) {
            self.$get.store(value, Ordering::Relaxed);
        }
    };
}

impl Shared {
    value!(received, set_received, u64);
    value!(told, set_told, u64);
    value!(acknowledged, set_acknowledged, u64);
    value!(end, set_end, u64);
    value!(due, set_due, bool);
    value!(broken, set_broken, bool);
    value!(said_goodbye, set_said_goodbye, bool);

    /// Bytes that have arrived and of which the peer has not been told.
    pub(super) fn untold(&self) -> u64 {
        self.received() - self.told()
    }
}
