//! Ranks go back to a checkpoint: what they have written over since is put back.
//!
//! Where all go back together, one of them does that for all, in the order of time: they may have written over the same. A rank that goes
//! back alone puts back what it has written itself, where the file is still the same one.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::Ordering;

use super::record::{Kind, Record};
use super::{ARE_KEPT, Logs, OfRank, beside, goes_back_alone, gone, lock};
use crate::libc::files::FilesError;
use crate::libc::made_again::{Identity, Place};
use crate::libc::{State, with_process_memory};

/// How a rank notes the period that began when it was copied, beside lengths of files: these have paths behind their numbers.
pub(in crate::libc::files) fn key(rank: u32) -> Vec<u8> {
    [&b"undo"[..], &rank.to_le_bytes()].concat()
}

/// A log, the rank and the period that it is of.
struct Log {
    rank: u32,
    period: u64,
    path: PathBuf,
}

/// Puts back what was written over since the rank was copied; by all that go back with it, if it is the first of them: `greatest` says what
/// they have noted.
///
/// # Errors
/// The first file that cannot be put back. The logs stay.
pub(in crate::libc::files) fn undo(
    state: &State,
    greatest: &dyn Fn(&[u8]) -> Option<u64>,
) -> Result<(), FilesError> {
    if !ARE_KEPT.load(Ordering::Relaxed) || state.period == 0 {
        return Ok(());
    }
    let (rank, period) = (state.owner, state.period);
    with_process_memory(|| {
        let Some(logs) = &mut *lock() else { return Ok(()) };
        if goes_back_alone() {
            // It is of what was written after the copy.
            let known = logs.ranks.remove(&rank);
            return logs.put_back_alone((rank, period), known, greatest);
        }
        // The same of all ranks: those that have left this process may come back in the same period.
        logs.ranks.clear();
        let is_first = !(0..rank).any(|other| greatest(&key(other)).is_some());
        if !is_first {
            return Ok(());
        }
        let mut all = logs.all()?;
        all.retain(|log| greatest(&key(log.rank)).is_some_and(|period| log.period >= period));
        put_back(&all, false, greatest)
    })
}

impl Logs {
    /// A line has begun, or is gone back to: nobody goes back behind it. `known`: what this process knows of the rank, if it was here before.
    fn put_back_alone(
        &self,
        (rank, period): (u32, u64),
        known: Option<OfRank>,
        greatest: &dyn Fn(&[u8]) -> Option<u64>,
    ) -> Result<(), FilesError> {
        let own: Vec<Log> = match known {
            Some(known) => known.kept().into_iter().map(|(period, _)| self.one((rank, period))).collect(),
            None => self.all()?.into_iter().filter(|log| log.rank == rank).collect(),
        };
        let (since, over): (Vec<Log>, Vec<Log>) = own.into_iter().partition(|log| log.period >= period);
        put_back(&since, true, greatest)?;
        over.iter().for_each(remove);
        Ok(())
    }

    fn one(&self, (rank, period): (u32, u64)) -> Log {
        Log { rank, period, path: self.path(rank, period) }
    }

    /// All logs of the job.
    fn all(&self) -> Result<Vec<Log>, FilesError> {
        let failed = |error| FilesError::Undo { path: self.of.folder.display().to_string(), error };
        let entries = match std::fs::read_dir(&self.of.folder) {
            // Nothing was ever written down.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let mut all = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let numbers = name.to_str().and_then(|name| name.split_once('-'));
            let numbers = numbers.and_then(|(rank, period)| Some((rank.parse().ok()?, period.parse().ok()?)));
            all.extend(numbers.map(|of| self.one(of)));
        }
        Ok(all)
    }
}

/// What is beside it goes first: without the log nobody knows of that.
fn remove(log: &Log) {
    let found = File::open(&log.path).and_then(|file| Record::all_in(&file)).unwrap_or_default();
    let others = found.iter().filter(|(record, _)| matches!(record.kind, Kind::Copy | Kind::Link));
    others.for_each(|(record, _)| gone(&beside(&log.path, record.start)));
    gone(&log.path);
}

