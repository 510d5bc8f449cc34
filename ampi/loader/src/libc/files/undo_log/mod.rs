//! What a rank writes over in files is put back when it goes back to a checkpoint: an undo log, with before-images.
//!
//! Before a rank writes over what a file had at its last checkpoint, or empties, removes or replaces a file, what is there is
//! appended to a log: a file of the rank and of its *period*, the time since it was copied last, in a folder of the job. What was
//! written in the period itself needs not be kept. A rank that goes back puts back what is in the logs of that period and of later ones,
//! the newest first ([`undo`]). Logs of periods that nobody can go back to any more are removed.
//!
//! What is written is kept by pages where all go back together: there are fewer records then.
//!
//! Streams of the C library write by themselves. So of one that can write where it has read, all of the file is kept when it is opened, or
//! set to another place.

mod ranges;
mod record;
mod undo;

use std::collections::HashMap;
use std::ffi::{CStr, OsStr, c_char, c_int};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::libc::{O_ACCMODE, O_APPEND, O_CREAT, O_RDONLY, O_TRUNC};

use super::departed::{PATH, meta, read_link};
use crate::libc::children::is_child;
use crate::libc::made_again::{Identity, Place};
use crate::libc::outcome::may_run_again;
use crate::libc::own_threads::is_own_thread;
use crate::libc::{CURRENT, State, errno, set_errno, with_process_memory};
use ranges::Ranges;
use record::{Kind, Record};
pub(super) use undo::{key, undo};

/// Where undo logs are, and until when they are needed.
#[derive(Clone, Debug)]
pub struct UndoLogs {
    /// A folder that no other job has, the same for all processes of the job. It is made when something is written to it.
    pub folder: PathBuf,
    /// A number that changes whenever a checkpoint is committed.
    pub committed: fn() -> u64,
}

/// So many bytes of files are kept of a rank between two checkpoints.
const MOST: u64 = 4 << 30;

static LOGS: Mutex<Option<Logs>> = Mutex::new(None);
static ARE_KEPT: AtomicBool = AtomicBool::new(false);

struct Logs {
    of: UndoLogs,
    ranks: HashMap<u32, OfRank>,
    /// People were told that something could not be written.
    has_failed: bool,
}

/// What this process knows of a rank's logs.
#[derive(Default)]
struct OfRank {
    period: u64,
    /// What [`UndoLogs::committed`] said when the period began here; none if the rank came later.
    committed: Option<u64>,
    log: Option<File>,
    /// Former periods of which there are logs, and how many files beside each.
    former: Vec<(u64, u64)>,
    /// How many files are beside the log.
    beside: u64,
    /// Bytes of files that are kept.
    bytes: u64,
    /// What was written to files in this period, or is in the log.
    written: HashMap<Identity, Ranges>,
}

/// From now on ranks of this process keep undo logs. Later calls change nothing.
pub fn keep_undo_logs(of: UndoLogs) {
    lock().get_or_insert_with(|| Logs { of, ranks: HashMap::new(), has_failed: false });
    ARE_KEPT.store(true, Ordering::Relaxed);
}

fn lock() -> MutexGuard<'static, Option<Logs>> {
    LOGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The running rank's number and period, if it keeps logs. Before its first copy it begins anew if it goes back, and one with threads
/// of its own is in no checkpoint.
fn period() -> Option<(u32, u64)> {
    if !ARE_KEPT.load(Ordering::Relaxed) || is_child() || is_own_thread() {
        return None;
    }
    // SAFETY: the running rank's state, if one runs.
    let state = unsafe { CURRENT.get().as_ref() }?;
    (state.period > 0).then_some((state.owner, state.period))
}

/// The rank that runs has its logs, with memory of the process. `errno` stays as it is.
fn with_logs(work: impl FnOnce(&mut Logs, (u32, u64))) {
    let Some(of) = period() else { return };
    let before = errno();
    with_process_memory(|| {
        if let Some(logs) = &mut *lock() {
            work(logs, of);
        }
    });
    set_errno(before);
}

