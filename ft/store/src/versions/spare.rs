//! Memory of versions that are not needed any more.

use super::kept::Kept;
use crate::slabs::Slabs;

/// Memory to be filled again.
#[derive(Default)]
pub struct Spare {
    pub slabs: Slabs,
}

impl Spare {
    /// Takes up the memory of a version, where nobody else has it.
    pub fn take_up(&mut self, gone: Kept) {
        let Kept { parts, slabs, lent, .. } = gone;
        drop((parts, lent));
        slabs.into_values().for_each(|room| self.slabs.add(room));
    }
}
