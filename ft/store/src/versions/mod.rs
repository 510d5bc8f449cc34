//! The parts that a process holds, by version.
//!
//! It outlives the PEs of the process: when the job goes back to a version, they are made anew from what is in here. The
//! memory of versions that are not needed any more is filled again by the next one. With `--ft disk` a part is in memory until it is
//! on the node's disk ([`Writer`]); with `--ft double` those that somebody asks for are written too, and stay where they are ([`Archive`]).

pub mod archive;
mod error;
pub mod former;
mod kept;
mod lending;
mod on_disk;
pub mod reading;
mod spare;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use talisman_ft::double::{Contents, Held, Order};
use talisman_ft::{NodeId, Version};

use crate::cma::AllWindows;
use crate::contents::{Counts, Names};
use crate::files::writer::{AnyDisk, Work, Writer};
use crate::pages::PagePool;
use crate::pieces::{Manifest, checksum};
use crate::readable::Readable;
use crate::restart::Restart;
use crate::shared::SharedMemory;
use archive::Archive;
pub use error::StoreError;
pub use former::FetchRemote;
use former::Former;
pub use kept::Copy;
pub use kept::Versions;
use kept::{Body, Kept};
use talisman_base::ids::PeId;
use talisman_base::view::View;
use talisman_observe::mutations::mutated;
use talisman_pup::{Packed, Segment};

/// Parts of checkpoints: own ones, and copies of those of others.
#[derive(Default)]
pub struct Store {
    versions: Arc<Mutex<Versions>>,
    /// What has them on disk, if anything does.
    writer: OnceLock<Writer>,
    /// What has those on disk that somebody asked for, if the others are in memory only.
    archive: OnceLock<Archive>,
    /// What the job goes on from, if it has not begun with the program.
    former: OnceLock<Former>,
    /// What slabs are made of, if others can map it.
    memory: OnceLock<Arc<SharedMemory>>,
    /// What values of the program are in that a part keeps without a copy.
    pages: OnceLock<Arc<PagePool>>,
    /// What it has mapped of others.
    windows: Mutex<AllWindows>,
    /// What it may read of others, where they are simulated.
    readable: OnceLock<Readable>,
}

/// Whether a part outlives whatever it is to outlive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Safe,
    /// It may come to be.
    Open,
    /// It never will, for this reason.
    NotSafe(String),
}

/// A part on its way: who was there when it was taken, and what it comes in.
pub type InPieces = (talisman_ft::view::View, Manifest, Vec<(Vec<Segment>, u32)>);

impl Store {
    /// The job goes on from this, on so many PEs per node, here on the host of this number. Others are asked for what only they have.
    pub fn go_on_from(&self, restart: Restart, pes_per_node: u32, host: u32, fetch_remote: FetchRemote) {
        let view = View::new(restart.view.clone(), pes_per_node);
        self.go_on(Former { restart, host, fetch_remote: Some(fetch_remote), view, disks: Mutex::default() });
    }

    /// The same, with the folders of nodes on these disks.
    pub fn go_on_from_disks(&self, restart: Restart, pes_per_node: u32, disks: BTreeMap<NodeId, AnyDisk>) {
        let view = View::new(restart.view.clone(), pes_per_node);
        self.go_on(Former { restart, host: 0, fetch_remote: None, view, disks: Mutex::new(disks) });
    }

    fn go_on(&self, former: Former) {
        let is_first = self.former.set(former).is_ok();
        assert!(is_first, "a job goes on from one version");
    }

    /// A version will never be complete: what is here of it goes.
    pub fn give_up(&self, version: Version) {
        self.lock().drop_all_but(|other| other != version);
        self.begin(Work::GiveUp(version));
    }

    /// Keeps the part of a PE of this process.
    pub fn put(&self, version: Version, view: &View, pe: PeId, part: Packed) {
        let mut all = self.lock();
        if mutated("former-dropped-too-early") {
            all.drop_all_but(|other| other >= version);
        }
        all.of(version, view).parts.insert(pe, Body::Own(part));
    }

    /// The part of a PE of this process.
    pub fn own(&self, version: Version, pe: PeId) -> Option<Packed> {
        match self.lock().kept.get(&version)?.parts.get(&pe)? {
            Body::Own(part) => Some(part.clone()),
            Body::Copy(_) | Body::Written => None,
        }
    }

    /// Keeps the part of a PE of another process, which was read there.
    pub fn put_copy(&self, version: Version, view: &View, pe: PeId, copy: Copy) {
        let mut all = self.lock();
        // Only a peer that makes things up speaks for a PE of this process.
        all.of(version, view).parts.entry(pe).or_insert(Body::Copy(copy));
    }

