//! The parts that a process holds, by version.
//!
//! It outlives the PEs of the process: when the job goes back to a version, they are made anew from what is in here. The
//! memory of versions that are not needed any more is filled again by the next one. With `--ft disk` a part is in memory until it is
//! on the node's disk ([`Keeper`]).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use talisman_ft::double::{Contents, Held};
use talisman_ft::{NodeId, Version};

use super::contents::{Counts, Names};
use super::files::cover::JobMark;
use super::files::keeper::{AnyDisk, Backlog, Keeper, KeeperError, Work};
use super::files::set;
use super::files::shelf::ShelfError;
use super::newcomers::Seats;
use super::part::Part;
use super::pieces::{Manifest, checksum, cut, put_together};
use super::slabs::{Room, Slab, Slabs};
use crate::cluster::keeping::Restart;
use crate::ids::PeId;
use crate::node::Shape;
use crate::pup::{Packed, PupError, Segment};
use crate::view::View;

/// Parts of checkpoints: own ones, and copies of those of others.
#[derive(Default)]
pub(crate) struct Store {
    versions: Arc<Mutex<Versions>>,
    /// What has them on disk, if anything does.
    keeper: OnceLock<Keeper>,
    /// What the job goes on from, if it has not begun with the program.
    former: OnceLock<Former>,
}

/// A version of a former job, whose parts every node of this host can read.
struct Former {
    restart: Restart,
    /// Who was there when this job began.
    view: View,
    pes_per_node: u32,
}

#[derive(Default)]
pub(crate) struct Versions {
    kept: BTreeMap<Version, Kept>,
    spare: Spare,
}

/// What is held of one version.
struct Kept {
    /// Who was there when it was taken.
    view: View,
    parts: BTreeMap<PeId, Body>,
    /// Where the large slices of the parts are that are in memory.
    slabs: BTreeMap<PeId, Room>,
    /// Own parts that others may be reading, until it is committed.
    lent: Vec<Packed>,
    committed: bool,
    /// What is in the parts, all of them, and how to call it.
    contents: Option<(Counts, Names)>,
}

/// The packed [`Part`] of a PE.
enum Body {
    /// Of this process.
    Own(Packed),
    /// Of another.
    Copy(Copy),
    /// On disk.
    Written,
    /// It could not be written.
    NotWritten(String),
}

/// Whether a part outlives whatever it is to outlive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Safe,
    /// It may come to be.
    Open,
    /// It never will, for this reason.
    NotSafe(String),
}

/// As it came.
#[derive(Clone)]
pub(super) struct Copy {
    manifest: Manifest,
    /// Of each piece: its slices and its checksum.
    pieces: Vec<(Vec<Segment>, u32)>,
}

/// A part on its way: who was there when it was taken, and what it comes in.
pub(super) type InPieces = (talisman_ft::view::View, Manifest, Vec<(Vec<Segment>, u32)>);

/// Memory to be filled again: of large slices, and of what is beside them in own parts.
#[derive(Default)]
struct Spare {
    slabs: Slabs,
    heads: Vec<Vec<u8>>,
}

/// A part cannot be had, or a piece of one cannot be.
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
    #[error("piece {piece} of the part of PE {pe} in version {version} is damaged: its checksum is wrong")]
    Damaged {
        /// Of whom.
        pe: PeId,
        /// In which version.
        version: Version,
        /// Which.
        piece: u32,
    },
    /// A piece is not the one that has to come.
    #[error(
        "piece {piece} of the part of PE {pe} in version {version} came where piece {expected} was to come"
    )]
    OutOfTurn {
        /// Of whom.
        pe: PeId,
        /// In which version.
        version: Version,
        /// Which came.
        piece: u32,
        /// Which was to come.
        expected: u32,
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
    /// It cannot be had from its file.
    #[error("the part of PE {pe} in version {version} cannot be had: {why}")]
    File {
        /// Of whom.
        pe: PeId,
        /// In which version.
        version: Version,
        /// What is wrong.
        why: String,
    },
}

