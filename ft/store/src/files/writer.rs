//! What writes a node's parts on its disk: a thread of its own, so that no PE waits for that. In simulation it is the world.
//!
//! A part stays in memory until it is there for good, which is all that waits at any time: no checkpoint begins before the one before it
//! is committed or given up.
//!
//! A disk takes its time to keep bytes, and again to keep a name. So all parts that come while the bytes of others are being kept, a copy
//! for the most part while those of the node's own are, get their names with them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};
use std::{io, thread};

use talisman_ft::{Epoch, NodeId, Version};

use super::checkpoint_dir::{CheckpointDir, CheckpointDirError, check_for_others, remove_versions};
use super::image::ImageError;
use super::manifest::JobMark;
use super::{folder_of, node_of};
use crate::disk::{Disk, DiskError, Folder, KeyFile, remove_leftovers};
use crate::versions::Versions;
use talisman_base::clock::computed_by_this_thread;
use talisman_base::ids::PeId;
use talisman_base::topology::Shape;
use talisman_pup::Packed;

/// How often a folder is looked at again that somebody else uses, and the time between: clearing one is done by then.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// A disk of whatever kind.
pub type AnyDisk = Box<dyn Disk + Send>;

/// How often it is looked whether a disk has kept what was written.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// What is to be done with the disk, in this order.
pub enum Work {
    /// A part that is in memory is to be kept for good, which is settled with whatever comes next that is not the like.
    Write(Version, PeId),
    /// No more is to be kept now.
    Settle,
    /// Older versions are not needed any more, also those that nodes which are not among these have left on this host.
    KeepFrom(Version, Vec<NodeId>),
    /// Others than these are of no use any more.
    KeepOnly(Vec<Version>),
    /// A version will never be whole.
    GiveUp(Version),
    /// The job has ended well: nobody will go back to any version from this one on. These nodes take away their own.
    Clear(Version, Vec<NodeId>),
}

/// A node's disk, and who uses it.
pub struct Writer {
    hands: Arc<Hands>,
    /// To whoever does it; without anybody, everything is done at once.
    work: Mutex<Option<Sender<Work>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What a writer wants done, and has not been done yet.
pub struct Backlog {
    hands: Arc<Hands>,
    todo: Receiver<Work>,
    versions: Arc<Mutex<Versions>>,
}

/// A node cannot keep its checkpoints where it is to.
#[derive(Debug, thiserror::Error)]
pub enum WriterError {
    /// The folder cannot be used.
    #[error("cannot keep checkpoints in {}: {why}", folder.display())]
    Folder {
        /// Which one.
        folder: PathBuf,
        /// What is wrong.
        why: CheckpointDirError,
    },
    /// There is no thread to be had.
    #[error(
        "the system gives no thread that writes checkpoints: {0}; raise the limit on processes (`ulimit -u`)"
    )]
    Thread(#[from] io::Error),
}

/// What it takes to do the work.
struct Hands {
    checkpoint_dir: Mutex<CheckpointDir<AnyDisk>>,
    /// The folder of the job, with those of other nodes of this host.
    dir: Option<PathBuf>,
    /// Of the files there.
    key: KeyFile,
    now: fn() -> u64,
    /// Nanoseconds that the thread which does it has had of a processor.
    computed: AtomicU64,
}

impl Writer {
    /// Of a node's folder in this one, with the key of its files.
    ///
    /// # Errors
    /// The folder cannot be had, or is used by another job.
    pub fn open(
        (dir, key): (&Path, &KeyFile),
        node: NodeId,
        job: JobMark,
        shape: Shape,
        versions: Arc<Mutex<Versions>>,
    ) -> Result<Self, WriterError> {
        let folder = folder_of(dir, node);
        let taken = take(&folder, key).and_then(|disk| disk.close_to_others().map(|()| disk));
        let checkpoint_dir = taken.map_err(CheckpointDirError::from);
        let checkpoint_dir =
            checkpoint_dir.and_then(|disk| CheckpointDir::open(Box::new(disk) as AnyDisk, job, shape));
        let checkpoint_dir = Mutex::new(checkpoint_dir.map_err(|why| WriterError::Folder { folder, why })?);
        let (writer, backlog) = Writer::of(
            Hands {
                dir: Some(dir.to_owned()),
                key: key.clone(),
                now: seconds_since_1970,
                ..Hands::of(checkpoint_dir)
            },
            versions,
        );
        let thread = thread::Builder::new().name("disk".into()).spawn(move || backlog.work_off())?;
        *lock(&writer.thread) = Some(thread);
        Ok(writer)
    }

