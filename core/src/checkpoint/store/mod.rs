//! The parts that a process holds, by version.
//!
//! It outlives the PEs of the process: when the job goes back to a version, they are made anew from what is in here. The
//! memory of versions that are not needed any more is filled again by the next one. With `--ft disk` a part is in memory until it is
//! on the node's disk ([`Keeper`]); with `--ft double` those that somebody asks for are written too, and stay where they are ([`Archive`]).

pub(super) mod archive;
mod error;
mod former;
mod spare;
#[cfg(test)]
mod tests;
mod versions;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use talisman_ft::double::{Contents, Held, Order};
use talisman_ft::{NodeId, Version};

use super::contents::{Counts, Names};
use super::files::cover::JobMark;
use super::files::keeper::{AnyDisk, Backlog, Keeper, KeeperError, Work};
use super::files::shelf::ShelfError;
use super::lent::Lent;
use super::mapped::Shared;
use super::newcomers::Seats;
use super::part::Part;
use super::pieces::{Manifest, checksum, cut, put_together};
use super::readable::Readable;
use super::shared::SharedMemory;
use super::slabs::{Room, Slab};
use crate::cluster::keeping::Restart;
use crate::ids::PeId;
use crate::mutations::mutated;
use crate::node::Shape;
use crate::pup::{Packed, Segment};
use crate::view::View;
use archive::Archive;
pub(crate) use error::StoreError;
use former::Former;
pub(super) use versions::Copy;
pub(crate) use versions::Versions;
use versions::{Body, InMemory, Kept};

/// Parts of checkpoints: own ones, and copies of those of others.
#[derive(Default)]
pub(crate) struct Store {
    versions: Arc<Mutex<Versions>>,
    /// What has them on disk, if anything does.
    keeper: OnceLock<Keeper>,
    /// What has those on disk that somebody asked for, if the others are in memory only.
    archive: OnceLock<Archive>,
    /// What the job goes on from, if it has not begun with the program.
    former: OnceLock<Former>,
    /// What slabs are made of, if others can map it.
    memory: OnceLock<Arc<SharedMemory>>,
    /// What it may read of others, where they are simulated.
    readable: OnceLock<Readable>,
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

/// A part on its way: who was there when it was taken, and what it comes in.
pub(super) type InPieces = (talisman_ft::view::View, Manifest, Vec<(Vec<Segment>, u32)>);

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

    /// From now on what somebody asks for is on disk too, in the folder of this node in that of the job, which is not touched before.
    pub(crate) fn write_what_is_asked_for_in(&self, dir: &Path, node: NodeId, job: JobMark, shape: Shape) {
        self.write_what_is_asked_for(Archive::new(archive::Folder { dir: dir.to_owned(), node, job, shape }));
    }

    /// The same by this archive.
    pub(super) fn write_what_is_asked_for(&self, archive: Archive) {
        assert!(self.archive.set(archive).is_ok(), "what is asked for is written in one place");
        self.lock().stay_in_memory = true;
    }

    /// Whether what somebody asks for is on disk too, unlike all else.
    pub(super) fn writes_what_is_asked_for(&self) -> bool {
        self.archive.get().is_some()
    }

    /// The job goes on from this, on so many PEs per node.
    pub(crate) fn go_on_from(&self, restart: Restart, pes_per_node: u32) {
        self.go_on_from_disks(restart, pes_per_node, BTreeMap::new());
    }

    /// The same, with the folders of nodes on these disks.
    pub(crate) fn go_on_from_disks(
        &self,
        restart: Restart,
        pes_per_node: u32,
        disks: BTreeMap<NodeId, AnyDisk>,
    ) {
        let view = View::new(restart.view.clone(), pes_per_node);
        let former = Former { restart, view, disks: Mutex::new(disks) };
        let is_first = self.former.set(former).is_ok();
        assert!(is_first, "a job goes on from one version");
    }

    /// The job has ended well, and nobody will go back to anything: nothing is left on the disk, nor of nodes that are not there any
    /// more.
    pub(crate) fn clear(&self, there: Vec<NodeId>) {
        self.leave();
        *self.lock() = Versions::default();
        if let Some(archive) = self.archive.get() {
            // What it went on from was not written by this job, unless all is to be on disk.
            let from = self.former.get().map_or(0, |former| former.restart.next_version);
            archive.clear(from, &there, &self.versions);
        }
        self.begin(Work::Clear(0, there));
        self.keeper.get().into_iter().for_each(Keeper::finish);
    }

