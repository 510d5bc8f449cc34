//! Files that are appended to by a rank that does again what it did: what it writes is in them already. So it writes to a file in
//! memory in their stead, which is as long at first as the other was then, and is replaced once the rank does what it has not done before.
//!
//! Nobody knows how far the rank had come when its process was lost. The last of it may not be there: so it is looked for in the file,
//! and added. And there may be more than it has written again, of which no message tells: so it writes to a file in memory again the next
//! time that it opens the other one, as long as that has more than the rank has written.

use std::ffi::{c_char, c_int};

use ::libc::{O_ACCMODE, O_APPEND, O_CLOEXEC, O_RDONLY, O_TRUNC};

use super::departed::{Departed, PATH, meta, read_link};
use crate::libc::list::List;
use crate::libc::pause::runs_again;
use crate::libc::{CURRENT, State, current, errno, set_errno, with_process_memory};

/// A file in memory in the place of another.
#[derive(Clone, Copy, PartialEq)]
#[repr(C)]
pub(in crate::libc) struct StandIn {
    /// The system's number for it: all such files are of one device.
    inode: u64,
    flags: c_int,
    /// Bytes that the other one had then.
    then: i64,
    /// How long both were when they were compared, and how often that was.
    compared: [i64; 2],
    comparisons: u32,
    /// The other one.
    path: [c_char; PATH],
}

/// Those of a rank.
pub(in crate::libc) type StandIns = List<StandIn>;

/// A file that a rank has appended to, perhaps not the last time: it may have it closed when a copy of the rank is made.
#[derive(Clone, Copy, PartialEq)]
#[repr(C)]
pub(in crate::libc) struct Appended {
    inode: u64,
    /// So long it was when the rank had written to it, where it may be longer; -1 where it is not.
    length: i64,
    path: [c_char; PATH],
}

/// So many files are remembered.
const MOST: usize = 64;

/// [`Appended::length`] of one that has what its rank has written to it.
const SAME: i64 = -1;

/// A rank is about to be copied: if that goes on in its place, files may be longer then.
pub(super) fn note_lengths(known: &mut List<Appended>) {
    for at in 0..known.len() {
        if let Some(one) = known.get(at) {
            known.set(at, Appended { length: one.noted().map_or(SAME, |now| now.length()), ..one });
        }
    }
}

/// Nothing was done by another in the place of this rank.
fn forget_lengths(known: &mut List<Appended>) {
    for at in 0..known.len() {
        if let Some(one) = known.get(at) {
            known.set(at, Appended { length: SAME, ..one });
        }
    }
}

/// A rank has arrived as a copy.
pub(super) fn restored(state: &mut State) {
    if !runs_again() {
        forget_lengths(&mut state.appended);
    }
    go_on(state);
}

/// A file that the rank opens for the first time, as far as it knows: what to write to.
pub(super) fn opened_anew(descriptor: c_int, flags: c_int) -> c_int {
    let Some(meta) = meta(descriptor) else { return descriptor };
    // SAFETY: the running rank's state.
    let state = unsafe { &mut *current() };
    for at in 0..state.appended.len() {
        let Some(one) = state.appended.get(at).filter(|one| one.inode == meta.st_ino && one.length != SAME)
        else {
            continue;
        };
        if meta.st_size > one.length {
            return stand_in(descriptor, one.length.unsigned_abs(), flags, &mut state.stand_ins);
        }
        state.appended.set(at, Appended { length: SAME, ..one });
    }
    descriptor
}

/// The rank has opened a file to append to it.
pub(super) fn remember(descriptor: c_int) {
    let mut path = [0; PATH];
    let Some(meta) = meta(descriptor) else { return };
    // SAFETY: the running rank's state.
    let known = unsafe { &mut (*current()).appended };
    let is_known = (0..known.len()).any(|at| known.get(at).is_some_and(|one| one.inode == meta.st_ino));
    let is_file = meta.st_mode & ::libc::S_IFMT == ::libc::S_IFREG;
    if is_known || !is_file || read_link(descriptor, &mut path) == 0 || path[0] != b'/' as c_char {
        return;
    }
    // Of one that is not remembered what is appended later may be there twice.
    let _remembered = known.len() < MOST && known.push(Appended { inode: meta.st_ino, length: SAME, path });
}

impl Appended {
    /// How long it is now, for a copy of its rank.
    pub(super) fn noted(&self) -> Option<Departed> {
        Departed::of_closed(self.path, self.inode)
    }
}

/// Whether a file that is opened with these flags is appended to, whatever is in it.
pub(super) fn appends(flags: c_int) -> bool {
    flags & O_APPEND != 0 && flags & O_TRUNC == 0 && flags & O_ACCMODE != O_RDONLY
}

/// Bytes of a file; 0 if it is none.
pub(super) fn length(descriptor: c_int) -> u64 {
    meta(descriptor).map_or(0, |meta| meta.st_size.unsigned_abs())
}

