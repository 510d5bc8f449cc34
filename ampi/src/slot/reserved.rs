//! The layout of slots, with addresses reserved wherever it is known.

use talisman_pup::{Packer, Pup, PupError, Unpacker};

use super::{Layout, SlotError, SlotSpace};

/// Slots are divided like this, and this process has addresses for them: a rank may come to a process that had none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserved(Layout);

impl Reserved {
    /// Reserves the addresses, if they are not yet.
    ///
    /// # Errors
    /// If they are taken, or slots of another layout are there.
    pub fn new(layout: Layout) -> Result<Reserved, SlotError> {
        SlotSpace::of(layout).map(|_| Reserved(layout))
    }

    /// How slots are divided.
    pub fn layout(&self) -> Layout {
        self.0
    }
}

/// Written by hand: what is unpacked is reserved.
impl Pup for Reserved {
    fn pack(&self, p: &mut Packer) {
        let Layout { guard, stack, images, heap } = self.0;
        [guard, stack, images, heap].map(|part| part as u64).pack(p);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let parts = <[u64; 4]>::unpack(u)?;
        let [guard, stack, images, heap] = parts.map(|part| usize::try_from(part).unwrap_or(usize::MAX));
        Reserved::new(Layout { guard, stack, images, heap }).map_err(|error| u.invalid(error))
    }
}