    /// From now on parts are where other processes of the host can map them, where the system has such memory.
    pub(crate) fn share(&self) {
        // Without it they are read, or sent.
        if let Ok(memory) = SharedMemory::new() {
            let _ = self.memory.set(Arc::new(memory));
        }
    }

    /// The process is a simulated one.
    pub(crate) fn be_readable(&self, readable: Readable) {
        let is_first = self.readable.set(readable).is_ok();
        assert!(is_first, "a process has one memory");
    }

    /// The process ends. If it has been released, others go on from what they have mapped of it.
    fn leave(&self) {
        self.memory.get().into_iter().for_each(|memory| memory.leave());
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
        let Some((kept, part)) = all.kept.get(&version).and_then(|kept| Some((kept, kept.parts.get(&pe)?)))
        else {
            return Fate::NotSafe("its version was given up meanwhile".into());
        };
        match (part, kept.not_written.get(&pe)) {
            (_, Some(why)) => Fate::NotSafe(why.clone()),
            (Body::Written, None) => Fate::Safe,
            (Body::Own(_) | Body::Copy(_), None) if self.is_in_memory() => Fate::Safe,
            (Body::Own(_) | Body::Copy(_), None) => Fate::Open,
        }
    }

    /// The parts of a version that are held here, of these PEs, are to be on disk as well: whose those are. See [`Store::fate_on_disk`].
    pub(super) fn write(&self, version: Version, of: impl Fn(PeId) -> bool) -> Vec<PeId> {
        let held = |kept: &Kept| kept.parts.keys().copied().filter(|pe| of(*pe)).collect();
        let parts: Vec<PeId> = self.lock().kept.get(&version).map(held).unwrap_or_default();
        if let Some(archive) = self.archive.get() {
            parts.iter().for_each(|pe| archive.write(version, *pe, &self.versions));
        }
        parts
    }

    /// What has become of that.
    pub(super) fn fate_on_disk(&self, version: Version, pe: PeId) -> Fate {
        let all = self.lock();
        let Some(kept) = all.kept.get(&version) else {
            return Fate::NotSafe("its version was given up meanwhile".into());
        };
        match kept.not_written.get(&pe) {
            Some(why) => Fate::NotSafe(why.clone()),
            None if kept.written_too.contains(&pe) => Fate::Safe,
            None => Fate::Open,
        }
    }

    /// All parts of a version are on disk, on all nodes, and what was written before is not needed any more; or never will be.
    pub(super) fn all_written(&self, version: Version, is_whole: bool) {
        let there = self.lock().kept.get(&version).map(|kept| kept.view.nodes().to_vec());
        if let (Some(archive), Some(there)) = (self.archive.get(), there) {
            let work = if is_whole { Work::KeepFrom(version, there) } else { Work::GiveUp(version) };
            archive.begin(work, &self.versions);
        }
    }

    /// A version will never be complete: what is here of it goes.
    pub(super) fn give_up(&self, version: Version) {
        self.lock().drop_all_but(|other| other != version);
        self.begin(Work::GiveUp(version));
    }