/// A file in memory in the place of this one, which was so long then; itself if there is no memory for that.
pub(super) fn stand_in(descriptor: c_int, then: u64, flags: c_int, stand_ins: &mut StandIns) -> c_int {
    let mut path = [0; PATH];
    if read_link(descriptor, &mut path) == 0 || path[0] != b'/' as c_char {
        return descriptor;
    }
    let on_exec = if flags & O_CLOEXEC == 0 { 0 } else { ::libc::MFD_CLOEXEC };
    // SAFETY: a string of C, and descriptors of which the program has not heard.
    unsafe {
        let new = ::libc::memfd_create(c"appended".as_ptr(), on_exec);
        let Some(meta) = meta(new) else { return descriptor };
        let then = i64::try_from(then).unwrap_or(i64::MAX);
        let stand_in = StandIn { inode: meta.st_ino, flags, then, compared: [SAME; 2], comparisons: 0, path };
        if ::libc::ftruncate(new, then) != 0 || !stand_ins.push(stand_in) {
            ::libc::close(new);
            return descriptor;
        }
        ::libc::fcntl(new, ::libc::F_SETFL, O_APPEND);
        ::libc::lseek(new, 0, ::libc::SEEK_END);
        ::libc::close(descriptor);
        new
    }
}

/// A file in memory of this number has been made again: it stands in for what the other did.
pub(super) fn stands_in_again(stand_ins: &mut StandIns, former: u64, new: c_int) {
    let Some(meta) = meta(new) else { return };
    for index in 0..stand_ins.len() {
        if let Some(stand_in) = stand_ins.get(index).filter(|stand_in| stand_in.inode == former) {
            stand_ins.set(index, StandIn { inode: meta.st_ino, ..stand_in });
        }
    }
}

/// The rank that runs has done something that it had not done before.
pub(in crate::libc) fn goes_on() {
    let state = CURRENT.get();
    if !state.is_null() {
        // SAFETY: the running rank's state.
        unsafe { replace_stand_ins(&mut *state) };
    }
}

/// A rank goes on, or what it has in buffers is about to be written: that is new if its PE does nothing again.
#[inline]
pub(in crate::libc) fn go_on(state: &mut State) {
    if state.stand_ins.len() > 0 && !runs_again() {
        replace_stand_ins(state);
    }
}

/// From here on it writes to the files themselves, unless they have more than it has written again.
#[cold]
fn replace_stand_ins(state: &mut State) {
    for index in (0..state.stand_ins.len()).rev() {
        let Some(mut stand_in) = state.stand_ins.get(index) else { continue };
        let at = |descriptor: &c_int| stand_in.is_at(*descriptor);
        if let Some(descriptor) = state.descriptors.open().find(at) {
            if stand_in.is_behind(descriptor) {
                state.stand_ins.set(index, stand_in);
                continue;
            }
            stand_in.settle(descriptor);
        }
        for descriptor in state.descriptors.open().filter(|descriptor| stand_in.is_at(*descriptor)) {
            stand_in.give_way_at(descriptor);
        }
        state.stand_ins.take_last(|other| other.inode == stand_in.inode);
    }
}

/// The rank ends, and has written what was in its buffers.
pub(super) fn settle_all(state: &State) {
    for index in 0..state.stand_ins.len() {
        if let Some(stand_in) = state.stand_ins.get(index)
            && let Some(descriptor) = state.descriptors.open().find(|descriptor| stand_in.is_at(*descriptor))
        {
            stand_in.settle(descriptor);
        }
    }
}

/// A descriptor is about to be closed.
pub(super) fn before_close(descriptor: c_int) {
    // SAFETY: the running rank's state.
    let state = unsafe { &mut *current() };
    for index in 0..state.stand_ins.len() {
        let Some(stand_in) = state.stand_ins.get(index).filter(|stand_in| stand_in.is_at(descriptor)) else {
            continue;
        };
        let length = stand_in.settle(descriptor);
        let known = &mut state.appended;
        for at in 0..known.len() {
            if let Some(one) = known.get(at).filter(|one| one.path == stand_in.path) {
                known.set(at, Appended { length, ..one });
            }
        }
    }
}

impl StandIn {
    fn is_at(&self, descriptor: c_int) -> bool {
        meta(descriptor).is_some_and(|meta| meta.st_nlink == 0 && meta.st_ino == self.inode)
    }

    /// Whether the other file begins with what the rank has written to this one, and has more.
    fn is_behind(&mut self, memory: c_int) -> bool {
        /// Others write to it.
        const MOST_COMPARISONS: u32 = 64;
        let before = errno();
        let behind = with_process_memory(|| {
            // SAFETY: a string of C; a descriptor of ours, -1 is refused.
            let file = unsafe { ::libc::open(self.path.as_ptr(), O_RDONLY) };
            let lengths = [memory, file].map(|one| meta(one).map_or(0, |meta| meta.st_size));
            let is_shorter = lengths[0] < lengths[1];
            let mut is_behind = is_shorter && lengths == self.compared;
            if is_shorter && !is_behind && self.comparisons < MOST_COMPARISONS {
                (self.compared, self.comparisons) = (lengths, self.comparisons + 1);
                is_behind = match (read_from(memory, self.then), read_from(file, self.then)) {
                    (Some(own), Some(all)) => all.starts_with(&own),
                    _ => false,
                };
            }
            // SAFETY: as above.
            unsafe { ::libc::close(file) };
            is_behind
        });
        set_errno(before);
        behind
    }