/// Puts back what is in these logs, and removes them. `is_same`: only where the file is the one that was written over.
fn put_back(logs: &[Log], is_same: bool, greatest: &dyn Fn(&[u8]) -> Option<u64>) -> Result<(), FilesError> {
    let mut records = Vec::new();
    for log in logs {
        let failed = |error| FilesError::Undo { path: log.path.display().to_string(), error };
        let file = Rc::new(File::open(&log.path).map_err(failed)?);
        let found = Record::all_in(&file).map_err(failed)?;
        records
            .extend(found.into_iter().map(|(record, at)| (record, Content { file: file.clone(), at, log })));
    }
    // Of what was written down at the same time the first of a log is put back last.
    records.reverse();
    records.sort_by_key(|(record, ..)| std::cmp::Reverse(record.time));
    let mut lengths = BTreeMap::new();
    for (record, content) in &records {
        let failed = |error| FilesError::Undo { path: record.path().display().to_string(), error };
        content.put_back(record, is_same).map_err(failed)?;
        let name = [&record.inode.to_le_bytes(), &record.path[..]].concat();
        if let Some(length) = greatest(&name).filter(|_| !is_same) {
            lengths.insert(record.path.clone(), length);
        }
    }
    // What a whole file had may be longer than it was at the copy, and others may have cut it before it was put back.
    for (path, length) in &lengths {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        let failed = |error| FilesError::Undo { path: path.display().to_string(), error };
        let file = if_there(OpenOptions::new().write(true).open(path)).map_err(failed)?;
        file.map_or(Ok(()), |file| cut(&file, *length)).map_err(failed)?;
    }
    logs.iter().for_each(remove);
    Ok(())
}

/// Where what a file had is: in a log from there on, or beside it.
struct Content<'a> {
    file: Rc<File>,
    at: u64,
    log: &'a Log,
}

impl Content<'_> {
    fn put_back(&self, record: &Record, is_same: bool) -> io::Result<()> {
        match record.kind {
            Kind::Part => self.put_back_part(record, is_same),
            // A rank that goes back alone has none.
            Kind::Copy => self.put_back_copy(record),
            Kind::Link => self.put_back_link(record),
            Kind::New => remove_new(record),
            Kind::Folder => make_folder(record),
        }
    }

    fn put_back_part(&self, record: &Record, is_same: bool) -> io::Result<()> {
        let opened = OpenOptions::new().write(true).custom_flags(::libc::O_NONBLOCK).open(record.path());
        // It was removed in a way that nobody has seen, with its folder for example.
        let Some(file) = if_there(opened)? else { return Ok(()) };
        let meta = file.metadata()?;
        let is_that = || {
            meta.ino() == record.inode
                && Identity::of(file.as_raw_fd()).is_some_and(|now| now.mark() == record.mark)
        };
        if !meta.is_file() || is_same && !is_that() {
            return Ok(());
        }
        record.put_back(&self.file, self.at, &file)?;
        // Others that go on may have made it longer.
        if is_same { Ok(()) } else { cut(&file, record.length) }
    }

    fn put_back_copy(&self, record: &Record) -> io::Result<()> {
        // Without a copy it is done: that was looked at before.
        let Some(mut copy) = if_there(File::open(beside(&self.log.path, record.start)))? else {
            return Ok(());
        };
        let mut options = OpenOptions::new();
        let mut file =
            options.write(true).create(true).truncate(true).mode(record.mode).open(record.path())?;
        io::copy(&mut copy, &mut file).map(drop)
    }

    fn put_back_link(&self, record: &Record) -> io::Result<()> {
        if_there(std::fs::rename(beside(&self.log.path, record.start), record.path())).map(drop)
    }
}

/// Something else may have its name by now; and a folder may have what others have put there.
fn remove_new(record: &Record) -> io::Result<()> {
    let path = CString::new(record.path.clone())?;
    let there = Place::at(path.as_ptr()).identity();
    if there.is_none_or(|there| there.mark_of_any() != record.mark) {
        return Ok(());
    }
    match record.path().is_dir() && !record.path().is_symlink() {
        true => {
            let _full = std::fs::remove_dir(record.path());
            Ok(())
        }
        false => if_there(std::fs::remove_file(record.path())).map(drop),
    }
}

fn make_folder(record: &Record) -> io::Result<()> {
    match DirBuilder::new().mode(record.mode).create(record.path()) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// A file is no longer than this.
fn cut(file: &File, length: u64) -> io::Result<()> {
    if file.metadata()?.len() > length { file.set_len(length) } else { Ok(()) }
}