impl Store {
    /// From now on parts are kept on disk, in the folder of this node in that of the job.
    ///
    /// # Errors
    /// The folder cannot be had, or is used by another job.
    pub(crate) fn keep_in(
        &self,
        dir: &Path,
        node: NodeId,
        job: JobMark,
        shape: Shape,
    ) -> Result<(), KeeperError> {
        self.keep_by(Keeper::open(dir, node, job, shape, self.versions.clone())?);
        Ok(())
    }

    /// From now on parts are kept on this disk, by whoever has the backlog.
    ///
    /// # Errors
    /// The disk does not do what it should, or is used by another job.
    pub(crate) fn keep_on(&self, disk: AnyDisk, job: JobMark, shape: Shape) -> Result<Backlog, ShelfError> {
        let (keeper, backlog) = Keeper::by_hand(disk, job, shape, self.versions.clone())?;
        self.keep_by(keeper);
        Ok(backlog)
    }

    /// From now on parts are kept by this one.
    pub(super) fn keep_by(&self, keeper: Keeper) {
        assert!(self.keeper.set(keeper).is_ok(), "parts are kept in one place");
    }

    /// The job goes on from this, on so many PEs per node.
    pub(crate) fn go_on_from(&self, restart: Restart, pes_per_node: u32) {
        let view = View::new(restart.view.clone(), pes_per_node);
        let is_first = self.former.set(Former { restart, view, pes_per_node }).is_ok();
        assert!(is_first, "a job goes on from one version");
    }

    /// The job has ended well, and nobody will go back to anything: nothing is left on the disk, nor of nodes that are not there any
    /// more.
    pub(crate) fn clear(&self, there: Vec<NodeId>) {
        *self.lock() = Versions::default();
        self.begin(Work::Clear(there));
        self.keeper.get().into_iter().for_each(Keeper::finish);
    }

    fn begin(&self, work: Work) {
        if let Some(keeper) = self.keeper.get() {
            keeper.begin(work, &self.versions);
        }
    }

    /// A part that is here, whole, is to outlive whatever it is to outlive: see [`Store::fate`].
    pub(super) fn keep_for_good(&self, version: Version, pe: PeId) {
        self.begin(Work::Write(version, pe));
    }

    /// What has become of that.
    pub(super) fn fate(&self, version: Version, pe: PeId) -> Fate {
        let all = self.lock();
        match all.kept.get(&version).and_then(|kept| kept.parts.get(&pe)) {
            Some(Body::Written) => Fate::Safe,
            Some(Body::NotWritten(why)) => Fate::NotSafe(why.clone()),
            Some(Body::Own(_) | Body::Copy(_)) if self.is_in_memory() => Fate::Safe,
            Some(Body::Own(_) | Body::Copy(_)) => Fate::Open,
            // It was given up meanwhile.
            None => Fate::NotSafe("its version was given up".into()),
        }
    }

    /// A version will never be complete: what is here of it goes.
    pub(super) fn give_up(&self, version: Version) {
        self.lock().drop_all_but(|other| other != version);
        self.begin(Work::GiveUp(version));
    }

    /// Whether a part is safe as soon as it is here.
    pub(super) fn is_in_memory(&self) -> bool {
        self.keeper.get().is_none()
    }

    /// Keeps the part of a PE of this process.
    pub(crate) fn put(&self, version: Version, view: &View, pe: PeId, part: Packed) {
        self.lock().of(version, view).parts.insert(pe, Body::Own(part));
    }

    /// The part of a PE of this process.
    pub(super) fn own(&self, version: Version, pe: PeId) -> Option<Packed> {
        match self.lock().kept.get(&version)?.parts.get(&pe)? {
            Body::Own(part) => Some(part.clone()),
            Body::Copy(_) | Body::Written | Body::NotWritten(_) => None,
        }
    }

