//! The parts that a process holds, by version.
//!
//! It outlives the PEs of the process: when the job goes back to a version, they are made anew from what is in here.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use talisman_ft::double::Held;
use talisman_ft::{NodeId, Version};

use super::part::Part;
use crate::ids::PeId;
use crate::pup::{Packed, PupError};
use crate::view::View;

/// Parts of checkpoints: own ones, and copies of those of others.
#[derive(Default)]
pub(crate) struct Store(Mutex<BTreeMap<Version, Kept>>);

/// What is held of one version.
struct Kept {
    /// Who was there when it was taken.
    view: View,
    /// The packed [`Part`] of each PE, with its checksum.
    parts: BTreeMap<PeId, (Packed, u32)>,
    committed: bool,
}

/// A part cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StoreError {
    /// It is not here.
    #[error("the part of PE {pe} in version {version} is not held here")]
    Missing {
        /// Of whom.
        pe: PeId,
        /// In which version.
        version: Version,
    },
    /// It is not what it was.
    #[error("the part of PE {pe} in version {version} is damaged: its checksum is wrong")]
    Damaged {
        /// Of whom.
        pe: PeId,
        /// In which version.
        version: Version,
    },
    /// It cannot be read.
    #[error("the part of PE {pe} in version {version} cannot be read: {error}")]
    Unreadable {
        /// Of whom.
        pe: PeId,
        /// In which version.
        version: Version,
        /// What is wrong.
        error: PupError,
    },
}

impl Store {
    /// Keeps the part of a PE of this process.
    pub(crate) fn put(&self, version: Version, view: &View, pe: PeId, part: Packed) {
        let sum = checksum(&part);
        let mut all = self.lock();
        let kept = all.entry(version).or_insert_with(|| Kept::new(view));
        kept.parts.insert(pe, (part, sum));
    }

    /// A version is complete everywhere: older ones are not needed any more.
    pub(crate) fn commit(&self, version: Version) {
        let mut all = self.lock();
        if let Some(kept) = all.get_mut(&version) {
            kept.committed = true;
            all.retain(|other, _| *other >= version);
        }
    }

    /// The job goes back to a version, or to its start: what is held of others is of no use any more.
    pub(crate) fn keep_only(&self, version: Option<Version>) {
        self.lock().retain(|other, _| Some(*other) == version);
    }

    /// What is held here, by version.
    pub(crate) fn held(&self) -> Vec<Held> {
        let all = self.lock();
        all.iter().map(|(version, kept)| kept.held(*version)).collect()
    }

    /// The part of a PE, read.
    ///
    /// # Errors
    /// That it is not here, or is not what it was.
    pub(crate) fn part(&self, version: Version, pe: PeId) -> Result<Part, StoreError> {
        let (part, sum) = {
            let all = self.lock();
            let found = all.get(&version).and_then(|kept| kept.parts.get(&pe));
            found.cloned().ok_or(StoreError::Missing { pe, version })?
        };
        if checksum(&part) != sum {
            return Err(StoreError::Damaged { pe, version });
        }
        part.into_value().map_err(|error| StoreError::Unreadable { pe, version, error })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Version, Kept>> {
        // Nothing in a critical section panics half way.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Kept {
    fn new(view: &View) -> Self {
        Kept { view: view.clone(), parts: BTreeMap::new(), committed: false }
    }

    fn held(&self, version: Version) -> Held {
        let whole = |node: &NodeId| self.view.lanes_of(*node).all(|pe| self.parts.contains_key(&pe));
        let held = self.view.nodes().iter().copied().filter(whole).collect();
        Held { version, view: self.view.of_nodes().clone(), held, committed: self.committed }
    }
}

fn checksum(part: &Packed) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(part.bytes());
    part.segments().iter().for_each(|segment| sum.update(segment.bytes()));
    sum.finalize()
}
