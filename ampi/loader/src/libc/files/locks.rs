//! Locks of files. For the system they are the process's, or an open file's; all ranks of a process would have them.
//!
//! A record lock (`F_SETLK`, `lockf`) is a rank's, by whichever of its descriptors it was made, and is gone when the rank
//! closes one of the file. So the rank has the file open once more as long as it has locks of it, and the system's locks
//! are those of that open file (`F_OFD_SETLK`): others of the process, and other processes, meet with them.
//!
//! A rank that waits for a lock asks again and again, so that others run: one of them may have it.

use std::ffi::{c_int, c_short};
use std::io::Write;
use std::mem::zeroed;

use ::libc::{
    EACCES, EAGAIN, EBADF, EINVAL, ENOLCK, F_GETLK, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_SETLK,
    F_SETLKW, F_UNLCK, F_WRLCK, LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, O_ACCMODE, O_CLOEXEC, O_RDONLY, O_RDWR,
    O_WRONLY, flock, off_t,
};

use super::calls::fail;
use crate::libc::children::is_child;
use crate::libc::list::List;
use crate::libc::outcome::{Outcome, told, told_with};
use crate::libc::pause::give_way_longer;
use crate::libc::process_number::process;
use crate::libc::{current, functions};

/// Record locks that a rank has: plain data.
#[repr(C)]
pub struct Locks {
    locked: List<Locked>,
    /// There are more or fewer since somebody looked.
    changed: bool,
}

/// Noted of an open file some of whose records are locked: the bits of no operation of `flock`.
const OF_RECORDS: u8 = 16;

/// A part of a file that is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
struct Locked {
    file: File,
    /// Of the file that has the lock for the system.
    descriptor: c_int,
    part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
struct File {
    device: u64,
    number: u64,
}

/// Bytes of a file: from `start` up to, not with, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
struct Part {
    start: off_t,
    end: off_t,
}

impl Part {
    /// What is left of it without another one: before that, and behind.
    fn without(self, other: Part) -> [Part; 2] {
        let Part { start, end } = self;
        [Part { start, end: end.min(other.start) }, Part { start: start.max(other.end), end }]
    }

    fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

impl Locks {
    pub const fn new() -> Locks {
        Locks { locked: List::new(), changed: false }
    }

    /// Whether there are any.
    pub fn are_there(&self) -> bool {
        self.locked.len() > 0
    }

    /// Whether anything has changed since this was called last.
    pub fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The same, and it stays so.
    pub fn has_change(&self) -> bool {
        self.changed
    }

    fn all(&self) -> impl Iterator<Item = Locked> + '_ {
        (0..self.locked.len()).filter_map(|at| self.locked.get(at))
    }

    /// The descriptor that has the locks of a file.
    fn descriptor(&self, file: File) -> Option<c_int> {
        self.all().find(|locked| locked.file == file).map(|locked| locked.descriptor)
    }

    /// This part is locked now, or not any more. False if there is no memory.
    fn note(&mut self, new: Locked, is_locked: bool) -> bool {
        self.changed = true;
        let Locked { file, part, .. } = new;
        let overlaps = |locked: &Locked| {
            locked.file == file && locked.part.start < part.end && part.start < locked.part.end
        };
        let mut is_done = true;
        let mut rest = List::new();
        while let Some(locked) = self.locked.take_last(overlaps) {
            for left in locked.part.without(part).into_iter().filter(|left| !left.is_empty()) {
                is_done &= rest.push(Locked { part: left, ..locked });
            }
        }
        (0..rest.len()).filter_map(|at| rest.get(at)).for_each(|left| is_done &= self.locked.push(left));
        rest.clear();
        is_done && (!is_locked || self.locked.push(new))
    }

    /// The file with the locks is closed, unless there are some.
    fn close_if_none(&self, file: File, descriptor: c_int) {
        if self.descriptor(file).is_none() {
            // SAFETY: it was opened here.
            unsafe { ::libc::close(descriptor) };
        }
    }

    /// A rank closes a descriptor of some file: its locks of that file are gone.
    pub fn release(&mut self, descriptor: c_int) {
        if self.are_there()
            && !is_child()
            && let Some(file) = File::of(descriptor)
        {
            self.release_those(|locked| locked.file == file);
        }
    }

