//! The folders of all nodes of a job: which version is whole, and where its parts are.
//!
//! A version is whole if each PE that was there has a part in it that is as it was written, in whichever folder. Whether it was
//! committed does not matter: it is a cut of the job in either case.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use talisman_ft::{NodeId, Version};

use super::cover::{Cover, CoverError};
use super::image::{self, ImageError};
use super::keeper::nodes_in;
use super::shelf::versions;
use super::{File, folder_of};
use crate::disk::{Disk, DiskError, Folder, ReadError};
use crate::ids::PeId;

/// A version from which a job can go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) cover: Cover,
    /// In which node's folder the part of each PE is.
    pub(crate) parts: BTreeMap<PeId, NodeId>,
    /// No version from this one on has left any file.
    pub(crate) next: Version,
    /// What people should know: versions that are not whole, and files that are damaged.
    pub(crate) notes: Vec<String>,
}

/// No job can go on from a folder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SetError {
    /// There is nothing.
    #[error(
        "there is no checkpoint in {}: it has no folder of a node (node-0, …) with a version in it; give the folder that \
         --ckpt-dir of the job named",
        dir.display()
    )]
    Empty {
        /// The folder.
        dir: PathBuf,
    },
    /// Folders of nodes are not of one job.
    #[error(
        "{} has checkpoints of more than one job ({}): put those of each in a folder of its own",
        dir.display(),
        programs.join(", ")
    )]
    Mixed {
        /// The folder.
        dir: PathBuf,
        /// Whose.
        programs: Vec<String>,
    },
    /// No version is whole.
    #[error("no checkpoint in {} is whole, and nothing was changed there:{}", dir.display(), list(notes))]
    NoneWhole {
        /// The folder.
        dir: PathBuf,
        /// What is wrong with each.
        notes: Vec<String>,
    },
    /// The folder cannot be read.
    #[error("cannot look for checkpoints in {}: {why}", dir.display())]
    Unreadable {
        /// The folder.
        dir: PathBuf,
        /// The system's reason.
        why: String,
    },
}

/// The newest version in a folder of this host that is whole. All of it is read, and nothing is changed.
///
/// # Errors
/// There is none.
pub(crate) fn newest(dir: &Path) -> Result<Whole, SetError> {
    let unreadable = |why: String| SetError::Unreadable { dir: dir.to_owned(), why };
    let nodes = nodes_in(dir).map_err(|error| unreadable(error.to_string()))?;
    let open = |node: &NodeId| Ok((*node, Folder::open(&folder_of(dir, *node))?));
    let folders = nodes.iter().map(open).collect::<Result<_, DiskError>>();
    let mut set = Set { dir, folders: folders.map_err(|error| unreadable(error.to_string()))? };
    set.newest()
}

/// The same on simulated disks.
///
/// # Errors
/// There is none.
pub(crate) fn newest_on<D: Disk>(folders: BTreeMap<NodeId, D>) -> Result<Whole, SetError> {
    Set { dir: Path::new("simulated"), folders }.newest()
}

/// The folders of the nodes of a job.
pub(super) struct Set<'a, D> {
    pub(super) dir: &'a Path,
    pub(super) folders: BTreeMap<NodeId, D>,
}

/// A cover, and the folders that have it.
///
/// Mostly all that a version has are one. But who was lost when it had taken its part, before anybody else had, has left that of a version
/// that nobody knew of, so that those who went on gave its number to another one. The parts of these two are of no cut together.
struct Covered {
    cover: Cover,
    folders: BTreeSet<NodeId>,
}

impl Covered {
    fn add(all: &mut Vec<Covered>, cover: Cover, folder: NodeId) {
        // They say the same but for the time.
        match all.iter_mut().find(|of| of.cover.view == cover.view && of.cover.job.id == cover.job.id) {
            Some(known) => drop(known.folders.insert(folder)),
            None => all.push(Covered { cover, folders: BTreeSet::from([folder]) }),
        }
        all.sort_by_key(|of| Reverse(of.cover.view.epoch));
    }

    /// The folders whose parts may be of this one. If it is the only one, they may be so without a cover that can be read.
    fn places_beside(
        &self,
        all: &[Covered],
        places: &BTreeMap<NodeId, BTreeSet<PeId>>,
    ) -> BTreeMap<NodeId, BTreeSet<PeId>> {
        let is_own = |node: &NodeId| all.len() == 1 || self.folders.contains(node);
        places.iter().filter(|(node, _)| is_own(node)).map(|(node, parts)| (*node, parts.clone())).collect()
    }
}

/// Which folders have files of a version.
type Places = BTreeMap<Version, BTreeMap<NodeId, BTreeSet<PeId>>>;

