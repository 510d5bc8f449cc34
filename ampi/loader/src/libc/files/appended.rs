//! Files that a rank has appended to. They are cut with it when all go back to a checkpoint, though it may have closed them; and a rank
//! that goes back alone does not write again what is in them already: see [`super::stand_ins`].
//!
//! There may be more in one than the rank has written again, of which no message tells. So it writes to a file in memory the next time
//! that it opens the other one, as long as that has more than the rank has written.

use std::ffi::{c_char, c_int};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;
use std::time::SystemTime;

use ::libc::{O_ACCMODE, O_APPEND, O_RDONLY, O_TRUNC};

use super::departed::{Departed, PATH, meta, read_link};
use super::stand_ins::{go_on, stand_in};
use crate::libc::list::List;
use crate::libc::pause::runs_again;
use crate::libc::{State, current};

/// A file that a rank has appended to, perhaps not the last time: it may have it closed when a copy of the rank is made.
#[derive(Clone, Copy, PartialEq)]
#[repr(C)]
pub(in crate::libc) struct Appended {
    inode: u64,
    /// So long it was when the rank had written to it, where it may be longer; -1 where it is not.
    length: i64,
    /// So long it was when the rank was copied.
    noted: i64,
    path: [c_char; PATH],
}

/// So many files are remembered.
const MOST: usize = 64;

/// [`Appended::length`] of one that has what its rank has written to it.
pub(super) const SAME: i64 = -1;

/// A number for this process.
fn process() -> u64 {
    static PROCESS: OnceLock<u64> = OnceLock::new();
    *PROCESS.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        (std::process::id(), SystemTime::now()).hash(&mut hasher);
        hasher.finish()
    })
}

/// A rank is about to be copied: if that goes on in its place, files may be longer then.
pub(super) fn note_lengths(state: &mut State) {
    state.noted_by = process();
    let known = &mut state.appended;
    for at in 0..known.len() {
        if let Some(one) = known.get(at) {
            known.set(at, Appended { noted: one.noted().map_or(SAME, |now| now.length()), ..one });
        }
    }
}

/// A rank has arrived as a copy: if that was made in another process, or something is done again, that one has gone on in its place.
pub(super) fn restored(state: &mut State) {
    let known = &mut state.appended;
    if runs_again() || state.noted_by != process() {
        for at in 0..known.len() {
            if let Some(one) = known.get(at).filter(|one| one.length == SAME) {
                known.set(at, Appended { length: one.noted, ..one });
            }
        }
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
    let _remembered =
        known.len() < MOST && known.push(Appended { inode: meta.st_ino, length: SAME, noted: SAME, path });
}

/// So long the file of this path is when its rank has written to it, or it has no more than that.
pub(super) fn note_length(known: &mut List<Appended>, path: &[c_char; PATH], length: i64) {
    for at in 0..known.len() {
        if let Some(one) = known.get(at).filter(|one| one.path == *path) {
            known.set(at, Appended { length, ..one });
        }
    }
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