/// So many bytes are about to be written to a file: where it is, or from an offset on.
pub fn before_write(descriptor: c_int, offset: Option<i64>, len: usize) {
    with_logs(|logs, of| {
        // SAFETY: asks about a descriptor.
        let flags = unsafe { ::libc::fcntl(descriptor, ::libc::F_GETFL) };
        if flags < 0 || flags & O_ACCMODE == O_RDONLY || flags & O_APPEND != 0 {
            return;
        }
        // SAFETY: as above.
        let start = offset.unwrap_or_else(|| unsafe { ::libc::lseek(descriptor, 0, ::libc::SEEK_CUR) });
        if let Ok(start) = u64::try_from(start) {
            logs.note_open(of, descriptor, start..start.saturating_add(len as u64));
        }
    });
}

/// An open file is about to be cut to this length.
pub(super) fn before_cut(descriptor: c_int, length: i64) {
    before_shared_write(descriptor, length.max(0).unsigned_abs()..u64::MAX);
}

/// These bytes of an open file are about to be written or cut off, and a rank that goes back alone does not do that again.
pub fn before_shared_write(descriptor: c_int, bytes: Range<u64>) {
    if !goes_back_alone() {
        with_logs(|logs, of| logs.note_open(of, descriptor, bytes));
    }
}

/// The same of a file that is not open.
pub(in crate::libc) fn before_cut_at(place: Place, length: i64) {
    with_file_at(place, 0, |logs, of, file, path| {
        logs.note_part(of, file, path, length.max(0).unsigned_abs()..u64::MAX)
    });
}

/// Something may be written behind what an open file has.
pub(super) fn before_append(descriptor: c_int) {
    before_shared_write(descriptor, 0..0);
}

/// A stream of the C library may write anywhere from now on.
pub(super) fn before_stream_writes(descriptor: c_int) {
    // Those who read here and there do so often.
    if goes_back_alone() || period().is_none() {
        return;
    }
    // SAFETY: asks about a descriptor.
    let flags = unsafe { ::libc::fcntl(descriptor, ::libc::F_GETFL) };
    if flags >= 0 && flags & O_ACCMODE != O_RDONLY && flags & O_APPEND == 0 {
        before_shared_write(descriptor, 0..u64::MAX);
    }
}

/// Something is about to be removed, or something else is about to take its name.
pub(in crate::libc) fn before_loss(place: Place) {
    // A symbolic link itself.
    with_place(place, ::libc::O_PATH | ::libc::O_NOFOLLOW, |logs, of, file, path| {
        match file.metadata()?.is_dir() {
            true => logs.note_folder(of, file, path),
            false => logs.note_whole(of, file, path, Kind::Link),
        }
    });
}

/// There is something new of this name.
pub(in crate::libc) fn note_made_at(place: Place) {
    if goes_back_alone() {
        return;
    }
    with_logs(|logs, of| {
        let (Some(identity), Some(path)) = (place.identity(), absolute(place)) else { return };
        let done = logs.append_new(of, path, identity);
        // A folder; what is a link has been there by another name.
        if !identity.is_file() {
            logs.of_rank(of).written.entry(identity).or_default().add(0..u64::MAX);
        }
        logs.tell(of.0, done);
    });
}

/// A file is about to be opened with these flags. Whether it is there.
pub(super) fn before_open(place: Place, flags: c_int) -> bool {
    if flags & (O_CREAT | O_TRUNC) == 0 || period().is_none() {
        return true;
    }
    if flags & O_TRUNC != 0 && flags & O_ACCMODE != O_RDONLY {
        with_file_at(place, 0, |logs, of, file, path| logs.note_whole(of, file, path, Kind::Copy));
    }
    place.target().is_some()
}

/// A file was opened that was not there before.
pub(super) fn note_new(descriptor: c_int) {
    if descriptor < 0 {
        return;
    }
    with_logs(|logs, of| {
        let Some(identity) = Identity::of(descriptor) else { return };
        logs.of_rank(of).written.entry(identity).or_default().add(0..u64::MAX);
        if !goes_back_alone()
            && let Some(path) = path_of(descriptor)
        {
            let done = logs.append_new(of, path, identity);
            logs.tell(of.0, done);
        }
    });
}

/// A file is about to get another name.
pub(in crate::libc) fn before_rename(place: Place, new: Place) {
    before_loss(new);
    if new.identity().is_none()
        && !goes_back_alone()
        && let Some(identity) = place.identity()
    {
        with_logs(|logs, of| {
            if let Some(path) = absolute(new) {
                let done = logs.append_new(of, path, identity);
                logs.tell(of.0, done);
            }
        });
    }
    before_loss(place);
}