impl<D: Disk> Set<'_, D> {
    pub(super) fn newest(&mut self) -> Result<Whole, SetError> {
        let dir = self.dir.to_owned();
        let places = self.places().map_err(|error| SetError::Unreadable { dir, why: error.to_string() })?;
        let dir = self.dir.to_owned();
        let Some(next) = places.keys().next_back().map(|last| last + 1) else {
            return Err(SetError::Empty { dir });
        };
        let (covers, mut notes) = self.covers(&places);
        let jobs: BTreeMap<u64, &str> =
            covers.values().flatten().map(|of| (of.cover.job.id, of.cover.job.program.as_str())).collect();
        if jobs.len() > 1 {
            let programs = jobs.into_iter().map(|(id, program)| format!("{program}, job {id:x}")).collect();
            return Err(SetError::Mixed { dir, programs });
        }
        for (version, covers) in covers.into_iter().rev() {
            for own in &covers {
                let places = own.places_beside(&covers, &places[&version]);
                if let Some(parts) = self.parts(&own.cover, &places, &mut notes) {
                    return Ok(Whole { cover: own.cover.clone(), parts, next, notes });
                }
            }
            notes.push(format!("version {version} is not whole"));
        }
        Err(SetError::NoneWhole { dir, notes })
    }

    fn places(&mut self) -> Result<Places, DiskError> {
        let mut places = Places::new();
        for (node, disk) in &mut self.folders {
            for (version, parts) in versions(disk)? {
                places.entry(version).or_default().insert(*node, parts);
            }
        }
        Ok(places)
    }

    /// The covers that can be read, those of later epochs first; each folder with parts of a version has one.
    fn covers(&mut self, places: &Places) -> (BTreeMap<Version, Vec<Covered>>, Vec<String>) {
        let (mut covers, mut notes) = (BTreeMap::<Version, Vec<Covered>>::new(), Vec::new());
        for (version, folders) in places {
            for node in folders.keys() {
                let disk = self.folders.get_mut(node).expect("it was listed");
                match Cover::read(disk, *version) {
                    Ok(cover) => Covered::add(covers.entry(*version).or_default(), cover, *node),
                    Err(CoverError::Read(ReadError::Disk(DiskError::NotThere { .. }))) => {}
                    Err(error) => notes.push(self.in_folder(*node, &error)),
                }
            }
            if !covers.contains_key(version) {
                notes.push(format!(
                    "version {version} has no cover that can be read ({})",
                    File::Cover(*version).name()
                ));
            }
        }
        (covers, notes)
    }

    /// Where each part is; nothing if one is nowhere.
    fn parts(
        &mut self,
        cover: &Cover,
        places: &BTreeMap<NodeId, BTreeSet<PeId>>,
        notes: &mut Vec<String>,
    ) -> Option<BTreeMap<PeId, NodeId>> {
        let mut parts = BTreeMap::new();
        for pe in cover.pes() {
            let places = places.iter().filter(|(_, parts)| parts.contains(&pe)).map(|(node, _)| *node);
            match self.whole_part(cover, pe, places, notes) {
                Some(node) => drop(parts.insert(pe, node)),
                None => {
                    let name = File::Part(cover.version, pe).name();
                    notes.push(format!(
                        "the part of PE {pe} in version {} is nowhere ({name})",
                        cover.version
                    ));
                }
            }
        }
        (parts.len() == cover.pes().count()).then_some(parts)
    }

    fn whole_part(
        &mut self,
        cover: &Cover,
        pe: PeId,
        places: impl Iterator<Item = NodeId>,
        notes: &mut Vec<String>,
    ) -> Option<NodeId> {
        for node in places {
            let disk = self.folders.get_mut(&node).expect("it was listed");
            match image::read(disk, cover.job.id, cover.version, pe) {
                Ok(_) => return Some(node),
                Err(error) => notes.push(self.in_folder(node, &error)),
            }
        }
        None
    }

    fn in_folder(&self, node: NodeId, error: &impl fmt::Display) -> String {
        format!("in {}: {error}", folder_of(self.dir, node).display())
    }
}

/// A part of a version, from the folder of a node.
///
/// # Errors
/// It is not there any more, or not as it was.
pub(crate) fn part(
    dir: &Path,
    node: NodeId,
    cover: (u64, Version),
    pe: PeId,
) -> Result<crate::pup::Packed, ImageError> {
    let mut folder = Folder::open(&folder_of(dir, node)).map_err(ReadError::from)?;
    image::read(&mut folder, cover.0, cover.1, pe)
}

fn list(notes: &[String]) -> String {
    notes.iter().map(|note| format!("\n  {note}")).collect()
}
