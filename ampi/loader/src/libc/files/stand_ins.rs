//! Files in memory in the place of others, which a rank has while it does again what it did: what it appends is in the other one already,
//! and what it wrote to that later is not what it read then. They are replaced once the rank does what it has not done before.
//!
//! Nobody knows how far the rank had come when its process was lost. The last of what it appends may not be there: so it is looked for in
//! the file, and added.

use std::ffi::{c_char, c_int};

use ::libc::{O_ACCMODE, O_APPEND, O_CLOEXEC, O_RDONLY};

use super::appended::{SAME, note_length};
use super::departed::{PATH, meta, read_link};
use crate::libc::list::List;
use crate::libc::pause::runs_again;
use crate::libc::{CURRENT, State, current, errno, set_errno, with_process_memory};

/// A file in memory in the place of another, which is appended to or read.
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

/// A file in memory in the place of this one, which was so long then; itself if there is no memory for that.
pub(super) fn stand_in(descriptor: c_int, then: u64, flags: c_int, stand_ins: &mut StandIns) -> c_int {
    let on_exec = if flags & O_CLOEXEC == 0 { 0 } else { ::libc::MFD_CLOEXEC };
    let then = i64::try_from(then).unwrap_or(i64::MAX);
    // SAFETY: a string of C, and a descriptor of ours.
    unsafe {
        let new = ::libc::memfd_create(c"appended".as_ptr(), on_exec);
        if ::libc::ftruncate(new, then) != 0 {
            ::libc::close(new);
            return descriptor;
        }
        ::libc::fcntl(new, ::libc::F_SETFL, O_APPEND);
        ::libc::lseek(new, 0, ::libc::SEEK_END);
        stand_in_by(new, descriptor, then, flags, stand_ins)
    }
}

/// The same by this file in memory; the one that is not used is closed.
pub(super) fn stand_in_by(
    new: c_int,
    descriptor: c_int,
    then: i64,
    flags: c_int,
    stand_ins: &mut StandIns,
) -> c_int {
    let mut path = [0; PATH];
    let has_path = read_link(descriptor, &mut path) > 0 && path[0] == b'/' as c_char;
    let inode = meta(new).map_or(0, |meta| meta.st_ino);
    let stand_in = StandIn { inode, flags, then, compared: [SAME; 2], comparisons: 0, path };
    let (used, other) =
        if has_path && stand_ins.push(stand_in) { (new, descriptor) } else { (descriptor, new) };
    // SAFETY: descriptors of which the program has not heard.
    unsafe { ::libc::close(other) };
    used
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
    if state.stand_ins.len() == 0 {
        return;
    }
    let Some(inode) = meta(descriptor).filter(|meta| meta.st_nlink == 0).map(|meta| meta.st_ino) else {
        return;
    };
    let found = (0..state.stand_ins.len()).filter_map(|index| state.stand_ins.get(index));
    let Some(stand_in) = found.rev().find(|stand_in| stand_in.inode == inode) else { return };
    if !stand_in.only_reads() {
        note_length(&mut state.appended, &stand_in.path, stand_in.settle(descriptor));
    }
    let mut others = state.descriptors.open().filter(|other| *other != descriptor);
    if !others.any(|other| stand_in.is_at(other)) {
        state.stand_ins.take_last(|other| other.inode == inode);
    }
}

impl StandIn {
    fn only_reads(&self) -> bool {
        self.flags & O_ACCMODE == O_RDONLY
    }

    fn is_at(&self, descriptor: c_int) -> bool {
        meta(descriptor).is_some_and(|meta| meta.st_nlink == 0 && meta.st_ino == self.inode)
    }

    /// Whether the other file begins with what the rank has written to this one, and has more.
    fn is_behind(&mut self, memory: c_int) -> bool {
        /// Others write to it.
        const MOST_COMPARISONS: u32 = 64;
        let before = errno();
        if self.only_reads() {
            return false;
        }
        let behind = with_process_memory(|| {
            // SAFETY: a string of C; a descriptor of ours, -1 is refused.
            let file = unsafe { ::libc::open(self.path.as_ptr(), O_RDONLY) };
            let lengths = [memory, file].map(|one| meta(one).map_or(0, |meta| meta.st_size));
            let is_shorter = lengths[0] < lengths[1];
            let mut is_behind = is_shorter && lengths == self.compared;
            if is_shorter && !is_behind && self.comparisons < MOST_COMPARISONS {
                (self.compared, self.comparisons) = (lengths, self.comparisons + 1);
                is_behind = self
                    .own(memory)
                    .is_some_and(|own| read_from(file, self.then, own.len() as i64) == Some(own));
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
        if self.only_reads() {
            return SAME;
        }
        let before = errno();
        let mut length = SAME;
        with_process_memory(|| {
            // SAFETY: a string of C; a descriptor of ours.
            let file = unsafe { ::libc::open(self.path.as_ptr(), ::libc::O_RDWR | O_APPEND) };
            if let Some(own) = self.own(memory) {
                let end = self.then + own.len() as i64;
                let mut missing = self.missing(&own, file);
                if missing.is_empty() && meta(file).is_some_and(|meta| meta.st_size > end) {
                    length = end;
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

    /// What the rank has written to this file; none if that is too much to be looked through.
    fn own(&self, memory: c_int) -> Option<Vec<u8>> {
        let len = meta(memory)?.st_size - self.then;
        if len > LOOKED_THROUGH { None } else { read_from(memory, self.then, len) }
    }

    /// What the file has not of what the rank has written. It is not looked through where that comes first in it, as mostly.
    fn missing<'a>(&self, own: &'a [u8], file: c_int) -> &'a [u8] {
        if read_from(file, self.then, own.len() as i64).is_some_and(|begin| begin == own) {
            return &[];
        }
        let all = read_from(file, self.then, LOOKED_THROUGH);
        all.map_or(&[], |all| &own[missing_from(own, &all)..])
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
                match self.only_reads() {
                    true => {
                        ::libc::lseek(new, ::libc::lseek(descriptor, 0, ::libc::SEEK_CUR), ::libc::SEEK_SET)
                    }
                    false => ::libc::lseek(new, 0, ::libc::SEEK_END),
                };
                ::libc::dup3(new, descriptor, if on_exec { O_CLOEXEC } else { 0 });
                ::libc::close(new);
            }
            set_errno(before);
        }
    }
}

/// More is not looked through.
const LOOKED_THROUGH: i64 = 64 << 20;

/// What a file has from there on, so many bytes at most; none if it is shorter than that.
fn read_from(descriptor: c_int, start: i64, most: i64) -> Option<Vec<u8>> {
    let len = (meta(descriptor)?.st_size - start).min(most);
    let mut bytes = vec![0; usize::try_from(len).ok()?];
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
