//! What writes versions that somebody asked for, beside memory.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use talisman_ft::{NodeId, Version};

use super::kept::Versions;
use crate::disk::{KeyFile, name_at_the_end};
use crate::files::manifest::JobMark;
use crate::files::writer::{Work, Writer, nodes_in};
use crate::files::{File, folder_of};
use talisman_base::ids::PeId;
use talisman_base::topology::Shape;

/// A node's disk, which is not touched before anything is to be written.
pub struct Archive {
    place: Box<dyn Place>,
    writer: Mutex<Option<Writer>>,
}

/// Where a node's disk is.
pub trait Place: Send + Sync {
    /// Whether any version from this one on was written there, or begun by a job that has begun with nothing, by whichever node. What is older is
    /// left alone.
    fn has_any_from(&self, version: Version) -> bool;

    /// Has it, for this process alone; or the reason why it cannot.
    fn open(&self, versions: Arc<Mutex<Versions>>) -> Result<Writer, String>;
}

/// A folder in that of the job.
pub struct Folder {
    pub dir: PathBuf,
    /// Of the files there.
    pub key: KeyFile,
    pub node: NodeId,
    pub job: JobMark,
    pub shape: Shape,
}

impl Place for Folder {
    fn has_any_from(&self, version: Version) -> bool {
        let nodes = nodes_in(&self.dir).unwrap_or_default().into_iter();
        let names =
            nodes.filter_map(|node| std::fs::read_dir(folder_of(&self.dir, node)).ok()).flatten().flatten();
        // Of a job that goes on from what is there, what was begun may be what the former one has left.
        let is_all_its_own = version == 0;
        let name = |name: &str| File::of(if is_all_its_own { name_at_the_end(name) } else { name });
        let of_version = |entry: std::fs::DirEntry| Some(name(entry.file_name().to_str()?)?.version());
        names.filter_map(of_version).any(|of| of >= version)
    }

    fn open(&self, versions: Arc<Mutex<Versions>>) -> Result<Writer, String> {
        let writer = Writer::open((&self.dir, &self.key), self.node, self.job.clone(), self.shape, versions);
        writer.map_err(|error| error.to_string())
    }
}

impl Archive {
    /// On this disk.
    pub fn new(place: impl Place + 'static) -> Self {
        Archive { place: Box::new(place), writer: Mutex::default() }
    }

    /// Begins to write a part that is in memory.
    pub fn write(&self, version: Version, pe: PeId, versions: &Arc<Mutex<Versions>>) {
        if let Err(why) = self.open_if_closed(versions) {
            return lock(versions).is_written(version, pe, Err(why));
        }
        self.begin(Work::Write(version, pe), versions);
    }

    /// Has this done, if anything was ever written.
    pub fn begin(&self, work: Work, versions: &Mutex<Versions>) {
        if let Some(writer) = &*lock(&self.writer) {
            writer.begin(work, versions);
        }
    }

    /// The job has ended well: none of its versions from this one on is left, also of nodes that are not among these. A former process of this node may have
    /// written them.
    pub fn clear(&self, from: Version, there: &[NodeId], versions: &Arc<Mutex<Versions>>) {
        // What is to be written may not be there yet.
        let is_needed = lock(&self.writer).is_some() || self.place.has_any_from(from);
        if !is_needed || self.open_if_closed(versions).is_err() {
            return;
        }
        self.begin(Work::Clear(from, there.to_vec()), versions);
        lock(&self.writer).iter().for_each(Writer::finish);
    }

    /// What could not be had before may be there now.
    fn open_if_closed(&self, versions: &Arc<Mutex<Versions>>) -> Result<(), String> {
        let mut writer = lock(&self.writer);
        if writer.is_none() {
            *writer = Some(self.place.open(versions.clone())?);
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in a critical section panics half way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever had begun them was killed meanwhile, and another process of the node is there.
    #[test]
    fn files_that_were_begun_are_to_be_taken_away_too() {
        let dir = std::env::temp_dir().join(format!("talisman-begun-{}", std::process::id()));
        let shape = Shape { nodes: 2, pes_per_node: 1 };
        let folder =
            Folder { dir: dir.clone(), key: KeyFile::default(), node: 1, job: JobMark::default(), shape };
        let of_node = folder_of(&dir, 1);
        std::fs::create_dir_all(&of_node).unwrap();
        assert!(!folder.has_any_from(0));
        let begun = of_node.join(format!("{}.tmp", File::Part(7, 1).name()));
        std::fs::write(&begun, "half").unwrap();
        assert!(folder.has_any_from(0) && !folder.has_any_from(7), "a job that goes on leaves it alone");
        Archive::new(folder).clear(0, &[0, 1], &Arc::default());
        assert!(!begun.exists());
        std::fs::remove_dir_all(dir).unwrap();
    }
}
