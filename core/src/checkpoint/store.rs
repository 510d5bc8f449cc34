//! The parts that a process holds, by version.
//!
//! It outlives the PEs of the process: when the job goes back to a version, they are made anew from what is in here.

use std::collections::BTreeMap;
use std::sync::Mutex;

use talisman_ft::Version;
use talisman_ft::view::View;

use crate::ids::PeId;
use crate::pup::Packed;

/// Parts of checkpoints: own ones, and copies of those of others.
#[derive(Default)]
pub(crate) struct Store(Mutex<BTreeMap<Version, Kept>>);

/// What is held of one version.
#[allow(dead_code, reason = "whoever fills it comes next")]
pub(crate) struct Kept {
    /// Who was there when it was taken.
    pub(crate) view: View,
    /// The packed [`Part`](super::part::Part) of each PE, with its checksum.
    pub(crate) parts: BTreeMap<PeId, (Packed, u32)>,
    pub(crate) committed: bool,
    /// What the program printed through `cx.output()` in the period that this version ended.
    pub(crate) lines: Vec<String>,
}
