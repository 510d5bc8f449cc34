//! What is held of each version.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use talisman_ft::double::Held;
use talisman_ft::{Epoch, NodeId, Version};

use super::spare::Spare;
use crate::contents::{Counts, Names};
use crate::pieces::{Manifest, checksum};
use crate::shm_map::Mapping;
use crate::slabs::Room;
use talisman_base::ids::PeId;
use talisman_base::view::View;
use talisman_pup::{Packed, Segment};

#[derive(Default)]
pub struct Versions {
    /// The newest one that is known to be committed.
    pub committed: Option<Version>,
    pub kept: BTreeMap<Version, Kept>,
    /// Parts stay in memory, also those that are written.
    pub stay_in_memory: bool,
    pub spare: Spare,
}

/// What is held of one version.
pub struct Kept {
    /// Who was there when it was taken.
    pub view: View,
    pub parts: BTreeMap<PeId, Body>,
    /// Why those could not be written that a disk did not take: they stay in memory, where they were said to be held.
    pub not_written: BTreeMap<PeId, String>,
    /// Those that are in memory and have been written as well.
    pub written_too: BTreeSet<PeId>,
    /// Where the large slices of the parts are that are in memory.
    pub slabs: BTreeMap<PeId, Room>,
    /// Own parts that others may be reading, until it is committed.
    pub lent: Vec<Arc<Packed>>,
    /// What is in the parts, all of them, and how to call it.
    pub contents: Option<(Counts, Names)>,
}

/// The packed [`Part`](crate::checkpoint::part::Part) of a PE.
pub enum Body {
    /// Of this process.
    Own(Packed),
    /// Of another.
    Copy(Copy),
    /// On disk.
    Written,
}

/// As it came.
#[derive(Clone)]
pub struct Copy {
    pub manifest: Manifest,
    /// Of each piece: its slices, and its checksum if it is not its owner's memory.
    pub pieces: Vec<(Vec<Segment>, Option<u32>)>,
    /// What those are in that are.
    pub mapped: Vec<Arc<Mapping>>,
}

impl Versions {
    /// A part that is in memory, and the view of its version.
    pub fn to_be_written(&self, version: Version, pe: PeId) -> Option<(View, InMemory)> {
        let kept = self.kept.get(&version)?;
        let body = match kept.parts.get(&pe)? {
            Body::Own(part) => InMemory::Own(part.clone()),
            Body::Copy(copy) => InMemory::Copy(copy.clone()),
            Body::Written => return None,
        };
        Some((kept.view.clone(), body))
    }

    /// It has been, and its memory is not needed any more; or could not be.
    pub fn is_written(&mut self, version: Version, pe: PeId, done: Result<(), String>) {
        let Some(kept) = self.kept.get_mut(&version) else { return };
        let Some(body) = kept.parts.get_mut(&pe) else { return };
        if let Err(why) = done {
            kept.not_written.insert(pe, why);
            return;
        }
        if self.stay_in_memory {
            kept.written_too.insert(pe);
            return;
        }
        *body = Body::Written;
        kept.slabs.remove(&pe);
    }

    /// Those that are on disk, with the epochs in which they were taken.
    pub fn written(&self) -> Vec<(Epoch, Version, PeId)> {
        let of_one = |(version, kept): (&Version, &Kept)| -> Vec<_> {
            let (epoch, version) = (kept.view.of_nodes().epoch, *version);
            let written = kept.parts.iter().filter(|(_, body)| matches!(body, Body::Written));
            written.map(|(pe, _)| (epoch, version, *pe)).collect()
        };
        self.kept.iter().flat_map(of_one).collect()
    }

    pub fn of(&mut self, version: Version, view: &View) -> &mut Kept {
        self.kept.entry(version).or_insert_with(|| Kept {
            view: view.clone(),
            parts: BTreeMap::new(),
            not_written: BTreeMap::new(),
            written_too: BTreeSet::new(),
            slabs: BTreeMap::new(),
            lent: Vec::new(),
            contents: None,
        })
    }

    /// What has been spare for long is given back: the parts have other sizes by now.
    pub fn drop_all_but(&mut self, stays: impl Fn(Version) -> bool) {
        let all = std::mem::take(&mut self.kept).into_iter();
        let (kept, gone): (BTreeMap<_, _>, BTreeMap<_, _>) = all.partition(|(version, _)| stays(*version));
        self.kept = kept;
        if gone.is_empty() {
            return;
        }
        self.spare.slabs.age();
        gone.into_values().for_each(|kept| self.spare.take_up(kept));
    }
}

impl Kept {
    /// What is said of it when that is its number, and so is whether it is committed.
    pub fn held(&self, version: Version, committed: bool, is_damaged: impl Fn(PeId) -> bool) -> Held {
        let is_whole = |pe: &PeId| self.parts.get(pe).is_some_and(Body::is_whole) && !is_damaged(*pe);
        let whole = |node: &NodeId| self.view.lanes_of(*node).all(|pe| is_whole(&pe));
        let held = self.view.nodes().iter().copied().filter(whole).collect();
        let view = self.view.of_nodes().clone();
        Held { version, view, held, committed, missed: Vec::new() }
    }
}

impl Body {
    pub fn is_whole(&self) -> bool {
        match self {
            Body::Own(_) | Body::Written => true,
            Body::Copy(copy) => copy.is_whole(),
        }
    }
}

/// A part that is to be written, sharing the memory of what is held.
pub enum InMemory {
    Own(Packed),
    Copy(Copy),
}

impl InMemory {
    /// Length and alignment of each of its buffers, and all their bytes in slices.
    pub fn written_as(&self) -> (Vec<(u64, u32)>, Vec<Segment>) {
        match self {
            InMemory::Own(part) => {
                let buffers = part.buffers();
                let of_one = |buffer: &Segment| (buffer.bytes().len() as u64, buffer.align() as u32);
                (buffers.iter().map(of_one).collect(), buffers)
            }
            InMemory::Copy(copy) => {
                let slices = copy.pieces.iter().flat_map(|(slices, _)| slices).cloned().collect();
                (copy.manifest.buffers.clone(), slices)
            }
        }
    }

    /// Whether what was read of it before was the part: a copy may be the memory of its owner, who may have given it up.
    pub fn is_unchanged(&self) -> bool {
        match self {
            InMemory::Own(_) => true,
            InMemory::Copy(copy) => copy.is_unchanged(),
        }
    }
}

impl Copy {
    pub fn is_whole(&self) -> bool {
        self.pieces.len() as u32 >= self.manifest.pieces && self.is_unchanged()
    }

    /// Its pieces, each with its checksum.
    pub fn summed(&self) -> Vec<(Vec<Segment>, u32)> {
        let summed = |(slices, sum): &(Vec<Segment>, Option<u32>)| {
            (slices.clone(), sum.unwrap_or_else(|| checksum(slices)))
        };
        self.pieces.iter().map(summed).collect()
    }

    /// Whether its owner has left it as it was: what was read of it before was the part.
    pub fn is_unchanged(&self) -> bool {
        self.mapped.iter().all(|slab| slab.is_unchanged())
    }
}
