//! What a program that stands for another says of itself: how long it computes, and how much its messages carry.

use std::cell::Cell;
use std::time::Duration;

use super::cores;
use crate::pe::try_current;
use talisman_base::clock::{Clock, Simulated};
use talisman_pup::{Packer, Pup, PupError, Unpacker};

/// In simulation the entry that runs takes so much longer, on the model of a machine as its cores are fast. Elsewhere nothing
/// happens.
pub fn charge(time: Duration) {
    try_current(|pe| {
        if let Clock::Simulated(Simulated { now, .. }) = &pe.clock {
            now.set(now.get() + cores::takes(now.get(), time));
        }
    });
}

/// So many bytes of a message, as far as a simulated wire between nodes is concerned: they count, and there are none.
/// For arguments of entries of one object; elsewhere they weigh nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ballast(pub u32);

thread_local! {
    /// Of what was packed on this thread since it was last asked for.
    static PACKED: Cell<u32> = const { Cell::new(0) };
}

impl Pup for Ballast {
    const MIN_SIZE: usize = u32::MIN_SIZE;

    fn pack(&self, p: &mut Packer) {
        PACKED.set(PACKED.get().saturating_add(self.0));
        self.0.pack(p);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        u32::unpack(u).map(Ballast)
    }
}

/// The ballast that was packed on this thread since the last call.
pub(crate) fn take_ballast() -> u32 {
    PACKED.take()
}