    /// All are gone: the rank ends. Memory is neither taken nor given back.
    pub fn release_all(&mut self) {
        self.release_those(|_| true);
    }

    fn release_those(&mut self, meant: impl Fn(&Locked) -> bool) {
        while let Some(Locked { file, descriptor, .. }) = self.locked.take_last(&meant) {
            self.changed = true;
            self.close_if_none(file, descriptor);
        }
    }
}

impl File {
    /// None of what is no file.
    fn of(descriptor: c_int) -> Option<File> {
        // SAFETY: zero is a value of it, and it is filled in.
        let seen = unsafe {
            let mut seen: ::libc::stat = zeroed();
            (::libc::fstat(descriptor, &raw mut seen) == 0).then_some(seen)?
        };
        let is_file = seen.st_mode & ::libc::S_IFMT == ::libc::S_IFREG;
        is_file.then_some(File { device: seen.st_dev, number: seen.st_ino })
    }
}

functions! {
    "lockf" => lock_from_here,
    "lockf64" => lock_from_here,
    "flock" => lock_whole,
}

fn locks<'a>() -> &'a mut Locks {
    // SAFETY: the running rank's state; nobody else looks at it.
    unsafe { &mut (*current()).locks }
}

/// `fcntl` with a lock; none for a command that is about something else.
///
/// # Safety
/// As for `fcntl`.
pub unsafe fn control(descriptor: c_int, command: c_int, argument: usize) -> Option<c_int> {
    let record = argument as *mut flock;
    // SAFETY: the caller's promise, as in all that follow.
    unsafe {
        match command {
            // The system says what is wrong with that.
            _ if record.is_null() => None,
            F_OFD_SETLK | F_OFD_SETLKW => Some(lock_open(descriptor, record, command == F_OFD_SETLKW)),
            F_SETLK | F_SETLKW | F_GETLK if is_child() || File::of(descriptor).is_none() => None,
            F_GETLK => Some(look(descriptor, &mut *record)),
            F_SETLK | F_SETLKW => Some(set(descriptor, &*record, command == F_SETLKW)),
            _ => None,
        }
    }
}

/// Asks for a lock, until it is had if it is waited for.
fn ask(waits: bool, attempt: impl Fn() -> c_int) -> c_int {
    until_had(waits, || asked(&attempt))
}

/// What an attempt has given when it was first made. Nothing that the rank keeps may be allocated in it: see [`told`].
fn asked(attempt: impl Fn() -> c_int) -> Outcome {
    let told = told(|| Outcome::of(&attempt));
    if told.is_again && told.then.is_done() {
        // It was had then, and what others do since does not count.
        attempt();
    }
    told.then
}

fn until_had(waits: bool, attempt: impl Fn() -> Outcome) -> c_int {
    let mut rounds = 0;
    loop {
        let outcome = attempt();
        let is_others = matches!(outcome.error, EAGAIN | EACCES);
        if outcome.is_done() || !is_others {
            return outcome.give();
        }
        // Who does not wait here may ask again and again.
        give_way_longer(&mut rounds);
        if !waits {
            return outcome.give();
        }
    }
}

/// Where a lock begins and ends; none if it is no part of a file.
fn part(descriptor: c_int, lock: &flock) -> Option<Part> {
    let from = match c_int::from(lock.l_whence) {
        ::libc::SEEK_SET => 0,
        // SAFETY: asks about a descriptor.
        ::libc::SEEK_CUR => unsafe { ::libc::lseek(descriptor, 0, ::libc::SEEK_CUR) },
        ::libc::SEEK_END => {
            // SAFETY: zero is a value of it, and it is filled in.
            let mut seen: ::libc::stat = unsafe { zeroed() };
            // SAFETY: a place for it.
            unsafe { ::libc::fstat(descriptor, &raw mut seen) };
            seen.st_size
        }
        _ => return None,
    };
    let start = from.checked_add(lock.l_start)?;
    let part = match lock.l_len {
        0 => Part { start, end: off_t::MAX },
        len if len > 0 => Part { start, end: start.saturating_add(len) },
        len => Part { start: start.checked_add(len)?, end: start },
    };
    (part.start >= 0).then_some(part)
}

fn record(kind: c_short, part: Part) -> flock {
    let whole = if part.end == off_t::MAX { 0 } else { part.end - part.start };
    // SAFETY: zero is a value of it.
    let empty: flock = unsafe { zeroed() };
    flock { l_type: kind, l_whence: ::libc::SEEK_SET as c_short, l_start: part.start, l_len: whole, ..empty }
}

/// Whether a descriptor is one to lock with: to read, or to write.
fn may_lock(descriptor: c_int, kind: c_short) -> bool {
    // SAFETY: asks about a descriptor.
    let mode = unsafe { ::libc::fcntl(descriptor, ::libc::F_GETFL) } & O_ACCMODE;
    match c_int::from(kind) {
        ::libc::F_RDLCK => mode != O_WRONLY,
        ::libc::F_WRLCK => mode != O_RDONLY,
        _ => true,
    }
}

/// The file once more, for reading and writing if that is allowed. One that may not be opened any more: the same open file.
fn open_again(descriptor: c_int) -> c_int {
    let mut path = [0; 40];
    // SAFETY: asks about a descriptor.
    let mode = unsafe { ::libc::fcntl(descriptor, ::libc::F_GETFL) } & O_ACCMODE;
    if write!(&mut path[..], "/proc/self/fd/{descriptor}\0").is_err() {
        return -1;
    }
    for mode in [O_RDWR, mode] {
        // SAFETY: a string of C.
        let again = unsafe { ::libc::open(path.as_ptr().cast(), mode | O_CLOEXEC) };
        if again >= 0 {
            return again;
        }
    }
    // SAFETY: duplicates a descriptor.
    unsafe { ::libc::fcntl(descriptor, ::libc::F_DUPFD_CLOEXEC, 0) }
}

/// Takes a lock, or gives it back.
fn set(descriptor: c_int, lock: &flock, waits: bool) -> c_int {
    let (Some(file), Some(part)) = (File::of(descriptor), part(descriptor, lock)) else {
        return fail(EINVAL);
    };
    if !may_lock(descriptor, lock.l_type) {
        return fail(EBADF);
    }
    let unlocks = c_int::from(lock.l_type) == F_UNLCK;
    if unlocks && locks().descriptor(file).is_none() {
        return 0;
    }
    let record = record(lock.l_type, part);
    // While it waits, the rank may go elsewhere: so nothing is kept meanwhile.
    until_had(waits, || {
        let owner = locks().descriptor(file).unwrap_or_else(|| open_again(descriptor));
        if owner < 0 {
            return Outcome { result: -1, error: ENOLCK, mark: 0 };
        }
        // SAFETY: a descriptor of our own, and a whole structure.
        let outcome = asked(|| unsafe { ::libc::fcntl(owner, F_OFD_SETLK, &raw const record) });
        let is_noted = !outcome.is_done() || locks().note(Locked { file, descriptor: owner, part }, !unlocks);
        locks().close_if_none(file, owner);
        if is_noted { outcome } else { Outcome { result: -1, error: ENOLCK, mark: 0 } }
    })
}

/// Who has a lock that this one would meet with: its process is not known, and is said to be this one.
fn look(descriptor: c_int, lock: &mut flock) -> c_int {
    let (Some(file), Some(part)) = (File::of(descriptor), part(descriptor, lock)) else {
        return fail(EINVAL);
    };
    let mut found = record(lock.l_type, part);
    let owner = locks().descriptor(file).unwrap_or(descriptor);
    let (place, own) = (&raw mut found, process());
    let ask = || {
        // SAFETY: a whole structure, and takes nothing.
        unsafe {
            let result = ::libc::fcntl(owner, F_OFD_GETLK, place);
            (*place).l_pid = own;
            result
        }
    };
    // SAFETY: its bytes, all of which are zero or have been set.
    let bytes = unsafe { std::slice::from_raw_parts_mut(place.cast::<u8>(), size_of::<flock>()) };
    let outcome = told_with(bytes, ask);
    match outcome.is_done() {
        true if c_int::from(found.l_type) == F_UNLCK => lock.l_type = found.l_type,
        true => *lock = found,
        false => {}
    }
    outcome.give()
}

unsafe extern "C" fn lock_from_here(descriptor: c_int, command: c_int, len: off_t) -> c_int {
    let kind = if command == ::libc::F_ULOCK { F_UNLCK } else { F_WRLCK };
    // SAFETY: zero is a value of it.
    let empty: flock = unsafe { zeroed() };
    let mut lock =
        flock { l_type: kind as c_short, l_whence: ::libc::SEEK_CUR as c_short, l_len: len, ..empty };
    if is_child() || File::of(descriptor).is_none() {
        // SAFETY: called as C's function is.
        return unsafe { ::libc::lockf(descriptor, command, len) };
    }
    match command {
        ::libc::F_ULOCK | ::libc::F_LOCK | ::libc::F_TLOCK => {
            set(descriptor, &lock, command == ::libc::F_LOCK)
        }
        ::libc::F_TEST => match look(descriptor, &mut lock) {
            0 if c_int::from(lock.l_type) != F_UNLCK => fail(EACCES),
            result => result,
        },
        _ => fail(EINVAL),
    }
}

/// The lock is of an open file, as for the system.
unsafe extern "C" fn lock_whole(descriptor: c_int, operation: c_int) -> c_int {
    let waits = operation & (LOCK_NB | LOCK_UN) == 0;
    // SAFETY: called as C's function is.
    let result = ask(waits, || unsafe { ::libc::flock(descriptor, operation | LOCK_NB) });
    if result == 0 {
        note_lock(descriptor, (operation & (LOCK_SH | LOCK_EX)) as u8);
    }
    result
}

fn note_lock(descriptor: c_int, lock: u8) {
    // SAFETY: the running rank's state; nobody else looks at it.
    unsafe { (*current()).descriptors.note_lock(descriptor, lock) };
}

/// A record lock of an open file.
///
/// # Safety
/// As for `fcntl`.
unsafe fn lock_open(descriptor: c_int, record: *mut flock, waits: bool) -> c_int {
    // SAFETY: the caller's promise.
    let lock = unsafe { &*record };
    // SAFETY: the same.
    let result = ask(waits, || unsafe { ::libc::fcntl(descriptor, F_OFD_SETLK, record) });
    let unlocks = c_int::from(lock.l_type) == F_UNLCK;
    if result == 0 && !unlocks {
        note_lock(descriptor, OF_RECORDS);
    } else if result == 0 && lock.l_start == 0 && lock.l_len == 0 {
        note_lock(descriptor, 0);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_is_left_of_others() {
        let part = |start, end| Part { start, end };
        let left = |of: Part, without: Part| {
            of.without(without).into_iter().filter(|left| !left.is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(left(part(0, 10), part(3, 5)), [part(0, 3), part(5, 10)]);
        assert_eq!(left(part(0, 10), part(0, 5)), [part(5, 10)]);
        assert_eq!(left(part(4, 10), part(2, off_t::MAX)), []);
    }

    #[test]
    fn a_file_has_locks_until_the_last_one_is_given_back() {
        let (file, other) = (File { device: 1, number: 2 }, File { device: 1, number: 3 });
        let whole = Part { start: 0, end: off_t::MAX };
        let locked = |file, part| Locked { file, descriptor: -1, part };
        let mut locks = Locks::new();
        assert!(locks.note(locked(file, whole), true) && locks.note(locked(other, whole), true));
        assert!(locks.note(locked(file, Part { start: 5, end: 7 }), false));
        assert_eq!((locks.locked.len(), locks.descriptor(file)), (3, Some(-1)));
        assert!(locks.note(locked(file, Part { start: 0, end: 5 }), true));
        assert_eq!(locks.locked.len(), 3);
        assert!(locks.note(locked(file, whole), false));
        assert_eq!((locks.descriptor(file), locks.descriptor(other)), (None, Some(-1)));
        assert!(locks.take_change() && locks.are_there());
        locks.release_all();
        assert!(!locks.are_there());
    }
}