/// What a rank does again that goes back alone, it does to files as its predecessor has left them: what that one had emptied, removed and
/// renamed is not done again as it was. It puts back only what it writes over again for certain.
fn goes_back_alone() -> bool {
    may_run_again()
}

/// Of what a path leads to, if it is a file that can be read.
fn with_file_at(
    place: Place,
    flags: c_int,
    work: impl FnOnce(&mut Logs, (u32, u64), &File, &[u8]) -> io::Result<()>,
) {
    with_place(place, flags, |logs, of, file, path| match file.metadata()?.is_file() {
        true => work(logs, of, file, path),
        false => Ok(()),
    });
}

/// Of what a path leads to, if that can be opened so.
fn with_place(
    place: Place,
    flags: c_int,
    work: impl FnOnce(&mut Logs, (u32, u64), &File, &[u8]) -> io::Result<()>,
) {
    if goes_back_alone() {
        return;
    }
    with_logs(|logs, of| {
        let flags = flags | O_RDONLY | ::libc::O_NONBLOCK | ::libc::O_CLOEXEC;
        // SAFETY: a path as the caller of the C library's function has it: the system refuses one that is none.
        let descriptor = unsafe { ::libc::openat(place.folder, place.path, flags) };
        if descriptor < 0 {
            return;
        }
        let path = path_of(descriptor);
        // SAFETY: it was opened just now.
        let file = unsafe { File::from_raw_fd(descriptor) };
        let is_there = file.metadata().is_ok_and(|meta| meta.nlink() > 0);
        let done = path.filter(|_| is_there).map_or(Ok(()), |path| work(logs, of, &file, &path));
        logs.tell(of.0, done);
    });
}

/// Where an open file is, if it has a name.
fn path_of(descriptor: c_int) -> Option<Vec<u8>> {
    let mut path = [0 as c_char; PATH];
    let is_path = read_link(descriptor, &mut path) > 0 && path[0] == b'/' as c_char;
    // SAFETY: `read_link` leaves a zero at its end.
    is_path.then(|| unsafe { CStr::from_ptr(path.as_ptr()) }.to_bytes().to_vec())
}

/// Where a path leads to from the root on.
fn absolute(place: Place) -> Option<Vec<u8>> {
    // SAFETY: a path as the caller of the C library's function has it, which the system has looked at.
    let path = unsafe { CStr::from_ptr(place.path) }.to_bytes();
    if path.starts_with(b"/") {
        return Some(path.to_vec());
    }
    let folder = match place.folder {
        ::libc::AT_FDCWD => std::env::current_dir().ok()?.into_os_string().into_vec(),
        folder => path_of(folder)?,
    };
    Some([&folder[..], b"/", path].concat())
}

impl Logs {
    /// What this process knows of the rank in this period.
    fn of_rank(&mut self, (rank, period): (u32, u64)) -> &mut OfRank {
        let known = self.ranks.entry(rank).or_default();
        if known.period != period {
            let former = std::mem::take(known).kept();
            *known = OfRank { period, former, ..OfRank::default() };
        }
        known
    }

    fn path(&self, rank: u32, period: u64) -> PathBuf {
        self.of.folder.join(format!("{rank}-{period}"))
    }

    /// What an open file has there is kept, and will be written over.
    fn note_open(&mut self, of: (u32, u64), descriptor: c_int, bytes: Range<u64>) {
        // Beside what is written others may write, who do not go back with this one.
        let bytes = if goes_back_alone() { bytes } else { pages_of(bytes) };
        let (Some(meta), Some(identity)) = (meta(descriptor), Identity::of(descriptor)) else { return };
        if meta.st_mode & ::libc::S_IFMT != ::libc::S_IFREG || meta.st_nlink == 0 {
            return;
        }
        let missing = self.missing(of, identity, &bytes, meta.st_size.max(0).unsigned_abs());
        let done = if missing.is_empty() { Ok(()) } else { self.note_open_parts(of, descriptor, missing) };
        self.of_rank(of).written.entry(identity).or_default().add(bytes);
        self.tell(of.0, done);
    }

    fn note_open_parts(
        &mut self,
        of: (u32, u64),
        descriptor: c_int,
        parts: Vec<Range<u64>>,
    ) -> io::Result<()> {
        let Some(path) = path_of(descriptor) else { return Ok(()) };
        // By itself it may not be readable.
        let file = File::open(format!("/proc/self/fd/{descriptor}"))?;
        parts.into_iter().try_for_each(|part| self.append(of, (&file, &path), Kind::Part, part))
    }

