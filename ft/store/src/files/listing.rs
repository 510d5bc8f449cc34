//! What a host has in the folder of a job: which versions, what they are, and which parts of them.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use talisman_ft::{NodeId, Version};

use super::checkpoint_dir::versions;
use super::folder_of;
use super::manifest::{Manifest, ManifestError};
use super::writer::nodes_in;
use crate::disk::{Disk, DiskError, Folder, KeyFile, ReadError};
use talisman_base::ids::PeId;

/// Parts of versions, each by its PE.
pub type Parts = Vec<(Version, Vec<PeId>)>;

/// What is there, as far as it can be told without reading parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// There is no such folder.
    pub is_missing: bool,
    /// The parts in the folder of each node, by version.
    pub folders: Vec<(NodeId, Parts)>,
    /// The manifests that can be read.
    pub manifests: Vec<Found>,
    /// What is wrong with others, and in whose folder.
    pub damaged: Vec<(NodeId, String)>,
}

/// A manifest, and the nodes in whose folders it is: the same but for the time at which each was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    pub manifest: Manifest,
    pub folders: Vec<NodeId>,
}

impl Listing {
    /// Of the folders in this one of this host, with the key of their files; nothing is changed there.
    ///
    /// # Errors
    /// The system's reason why it cannot be read. That it is not there is none.
    pub fn of(dir: &Path, key: &KeyFile) -> Result<Self, String> {
        let nodes = match nodes_in(dir) {
            Ok(nodes) => nodes,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Listing { is_missing: true, ..Listing::default() });
            }
            Err(error) => return Err(error.to_string()),
        };
        let (mut folders, mut refused) = (BTreeMap::new(), Vec::new());
        for node in nodes {
            match Folder::open_with(&folder_of(dir, node), key) {
                Ok(folder) => drop(folders.insert(node, folder)),
                // Whoever else can write in the folder of the job may have put it there.
                Err(error) => refused.push((node, error.to_string())),
            }
        }
        let mut listing = Listing::of_disks(&mut folders).map_err(|error| error.to_string())?;
        listing.damaged.extend(refused);
        Ok(listing)
    }

    /// Of the disks of nodes.
    ///
    /// # Errors
    /// What a disk says.
    pub fn of_disks<D: Disk>(disks: &mut BTreeMap<NodeId, D>) -> Result<Self, DiskError> {
        let mut listing = Listing::default();
        for (node, disk) in disks {
            let versions = versions(disk)?;
            versions.keys().for_each(|version| listing.look_at_cover(*node, disk, *version));
            let listed = versions.into_iter().map(|(version, parts)| (version, parts.into_iter().collect()));
            listing.folders.push((*node, listed.collect()));
        }
        Ok(listing)
    }

    fn look_at_cover(&mut self, node: NodeId, disk: &mut impl Disk, version: Version) {
        match Manifest::read(disk, version) {
            Ok(manifest) => self.add(node, manifest),
            // Said of the version, if there is none in any folder.
            Err(ManifestError::Read(ReadError::Disk(DiskError::NotThere { .. }))) => {}
            Err(error) => self.damaged.push((node, error.to_string())),
        }
    }

    fn add(&mut self, node: NodeId, manifest: Manifest) {
        match self.manifests.iter_mut().find(|found| found.manifest.is_like(&manifest)) {
            Some(found) => found.folders.push(node),
            None => self.manifests.push(Found { manifest, folders: vec![node] }),
        }
    }

    /// What of another host's cannot be, if anything.
    pub fn what_is_wrong(&self) -> Option<String> {
        self.manifests.iter().find_map(|found| found.manifest.what_is_wrong(found.manifest.version))
    }
}
