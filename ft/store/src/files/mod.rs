//! Checkpoints in files (`--ft disk`): what a node keeps of them, and what a whole job can be started from again.
//!
//! ```text
//! DIR/                     --ckpt-dir
//!   node-0/                one folder for each node of the job, on its host
//!     v7.manifest          what version 7 is: of which job and program, who was there, when it was taken
//!     v7-pe0.part          what PE 0 had, packed: a part of the node's own
//!     v7-pe5.part          a copy that it keeps for another node
//! ```
//!
//! Every file is put in place whole and with a checksum ([`crate::disk`]), and is there for good before anybody is told that it is. So
//! a version is what its files say, whatever happened to the job, and no file needs to be changed. `docs/src/reference/checkpoint-files.md` has
//! the format.
//!
//! | file | is |
//! |---|---|
//! | [`manifest`] | what is known of a version as a whole |
//! | [`image`] | a part as a file |
//! | [`hostile`] | files of others, for fuzz targets |
//! | [`checkpoint_dir`] | the folder of a node |
//! | [`writer`] | the thread that writes, so that no PE waits for a disk |
//! | [`listing`] | what a host has: versions, manifests, parts |
//! | [`catalog`] | the folders of all nodes, on all hosts: the newest version that is whole |
//! | [`remote`] | what is asked of the folder of another host, and answered |

pub mod catalog;
pub mod checkpoint_dir;
pub mod hostile;
pub mod image;
pub mod listing;
pub mod manifest;
pub mod remote;
#[cfg(test)]
mod tests;
pub mod writer;

use std::path::{Path, PathBuf};

use talisman_ft::{NodeId, Version};

use talisman_base::ids::PeId;

/// Begins the names of nodes' folders.
const FOLDER: &str = "node-";

/// Where a node keeps its files.
pub fn folder_of(dir: &Path, node: NodeId) -> PathBuf {
    dir.join(format!("{FOLDER}{node}"))
}

/// The node whose folder has this name.
pub fn node_of(folder: &str) -> Option<NodeId> {
    folder.strip_prefix(FOLDER)?.parse().ok()
}

/// What a file in a node's folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// The manifest of a version.
    Manifest(Version),
    /// A part of it.
    Part(Version, PeId),
}

impl File {
    pub fn name(self) -> String {
        match self {
            File::Manifest(version) => format!("v{version}.manifest"),
            File::Part(version, pe) => format!("v{version}-pe{pe}.part"),
        }
    }

    /// That of this name; nothing if it is none of ours.
    pub fn of(name: &str) -> Option<File> {
        let file = match name.strip_prefix('v')?.rsplit_once('.')? {
            (version, "manifest") => File::Manifest(version.parse().ok()?),
            (part, "part") => {
                let (version, pe) = part.split_once("-pe")?;
                File::Part(version.parse().ok()?, pe.parse().ok()?)
            }
            _ => return None,
        };
        // Nothing has two names.
        (file.name() == name).then_some(file)
    }

    pub fn version(self) -> Version {
        match self {
            File::Manifest(version) | File::Part(version, _) => version,
        }
    }
}