    /// What the rank has written to this file in memory, and is not in the other one, is written there now. How long it is then, if there
    /// is more in the other one.
    fn settle(&self, memory: c_int) -> i64 {
        let before = errno();
        let mut length = SAME;
        with_process_memory(|| {
            // SAFETY: a string of C; a descriptor of ours.
            let file = unsafe { ::libc::open(self.path.as_ptr(), ::libc::O_RDWR | O_APPEND) };
            if let (Some(own), Some(all)) = (read_from(memory, self.then), read_from(file, self.then)) {
                let mut missing = &own[missing_from(&own, &all)..];
                if missing.is_empty() && all.len() > own.len() {
                    length = self.then + own.len() as i64;
                }
                while !missing.is_empty() {
                    // SAFETY: as many bytes as there are.
                    let written = unsafe { ::libc::write(file, missing.as_ptr().cast(), missing.len()) };
                    let Ok(written) = usize::try_from(written) else { break };
                    missing = &missing[written..];
                }
            }
            // SAFETY: as above; -1 is refused.
            unsafe { ::libc::close(file) };
        });
        set_errno(before);
        length
    }

    /// The file itself has its descriptor. If it cannot be opened what is written goes nowhere, as if it had been removed.
    fn give_way_at(&self, descriptor: c_int) {
        let flags = self.flags & !(::libc::O_CREAT | ::libc::O_EXCL);
        // SAFETY: a string of C; descriptors of which the second is the rank's.
        unsafe {
            let before = *::libc::__errno_location();
            let on_exec = ::libc::fcntl(descriptor, ::libc::F_GETFD) & ::libc::FD_CLOEXEC != 0;
            let new = ::libc::open(self.path.as_ptr(), flags);
            if new >= 0 {
                ::libc::lseek(new, 0, ::libc::SEEK_END);
                ::libc::dup3(new, descriptor, if on_exec { O_CLOEXEC } else { 0 });
                ::libc::close(new);
            }
            set_errno(before);
        }
    }
}

/// More is not looked through: then all is taken to be there.
const LOOKED_THROUGH: i64 = 64 << 20;

/// What a file has from there on.
fn read_from(descriptor: c_int, start: i64) -> Option<Vec<u8>> {
    let len = meta(descriptor)?.st_size - start;
    let mut bytes = vec![0; usize::try_from(len).ok().filter(|_| len <= LOOKED_THROUGH)?];
    let mut read = 0;
    while read < bytes.len() {
        let rest = &mut bytes[read..];
        // SAFETY: as many bytes as there is room for.
        let more =
            unsafe { ::libc::pread(descriptor, rest.as_mut_ptr().cast(), rest.len(), start + read as i64) };
        read += usize::try_from(more).ok().filter(|more| *more > 0)?;
    }
    Some(bytes)
}

/// From where on what a rank has written is not in what is in the file, to which others may have written as well: whole lines.
fn missing_from(own: &[u8], all: &[u8]) -> usize {
    let common = own.len().min(all.len());
    if own[..common] == all[..common] {
        return common;
    }
    let mut end = own.len();
    while end > 0 {
        let start = own[..end - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |before| before + 1);
        if contains(all, &own[start..end]) {
            return end;
        }
        end = start;
    }
    0
}

fn contains(all: &[u8], part: &[u8]) -> bool {
    // SAFETY: as many bytes as there are.
    !unsafe { ::libc::memmem(all.as_ptr().cast(), all.len(), part.as_ptr().cast(), part.len()) }.is_null()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_what_comes_last() {
        for (own, all, missing) in [
            ("", "", ""),
            ("one\ntwo\n", "one\ntwo\n", ""),
            ("one\ntwo\n", "one\ntwo\nthree\n", ""),
            ("one\ntwo\n", "one\n", "two\n"),
            ("one\ntwo\n", "one\ntw", "o\n"),
            ("one\ntwo\n", "", "one\ntwo\n"),
            ("one\ntwo\n", "other\none\nothers\n", "two\n"),
            ("one\ntwo\n", "other\none\ntwo\nothers\n", ""),
            ("one\ntwo\n", "other\n", "one\ntwo\n"),
            ("\n\n", "other\n", ""),
            ("no line", "another no line", ""),
        ] {
            assert_eq!(&own[missing_from(own.as_bytes(), all.as_bytes())..], missing, "{own:?} in {all:?}");
        }
    }
}