    /// On any disk. Whoever has the backlog does the work.
    ///
    /// # Errors
    /// The disk does not do what it should, or is used by another job.
    pub fn by_hand(
        disk: AnyDisk,
        job: JobMark,
        shape: Shape,
        versions: Arc<Mutex<Versions>>,
    ) -> Result<(Self, Backlog), CheckpointDirError> {
        let checkpoint_dir = Mutex::new(CheckpointDir::open(disk, job, shape)?);
        Ok(Writer::of(Hands::of(checkpoint_dir), versions))
    }

    fn of(hands: Hands, versions: Arc<Mutex<Versions>>) -> (Self, Backlog) {
        let (hands, (work, todo)) = (Arc::new(hands), channel());
        let writer = Writer { hands: hands.clone(), work: Mutex::new(Some(work)), thread: Mutex::default() };
        (writer, Backlog { hands, todo, versions })
    }

    /// Without a thread, on any disk.
    #[cfg(test)]
    pub fn at_once(disk: AnyDisk, job: JobMark, shape: Shape) -> Result<Self, CheckpointDirError> {
        let checkpoint_dir = Mutex::new(CheckpointDir::open(disk, job, shape)?);
        let hands = Arc::new(Hands::of(checkpoint_dir));
        Ok(Writer { hands, work: Mutex::default(), thread: Mutex::default() })
    }

    /// Does it, sooner or later.
    pub fn begin(&self, work: Work, versions: &Mutex<Versions>) {
        match &*lock(&self.work) {
            // It ends with this only.
            Some(helper) => drop(helper.send(work)),
            None => {
                self.hands.carry_out(work, versions);
                self.hands.carry_out(Work::Settle, versions);
            }
        }
    }

    /// Waits until all is done.
    pub fn finish(&self) {
        drop(lock(&self.work).take());
        if let Some(thread) = lock(&self.thread).take() {
            // A panic there was told of by itself, and what it was about is not safe then.
            let _ = thread.join();
        }
    }

    /// What the thread that does it has had of a processor.
    pub fn computed(&self) -> Duration {
        Duration::from_nanos(self.hands.computed.load(Ordering::Relaxed))
    }

    /// The part of a PE in a version that was taken in this epoch.
    ///
    /// # Errors
    /// It is not there, or not as it was.
    pub fn part(&self, epoch: Epoch, version: Version, pe: PeId) -> Result<Packed, ImageError> {
        lock(&self.hands.checkpoint_dir).part(epoch, version, pe)
    }
}

impl Backlog {
    /// Does everything, until nothing can come any more.
    fn work_off(&self) {
        while let Some(work) = self.wait_for_next() {
            self.carry_out(work);
            let computed = u64::try_from(computed_by_this_thread().as_nanos()).unwrap_or(u64::MAX);
            self.hands.computed.store(computed, Ordering::Relaxed);
        }
    }

    /// What is to be done next, once there is anything, or nothing any more.
    fn wait_for_next(&self) -> Option<Work> {
        while lock(&self.hands.checkpoint_dir).is_under_way() {
            match self.todo.recv_timeout(LOOK_EVERY) {
                Ok(work) => return Some(work),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Some(Work::Settle),
            }
        }
        self.take_next().or_else(|| self.todo.recv().ok())
    }

    /// What is to be done next, if anything is.
    pub fn take_next(&self) -> Option<Work> {
        let settle = || lock(&self.hands.checkpoint_dir).has_begun().then_some(Work::Settle);
        self.todo.try_recv().ok().or_else(settle)
    }

    pub fn carry_out(&self, work: Work) {
        self.hands.carry_out(work, &self.versions);
    }
}

impl Hands {
    /// Of a disk that is in no folder.
    fn of(checkpoint_dir: Mutex<CheckpointDir<AnyDisk>>) -> Self {
        Hands { checkpoint_dir, dir: None, key: KeyFile::default(), now: || 0, computed: AtomicU64::new(0) }
    }