    /// Whether a part is safe as soon as it is here.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.keeper.get().is_none()
    }

    /// Keeps the part of a PE of this process.
    pub(crate) fn put(&self, version: Version, view: &View, pe: PeId, part: Packed) {
        let mut all = self.lock();
        if mutated("former-dropped-too-early") {
            all.drop_all_but(|other| other >= version);
        }
        all.of(version, view).parts.insert(pe, Body::Own(part));
    }

    /// The part of a PE of this process.
    pub(super) fn own(&self, version: Version, pe: PeId) -> Option<Packed> {
        match self.lock().kept.get(&version)?.parts.get(&pe)? {
            Body::Own(part) => Some(part.clone()),
            Body::Copy(_) | Body::Written => None,
        }
    }

    /// This process is in the place of the one whose that is, as to who may read whose memory.
    pub(crate) fn be_as_readable_as(&self, former: &Store) {
        former.readable.get().cloned().into_iter().for_each(|readable| self.be_readable(readable));
    }

    /// Whether a simulated process may read the memory of this one, as far as is known here.
    pub(super) fn lends_to(&self, node: NodeId) -> bool {
        self.readable.get().is_some_and(|readable| readable.lends_to(node))
    }

    /// Another process may read this part of this one, wherever else it is by then, until the version is committed or dropped. Where
    /// it is, if it can be read.
    pub(super) fn lend(&self, version: Version, pe: PeId, part: &Packed) -> Option<Lent> {
        let part = Arc::new(part.clone());
        let lent = match self.readable.get() {
            Some(readable) => readable.lend(&part),
            None => Lent::of(&part, self.shared(version, pe))?,
        };
        self.lock().kept.get_mut(&version)?.lent.push(part);
        Some(lent)
    }

    /// The process is no more.
    pub(crate) fn stop_lending(&self) {
        self.lock().kept.values_mut().for_each(|kept| kept.lent.clear());
    }

    /// Reads so many bytes of a buffer that another process lends, from an offset on, to `to`.
    ///
    /// # Safety
    /// As of [`Lent::read`].
    ///
    /// # Errors
    /// It cannot be read, or there is nothing there.
    pub(super) unsafe fn read_lent(
        &self,
        lent: &Lent,
        (buffer, offset): (usize, usize),
        to: *mut [u8],
    ) -> io::Result<()> {
        let Some(readable) = self.readable.get() else {
            // SAFETY: the caller's promise.
            return unsafe { lent.read(buffer, offset, to) };
        };
        let part = readable.find(lent)?;
        let buffers = part.buffers();
        let bytes = buffers.get(buffer).and_then(|buffer| buffer.bytes().get(offset..offset + to.len()));
        let bytes = bytes.ok_or_else(|| io::Error::other("there is no such buffer"))?;
        // SAFETY: as many bytes, in memory that the caller gives, which is nobody else's.
        unsafe { to.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }

    /// Sees that what was read so far was read from the process that lent it.
    ///
    /// # Errors
    /// It was another one, or that cannot be known any more.
    pub(super) fn check_lent(&self, lent: &Lent) -> io::Result<()> {
        match self.readable.get() {
            Some(readable) => readable.find(lent).map(drop),
            None => lent.check(),
        }
    }

    /// Where others of the host find the slabs of the part of a PE of this process, if they can be mapped.
    fn shared(&self, version: Version, pe: PeId) -> Option<Shared> {
        self.lock().kept.get(&version)?.slabs.get(&pe)?.shared()
    }

    /// A part that is kept has its large slices in here, which are filled again when its version is not needed any more.
    pub(super) fn keep_slabs(&self, version: Version, pe: PeId, room: Room) {
        if let Some(kept) = self.lock().kept.get_mut(&version) {
            kept.slabs.insert(pe, room);
        }
    }

    /// Keeps the part of a PE of another process, which was read there.
    pub(super) fn put_copy(&self, version: Version, view: &View, pe: PeId, copy: Copy) {
        let mut all = self.lock();
        // Only a peer that makes things up speaks for a PE of this process.
        all.of(version, view).parts.entry(pe).or_insert(Body::Copy(copy));
    }

    /// The part of a PE of another process is to come in pieces; whether that is all of it.
    pub(super) fn expect(&self, version: Version, view: &View, pe: PeId, manifest: Manifest) -> bool {
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
        copy.pieces.push((slices, Some(sum)));
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
        kept.lent.clear();
        let there = kept.view.nodes().to_vec();
        all.committed = all.committed.max(Some(version));
        all.drop_all_but(|other| other >= version);
        drop(all);
        self.begin(Work::KeepFrom(version, there));
    }

    /// The newest version that this process knows to be complete everywhere.
    pub(crate) fn committed(&self) -> Option<Version> {
        self.lock().committed
    }

    /// The job goes back as this order says: what it may never go back to is of no use any more.
    pub(crate) fn go_back(&self, order: &Order) {
        let mut all = self.lock();
        all.committed = order.committed;
        all.drop_all_but(|version| order.keeps(version));
        drop(all);
        let stays = [order.committed, order.version].into_iter().flatten();
        self.begin(Work::KeepOnly(stays.filter(|version| order.keeps(*version)).collect()));
    }

    /// What is held here, by version. Files are read: what is not as it was written is not held.
    pub(crate) fn held(&self) -> Vec<Held> {
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
            }
        };
        let Some(copy) = copy else { return read(self.part_on_disk(version, pe)?, version, pe) };
        let is_damaged =
            |(slices, sum): &(Vec<Segment>, Option<u32>)| sum.is_some_and(|sum| checksum(slices) != sum);
        let damaged = copy.pieces.iter().position(is_damaged);
        if let Some(piece) = damaged {
            return Err(StoreError::Damaged { pe, version, piece: piece as u32 });
        }
        let slices = copy.pieces.iter().flat_map(|(slices, _)| slices).cloned();
        let part = read(put_together(&copy.manifest, slices).ok_or(missing)?, version, pe);
        if copy.is_unchanged() { part } else { Err(StoreError::Overwritten { pe, version }) }
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
                Body::Copy(copy) => (view, Some(InMemory::Copy(copy.clone()))),
                Body::Own(part) => (view, Some(InMemory::Own(part.clone()))),
                Body::Written => (view, None),
            }
        };
        let part = match whole {
            Some(InMemory::Copy(copy)) => {
                let pieces = copy.summed();
                let is_unchanged = copy.is_unchanged().then_some((view, copy.manifest, pieces));
                return is_unchanged.ok_or(StoreError::Overwritten { pe, version });
            }
            Some(InMemory::Own(part)) => part,
            None => self.part_on_disk(version, pe)?,
        };
        let (manifest, pieces) = summed(&part);
        Ok((view, manifest, pieces))
    }

    /// The part that a PE begins with in this view, which was not there when the version was taken, in the same form: made of that of the one
    /// that stood in for it.
    ///
    /// # Errors
    /// That one is not here, or is not what it was.
    fn part_of_newcomer(&self, version: Version, pe: PeId, view: &View) -> Result<InPieces, StoreError> {
        let before = self.taken_in(version).ok_or(StoreError::Missing { pe, version })?;
        let kept = self.part(version, before.seat(pe))?;
        let part = Packed::of(&Seats::of(view).part_instead_of(pe, kept));
        let (manifest, pieces) = summed(&part);
        Ok((before.of_nodes().clone(), manifest, pieces))
    }

    /// What the PE of this number is to have of a version in this view, on its way to the node that it is on.
    ///
    /// # Errors
    /// It is not here, or is not what it was.
    pub(super) fn handed(&self, version: Version, pe: PeId, view: &View) -> Result<InPieces, StoreError> {
        match self.taken_in(version).is_some_and(|before| !before.is_there(pe)) {
            true => self.part_of_newcomer(version, pe, view),
            false => self.in_pieces(version, pe),
        }
    }

    /// The parts that a PE restores in this view are left what is theirs: some that were not there when the version was taken may be by now.
    pub(super) fn make_room(&self, version: Version, view: &View, pe: PeId, parts: &mut [Part]) {
        if let Some(before) = self.taken_in(version) {
            Seats::of(view).make_room(&before, pe, parts);
        }
    }

    /// Who was there when a version was taken that something is held of.
    fn taken_in(&self, version: Version) -> Option<View> {
        self.lock().kept.get(&version).map(|kept| kept.view.clone())
    }

    fn part_on_disk(&self, version: Version, pe: PeId) -> Result<Packed, StoreError> {
        let keeper = self.keeper.get().ok_or(StoreError::Missing { pe, version })?;
        let part = keeper.part(version, pe);
        part.map_err(|error| StoreError::File { pe, version, why: error.to_string() })
    }

    /// How many pieces of copies of a version are their owners' memory.
    #[cfg(test)]
    pub(super) fn mapped(&self, version: Version) -> usize {
        let all = self.lock();
        let of = |body: &Body| match body {
            Body::Copy(copy) => copy.pieces.iter().filter(|(_, sum)| sum.is_none()).count(),
            Body::Own(_) | Body::Written => 0,
        };
        all.kept.get(&version).map_or(0, |kept| kept.parts.values().map(of).sum())
    }

    /// A slab for at least so many bytes that a version had which is not needed any more.
    pub(super) fn spare_slab(&self, len: usize) -> Option<Arc<Slab>> {
        self.lock().spare.slabs.take(len)
    }

    /// A new one, if there is memory.
    pub(super) fn new_slab(&self, len: usize) -> Option<Arc<Slab>> {
        Slab::new(len, self.memory.get())
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

impl Drop for Store {
    fn drop(&mut self) {
        self.leave();
    }
}

/// A part in pieces, with their checksums.
fn summed(part: &Packed) -> (Manifest, Vec<(Vec<Segment>, u32)>) {
    let (manifest, pieces) = cut(part);
    let summed = |slices: Vec<Segment>| {
        let sum = checksum(&slices);
        (slices, sum)
    };
    (manifest, pieces.into_iter().map(summed).collect())
}

fn read(part: Packed, version: Version, pe: PeId) -> Result<Part, StoreError> {
    part.into_value().map_err(|error| StoreError::Unreadable { pe, version, error })
}
