//! Where a job keeps its checkpoints on disk, and what a whole job goes on from.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use talisman_base::ids::PeId;
use talisman_base::layout::mark::LayoutMark;
use talisman_base::topology::Shape;
use talisman_ft::Version;

use crate::disk::KeyFile;
use crate::files::catalog::{self, Place, Whole};
use crate::files::folder_of;
use crate::files::manifest::JobMark;
use crate::files::remote::{Ask, What};
use crate::files::writer::nodes_in;

/// Where nodes keep their checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointDirs {
    /// Each node has a folder in it, on its host.
    pub dir: PathBuf,
    /// What shows who wrote the files there.
    pub key: KeyFile,
    /// Whether all checkpoints are there; else those that somebody asks for.
    pub has_all: bool,
    pub job: JobMark,
    /// Whether the job has made the folder, on the host of its first launcher.
    pub is_new: bool,
}

/// What a whole job goes on from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Restart {
    /// Where its parts are.
    pub dir: PathBuf,
    /// What shows who wrote them.
    pub key: KeyFile,
    /// What tells its parts from others: `Manifest::cut`.
    pub job: u64,
    pub version: Version,
    /// The version of the next checkpoint.
    pub next_version: Version,
    /// PEs of each node, when it was taken.
    pub pes_per_node: u32,
    /// Who was there then.
    pub taken_in: talisman_ft::view::View,
    /// In which folders the part of each PE is: first where it has been read.
    pub parts: Vec<(PeId, Vec<Place>)>,
    /// What hosts are called, by their numbers, if there are several.
    pub hosts: Vec<String>,
    /// Who is there now: nodes that have a number from before, and no process any more, have an acting node.
    pub view: talisman_ft::view::View,
    /// Whether members of nodegroups, which are by node, are on other PEs now: nodes have another number of PEs than they had.
    pub moves_members: bool,
    /// Seeds `cx.rng()`.
    pub seed: u64,
    /// The job itself has written that, as it was started before under the same launcher.
    pub is_own: bool,
    /// Where everything was in the processes that it was taken in, if the program needed that to be the same in all.
    pub layout: Option<LayoutMark>,
}

/// What is known of both, of a job of this number and shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keeping {
    pub checkpoint_dirs: Option<CheckpointDirs>,
    pub restart: Option<Restart>,
    /// What people should know.
    pub notes: Vec<String>,
}

impl Keeping {
    /// What has to be said to which hosts, by their numbers, once a job has ended well that went on from their folders and kept its own
    /// checkpoints there: on some of them, no node may have been that could take away what had been left.
    pub fn clearing(&self) -> Vec<(u32, Ask)> {
        let (Some(checkpoint_dirs), Some(restart)) = (&self.checkpoint_dirs, &self.restart) else {
            return Vec::new();
        };
        if !checkpoint_dirs.has_all || checkpoint_dirs.dir != restart.dir {
            return Vec::new();
        }
        let clear = || {
            Ask::of((&checkpoint_dirs.dir, &checkpoint_dirs.key), What::Clear { job: checkpoint_dirs.job.id })
        };
        (0..restart.hosts.len() as u32).map(|host| (host, clear())).collect()
    }
}

impl Restart {
    /// From what is whole in this folder, by a job of this shape that has so many numbers.
    pub fn of(dir: PathBuf, (whole, has_nodegroups): (Whole, bool), (shape, numbers): (Shape, u32)) -> Self {
        let Whole { manifest, parts, next, .. } = whole;
        let moves_members = has_nodegroups && manifest.pes_per_node != shape.pes_per_node;
        let numbers = if moves_members { numbers.max(manifest.nodes) } else { numbers };
        Restart {
            dir,
            key: KeyFile::default(),
            job: manifest.cut(),
            version: manifest.version,
            next_version: next,
            pes_per_node: manifest.pes_per_node,
            view: view_after(manifest.nodes * manifest.pes_per_node, shape, numbers),
            taken_in: manifest.view,
            parts: parts.into_iter().collect(),
            hosts: Vec::new(),
            moves_members,
            seed: manifest.job.seed,
            is_own: false,
            layout: manifest.job.layout,
        }
    }

    /// A folder of a node, for people.
    pub fn folder(&self, place: Place) -> String {
        catalog::in_words(&self.dir, place, self.hosts.get(place.host as usize).map(String::as_str))
    }

    /// The question for some bytes of a part; none if that is not one of its own.
    pub fn ask(&self, pe: PeId, place: Place, from: u64) -> Option<Ask> {
        let (_, places) = self.parts.iter().find(|(of, _)| *of == pe)?;
        let read = || What::Read { node: place.node, version: self.version, pe, from };
        places.contains(&place).then(|| Ask::of((&self.dir, &self.key), read()))
    }
}

/// The view of a job of this shape that goes on from so many PEs, and has so many numbers: PEs keep theirs, so that there are no fewer than before.
/// Those that have no process any more are shared out in turn.
fn view_after(pes: u32, shape: Shape, numbers: u32) -> talisman_ft::view::View {
    let numbers = numbers.max(shape.nodes).max(pes.div_ceil(shape.pes_per_node));
    talisman_ft::view::View::beginning_with(shape.nodes, numbers)
}

impl CheckpointDirs {
    /// Whether there may be a checkpoint in it, as far as is known on this host: of those that somebody asks for, there may have been none.
    pub fn may_have_any(&self) -> bool {
        self.has_all || nodes_in(&self.dir).is_ok_and(|nodes| !nodes.is_empty())
    }

    /// The job has ended well, and its nodes have taken their files away: what is left are empty folders.
    pub fn tidy(&self) {
        for node in nodes_in(&self.dir).unwrap_or_default() {
            // Whoever has put something else there keeps it.
            let _ = fs::remove_dir(folder_of(&self.dir, node));
        }
        // One that was there before is not the job's to remove, but for that of its former life.
        if self.is_new || is_default(&self.dir, &self.job.program) {
            let _ = fs::remove_dir(&self.dir);
        }
    }
}

/// Whether a job of this program made this folder, as nobody had said one: see [`unforeseeable`].
fn is_default(dir: &Path, program: &str) -> bool {
    let name = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let digits = name.strip_prefix(&format!("talisman-{program}-"));
    dir.parent() == Some(&std::env::temp_dir())
        && digits
            .is_some_and(|digits| digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}
