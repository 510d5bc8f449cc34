//! Files that outlive a process: what a node keeps on disk.
//!
//! A [`Disk`] is a flat set of files. Nothing on it is sure to outlive a loss of power before it was synced: neither what
//! is in a file nor what it is called. [`Replacing`] does what it takes, [`read_checked`] tells what is left whole from what
//! is not. Simulations have disks whose power goes ([`SimulatedDisk`]).
//!
//! | file | is |
//! |---|---|
//! | `checked` | whole files with checksums, put in place at once |
//! | `folder` | a folder of the system |
//! | `key` | what shows who wrote a file |
//! | `simulated` | a disk of a simulated host, with all that can happen to it |
//! | `shared` | the same in several hands |

mod checked;
mod folder;
mod key;
mod shared;
mod simulated;
#[cfg(test)]
mod tests;

use std::fmt;

pub use checked::{ReadError, Replacing, checked, name_at_the_end, read_checked, remove_leftovers, replace};
pub use folder::Folder;
pub use key::{Key, KeyFile};
pub use shared::SharedDisk;
pub use simulated::{DiskRates, SimulatedDisk};

/// Where files are. Names are plain: no folders, and nothing hidden.
///
/// An operation that fails may have been done in part. After a failed [`Disk::sync`] the file has to be written anew: a
/// second one may succeed without having kept what the first one lost.
pub trait Disk {
    /// Writes a new file, the parts one after the other. If there is one of this name, that one has lost its name.
    fn write(&mut self, name: &str, parts: &[&[u8]]) -> Result<(), DiskError>;

    /// From now on what is in the file outlives a loss of power, under whatever name does.
    fn sync(&mut self, name: &str) -> Result<(), DiskError>;

    /// Begins to do that, if it can be done while others use the disk; [`Disk::sync`] ends it and says what has come of it.
    fn begin_sync(&mut self, _name: &str) {}

    /// Whether that goes on.
    fn is_syncing(&self, _name: &str) -> bool {
        false
    }

    /// Gives a file another name, at once; if there is one of that name, that one has lost it.
    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError>;

    /// From now on the names, as they are, outlive a loss of power.
    fn sync_names(&mut self) -> Result<(), DiskError>;

    /// All of a file.
    fn read(&mut self, name: &str) -> Result<Vec<u8>, DiskError>;

    /// The names of all files, in increasing order.
    fn list(&mut self) -> Result<Vec<String>, DiskError>;

    /// Takes a file away.
    fn remove(&mut self, name: &str) -> Result<(), DiskError>;

    /// What shows who wrote its files, if anything does.
    fn key(&self) -> Option<Key> {
        None
    }
}

impl<D: Disk + ?Sized> Disk for Box<D> {
    fn write(&mut self, name: &str, parts: &[&[u8]]) -> Result<(), DiskError> {
        (**self).write(name, parts)
    }

    fn sync(&mut self, name: &str) -> Result<(), DiskError> {
        (**self).sync(name)
    }

    fn begin_sync(&mut self, name: &str) {
        (**self).begin_sync(name);
    }

    fn is_syncing(&self, name: &str) -> bool {
        (**self).is_syncing(name)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        (**self).rename(from, to)
    }

    fn sync_names(&mut self) -> Result<(), DiskError> {
        (**self).sync_names()
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, DiskError> {
        (**self).read(name)
    }

    fn list(&mut self) -> Result<Vec<String>, DiskError> {
        (**self).list()
    }

    fn remove(&mut self, name: &str) -> Result<(), DiskError> {
        (**self).remove(name)
    }

    fn key(&self) -> Option<Key> {
        (**self).key()
    }
}

/// Why something could not be done with a disk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiskError {
    /// It has no file of this name.
    #[error("cannot {doing} {file}: there is no such file")]
    NotThere { doing: Doing, file: String },
    /// It has no room.
    #[error(
        "cannot {doing} {file}: no space is left on its disk; free some, or choose a folder on another one"
    )]
    Full { doing: Doing, file: String },
    /// Anything else.
    #[error("cannot {doing} {file}: {why}")]
    System { doing: Doing, file: String, why: String },
}

/// What was to be done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Opening the folder.
    Open,
    /// Writing it.
    Write,
    /// Having it, or the names of its folder, outlive a loss of power.
    Sync,
    /// Giving it another name.
    Rename,
    /// Reading it.
    Read,
    /// Listing the files of the folder.
    List,
    /// Taking it away.
    Remove,
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Doing::Open => "open",
            Doing::Write => "write",
            Doing::Sync => "sync",
            Doing::Rename => "rename",
            Doing::Read => "read",
            Doing::List => "list",
            Doing::Remove => "remove",
        })
    }
}

/// Whether a file may be called so.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0'])
}
