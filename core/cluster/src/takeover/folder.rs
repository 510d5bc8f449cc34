//! The folder in which the nodes of a job listen for each other, on their host.
//!
//! Nobody but their user can enter it, so no other can reach a node, nor take the place of a dead one: an abstract address, which is
//! in no folder, is open to everybody, and all of them can be read in `/proc/net/unix`. The launcher makes it under a name that nobody can
//! foresee, and all nodes inherit a descriptor of it, by which they find each other wherever it is mounted, whatever is mounted over it.
//!
//! As long as any of them lives, the folder is locked: so whoever starts a job later can take away what killed ones have left, and
//! programs that tidy up temporary folders leave alone those that are in use.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::fcntl_dupfd_cloexec;

use crate::standby::keep_from_children;
use talisman_base::auth::nonce;

/// What the names of such folders begin with.
const NAME: &str = "talisman-doors-";
/// Where there is room for one if the folder for temporary files is full or cannot be written.
const OTHERWISE: &str = "/dev/shm";
/// So often it is made again if somebody takes it away at once.
const ATTEMPTS: u32 = 8;
/// Lower numbers are those of standard streams.
const FIRST_OF_OURS: RawFd = 3;

/// The folder, as one process has it.
#[derive(Debug)]
pub struct Doors(OwnedFd);

impl Doors {
    /// A new one. What killed jobs of this user have left is taken away.
    ///
    /// # Errors
    /// The system gives no folder.
    pub fn make() -> io::Result<Doors> {
        let temporary = std::env::temp_dir();
        let made = Doors::make_in(&temporary).or_else(|error| {
            let in_words = |_| {
                let why = format!("cannot make a folder in {}: {error}; set TMPDIR", temporary.display());
                io::Error::new(error.kind(), why)
            };
            Doors::make_in(Path::new(OTHERWISE)).map_err(in_words)
        });
        [&temporary, Path::new(OTHERWISE)].into_iter().for_each(sweep);
        made
    }

    fn make_in(parent: &Path) -> io::Result<Doors> {
        for _ in 0..ATTEMPTS {
            let path = parent.join(name()?);
            DirBuilder::new().mode(0o700).create(&path)?;
            let doors = Doors(open(&path)?);
            // Somebody who tidies up may have come between.
            if flock(&doors.0, FlockOperation::NonBlockingLockShared).is_ok() && doors.is_there()? {
                return Ok(doors);
            }
        }
        Err(io::Error::other(format!("somebody removes new folders in {}", parent.display())))
    }

    /// The one that this process has inherited under this number. Has to be called once.
    ///
    /// # Errors
    /// There is no such descriptor.
    pub fn inherited(number: RawFd) -> io::Result<Doors> {
        keep_from_children(number)?;
        // SAFETY: it is open, and was left for this process alone, by this function's contract.
        Ok(Doors(unsafe { OwnedFd::from_raw_fd(number) }))
    }

    /// Its number, which is the same in a process that inherits it.
    pub fn number(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Where a node listens, in few enough bytes for a socket's address.
    pub(super) fn door(&self, node: u32) -> PathBuf {
        self.own_path().join(node.to_string())
    }

    /// Whether it has a name, so that what is not in it never was, or is of the dead.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn is_there(&self) -> io::Result<bool> {
        Ok(rustix::fs::fstat(&self.0)?.st_nlink > 0)
    }

    /// Takes it away. The job has to have ended.
    pub fn remove(&self) {
        let Ok(path) = fs::read_link(self.own_path()) else { return };
        // A folder that was moved, or is under a mount, is left to whoever did that.
        if is(&path, &self.0) {
            empty(&self.own_path());
            let _ = fs::remove_dir(path);
        }
    }

    fn own_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.number()))
    }
}

/// One that nobody can foresee.
fn name() -> io::Result<String> {
    let random = nonce().map_err(io::Error::other)?;
    let mut name = NAME.to_owned();
    random[..16].iter().for_each(|byte| write!(name, "{byte:02x}").expect("text takes all"));
    Ok(name)
}

fn open(path: &Path) -> io::Result<OwnedFd> {
    let opened: OwnedFd = File::open(path)?.into();
    // The standard streams may be closed, and their numbers have a meaning.
    Ok(fcntl_dupfd_cloexec(&opened, FIRST_OF_OURS)?)
}

/// Takes away the folders that processes of this user have left that are all dead.
fn sweep(parent: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_one = entry.file_name().to_str().is_some_and(|name| name.starts_with(NAME));
        let is_own = || entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == own);
        if is_one && is_own() {
            sweep_away(&entry.path());
        }
    }
}

fn sweep_away(path: &Path) {
    let Ok(folder) = open(path) else { return };
    // Whoever lives has it locked.
    if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok() && is(path, &folder) {
        empty(path);
        let _ = fs::remove_dir(path);
    }
}

/// Whether this folder is what has that name.
fn is(path: &Path, folder: impl AsFd) -> bool {
    let named = fs::symlink_metadata(path).map(|named| (named.dev(), named.ino()));
    let own = rustix::fs::fstat(folder).map(|own| (own.st_dev, own.st_ino));
    matches!((named, own), (Ok(named), Ok(own)) if named == own)
}

fn empty(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // What cannot be removed keeps the folder.
        let _ = fs::remove_file(entry.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parent(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("talisman-of-doors-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn nobody_else_can_enter_it_or_foresee_its_name() {
        let parent = parent("private");
        let (one, other) = (Doors::make_in(&parent).unwrap(), Doors::make_in(&parent).unwrap());
        for entry in fs::read_dir(&parent).unwrap() {
            assert_eq!(entry.unwrap().metadata().unwrap().mode() & 0o777, 0o700);
        }
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 2);
        [one, other].iter().for_each(Doors::remove);
        fs::remove_dir(&parent).expect("both are gone");
    }

    #[test]
    fn what_the_dead_have_left_is_taken_away_and_nothing_else() {
        let parent = parent("swept");
        let (dead, lives) = (Doors::make_in(&parent).unwrap(), Doors::make_in(&parent).unwrap());
        fs::write(dead.door(3), []).unwrap();
        fs::write(lives.door(3), []).unwrap();
        fs::create_dir(parent.join("other")).unwrap();
        drop(dead);
        sweep(&parent);
        assert!(lives.is_there().unwrap() && lives.door(3).exists());
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 2);
        lives.remove();
        assert!(!lives.is_there().unwrap());
        fs::remove_dir_all(&parent).unwrap();
    }
}
