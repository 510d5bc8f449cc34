//! A folder of the system as a disk, which nobody but its user can enter.
//!
//! No name in it leads elsewhere: symbolic links are not followed, and all is done by a descriptor of the folder. Files that are read have to be
//! of this user, so that what another one has put there, by whatever way, does not count; or, where there is a key, have been written with that.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::{self, BufWriter, ErrorKind, Read as _, Write};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::{Disk, DiskError, Doing, Key, KeyFile, is_plain};

/// A folder, which is used by nobody else at the same time.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The folder itself, to sync what its files are called.
    names: File,
    /// What shows who wrote its files, whoever owns them.
    key: Option<Key>,
    unsynced: BTreeMap<String, Unsynced>,
}

/// A file that was written and not synced. The system may tell of what it could not keep only who has written it.
#[derive(Debug)]
struct Unsynced {
    file: Arc<File>,
    /// Waits for the disk.
    thread: Option<JoinHandle<io::Result<()>>>,
}

const IS_USED: &str =
    "another process that runs uses it: choose another folder (--ckpt-dir), or wait for its end";

impl Folder {
    /// This folder, which is made if it is not there.
    ///
    /// # Errors
    /// It is another user's, or a symbolic link, or what the system says.
    pub fn open(path: &Path) -> Result<Self, DiskError> {
        Folder::open_with(path, &KeyFile::default())
    }

    /// The same, with a key, if there is one: then it may be another user's.
    ///
    /// # Errors
    /// As above, or there is no such key.
    pub fn open_with(path: &Path, key: &KeyFile) -> Result<Self, DiskError> {
        let key = key.read()?;
        let names = make(path).and_then(|()| opened(path, key.is_some()));
        let names = names.map_err(|error| refused(Doing::Open, path, &error))?;
        Ok(Folder { path: path.to_owned(), names, key, unsynced: BTreeMap::new() })
    }

    /// Nobody else can look into it from now on, whatever its mode was.
    ///
    /// # Errors
    /// What the system says.
    pub fn close_to_others(&self) -> Result<(), DiskError> {
        let closed = rustix::fs::fstat(&self.names).and_then(|found| {
            let mode = Mode::from_raw_mode(found.st_mode);
            let is_own = found.st_uid == geteuid().as_raw();
            if is_own && mode.intersects(Mode::RWXG | Mode::RWXO) {
                rustix::fs::fchmod(&self.names, Mode::RWXU)
            } else {
                Ok(())
            }
        });
        closed.map_err(|error| refused(Doing::Open, &self.path, &error.into()))
    }

    /// Whether another process has it, and lives.
    pub fn is_used_by_others(&self) -> bool {
        match flock(&self.names, FlockOperation::NonBlockingLockShared) {
            Ok(()) => {
                let _ = flock(&self.names, FlockOperation::Unlock);
                false
            }
            Err(error) => error == Errno::WOULDBLOCK,
        }
    }

    /// Nobody else may have it from now on, as long as this process lives.
    ///
    /// # Errors
    /// Somebody has it, or what the system says.
    pub fn lock(&self) -> Result<(), DiskError> {
        match flock(&self.names, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Err(refused(Doing::Open, &self.path, &io::Error::other(IS_USED))),
            done => done.map_err(|error| refused(Doing::Open, &self.path, &error.into())),
        }
    }

    /// Whether it has its name: another process may have removed it since it was opened.
    pub fn is_there(&self) -> bool {
        let named = fs::symlink_metadata(&self.path).and_then(|named| Ok((named, self.names.metadata()?)));
        named.is_ok_and(|(named, own)| (named.dev(), named.ino()) == (own.dev(), own.ino()))
    }

    /// A file, to be read in parts.
    ///
    /// # Errors
    /// It is another user's, or what the system says.
    pub fn file_of(&self, name: &str) -> Result<File, DiskError> {
        let path = self.file(name);
        self.open_file(name).map_err(|error| refused(Doing::Read, &path, &error))
    }

    fn file(&self, name: &str) -> PathBuf {
        assert!(is_plain(name), "no name for a file: {name:?}");
        self.path.join(name)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.names)? {
            let entry = entry?;
            // Whatever is called otherwise is not one of ours.
            let name = entry.file_name().to_str().ok().filter(|name| is_plain(name));
            let Some(name) = name else { continue };
            match rustix::fs::statat(&self.names, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) if rustix::fs::FileType::from_raw_mode(found.st_mode).is_file() => {
                    names.push(name.to_owned());
                }
                Ok(_) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        names.sort();
        Ok(names)
    }

    /// A file that is there, of this user: one that another has put there is none.
    fn open_file(&self, name: &str) -> io::Result<File> {
        // It may be anything, such as a pipe that nobody writes to.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&self.names, name, flags, Mode::empty())?);
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        if self.key.is_some() {
            return Ok(file);
        }
        check_owner(&found)?;
        if found.mode() & 0o022 != 0 {
            return Err(io::Error::other("others can write to it, so that it may be forged"));
        }
        Ok(file)
    }

    fn write_new(&self, name: &str, parts: &[&[u8]]) -> io::Result<File> {
        // A new file, whatever was there: another name of that one may be kept.
        match unlinkat(&self.names, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.names, name, flags, Mode::RUSR | Mode::WUSR)?;
        let mut file = BufWriter::new(File::from(file));
        parts.iter().try_for_each(|part| file.write_all(part))?;
        file.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

impl Disk for Folder {
    fn write(&mut self, name: &str, parts: &[&[u8]]) -> Result<(), DiskError> {
        let path = self.file(name);
        self.unsynced.remove(name);
        let file = self.write_new(name, parts).map_err(|error| refused(Doing::Write, &path, &error))?;
        self.unsynced.insert(name.to_owned(), Unsynced { file: Arc::new(file), thread: None });
        Ok(())
    }

    fn sync(&mut self, name: &str) -> Result<(), DiskError> {
        let path = self.file(name);
        let synced = match self.unsynced.remove(name) {
            Some(unsynced) => unsynced.sync(),
            None => self.open_file(name).and_then(|file| file.sync_all()),
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
        let (path, _) = (self.file(from), self.file(to));
        let renamed = renameat(&self.names, from, &self.names, to);
        renamed.map_err(|error| refused(Doing::Rename, &path, &error.into()))?;
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
        let read = || {
            let mut file = self.open_file(name)?;
            let mut bytes = Vec::with_capacity(file.metadata()?.len().try_into().unwrap_or(0));
            file.read_to_end(&mut bytes).map(|_| bytes)
        };
        read().map_err(|error| refused(Doing::Read, &path, &error))
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
        let removed = unlinkat(&self.names, name, AtFlags::empty());
        removed.map_err(|error| refused(Doing::Remove, &path, &error.into()))
    }

    fn key(&self) -> Option<Key> {
        self.key.clone()
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

/// A folder, wherever its parent is: of this user, unless any other will do.
fn opened(path: &Path, of_anybody: bool) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !of_anybody {
        check_owner(&folder.metadata()?)?;
    }
    Ok(folder)
}

fn check_owner(found: &fs::Metadata) -> io::Result<()> {
    let (owner, own) = (found.uid(), geteuid().as_raw());
    if owner == own {
        return Ok(());
    }
    Err(io::Error::other(format!("it belongs to another user (with the number {owner}, this one has {own})")))
}

/// Makes a folder, if it is not there, so that it outlives a loss of power.
fn make(path: &Path) -> io::Result<()> {
    let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
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
