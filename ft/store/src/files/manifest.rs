//! What is known of a version as a whole: whoever finds its files can tell what they are of.

use serde::{Deserialize, Serialize};
use talisman_ft::{Epoch, Version};

use super::File;
use crate::disk::{Disk, DiskError, ReadError, Replacing, read_checked};
use talisman_base::build::build_number;
use talisman_base::layout::mark::LayoutMark;
use talisman_base::topology::Shape;
use talisman_base::view::View;

/// How the parts of a version are written. It changes with what `Packed` parts consist of.
const FORMAT: u32 = 5;

/// What is written on each version of a job. People may read it: in its file it is JSON, behind a header of 28 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// How its parts are written: `FORMAT`.
    #[serde(default)]
    pub format: u32,
    pub job: JobMark,
    pub version: Version,
    /// How many nodes have a number, there or not.
    pub nodes: u32,
    pub pes_per_node: u32,
    /// Who was there, and who acted for the others.
    pub view: talisman_ft::view::View,
    /// When it was taken, in seconds since 1970.
    pub taken: u64,
}

/// What is the same for all versions of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobMark {
    /// What tells it from others; whoever goes on from its checkpoints has the same.
    pub id: u64,
    /// What the program is called.
    pub program: String,
    /// Tells one executable from others.
    pub build: u64,
    /// Seeds `cx.rng()`.
    pub seed: u64,
    /// The chares of the program, by their keys on the wire.
    pub chares: Vec<(u64, String)>,
    /// Where everything is in its processes, if the program needs that to be the same in all: they say it, and not the
    /// launcher.
    #[serde(default)]
    pub layout: Option<LayoutMark>,
}

/// What tells the parts of a version that this job has taken in this epoch from all others: its number may have been given before, to a
/// version that only a lost node knew of.
pub fn cut_of(job: u64, epoch: Epoch) -> u64 {
    // As the factor is odd, each epoch has a number of its own.
    job ^ u64::from(epoch).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A manifest cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// There is no whole file.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It is whole, and something else.
    #[error("{file} is no manifest of a checkpoint of this version of Talisman: {why}; it cannot be used")]
    Other {
        /// Which one.
        file: String,
        /// What is wrong.
        why: String,
    },
}

impl JobMark {
    /// Of this executable, which has these chares, in a job of this number.
    pub fn of_this(id: u64, program: &str, seed: u64, chares: Vec<(u64, String)>) -> Self {
        JobMark { id, program: program.into(), build: build_number(), seed, chares, layout: None }
    }

    /// Chares that `other` has, and this one does not.
    pub fn lacks<'a>(&self, other: &'a JobMark) -> Vec<&'a str> {
        let has = |key: u64| self.chares.iter().any(|(own, _)| *own == key);
        other.chares.iter().filter(|(key, _)| !has(*key)).map(|(_, name)| name.as_str()).collect()
    }
}

impl Manifest {
    /// Of a version that is taken now in this view.
    pub fn new(job: JobMark, version: Version, shape: Shape, view: &View, taken: u64) -> Self {
        let (nodes, pes_per_node, view) = (shape.nodes, shape.pes_per_node, view.of_nodes().clone());
        Manifest { format: FORMAT, job, version, nodes, pes_per_node, view, taken }
    }

    /// What tells its parts from those of others.
    pub fn cut(&self) -> u64 {
        cut_of(self.job.id, self.view.epoch)
    }

    /// The PEs that have a part in it.
    pub fn pes(&self) -> impl Iterator<Item = u32> + '_ {
        let pes = self.pes_per_node;
        self.view.there().flat_map(move |node| node * pes..(node + 1) * pes)
    }

    /// Whether it says the same, but for the time.
    pub(super) fn is_like(&self, other: &Manifest) -> bool {
        let Manifest { format, job, version, nodes, pes_per_node, view, taken: _ } = self;
        (format, version, nodes, pes_per_node)
            == (&other.format, &other.version, &other.nodes, &other.pes_per_node)
            && (job, view) == (&other.job, &other.view)
    }

    /// Whether this PE has one.
    pub fn has_part_of(&self, pe: u32) -> bool {
        let node = pe / self.pes_per_node;
        node < self.nodes && self.view.is_there(node)
    }

    /// Writes it, to come to its place with other files.
    ///
    /// # Errors
    /// What the disk says.
    pub fn write(&self, files: &mut Replacing, disk: &mut impl Disk) -> Result<(), DiskError> {
        let text = serde_json::to_vec_pretty(self).expect("numbers and names");
        files.write(disk, &File::Manifest(self.version).name(), &[&text])
    }

    /// That of a version.
    ///
    /// # Errors
    /// There is no such file, or it is not as it was written.
    pub fn read(disk: &mut impl Disk, version: Version) -> Result<Self, ManifestError> {
        let file = File::Manifest(version).name();
        let text = read_checked(disk, &file)?;
        let manifest: Manifest = match serde_json::from_slice(&text) {
            Ok(manifest) => manifest,
            Err(error) => return Err(ManifestError::Other { file, why: error.to_string() }),
        };
        match manifest.what_is_wrong(version) {
            None => Ok(manifest),
            Some(why) => Err(ManifestError::Other { file, why }),
        }
    }

    pub(super) fn what_is_wrong(&self, version: Version) -> Option<String> {
        let pes = u64::from(self.nodes) * u64::from(self.pes_per_node);
        match () {
            () if self.format != FORMAT => Some(format!(
                "its parts are written in format {}, and this one reads format {FORMAT}: go on with the Talisman that wrote it",
                self.format
            )),
            () if self.version != version => Some(format!("it is of version {}", self.version)),
            () if pes == 0 || pes > u64::from(u32::MAX) || self.view.nodes() != self.nodes => {
                Some(format!("it is of {} nodes with {} PEs each", self.nodes, self.pes_per_node))
            }
            () => None,
        }
    }
}