    /// What of these bytes is not kept, and has to be. If nothing was kept, how long the file is has to be known.
    fn missing(
        &mut self,
        of: (u32, u64),
        identity: Identity,
        bytes: &Range<u64>,
        length: u64,
    ) -> Vec<Range<u64>> {
        let there = bytes.start.min(length)..bytes.end.min(length);
        match self.of_rank(of).written.get(&identity) {
            Some(known) => known.missing(there),
            None => vec![there],
        }
    }

    fn note_part(&mut self, of: (u32, u64), file: &File, path: &[u8], bytes: Range<u64>) -> io::Result<()> {
        let (Some(identity), length) = (Identity::of(file.as_raw_fd()), file.metadata()?.len()) else {
            return Ok(());
        };
        for part in self.missing(of, identity, &bytes, length) {
            self.append(of, (file, path), Kind::Part, part)?;
        }
        self.of_rank(of).written.entry(identity).or_default().add(bytes);
        Ok(())
    }

    /// A file is about to be emptied (`Kind::Copy`), or to lose its name (`Kind::Link`).
    fn note_whole(&mut self, of: (u32, u64), file: &File, path: &[u8], kind: Kind) -> io::Result<()> {
        let Some(identity) = Identity::of(file.as_raw_fd()) else { return Ok(()) };
        // What was made in this period, or emptied, has nothing that was there before.
        let known = self.of_rank(of).written.get(&identity);
        if known.is_some_and(|known| known.missing(0..u64::MAX).is_empty()) {
            return Ok(());
        }
        let number = self.of_rank(of).beside;
        self.of_rank(of).beside += 1;
        let beside = beside(&self.path(of.0, of.1), number);
        make_folder(&self.of.folder)?;
        let kind = match kind {
            // A file that is open without a name is told by that it has none.
            Kind::Link
                if !is_open(file)
                    && std::fs::hard_link(Path::new(OsStr::from_bytes(path)), &beside).is_ok() =>
            {
                Kind::Link
            }
            _ if !file.metadata()?.is_file() => return Ok(()),
            _ => {
                self.of_rank(of).reserve(file.metadata()?.len())?;
                let source = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
                let mut copy =
                    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
                io::copy(&mut &source, &mut copy)?;
                Kind::Copy
            }
        };
        self.append(of, (file, path), kind, number..number)?;
        self.of_rank(of).written.entry(identity).or_default().add(0..u64::MAX);
        Ok(())
    }

    /// A folder is about to be removed.
    fn note_folder(&mut self, of: (u32, u64), folder: &File, path: &[u8]) -> io::Result<()> {
        let is_known = |identity: Identity| {
            self.ranks
                .get(&of.0)
                .is_some_and(|rank| rank.period == of.1 && rank.written.contains_key(&identity))
        };
        match Identity::of(folder.as_raw_fd()) {
            Some(identity) if !is_known(identity) => self.append(of, (folder, path), Kind::Folder, 0..0),
            _ => Ok(()),
        }
    }

    fn append(
        &mut self,
        of: (u32, u64),
        (file, path): (&File, &[u8]),
        kind: Kind,
        bytes: Range<u64>,
    ) -> io::Result<()> {
        self.of_rank(of).reserve(bytes.end - bytes.start)?;
        let meta = file.metadata()?;
        let record = Record {
            kind,
            time: 0,
            mark: Identity::of(file.as_raw_fd()).map_or(0, Identity::mark),
            inode: meta.ino(),
            start: bytes.start,
            len: bytes.end - bytes.start,
            length: meta.len(),
            mode: meta.mode() & 0o7777,
            path: path.to_vec(),
        };
        record.append(self.log(of)?, file)
    }

    /// There is no file of this name, and there will be this one.
    fn append_new(&mut self, of: (u32, u64), path: Vec<u8>, identity: Identity) -> io::Result<()> {
        let mark = identity.mark_of_any();
        let record =
            Record { kind: Kind::New, time: 0, mark, inode: 0, start: 0, len: 0, length: 0, mode: 0, path };
        let log = self.log(of)?;
        record.append(log, log)
    }

