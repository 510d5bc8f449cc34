//! Files that are appended to by a rank that does again what it did: what it writes is in them already. So it writes to a file in
//! memory in their stead, which it has from the start as long as the other was then, and that is replaced once the rank does what it has
//! not done before.

use std::ffi::{c_char, c_int};

use ::libc::{O_ACCMODE, O_APPEND, O_CLOEXEC, O_RDONLY, O_TRUNC};

use super::departed::{Departed, PATH, meta, read_link};
use crate::libc::list::List;
use crate::libc::pause::runs_again;
use crate::libc::{CURRENT, State, current, set_errno};

/// A file in memory in the place of another.
#[derive(Clone, Copy, PartialEq)]
#[repr(C)]
pub(in crate::libc) struct StandIn {
    /// The system's number for it: all such files are of one device.
    inode: u64,
    flags: c_int,
    /// The other one.
    path: [c_char; PATH],
}

/// Those of a rank.
pub(in crate::libc) type StandIns = List<StandIn>;

/// A file that a rank has appended to, perhaps not the last time: it may have it closed when a copy of the rank is made.
#[derive(Clone, Copy)]
#[repr(C)]
pub(in crate::libc) struct Appended {
    inode: u64,
    path: [c_char; PATH],
}

/// So many files are remembered.
const MOST: usize = 64;

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
    let _remembered = known.len() < MOST && known.push(Appended { inode: meta.st_ino, path });
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
        let stand_in = StandIn { inode: meta.st_ino, flags, path };
        let length = i64::try_from(then).unwrap_or(i64::MAX);
        if ::libc::ftruncate(new, length) != 0 || !stand_ins.push(stand_in) {
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

/// From here on it writes to the files themselves.
#[cold]
fn replace_stand_ins(state: &mut State) {
    for index in 0..state.stand_ins.len() {
        let Some(stand_in) = state.stand_ins.get(index) else { break };
        let meant = |descriptor: &c_int| {
            meta(*descriptor).is_some_and(|meta| meta.st_nlink == 0 && meta.st_ino == stand_in.inode)
        };
        for descriptor in state.descriptors.open().filter(meant) {
            stand_in.give_way_at(descriptor);
        }
    }
    state.stand_ins.clear();
}

impl StandIn {
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