    fn carry_out(&self, work: Work, versions: &Mutex<Versions>) {
        if let Work::Write(version, pe) = work {
            return self.write(version, pe, versions);
        }
        self.settle(versions);
        // What cannot be taken away is only too much: it is tried again with the next version.
        let _ = match work {
            Work::Write(..) | Work::Settle => Ok(()),
            Work::KeepFrom(version, there) => {
                self.clear_others(&there, |other| other < version);
                lock(&self.checkpoint_dir).keep_only(|other| other >= version)
            }
            Work::KeepOnly(versions) => {
                lock(&self.checkpoint_dir).keep_only(|other| versions.contains(&other))
            }
            Work::GiveUp(version) => lock(&self.checkpoint_dir).keep_only(|other| other != version),
            Work::Clear(from, there) => {
                self.clear_others(&there, |other| other >= from);
                lock(&self.checkpoint_dir).keep_only(|other| other < from)
            }
        };
    }

    fn write(&self, version: Version, pe: PeId, versions: &Mutex<Versions>) {
        let Some((view, body)) = lock(versions).to_be_written(version, pe) else { return };
        let (buffers, slices) = body.written_as();
        let slices: Vec<&[u8]> = slices.iter().map(|slice| slice.bytes()).collect();
        let taken = (self.now)();
        let begun = lock(&self.checkpoint_dir).begin((version, pe), &view, taken, buffers, &slices);
        let begun = begun.map_err(|error| error.to_string());
        let written = match body.is_unchanged() {
            true => begun,
            false => {
                lock(&self.checkpoint_dir).forget(version, pe);
                begun.and(Err("its owner gave it up while it was written".into()))
            }
        };
        if let Err(why) = written {
            lock(versions).is_written(version, pe, Err(why));
        }
    }

    fn settle(&self, versions: &Mutex<Versions>) {
        let (parts, settled) = lock(&self.checkpoint_dir).settle();
        let mut versions = lock(versions);
        for (version, pe) in parts {
            versions.is_written(version, pe, settled.clone().map_err(|error| error.to_string()));
        }
    }

    /// Nodes that are not there do not take anything away themselves.
    fn clear_others(&self, there: &[NodeId], goes: impl Fn(Version) -> bool) {
        let Some(dir) = &self.dir else { return };
        let nodes = nodes_in(dir).unwrap_or_default().into_iter().filter(|node| !there.contains(node));
        for folder in nodes.map(|node| folder_of(dir, node)) {
            // Somebody may have it who is about to be there again. Else nobody writes there: what was being written is not needed either.
            let disk = Folder::open_with(&folder, &self.key);
            let Ok(mut disk) = disk.and_then(|disk| disk.lock().map(|()| disk)) else { continue };
            let _ = remove_leftovers(&mut disk).and_then(|()| remove_versions(&mut disk, &goes));
            let _ = std::fs::remove_dir(folder);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.finish();
    }
}

/// This folder, for this process alone. Somebody may be clearing it of what a former process of the node has left, and take it away: that does not
/// take long.
fn take(folder: &Path, key: &KeyFile) -> Result<Folder, DiskError> {
    let take = || Folder::open_with(folder, key).and_then(|disk| disk.lock().map(|()| disk));
    for _ in 0..TRIES {
        match take() {
            Ok(disk) if disk.is_there() => return Ok(disk),
            _ => thread::sleep(PAUSE),
        }
    }
    take()
}

/// The nodes that have a folder in this one, in increasing order.
///
/// # Errors
/// The system's reason.
pub fn nodes_in(dir: &Path) -> io::Result<Vec<NodeId>> {
    let mut nodes = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        // A symbolic link is none.
        let is_folder = entry.file_type()?.is_dir();
        nodes.extend(name.to_str().and_then(node_of).filter(|_| is_folder));
    }
    nodes.sort_unstable();
    Ok(nodes)
}

/// Takes away all that a job has left in this folder of this host, with nodes' folders that are empty then. What a process has, or another job
/// has left, stays, and so does the folder itself: it was there before the job.
pub fn clear(dir: &Path, key: &KeyFile, job: u64) {
    for folder in nodes_in(dir).unwrap_or_default().into_iter().map(|node| folder_of(dir, node)) {
        let disk = Folder::open_with(&folder, key);
        let Ok(mut disk) = disk.and_then(|disk| disk.lock().map(|()| disk)) else { continue };
        if check_for_others(&mut disk, job).is_ok() {
            let _ = remove_leftovers(&mut disk).and_then(|()| remove_versions(&mut disk, |_| true));
            let _ = std::fs::remove_dir(folder);
        }
    }
}

fn seconds_since_1970() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in a critical section panics half way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