    fn log(&mut self, of: (u32, u64)) -> io::Result<&File> {
        let name = self.path(of.0, of.1);
        Ok(match &mut self.of_rank(of).log {
            Some(log) => log,
            none => none.insert(open_log(&name)?),
        })
    }

    /// People hear of the first thing that could not be kept.
    fn tell(&mut self, rank: u32, done: io::Result<()>) {
        let Err(error) = done else { return };
        if !std::mem::replace(&mut self.has_failed, true) {
            let folder = self.of.folder.display();
            eprintln!(
                "rank {rank}: what it writes over in a file cannot be put back if it goes back to a checkpoint: {error} (undo log in {folder})"
            );
        }
    }

    fn remove(&self, rank: u32, periods: Vec<(u64, u64)>) {
        for (period, files) in periods {
            let log = self.path(rank, period);
            (0..files).for_each(|number| gone(&beside(&log, number)));
            gone(&log);
        }
    }
}

impl OfRank {
    /// There is room for so many bytes more.
    fn reserve(&mut self, bytes: u64) -> io::Result<()> {
        match self.bytes.checked_add(bytes).filter(|all| *all <= MOST) {
            Some(all) => {
                self.bytes = all;
                Ok(())
            }
            None => Err(io::Error::other("it is more than 4 GiB between two checkpoints")),
        }
    }

    /// The periods until now of which there may be logs.
    fn kept(mut self) -> Vec<(u64, u64)> {
        if self.log.is_some() {
            self.former.push((self.period, self.beside));
        }
        self.former
    }
}

/// Whole pages around bytes; none if there are none.
fn pages_of(bytes: Range<u64>) -> Range<u64> {
    const PAGE: u64 = 4096;
    match bytes.is_empty() {
        true => bytes,
        false => bytes.start / PAGE * PAGE..bytes.end.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX),
    }
}

/// A file beside a log, by its number.
fn beside(log: &Path, number: u64) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// Removes what is not needed. One that is left is in nobody's way.
fn gone(path: &Path) {
    let _removed = std::fs::remove_file(path);
}

/// Whether the running rank has a file open.
fn is_open(file: &File) -> bool {
    // SAFETY: the running rank's state.
    let Some(state) = (unsafe { CURRENT.get().as_ref() }) else { return false };
    let own = meta(file.as_raw_fd()).map(|meta| (meta.st_dev, meta.st_ino));
    state.descriptors.open().any(|other| meta(other).map(|meta| (meta.st_dev, meta.st_ino)) == own)
}

/// The folder of logs is ours alone: what others have put into it would be written to our files.
fn make_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && is_ours(folder)? => Ok(()),
        made => made,
    }
}

fn open_log(name: &Path) -> io::Result<File> {
    name.parent().map_or(Ok(()), make_folder)?;
    OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(name)
}

fn is_ours(folder: &Path) -> io::Result<bool> {
    let meta = std::fs::symlink_metadata(folder)?;
    // SAFETY: takes nothing.
    Ok(meta.is_dir() && meta.uid() == unsafe { ::libc::geteuid() })
}

/// A rank is about to be copied: another period begins. What of former ones nobody can go back to any more is removed.
pub(super) fn begin_period(state: &mut State) {
    if !ARE_KEPT.load(Ordering::Relaxed) {
        return;
    }
    state.period += 1;
    let (rank, period) = (state.owner, state.period);
    with_process_memory(|| {
        let Some(logs) = &mut *lock() else { return };
        let committed = (logs.of.committed)();
        let before = logs.of_rank((rank, period - 1)).committed;
        let known = logs.of_rank((rank, period));
        known.committed = Some(committed);
        // Since the last copy a checkpoint was committed: that one, as there is one at a time.
        if before.is_some_and(|before| before != committed) {
            let former = std::mem::take(&mut known.former);
            let (kept, over) = former.into_iter().partition(|(former, _)| *former + 1 >= period);
            known.former = kept;
            logs.remove(rank, over);
        }
    });
}

/// Of a rank that does not run and is copied: streams that can write, and are not at the ends of their files.
pub(super) fn note_streams(state: &State, descriptors: impl Iterator<Item = c_int>) {
    if !ARE_KEPT.load(Ordering::Relaxed) || goes_back_alone() {
        return;
    }
    with_process_memory(|| {
        let Some(logs) = &mut *lock() else { return };
        descriptors
            .for_each(|descriptor| logs.note_open((state.owner, state.period), descriptor, 0..u64::MAX));
    });
}
