//! What is held of each version.

use std::collections::BTreeMap;
use std::sync::Arc;

use talisman_ft::double::Held;
use talisman_ft::{NodeId, Version};

use super::super::contents::{Counts, Names};
use super::super::pieces::Manifest;
use super::super::slabs::Room;
use super::spare::Spare;
use crate::ids::PeId;
use crate::pup::{Packed, Segment};
use crate::view::View;

#[derive(Default)]
pub(crate) struct Versions {
    pub(super) kept: BTreeMap<Version, Kept>,
    pub(super) spare: Spare,
}

/// What is held of one version.
pub(super) struct Kept {
    /// Who was there when it was taken.
    pub(super) view: View,
    pub(super) parts: BTreeMap<PeId, Body>,
    /// Where the large slices of the parts are that are in memory.
    pub(super) slabs: BTreeMap<PeId, Room>,
    /// Own parts that others may be reading, until it is committed.
    pub(super) lent: Vec<Arc<Packed>>,
    pub(super) committed: bool,
    /// What is in the parts, all of them, and how to call it.
    pub(super) contents: Option<(Counts, Names)>,
}

/// The packed [`Part`](crate::checkpoint::part::Part) of a PE.
pub(super) enum Body {
    /// Of this process.
    Own(Packed),
    /// Of another.
    Copy(Copy),
    /// On disk.
    Written,
    /// It could not be written.
    NotWritten(String),
}

/// As it came.
#[derive(Clone)]
pub(in crate::checkpoint) struct Copy {
    pub(super) manifest: Manifest,
    /// Of each piece: its slices and its checksum.
    pub(super) pieces: Vec<(Vec<Segment>, u32)>,
}

impl Versions {
    /// A part that is in memory, and the view of its version.
    pub(in crate::checkpoint) fn to_be_written(
        &self,
        version: Version,
        pe: PeId,
    ) -> Option<(View, InMemory)> {
        let kept = self.kept.get(&version)?;
        let body = match kept.parts.get(&pe)? {
            Body::Own(part) => InMemory::Own(part.clone()),
            Body::Copy(copy) => InMemory::Copy(copy.clone()),
            Body::Written | Body::NotWritten(_) => return None,
        };
        Some((kept.view.clone(), body))
    }

    /// It has been, or could not be; its memory is not needed any more.
    pub(in crate::checkpoint) fn is_written(&mut self, version: Version, pe: PeId, done: Result<(), String>) {
        let Some(kept) = self.kept.get_mut(&version) else { return };
        let Some(body) = kept.parts.get_mut(&pe) else { return };
        *body = done.map_or_else(Body::NotWritten, |()| Body::Written);
        kept.slabs.remove(&pe);
    }

    pub(super) fn written(&self) -> Vec<(Version, PeId)> {
        let parts = self
            .kept
            .iter()
            .flat_map(|(version, kept)| kept.parts.iter().map(move |(pe, body)| ((*version, *pe), body)));
        parts.filter(|(_, body)| matches!(body, Body::Written)).map(|(part, _)| part).collect()
    }

    pub(super) fn of(&mut self, version: Version, view: &View) -> &mut Kept {
        self.kept.entry(version).or_insert_with(|| Kept {
            view: view.clone(),
            parts: BTreeMap::new(),
            slabs: BTreeMap::new(),
            lent: Vec::new(),
            committed: false,
            contents: None,
        })
    }

    /// What was spare and has not been used since is given back: the parts have other sizes by now.
    pub(super) fn drop_all_but(&mut self, stays: impl Fn(Version) -> bool) {
        let all = std::mem::take(&mut self.kept).into_iter();
        let (kept, gone): (BTreeMap<_, _>, BTreeMap<_, _>) = all.partition(|(version, _)| stays(*version));
        self.kept = kept;
        if gone.is_empty() {
            return;
        }
        self.spare = Spare::default();
        gone.into_values().for_each(|kept| self.spare.take_up(kept));
    }
}

impl Kept {
    pub(super) fn held(&self, version: Version, is_damaged: impl Fn(PeId) -> bool) -> Held {
        let is_whole = |pe: &PeId| self.parts.get(pe).is_some_and(Body::is_whole) && !is_damaged(*pe);
        let whole = |node: &NodeId| self.view.lanes_of(*node).all(|pe| is_whole(&pe));
        let held = self.view.nodes().iter().copied().filter(whole).collect();
        let view = self.view.of_nodes().clone();
        Held { version, view, held, committed: self.committed, missed: Vec::new() }
    }
}

impl Body {
    pub(super) fn is_whole(&self) -> bool {
        match self {
            Body::Own(_) | Body::Written => true,
            Body::Copy(copy) => copy.is_whole(),
            Body::NotWritten(_) => false,
        }
    }
}

/// A part that is to be written, sharing the memory of what is held.
pub(in crate::checkpoint) enum InMemory {
    Own(Packed),
    Copy(Copy),
}

impl InMemory {
    /// Length and alignment of each of its buffers, and all their bytes in slices.
    pub(in crate::checkpoint) fn written_as(&self) -> (Vec<(u64, u32)>, Vec<Segment>) {
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
}

impl Copy {
    pub(super) fn is_whole(&self) -> bool {
        self.pieces.len() as u32 >= self.manifest.pieces
    }
}
