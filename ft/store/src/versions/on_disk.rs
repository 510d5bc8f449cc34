//! What of the parts is to be on disk, and is.

use std::path::Path;
use std::time::Duration;

use talisman_ft::{NodeId, Version};

use super::archive::{Archive, Folder};
use super::kept::{Body, Kept, Versions};
use super::{Fate, Store, StoreError};
use crate::disk::KeyFile;
use crate::files::checkpoint_dir::CheckpointDirError;
use crate::files::manifest::JobMark;
use crate::files::writer::{AnyDisk, Backlog, Work, Writer, WriterError};
use talisman_base::ids::PeId;
use talisman_base::topology::Shape;
use talisman_pup::Packed;

impl Store {
    /// From now on parts are kept on disk, in the folder of this node in that of the job.
    ///
    /// # Errors
    /// The folder cannot be had, or is used by another job.
    pub fn keep_in(
        &self,
        dir: (&Path, &KeyFile),
        node: NodeId,
        job: JobMark,
        shape: Shape,
    ) -> Result<(), WriterError> {
        self.keep_by(Writer::open(dir, node, job, shape, self.versions.clone())?);
        Ok(())
    }

    /// From now on parts are kept on this disk, by whoever has the backlog.
    ///
    /// # Errors
    /// The disk does not do what it should, or is used by another job.
    pub fn keep_on(&self, disk: AnyDisk, job: JobMark, shape: Shape) -> Result<Backlog, CheckpointDirError> {
        let (writer, backlog) = Writer::by_hand(disk, job, shape, self.versions.clone())?;
        self.keep_by(writer);
        Ok(backlog)
    }

    /// From now on parts are kept by this one.
    pub fn keep_by(&self, writer: Writer) {
        assert!(self.writer.set(writer).is_ok(), "parts are kept in one place");
    }

    /// From now on what somebody asks for is on disk too, in the folder of this node in that of the job, which is not touched before.
    pub fn write_what_is_asked_for_in(
        &self,
        (dir, key): (&Path, &KeyFile),
        node: NodeId,
        job: JobMark,
        shape: Shape,
    ) {
        let (dir, key) = (dir.to_owned(), key.clone());
        self.write_what_is_asked_for(Archive::new(Folder { dir, key, node, job, shape }));
    }

    /// The same by this archive.
    pub fn write_what_is_asked_for(&self, archive: Archive) {
        assert!(self.archive.set(archive).is_ok(), "what is asked for is written in one place");
        self.lock().stay_in_memory = true;
    }

    /// Whether what somebody asks for is on disk too, unlike all else.
    pub fn writes_what_is_asked_for(&self) -> bool {
        self.archive.get().is_some()
    }

    /// Whether a part is safe as soon as it is here.
    pub fn is_in_memory(&self) -> bool {
        self.writer.get().is_none()
    }

    /// What the thread has had of a processor that writes parts; none if they are in memory.
    pub fn time_to_write(&self) -> Option<Duration> {
        self.writer.get().map(Writer::computed)
    }

    /// A part that is here, whole, is to outlive whatever it is to outlive: see [`Store::fate`].
    pub fn keep_for_good(&self, version: Version, pe: PeId) {
        self.begin(Work::Write(version, pe));
    }

    /// What has become of that.
    pub fn fate(&self, version: Version, pe: PeId) -> Fate {
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
    pub fn write(&self, version: Version, of: impl Fn(PeId) -> bool) -> Vec<PeId> {
        let held = |kept: &Kept| kept.parts.keys().copied().filter(|pe| of(*pe)).collect();
        let parts: Vec<PeId> = self.lock().kept.get(&version).map(held).unwrap_or_default();
        if let Some(archive) = self.archive.get() {
            parts.iter().for_each(|pe| archive.write(version, *pe, &self.versions));
        }
        parts
    }

    /// What has become of that.
    pub fn fate_on_disk(&self, version: Version, pe: PeId) -> Fate {
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
    pub fn all_written(&self, version: Version, is_whole: bool) {
        let there = self.lock().kept.get(&version).map(|kept| kept.view.nodes().to_vec());
        if let (Some(archive), Some(there)) = (self.archive.get(), there) {
            let work = if is_whole { Work::KeepFrom(version, there) } else { Work::GiveUp(version) };
            archive.begin(work, &self.versions);
        }
    }

    pub fn damaged(&self) -> Vec<(Version, PeId)> {
        let Some(writer) = self.writer.get() else { return Vec::new() };
        let written = self.lock().written();
        let is_damaged = |(epoch, version, pe): &_| writer.part(*epoch, *version, *pe).is_err();
        written.into_iter().filter(is_damaged).map(|(_, version, pe)| (version, pe)).collect()
    }

    pub fn part_on_disk(&self, version: Version, pe: PeId) -> Result<Packed, StoreError> {
        let missing = StoreError::Missing { pe, version };
        let (writer, view) = self.writer.get().zip(self.taken_in(version)).ok_or(missing)?;
        let part = writer.part(view.of_nodes().epoch, version, pe);
        part.map_err(|error| StoreError::File { pe, version, why: error.to_string() })
    }

    pub fn begin(&self, work: Work) {
        if let Some(writer) = self.writer.get() {
            writer.begin(work, &self.versions);
        }
    }

    /// The job has ended well, and nobody will go back to anything: nothing is left on the disk, nor of nodes that are not there any
    /// more.
    pub fn clear(&self, there: Vec<NodeId>) {
        self.leave();
        *self.lock() = Versions::default();
        if let Some(archive) = self.archive.get() {
            // What it went on from was not written by this job, unless all is to be on disk.
            let former = self.former.get().filter(|former| !former.restart.is_own);
            let from = former.map_or(0, |former| former.restart.next_version);
            archive.clear(from, &there, &self.versions);
        }
        self.begin(Work::Clear(0, there));
        self.writer.get().into_iter().for_each(Writer::finish);
    }
}
