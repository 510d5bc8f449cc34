//! The folder of a node: the parts that it holds of the last versions.

use std::collections::{BTreeMap, BTreeSet};

use talisman_ft::{Epoch, Version};

use super::File;
use super::image::{self, Head, ImageError};
use super::manifest::{JobMark, Manifest, ManifestError, cut_of};
use crate::disk::{Disk, DiskError, Replacing, remove_leftovers};
use talisman_base::ids::PeId;
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_pup::Packed;

/// What a node holds on its disk, of one job.
pub struct CheckpointDir<D> {
    disk: D,
    job: JobMark,
    shape: Shape,
    /// Versions whose manifest is there, or among what is written.
    with_manifest: BTreeSet<Version>,
    /// What is written, and has no name yet.
    files: Replacing,
    /// The parts among that.
    begun: Vec<(Version, PeId)>,
}

/// A folder cannot be used for the checkpoints of a job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointDirError {
    /// The disk does not do what it should.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Another job has left its checkpoints there.
    #[error(
        "it has version {version} of another job, of the program `{program}`, which has not ended well: go on with that \
         one (--restart), or choose another folder (--ckpt-dir), or remove what is there"
    )]
    Taken {
        /// One of its versions.
        version: Version,
        /// Of which program.
        program: String,
    },
    /// A job that runs keeps its checkpoints there.
    #[error(
        "a job of the program `{program}` that is running keeps its checkpoints there: choose another folder (--ckpt-dir), or wait for its end"
    )]
    InUse {
        /// Its program.
        program: String,
    },
}

impl<D: Disk> CheckpointDir<D> {
    /// That of a job of this shape, which may have left files there, and nobody else.
    ///
    /// # Errors
    /// There are checkpoints of another job, or what the disk says.
    pub fn open(mut disk: D, job: JobMark, shape: Shape) -> Result<Self, CheckpointDirError> {
        check_for_others(&mut disk, job.id)?;
        remove_leftovers(&mut disk)?;
        let (with_manifest, files, begun) = (BTreeSet::new(), Replacing::default(), Vec::new());
        Ok(CheckpointDir { disk, job, shape, with_manifest, files, begun })
    }

    /// Writes the part of a PE in a version, taken now in this view: it is there once that is settled.
    ///
    /// # Errors
    /// What the disk says; the part will not be there then.
    pub fn begin(
        &mut self,
        (version, pe): (Version, PeId),
        view: &View,
        taken: u64,
        buffers: Vec<(u64, u32)>,
        slices: &[&[u8]],
    ) -> Result<(), DiskError> {
        if !self.with_manifest.contains(&version) {
            let manifest = Manifest::new(self.job.clone(), version, self.shape, view, taken);
            manifest.write(&mut self.files, &mut self.disk)?;
            self.with_manifest.insert(version);
        }
        let cut = cut_of(self.job.id, view.of_nodes().epoch);
        let head = Head { cut, version, pe, buffers };
        image::write(&mut self.files, &mut self.disk, &head, slices)?;
        self.begun.push((version, pe));
        Ok(())
    }

    /// A part that is written is not what it was to be: it will not be there.
    pub fn forget(&mut self, version: Version, pe: PeId) {
        self.begun.retain(|part| *part != (version, pe));
        self.files.forget(&mut self.disk, &File::Part(version, pe).name());
    }

    /// Whether anything is written that is not settled.
    pub fn has_begun(&self) -> bool {
        !self.files.is_empty()
    }

    /// Whether the disk is at work with that, so that to settle it is to wait.
    pub fn is_under_way(&self) -> bool {
        self.files.is_under_way(&self.disk)
    }

    /// Keeps the parts that are written for good: which those are, and whether that could be done.
    pub fn settle(&mut self) -> (Vec<(Version, PeId)>, Result<(), DiskError>) {
        let settled = self.files.finish(&mut self.disk);
        if settled.is_err() {
            // Manifests may be among what is not there.
            self.with_manifest.clear();
        }
        (std::mem::take(&mut self.begun), settled)
    }

    /// The part of a PE in a version that was taken in this epoch.
    ///
    /// # Errors
    /// It is not there, or not as it was.
    pub fn part(&mut self, epoch: Epoch, version: Version, pe: PeId) -> Result<Packed, ImageError> {
        image::read(&mut self.disk, cut_of(self.job.id, epoch), version, pe)
    }

    /// Takes away all other versions.
    ///
    /// # Errors
    /// What the disk says: more is there than has to be.
    pub fn keep_only(&mut self, stays: impl Fn(Version) -> bool) -> Result<(), DiskError> {
        self.with_manifest.retain(|version| stays(*version));
        remove_versions(&mut self.disk, |version| !stays(version))
    }
}

/// Takes versions away: parts first, so that whatever is left has its manifest.
///
/// # Errors
/// What the disk says.
pub fn remove_versions(disk: &mut impl Disk, goes: impl Fn(Version) -> bool) -> Result<(), DiskError> {
    let names = disk.list()?;
    let files = names.iter().filter_map(|name| File::of(name)).filter(|file| goes(file.version()));
    let (manifests, parts): (Vec<_>, Vec<_>) = files.partition(|file| matches!(file, File::Manifest(_)));
    parts.iter().chain(&manifests).try_for_each(|file| disk.remove(&file.name()))
}

/// The versions that have files on a disk, with what they are.
pub fn versions(disk: &mut impl Disk) -> Result<BTreeMap<Version, BTreeSet<PeId>>, DiskError> {
    let mut all = BTreeMap::<Version, BTreeSet<PeId>>::new();
    for file in disk.list()?.iter().filter_map(|name| File::of(name)) {
        let parts = all.entry(file.version()).or_default();
        if let File::Part(_, pe) = file {
            parts.insert(pe);
        }
    }
    Ok(all)
}

/// Files of another job are not to be overwritten, nor mixed with those of this one.
pub fn check_for_others(disk: &mut impl Disk, job: u64) -> Result<(), CheckpointDirError> {
    for version in versions(disk)?.into_keys() {
        match Manifest::read(disk, version) {
            Ok(manifest) if manifest.job.id != job => {
                return Err(CheckpointDirError::Taken { version, program: manifest.job.program });
            }
            // Of what cannot be read nobody can go on.
            Ok(_) | Err(ManifestError::Read(_) | ManifestError::Other { .. }) => {}
        }
    }
    Ok(())
}
