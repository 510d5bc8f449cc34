//! Memory of versions that are not needed any more.

use super::versions::Kept;
use talisman_store::slabs::Slabs;

/// Memory to be filled again.
#[derive(Default)]
pub(super) struct Spare {
    pub(super) slabs: Slabs,
}

impl Spare {
    /// Takes up the memory of a version, where nobody else has it.
    pub(super) fn take_up(&mut self, gone: Kept) {
        let Kept { parts, slabs, lent, .. } = gone;
        drop((parts, lent));
        slabs.into_values().for_each(|room| self.slabs.add(room));
    }
}