    /// The part of a PE of another process is to come in pieces; whether that is all of it.
    pub fn expect(&self, version: Version, view: &View, pe: PeId, manifest: Manifest) -> bool {
        let copy = Copy { manifest, pieces: Vec::new(), mapped: Vec::new() };
        let is_whole = copy.is_whole();
        let mut all = self.lock();
        let parts = &mut all.of(version, view).parts;
        if matches!(parts.get(&pe), Some(Body::Own(_))) {
            // Only a peer that makes things up speaks for a PE of this process.
            return false;
        }
        parts.insert(pe, Body::Copy(copy));
        is_whole
    }

    /// The next piece of it; whether it is whole now.
    ///
    /// # Errors
    /// A piece that is not the one that has to come, or is not what it was.
    pub fn add(
        &self,
        version: Version,
        pe: PeId,
        piece: u32,
        sum: u32,
        slices: Vec<Segment>,
    ) -> Result<bool, StoreError> {
        if checksum(&slices) != sum {
            return Err(StoreError::Damaged { pe, version, piece });
        }
        let mut all = self.lock();
        let copy = match all.kept.get_mut(&version).and_then(|kept| kept.parts.get_mut(&pe)) {
            Some(Body::Copy(copy)) if !copy.is_whole() => copy,
            _ => return Err(StoreError::Missing { pe, version }),
        };
        let expected = copy.pieces.len() as u32;
        if piece != expected {
            return Err(StoreError::OutOfTurn { pe, version, piece, expected });
        }
        copy.pieces.push((slices, Some(sum)));
        Ok(copy.is_whole())
    }

    /// A copy that is on its way is of no use; whether there is one.
    pub fn refuse(&self, version: Version, pe: PeId) -> bool {
        let mut all = self.lock();
        let Some(kept) = all.kept.get_mut(&version) else { return false };
        let is_on_its_way = matches!(kept.parts.get(&pe), Some(Body::Copy(copy)) if !copy.is_whole());
        is_on_its_way && kept.parts.remove(&pe).is_some()
    }

    /// What all parts of a version have in them.
    pub fn note_contents(&self, version: Version, counts: Counts, names: Names) {
        if let Some(kept) = self.lock().kept.get_mut(&version) {
            kept.contents = Some((counts, names));
        }
    }

    /// A version is complete everywhere: older ones are not needed any more.
    pub fn commit(&self, version: Version) {
        let mut all = self.lock();
        let Some(kept) = all.kept.get_mut(&version) else { return };
        kept.lent.clear();
        let there = kept.view.nodes().to_vec();
        all.committed = all.committed.max(Some(version));
        all.drop_all_but(|other| other >= version);
        drop(all);
        self.begin(Work::KeepFrom(version, there));
    }

    /// The newest version that this process knows to be complete everywhere.
    pub fn committed(&self) -> Option<Version> {
        self.lock().committed
    }

    /// The job goes back as this order says: what it may never go back to is of no use any more.
    pub fn go_back(&self, order: &Order) {
        self.forget_windows();
        let mut all = self.lock();
        all.committed = order.committed;
        all.drop_all_but(|version| order.keeps(version));
        let here: Vec<_> = all.kept.keys().copied().collect();
        drop(all);
        // Of a job that is started again, what it goes on from is not here but on disk.
        let named =
            [order.committed, order.version].into_iter().flatten().filter(|version| order.keeps(*version));
        self.begin(Work::KeepOnly(named.chain(here).collect()));
    }

    /// What is held here, by version. Files are read: what is not as it was written is not held.
    pub fn held(&self) -> Vec<Held> {
        let damaged = self.damaged();
        let all = self.lock();
        let held = |(version, kept): (&Version, &Kept)| {
            let is_committed = Some(*version) <= all.committed;
            kept.held(*version, is_committed, |pe| damaged.contains(&(*version, pe)))
        };
        let is_over = |former: &&Former| all.committed > Some(former.restart.version);
        let former = self.former.get().filter(|former| !is_over(former)).map(Former::held);
        former.into_iter().chain(all.kept.iter().map(held)).collect()
    }

    /// The same, as this node says it when these are lost: with what is in the parts that may be lost with them.
    pub fn held_without(&self, lost: &[NodeId], own: NodeId) -> Vec<Held> {
        let mut held = self.held();
        for held in &mut held {
            let may_be_missing = |node: &NodeId| lost.contains(node) || *node == own;
            let missed = held.view.there().filter(|node| may_be_missing(node) && !held.held.contains(node));
            let contents = |node| Some((node, self.contents(held.version, node)?));
            held.missed = missed.filter_map(contents).collect();
        }
        held
    }

    /// What is in a node's part of a version, wherever that is held.
    pub fn contents(&self, version: Version, node: NodeId) -> Option<Contents> {
        let all = self.lock();
        let (counts, names) = all.kept.get(&version)?.contents.as_ref()?;
        counts.of(node, names)
    }

    fn lock(&self) -> MutexGuard<'_, Versions> {
        // Nothing in a critical section panics half way.
        self.versions.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.leave();
    }
}
