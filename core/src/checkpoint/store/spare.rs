//! Memory of versions that are not needed any more.

use super::super::slabs::Slabs;
use super::versions::{Body, Kept};

/// Memory to be filled again: of large slices, and of what is beside them in own parts.
#[derive(Default)]
pub(super) struct Spare {
    pub(super) slabs: Slabs,
    pub(super) heads: Vec<Vec<u8>>,
}

impl Spare {
    /// Takes up the memory of a version, where nobody else has it.
    pub(super) fn take_up(&mut self, gone: Kept) {
        let Kept { parts, slabs, lent, .. } = gone;
        drop(lent);
        for body in parts.into_values() {
            if let Body::Own(part) = body
                && let Ok(head) = part.into_parts().0.try_into_mut()
            {
                let mut head = Vec::from(head);
                head.clear();
                self.heads.push(head);
            }
        }
        slabs.into_values().for_each(|room| self.slabs.add(room));
    }
}
