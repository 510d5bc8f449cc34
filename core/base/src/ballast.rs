//! Bytes that a message of a model weighs on a simulated wire, without being there.

use std::cell::Cell;

use talisman_pup::{Packer, Pup, PupError, Unpacker};

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
pub fn take_ballast() -> u32 {
    PACKED.take()
}
