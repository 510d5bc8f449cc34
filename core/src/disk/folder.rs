//! A folder of the system as a disk.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::{Disk, DiskError, Doing, is_plain};

/// A folder, which is used by nobody else at the same time.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// The folder itself, to sync what its files are called.
    names: File,
    unsynced: BTreeMap<String, Unsynced>,
}

/// A file that was written and not synced. The system may tell of what it could not keep only who has written it.
#[derive(Debug)]
struct Unsynced {
    file: Arc<File>,
    /// Waits for the disk.
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Folder {
    /// This folder, which is made if it is not there; who may read it is as for all new folders of this user.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn open(path: &Path) -> Result<Self, DiskError> {
        let names =
            make(path).and_then(|()| File::open(path)).map_err(|error| refused(Doing::Open, path, &error))?;
        Ok(Folder { path: path.to_owned(), names, unsynced: BTreeMap::new() })
    }

    /// Nobody else may have it from now on, as long as this process lives.
    ///
    /// # Errors
    /// Somebody has it, or what the system says.
    pub(crate) fn lock(&self) -> Result<(), DiskError> {
        match flock(&self.names, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => {
                Err(refused(Doing::Open, &self.path, &io::Error::other("another process that runs uses it")))
            }
            done => done.map_err(|error| refused(Doing::Open, &self.path, &error.into())),
        }
    }

    /// Whether it has its name: another process may have removed it since it was opened.
    pub(crate) fn is_there(&self) -> bool {
        let named = fs::metadata(&self.path).and_then(|named| Ok((named, self.names.metadata()?)));
        named.is_ok_and(|(named, own)| (named.dev(), named.ino()) == (own.dev(), own.ino()))
    }

    fn file(&self, name: &str) -> PathBuf {
        assert!(is_plain(name), "no name for a file: {name:?}");
        self.path.join(name)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            // Whatever is called otherwise is not one of ours.
            let name = entry.file_name().into_string().ok().filter(|name| is_plain(name));
            if entry.file_type()?.is_file() {
                names.extend(name);
            }
        }
        names.sort();
        Ok(names)
    }
}

impl Disk for Folder {
    fn write(&mut self, name: &str, parts: &[&[u8]]) -> Result<(), DiskError> {
        let path = self.file(name);
        self.unsynced.remove(name);
        let file = write_new(&path, parts).map_err(|error| refused(Doing::Write, &path, &error))?;
        self.unsynced.insert(name.to_owned(), Unsynced { file: Arc::new(file), thread: None });
        Ok(())
    }

    fn sync(&mut self, name: &str) -> Result<(), DiskError> {
        let path = self.file(name);
        let synced = match self.unsynced.remove(name) {
            Some(unsynced) => unsynced.sync(),
            None => File::open(&path).and_then(|file| file.sync_all()),
        };
        synced.map_err(|error| refused(Doing::Sync, &path, &error))
    }

    fn begin_sync(&mut self, name: &str) {
        self.unsynced.get_mut(name).into_iter().for_each(Unsynced::begin_sync);
    }

    fn is_syncing(&self, name: &str) -> bool {
        let thread = self.unsynced.get(name).and_then(|unsynced| unsynced.thread.as_ref());
        thread.is_some_and(|thread| !thread.is_finished())
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        let (path, new) = (self.file(from), self.file(to));
        fs::rename(&path, new).map_err(|error| refused(Doing::Rename, &path, &error))?;
        self.unsynced.remove(to);
        if let Some(file) = self.unsynced.remove(from) {
            self.unsynced.insert(to.to_owned(), file);
        }
        Ok(())
    }

    fn sync_names(&mut self) -> Result<(), DiskError> {
        self.names.sync_all().map_err(|error| refused(Doing::Sync, &self.path, &error))
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, DiskError> {
        let path = self.file(name);
        fs::read(&path).map_err(|error| refused(Doing::Read, &path, &error))
    }

    fn list(&mut self) -> Result<Vec<String>, DiskError> {
        self.names().map_err(|error| refused(Doing::List, &self.path, &error))
    }

    fn remove(&mut self, name: &str) -> Result<(), DiskError> {
        let path = self.file(name);
        if let Some(unsynced) = self.unsynced.remove(name).filter(|unsynced| unsynced.thread.is_some()) {
            // There is no room for others as long as somebody has it open. Whether it was kept is all the same.
            let _ = unsynced.sync();
        }
        fs::remove_file(&path).map_err(|error| refused(Doing::Remove, &path, &error))
    }
}

impl Unsynced {
    /// Without a thread to be had it is done once somebody waits for it.
    fn begin_sync(&mut self) {
        if self.thread.is_some() {
            return;
        }
        let file = self.file.clone();
        self.thread = thread::Builder::new().name("sync".into()).spawn(move || file.sync_all()).ok();
    }

    fn sync(self) -> io::Result<()> {
        match self.thread {
            Some(thread) => thread.join().expect("to sync a file does not panic"),
            None => self.file.sync_all(),
        }
    }
}

fn write_new(path: &Path, parts: &[&[u8]]) -> io::Result<File> {
    // A new file, whatever was there: another name of that one may be kept.
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = BufWriter::new(File::options().write(true).create_new(true).open(path)?);
    parts.iter().try_for_each(|part| file.write_all(part))?;
    file.into_inner().map_err(io::IntoInnerError::into_error)
}

/// Makes a folder, if it is not there, so that it outlives a loss of power.
fn make(path: &Path) -> io::Result<()> {
    let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    fs::create_dir_all(path)?;
    for made in missing {
        let parent = made.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

fn refused(doing: Doing, path: &Path, error: &io::Error) -> DiskError {
    let file = path.display().to_string();
    match error.kind() {
        ErrorKind::NotFound => DiskError::NotThere { doing, file },
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => DiskError::Full { doing, file },
        _ => DiskError::System { doing, file, why: error.to_string() },
    }
}