    /// Another process may read this part of this one, wherever else it is by then, until the version is committed or dropped.
    pub(super) fn lend(&self, version: Version, part: &Packed) {
        if let Some(kept) = self.lock().kept.get_mut(&version) {
            kept.lent.push(part.clone());
        }
    }

    /// A part that is kept has its large slices in here, which are filled again when its version is not needed any more.
    pub(super) fn keep_slabs(&self, version: Version, pe: PeId, room: Room) {
        if let Some(kept) = self.lock().kept.get_mut(&version) {
            kept.slabs.insert(pe, room);
        }
    }

    /// Keeps the part of a PE of another process, which was read there.
    pub(super) fn put_copy(
        &self,
        version: Version,
        view: &View,
        pe: PeId,
        manifest: Manifest,
        pieces: Vec<(Vec<Segment>, u32)>,
    ) {
        let copy = Copy { manifest, pieces };
        let mut all = self.lock();
        // Only a peer that makes things up speaks for a PE of this process.
        all.of(version, view).parts.entry(pe).or_insert(Body::Copy(copy));
    }

    /// The part of a PE of another process is to come in pieces; whether that is all of it.
    pub(super) fn expect(&self, version: Version, view: &View, pe: PeId, manifest: Manifest) -> bool {
        let copy = Copy { manifest, pieces: Vec::new() };
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
    pub(super) fn add(
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
        copy.pieces.push((slices, sum));
        Ok(copy.is_whole())
    }

    /// What all parts of a version have in them.
    pub(super) fn note_contents(&self, version: Version, counts: Counts, names: Names) {
        if let Some(kept) = self.lock().kept.get_mut(&version) {
            kept.contents = Some((counts, names));
        }
    }

    /// A version is complete everywhere: older ones are not needed any more.
    pub(crate) fn commit(&self, version: Version) {
        let mut all = self.lock();
        let Some(kept) = all.kept.get_mut(&version) else { return };
        kept.committed = true;
        kept.lent.clear();
        let there = kept.view.nodes().to_vec();
        all.drop_all_but(|other| other >= version);
        drop(all);
        self.begin(Work::KeepFrom(version, there));
    }

    /// The job goes back to a version, or to its start: what is held of others is of no use any more.
    pub(crate) fn keep_only(&self, version: Option<Version>) {
        self.lock().drop_all_but(|other| Some(other) == version);
        self.begin(Work::KeepOnly(version));
    }

    /// What is held here, by version. Files are read: what is not as it was written is not held.
    pub(crate) fn held(&self) -> Vec<Held> {
        let damaged = self.damaged();
        let all = self.lock();
        let held =
            |(version, kept): (&Version, &Kept)| kept.held(*version, |pe| damaged.contains(&(*version, pe)));
        let is_committed = all.kept.values().any(|kept| kept.committed);
        let former = self.former.get().filter(|_| !is_committed).map(Former::held);
        former.into_iter().chain(all.kept.iter().map(held)).collect()
    }

    /// The same, as this node says it when these are lost: with what is in the parts that may be lost with them.
    pub(crate) fn held_without(&self, lost: &[NodeId], own: NodeId) -> Vec<Held> {
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
    pub(super) fn contents(&self, version: Version, node: NodeId) -> Option<Contents> {
        let all = self.lock();
        let (counts, names) = all.kept.get(&version)?.contents.as_ref()?;
        counts.of(node, names)
    }

    fn damaged(&self) -> Vec<(Version, PeId)> {
        let Some(keeper) = self.keeper.get() else { return Vec::new() };
        let mut written = self.lock().written();
        written.retain(|(version, pe)| keeper.part(*version, *pe).is_err());
        written
    }

    /// The parts of which a PE was made, read: its own, or what it had taken over from a former job.
    ///
    /// # Errors
    /// That one is not here, or is not what it was.
    pub(crate) fn parts(&self, version: Version, pe: PeId) -> Result<Vec<Part>, StoreError> {
        match self.former.get().filter(|former| former.restart.version == version) {
            Some(former) => former.parts(pe),
            None => Ok(vec![self.part(version, pe)?]),
        }
    }

    /// The part of a PE, read.
    ///
    /// # Errors
    /// That it is not here, or is not what it was.
    pub(crate) fn part(&self, version: Version, pe: PeId) -> Result<Part, StoreError> {
        let missing = StoreError::Missing { pe, version };
        let copy = {
            let all = self.lock();
            match all.kept.get(&version).and_then(|kept| kept.parts.get(&pe)).ok_or(missing.clone())? {
                Body::Own(part) => return read(part.clone(), version, pe),
                Body::Copy(copy) => Some(copy.clone()),
                Body::Written => None,
                Body::NotWritten(_) => return Err(missing),
            }
        };
        let Some(copy) = copy else { return read(self.part_on_disk(version, pe)?, version, pe) };
        let damaged = copy.pieces.iter().position(|(slices, sum)| checksum(slices) != *sum);
        if let Some(piece) = damaged {
            return Err(StoreError::Damaged { pe, version, piece: piece as u32 });
        }
        let slices = copy.pieces.into_iter().flat_map(|(slices, _)| slices);
        read(put_together(&copy.manifest, slices).ok_or(missing)?, version, pe)
    }

    /// The part of a PE as it travels: who was there when it was taken, and its pieces with their checksums.
    ///
    /// # Errors
    /// That it is not here, or is not what it was.
    pub(super) fn in_pieces(&self, version: Version, pe: PeId) -> Result<InPieces, StoreError> {
        let missing = StoreError::Missing { pe, version };
        let (view, whole) = {
            let all = self.lock();
            let kept = all.kept.get(&version).ok_or(missing.clone())?;
            let view = kept.view.of_nodes().clone();
            match kept.parts.get(&pe).ok_or(missing.clone())? {
                Body::Copy(copy) => return Ok((view, copy.manifest.clone(), copy.pieces.clone())),
                Body::Own(part) => (view, Some(part.clone())),
                Body::Written => (view, None),
                Body::NotWritten(_) => return Err(missing),
            }
        };
        let part = match whole {
            Some(part) => part,
            None => self.part_on_disk(version, pe)?,
        };
        let (manifest, pieces) = cut(&part);
        let summed = |slices: Vec<Segment>| {
            let sum = checksum(&slices);
            (slices, sum)
        };
        Ok((view, manifest, pieces.into_iter().map(summed).collect()))
    }

    fn part_on_disk(&self, version: Version, pe: PeId) -> Result<Packed, StoreError> {
        let keeper = self.keeper.get().ok_or(StoreError::Missing { pe, version })?;
        let part = keeper.part(version, pe);
        part.map_err(|error| StoreError::File { pe, version, why: error.to_string() })
    }

    /// A slab of at least so many bytes that a version had which is not needed any more.
    pub(super) fn spare_slab(&self, len: usize) -> Option<Arc<Slab>> {
        self.lock().spare.slabs.take(len)
    }

    /// Memory for what is beside the large slices of a part, about so many bytes.
    pub(super) fn spare_head(&self, len: usize) -> Vec<u8> {
        let mut head = self.lock().spare.heads.pop().unwrap_or_default();
        head.reserve(len + len / 8);
        head
    }

    fn lock(&self) -> MutexGuard<'_, Versions> {
        // Nothing in a critical section panics half way.
        self.versions.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn read(part: Packed, version: Version, pe: PeId) -> Result<Part, StoreError> {
    part.into_value().map_err(|error| StoreError::Unreadable { pe, version, error })
}

impl Versions {
    /// A part that is in memory, and the view of its version.
    pub(super) fn to_be_written(&self, version: Version, pe: PeId) -> Option<(View, InMemory)> {
        let kept = self.kept.get(&version)?;
        let body = match kept.parts.get(&pe)? {
            Body::Own(part) => InMemory::Own(part.clone()),
            Body::Copy(copy) => InMemory::Copy(copy.clone()),
            Body::Written | Body::NotWritten(_) => return None,
        };
        Some((kept.view.clone(), body))
    }

    /// It has been, or could not be; its memory is not needed any more.
    pub(super) fn is_written(&mut self, version: Version, pe: PeId, done: Result<(), String>) {
        let Some(kept) = self.kept.get_mut(&version) else { return };
        let Some(body) = kept.parts.get_mut(&pe) else { return };
        *body = done.map_or_else(Body::NotWritten, |()| Body::Written);
        kept.slabs.remove(&pe);
    }

    fn written(&self) -> Vec<(Version, PeId)> {
        let parts = self
            .kept
            .iter()
            .flat_map(|(version, kept)| kept.parts.iter().map(move |(pe, body)| ((*version, *pe), body)));
        parts.filter(|(_, body)| matches!(body, Body::Written)).map(|(part, _)| part).collect()
    }

    fn of(&mut self, version: Version, view: &View) -> &mut Kept {
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
    fn drop_all_but(&mut self, stays: impl Fn(Version) -> bool) {
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

impl Spare {
    /// Takes up the memory of a version, where nobody else has it.
    fn take_up(&mut self, gone: Kept) {
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

impl Former {
    /// Any node of the host reads any file.
    fn held(&self) -> Held {
        let view = self.restart.view.clone();
        let held = view.there().collect();
        Held { version: self.restart.version, view, held, committed: true, missed: Vec::new() }
    }

    /// Those of the PEs whose seat this one is, its own first. If it had none, it has what it begins with; and whatever somebody
    /// else had kept for those whose seat it is now.
    fn parts(&self, pe: PeId) -> Result<Vec<Part>, StoreError> {
        let mut own: Vec<_> = self.pes().filter(|of| self.view.seat(*of) == pe).collect();
        own.sort_by_key(|of| *of != pe);
        let mut parts = own.iter().map(|of| self.part(*of)).collect::<Result<Vec<_>, _>>()?;
        let newcomers: Vec<PeId> = self.view.there().filter(|pe| self.pes().all(|of| of != *pe)).collect();
        let shape = Shape { nodes: self.view.of_nodes().nodes(), pes_per_node: self.pes_per_node };
        let seats = Seats { view: &self.view, shape };
        parts.iter_mut().for_each(|part| seats.keep(part, pe));
        for of in self.kept_for_those_of(pe) {
            parts.push(seats.taken_over(pe, self.part(of)?));
        }
        if let (Some(first), false) = (self.pes().next(), newcomers.is_empty()) {
            if newcomers.contains(&pe) {
                parts.insert(0, seats.part_of_newcomer(pe, self.part(first)?));
            }
            let pattern = self.part(first)?;
            parts.iter_mut().for_each(|part| seats.announce(part, &newcomers, &pattern));
        }
        Ok(parts)
    }

    /// The PEs that have a part.
    fn pes(&self) -> impl Iterator<Item = PeId> + '_ {
        self.restart.parts.iter().map(|(pe, _)| *pe)
    }

    /// Who had stood in for PEs whose seat this one is now, and has another seat itself.
    fn kept_for_those_of(&self, pe: PeId) -> BTreeSet<PeId> {
        let before = View::new(self.restart.taken_in.clone(), self.restart.pes_per_node);
        let pes = self.restart.taken_in.nodes() * self.restart.pes_per_node;
        let own = (0..pes).filter(|of| self.view.seat(*of) == pe && !before.is_there(*of));
        own.map(|of| before.seat(of)).filter(|by| self.view.seat(*by) != pe).collect()
    }

    fn part(&self, of: PeId) -> Result<Part, StoreError> {
        let Restart { dir, job, version, parts, .. } = &self.restart;
        let missing = StoreError::Missing { pe: of, version: *version };
        let (_, node) = parts.iter().find(|(pe, _)| *pe == of).ok_or(missing)?;
        let part = set::part(dir, *node, (*job, *version), of);
        let error = |why: String| StoreError::File { pe: of, version: *version, why };
        read(part.map_err(|wrong| error(wrong.to_string()))?, *version, of)
    }
}

impl Kept {
    fn held(&self, version: Version, is_damaged: impl Fn(PeId) -> bool) -> Held {
        let is_whole = |pe: &PeId| self.parts.get(pe).is_some_and(Body::is_whole) && !is_damaged(*pe);
        let whole = |node: &NodeId| self.view.lanes_of(*node).all(|pe| is_whole(&pe));
        let held = self.view.nodes().iter().copied().filter(whole).collect();
        let view = self.view.of_nodes().clone();
        Held { version, view, held, committed: self.committed, missed: Vec::new() }
    }
}

impl Body {
    fn is_whole(&self) -> bool {
        match self {
            Body::Own(_) | Body::Written => true,
            Body::Copy(copy) => copy.is_whole(),
            Body::NotWritten(_) => false,
        }
    }
}

/// A part that is to be written, sharing the memory of what is held.
pub(super) enum InMemory {
    Own(Packed),
    Copy(Copy),
}

impl InMemory {
    /// Length and alignment of each of its buffers, and all their bytes in slices.
    pub(super) fn written_as(&self) -> (Vec<(u64, u32)>, Vec<Segment>) {
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
    fn is_whole(&self) -> bool {
        self.pieces.len() as u32 >= self.manifest.pieces
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::NonNull;

    use bytes::Bytes;

    use super::super::pieces::PIECE_MAX;
    use super::*;
    use crate::node::Shape;

    /// Two nodes of two PEs.
    fn view() -> View {
        View::whole(Shape { nodes: 2, pes_per_node: 2 })
    }

    fn packed(size: usize) -> Packed {
        let cells: Vec<u64> = (0..size as u64 / 8).collect();
        Packed::new(Bytes::from_static(&[7; 5]), vec![Segment::of_vec(cells)], Vec::new())
    }

    /// Brings all of a part but the last pieces; what was said of the last that came.
    fn bring(store: &Store, version: Version, pe: PeId, part: &Packed, without: usize) -> Option<bool> {
        let (manifest, pieces) = cut(part);
        store.expect(version, &view(), pe, manifest);
        let last = pieces.len() - without;
        let come = pieces.into_iter().take(last).zip(0..).map(|(slices, piece)| {
            store.add(version, pe, piece, checksum(&slices), slices).expect("it comes in turn")
        });
        come.last()
    }

    fn versions(store: &Store) -> Vec<(Version, Vec<NodeId>, bool)> {
        store.held().into_iter().map(|held| (held.version, held.held, held.committed)).collect()
    }

    #[test]
    fn a_node_is_held_when_all_its_parts_are_whole() {
        let store = Store::default();
        store.put(3, &view(), 0, packed(80));
        assert_eq!(versions(&store), [(3, vec![], false)]);
        store.put(3, &view(), 1, packed(80));
        assert_eq!(versions(&store), [(3, vec![0], false)]);
        let part = packed(2 * PIECE_MAX);
        assert_eq!(bring(&store, 3, 2, &part, 0), Some(true));
        assert_eq!(bring(&store, 3, 3, &part, 1), Some(false));
        assert_eq!(versions(&store), [(3, vec![0], false)]);
        let (_, pieces) = cut(&part);
        let last = pieces.last().cloned().expect("there are some");
        assert_eq!(store.add(3, 3, pieces.len() as u32 - 1, checksum(&last), last), Ok(true));
        assert_eq!(versions(&store), [(3, vec![0, 1], false)]);
    }

    #[test]
    fn a_version_stays_until_a_later_one_is_committed() {
        let store = Store::default();
        (4..7).for_each(|version| store.put(version, &view(), 0, packed(8)));
        store.commit(5);
        assert_eq!(versions(&store), [(5, vec![], true), (6, vec![], false)]);
        // Of one that is not here there is nothing for whose sake others could be dropped.
        store.commit(9);
        assert_eq!(store.held().len(), 2);
        store.keep_only(Some(5));
        assert_eq!(versions(&store), [(5, vec![], true)]);
        store.keep_only(None);
        assert_eq!(versions(&store), []);
    }

    #[test]
    fn pieces_come_in_turn_and_as_they_were() {
        let store = Store::default();
        let (manifest, pieces) = cut(&packed(2 * PIECE_MAX));
        let sum = checksum(&pieces[1]);
        assert_eq!(
            store.add(1, 2, 0, sum, pieces[1].clone()),
            Err(StoreError::Missing { pe: 2, version: 1 })
        );
        store.expect(1, &view(), 2, manifest);
        let out_of_turn = StoreError::OutOfTurn { pe: 2, version: 1, piece: 1, expected: 0 };
        assert_eq!(store.add(1, 2, 1, sum, pieces[1].clone()), Err(out_of_turn));
        let damaged = StoreError::Damaged { pe: 2, version: 1, piece: 0 };
        assert_eq!(store.add(1, 2, 0, sum, pieces[0].clone()), Err(damaged));
        assert!(matches!(store.part(1, 2), Err(StoreError::Missing { .. })));
    }

    /// A part whose slices are in slabs; where the first slice is.
    fn put_in_slabs(store: &Store, version: Version, pe: PeId, size: usize) -> usize {
        let mut room = Room::default();
        let mut buffer = room.buffer(store, size, 8).expect("there is memory");
        buffer.fill(&vec![version as u8; size]);
        let slice = buffer.finish().expect("it was filled");
        let (at, part) =
            (slice.bytes().as_ptr() as usize, Packed::new(vec![7; 100].into(), vec![slice], vec![]));
        if pe < 2 {
            store.put(version, &view(), pe, part);
        } else {
            let pieces = part.buffers().into_iter().map(|buffer| (vec![buffer], 0)).collect();
            store.put_copy(version, &view(), pe, Manifest::uncut(&part), pieces);
        }
        store.keep_slabs(version, pe, room);
        at
    }

    #[test]
    fn memory_of_versions_that_are_over_is_used_again() {
        for pe in [0, 2] {
            let store = Store::default();
            let first = put_in_slabs(&store, 1, pe, 1 << 20);
            let second = put_in_slabs(&store, 2, pe, 1 << 20);
            assert_ne!(first, second, "the first version is what the job would go back to");
            store.commit(2);
            assert_eq!(put_in_slabs(&store, 3, pe, (1 << 20) - 500), first);
            assert_ne!(put_in_slabs(&store, 3, pe + 1, 8), second);
            assert!(store.lock().kept[&2].parts[&pe].is_whole());
            assert_eq!(store.spare_head(10).capacity() >= 100, pe == 0, "own parts have heads");
        }
    }

    #[test]
    fn memory_that_somebody_reads_is_not_used_again() {
        let store = Store::default();
        let first = put_in_slabs(&store, 1, 0, 1 << 20);
        let reads = store.own(1, 0);
        put_in_slabs(&store, 2, 0, 1 << 20);
        store.commit(2);
        assert_ne!(put_in_slabs(&store, 3, 0, 1 << 20), first);
        assert_eq!(reads.map(|part| part.segments()[0].bytes()[0]), Some(1));
    }

    #[test]
    fn what_is_lent_stays_until_its_version_is_committed() {
        let (store, keeper) = (Store::default(), Arc::new(()));
        let bytes: &'static [u8] = &[3; 1000];
        // SAFETY: they are there for ever.
        let segment = unsafe { Segment::lent(NonNull::from(bytes).cast(), bytes.len(), 1, keeper.clone()) };
        let part = Packed::new(Bytes::new(), vec![segment], Vec::new());
        store.put(1, &view(), 0, part.clone());
        store.lend(1, &part);
        drop(part);
        store.lock().is_written(1, 0, Ok(()));
        assert_eq!(Arc::strong_count(&keeper), 2, "it is on disk, and others may be reading it");
        store.commit(1);
        assert_eq!(Arc::strong_count(&keeper), 1, "nobody has it any more");
    }
}
