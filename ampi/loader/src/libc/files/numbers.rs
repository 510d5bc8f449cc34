//! Numbers of a rank's descriptors: a range of its own, the same in each process.

use std::ffi::c_int;
use std::ops::Range;

use ::libc::{F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, FD_CLOEXEC, RLIMIT_NOFILE, rlimit};

use super::FilesError;
use super::departed::{self, Departed};
use crate::libc::set_errno;

/// Below are the process's own.
const FIRST: c_int = 1000;
/// A rank has as many, or where the system allows too few, half as many, and so on.
const MANY: c_int = 64;
const FEW: c_int = 4;
/// Standard streams are those of the process.
const STANDARD: Range<c_int> = 0..3;
/// Marks from here on: another descriptor of a standard stream.
const OF_STANDARD: u8 = 128;

/// Which numbers ranks' descriptors have. All processes of a job have to use the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Of rank 0 the first one.
    pub first: i32,
    /// How many each rank has: 64 at most.
    pub each: i32,
}

/// The system allows a process too few descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{ranks} ranks need {needed} descriptors and a process may have {limit}: raise it (ulimit -n {needed})"
)]
pub struct TooManyDescriptors {
    /// Of the job.
    pub ranks: u32,
    /// The number after the last one.
    pub needed: u64,
    /// The hard limit.
    pub limit: u64,
}

impl Numbers {
    /// For so many ranks in the whole job: 64 for each of them, or 32, 16, 8 or 4 where this process may not have that
    /// many.
    ///
    /// # Errors
    /// If it may not have 4 for each of them either.
    pub fn for_ranks(ranks: u32) -> Result<Numbers, TooManyDescriptors> {
        let mut numbers = Numbers { first: FIRST, each: MANY };
        loop {
            match numbers.allow(ranks) {
                Ok(()) => return Ok(numbers),
                Err(error) if numbers.each == FEW => return Err(error),
                Err(_) => numbers.each /= 2,
            }
        }
    }

    /// Raises this process's soft limit such that all ranks can have theirs.
    ///
    /// # Errors
    /// If the hard limit is lower.
    pub fn allow(&self, ranks: u32) -> Result<(), TooManyDescriptors> {
        let needed = u64::from(ranks) * self.each.unsigned_abs() as u64 + self.first.unsigned_abs() as u64;
        let mut limit = rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: a place for two numbers.
        unsafe { ::libc::getrlimit(RLIMIT_NOFILE, &raw mut limit) };
        let allowed = limit.rlim_max;
        if limit.rlim_cur < needed {
            limit.rlim_cur = needed;
            // SAFETY: two numbers.
            if needed > allowed || unsafe { ::libc::setrlimit(RLIMIT_NOFILE, &raw const limit) } != 0 {
                return Err(TooManyDescriptors { ranks, needed, limit: allowed });
            }
        }
        Ok(())
    }

    /// How many ranks this process could have descriptors for.
    pub fn ranks_at_most(&self) -> u32 {
        let mut limit = rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: a place for two numbers.
        unsafe { ::libc::getrlimit(RLIMIT_NOFILE, &raw mut limit) };
        // Numbers are of 32 bits, whatever the system says.
        let limit = limit.rlim_max.min(i32::MAX as u64);
        (limit.saturating_sub(self.first.unsigned_abs().into()) / u64::from(self.each.unsigned_abs())) as u32
    }

    /// Those of a rank, for [`crate::libc::State::number_descriptors`].
    pub fn of_rank(&self, rank: u32) -> Range<i32> {
        let first = self.first.saturating_add(self.each.saturating_mul(rank as i32));
        first..first.saturating_add(self.each)
    }
}

/// A rank's descriptors: plain data. Without a range of its own, a rank has the process's numbers, and only its streams
/// move.
#[repr(C)]
pub struct Descriptors {
    first: c_int,
    len: c_int,
    /// Bit by bit, which ones were given to the program. It may have closed some of them in ways that are not seen.
    given: u64,
    /// Those with the same mark have one position.
    marks: [u8; MANY as usize],
    /// Bit by bit, which of these are no files: who reads them may have to wait.
    no_files: u64,
    /// Bit by bit, which files are the rank's alone once they have no name: it has made them anew.
    own: u64,
    /// Locks of open files that were taken by these (`flock`), as the system has them; 0 for none.
    locks: [u8; MANY as usize],
    /// One was given or forgotten, or a file may have lost its name, since somebody looked.
    changed: bool,
    /// One of a file was given that can be written to.
    writes: bool,
}

impl Descriptors {
    pub const fn new() -> Descriptors {
        Descriptors {
            first: 0,
            len: 0,
            given: 0,
            marks: [0; MANY as usize],
            no_files: 0,
            own: 0,
            locks: [0; MANY as usize],
            changed: false,
            writes: false,
        }
    }

    pub fn set_range(&mut self, range: Range<c_int>) {
        (self.first, self.len) = (range.start, (range.end - range.start).clamp(0, MANY));
    }

    pub fn are_own(&self) -> bool {
        self.len > 0
    }

    pub fn range(&self) -> Range<c_int> {
        self.first..self.first + self.len
    }

    /// Where in the range a descriptor is.
    pub fn number(&self, descriptor: c_int) -> Option<usize> {
        self.range().contains(&descriptor).then(|| (descriptor - self.first) as usize)
    }

    /// Those that are open.
    pub fn open(&self) -> impl Iterator<Item = c_int> + use<> {
        let (given, first) = (self.given, self.first);
        let bits = (0..MANY).filter(move |bit| given >> bit & 1 != 0);
        // SAFETY: asks about a descriptor.
        bits.map(move |bit| first + bit).filter(|number| unsafe { ::libc::fcntl(*number, F_GETFD) } >= 0)
    }

    /// The standard stream that it is another descriptor of.
    pub fn standard(&self, descriptor: c_int) -> Option<c_int> {
        self.mark(descriptor).checked_sub(OF_STANDARD).map(c_int::from)
    }

    fn mark(&self, descriptor: c_int) -> u8 {
        self.number(descriptor).map_or(0, |number| self.marks[number])
    }

    /// What has to be remembered of each; `is_copy`: with lengths. Allocates nothing.
    pub fn entries(&self, is_copy: bool) -> impl Iterator<Item = Result<Departed, FilesError>> + use<> {
        let mut known = [None; MANY as usize];
        let open = self.open().map(|number| (number, self.mark(number), self.lock(number)));
        let own = self.own;
        let first = self.first;
        known.iter_mut().zip(open).for_each(|(place, open)| *place = Some(open));
        (0..known.len()).map_while(move |at| {
            let (number, mark, lock) = known[at]?;
            let standard = mark.checked_sub(OF_STANDARD).map(c_int::from);
            let former = || known[..at].iter().flatten().find(|(_, other, _)| *other == mark);
            Some(match standard.or_else(|| former().map(|(number, ..)| *number)) {
                Some(first) => Ok(Departed::of_shared(number, first)),
                None => {
                    let is_own = own >> (number - first) & 1 != 0;
                    let entry = Departed::of_file(number, is_own).map(|entry| entry.with_lock(lock));
                    entry.map(|entry| if is_copy { entry.with_length() } else { entry })
                }
            })
        })
    }

    /// Gives a descriptor that is nobody's yet a number of the range. -1 and `errno` if there is none.
    pub fn adopt(&mut self, new: c_int) -> c_int {
        if new < 0 || !self.are_own() {
            return new;
        }
        let mark = self.free_mark();
        if let Some(number) = self.number(new) {
            self.give(number, mark);
            return new;
        }
        let number = self.place(new, self.first, mark);
        // SAFETY: the caller's, who forgets it. The system keeps `errno` if it succeeds.
        unsafe { ::libc::close(new) };
        number
    }

    /// It is that of a file which the rank has made just now.
    pub fn note_own(&mut self, descriptor: c_int) {
        if let Some(number) = self.number(descriptor) {
            self.own |= 1 << number;
        }
    }

    /// Whether it is a file that the rank has made.
    pub fn is_own(&self, descriptor: c_int) -> bool {
        self.number(descriptor).is_some_and(|number| self.own >> number & 1 != 0)
    }

    /// Another descriptor of the same file, from a number on.
    pub fn duplicate(&mut self, old: c_int, from: c_int) -> c_int {
        let mark = self.mark_of(old);
        self.place(old, from.max(self.first), mark)
    }

    /// That of a descriptor which is going to have another one.
    fn mark_of(&self, old: c_int) -> u8 {
        let known = self.number(old).map(|number| self.marks[number]);
        let standard = || STANDARD.contains(&old).then(|| OF_STANDARD + old as u8);
        known.or_else(standard).unwrap_or_else(|| self.free_mark())
    }

    /// The same at a number of the range, whatever that was.
    pub fn duplicate_to(&mut self, old: c_int, number: usize, flags: c_int) -> c_int {
        let target = self.first + number as c_int;
        // SAFETY: the number is the rank's own.
        let result = unsafe { ::libc::dup3(old, target, flags) };
        if result >= 0 {
            self.give(number, self.mark_of(old));
        }
        result
    }

    fn place(&mut self, old: c_int, from: c_int, mark: u8) -> c_int {
        // SAFETY: duplicates a descriptor.
        let number = unsafe {
            let on_exec = ::libc::fcntl(old, F_GETFD);
            if on_exec < 0 {
                return -1;
            }
            let command = if on_exec & FD_CLOEXEC == 0 { F_DUPFD } else { F_DUPFD_CLOEXEC };
            ::libc::fcntl(old, command, from)
        };
        match self.number(number) {
            Some(at) => {
                self.give(at, mark);
                number
            }
            None => {
                if number >= 0 {
                    // SAFETY: nobody has it yet.
                    unsafe { ::libc::close(number) };
                }
                set_errno(::libc::EMFILE);
                -1
            }
        }
    }

    fn give(&mut self, number: usize, mark: u8) {
        self.locks[number] = 0;
        self.given |= 1 << number;
        self.marks[number] = mark;
        self.changed = true;
        let descriptor = self.first + number as c_int;
        self.writes |= departed::writes_to_file(descriptor);
        let has_own = |at| {
            at != number as c_int && (self.given & self.own) >> at & 1 != 0 && self.marks[at as usize] == mark
        };
        let is_own = (0..MANY).any(has_own) || departed::is_nameless(descriptor);
        self.own = self.own & !(1 << number) | u64::from(is_own) << number;
        self.no_files = self.no_files & !(1 << number) | u64::from(!departed::is_file(descriptor)) << number;
    }

    /// Whether it is a pipe, a socket or something else of which what is read, or room, may have to be waited for.
    pub fn may_wait(&self, descriptor: c_int) -> bool {
        self.number(descriptor).is_some_and(|number| (self.given & self.no_files) >> number & 1 != 0)
    }

    /// Whether a file was opened that can be written to, since [`Descriptors::forget_closed`] was called.
    pub fn have_written(&self) -> bool {
        self.writes
    }

    /// From now on only those count that are open, and others that are opened. What has no name is the rank's alone.
    pub fn forget_closed(&mut self) {
        let writes =
            |descriptor: c_int| departed::writes_to_file(descriptor) && !departed::is_nameless(descriptor);
        self.writes = self.open().any(writes);
        self.changed = true;
    }

    /// Like no other one's: there are as many marks as descriptors.
    fn free_mark(&self) -> u8 {
        let used =
            |mark: u8| (0..MANY as usize).any(|at| self.given >> at & 1 != 0 && self.marks[at] == mark);
        (0..MANY as u8).find(|mark| !used(*mark)).unwrap_or(MANY as u8)
    }

    /// A file is locked by this descriptor, or not any more (`lock` is 0): so it is by all that have one position with it.
    pub fn note_lock(&mut self, descriptor: c_int, lock: u8) {
        let Some(number) = self.number(descriptor) else { return };
        let mark = self.marks[number];
        self.marks
            .iter()
            .zip(&mut self.locks)
            .filter(|(other, _)| **other == mark)
            .for_each(|(_, at)| *at = lock);
        self.changed = true;
    }

    /// Whether a file is locked by one that is open.
    pub fn have_locks(&self) -> bool {
        self.locks != [0; MANY as usize] && self.open().any(|descriptor| self.lock(descriptor) != 0)
    }

    fn lock(&self, descriptor: c_int) -> u8 {
        self.number(descriptor).map_or(0, |number| self.locks[number])
    }

    pub fn forget(&mut self, number: usize) {
        self.given &= !(1 << number);
        self.changed = true;
    }

    /// Something that is open may be another thing now.
    pub fn note_change(&mut self) {
        self.changed = true;
    }

    /// Whether anything has changed since this was called last.
    pub fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The same, and it stays so.
    pub fn has_change(&self) -> bool {
        self.changed
    }

    /// Closes those of all other ranks: the process is a copy, in which this one is alone.
    pub fn close_others(&self) {
        let Range { start, end } = self.range();
        for (first, last) in [(FIRST, start - 1), (end, c_int::MAX)] {
            if self.are_own() && first <= last {
                // SAFETY: nobody else is in this process.
                unsafe { ::libc::close_range(first.unsigned_abs(), last.unsigned_abs(), 0) };
            }
        }
    }

    /// They stay given: they are made again.
    pub fn close_all(&self) {
        for descriptor in self.open() {
            // SAFETY: the rank's own.
            unsafe { ::libc::close(descriptor) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::{CStr, CString};
    use std::io;

    use super::*;

    fn hard_limit() -> u64 {
        let mut limit = rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: a place for two numbers.
        unsafe { ::libc::getrlimit(RLIMIT_NOFILE, &raw mut limit) };
        limit.rlim_max
    }

    #[test]
    fn ranks_have_as_many_as_the_system_allows() {
        let limit = hard_limit();
        let Ok(most) = u32::try_from(limit.saturating_sub(FIRST as u64) / 8) else { return };
        let numbers = Numbers::for_ranks(most).expect("8 for each of them");
        assert_eq!(numbers, Numbers { first: FIRST, each: 8 });
        assert_eq!(numbers.ranks_at_most() / 2, most / 2, "as far as it goes");
        assert_eq!((numbers.of_rank(0), numbers.of_rank(2)), (FIRST..FIRST + 8, FIRST + 16..FIRST + 24));
        let error = Numbers::for_ranks(most * 3).expect_err("not even 4 for each");
        assert_eq!((error.limit, error.needed), (limit, u64::from(most) * 12 + FIRST as u64));
    }

    #[test]
    fn a_rank_has_numbers_of_its_range_only() {
        let mut own = Descriptors::new();
        own.set_range(500..502);
        // SAFETY: opens files of our own.
        let open = || unsafe { ::libc::open(c"/dev/null".as_ptr(), ::libc::O_RDONLY) };
        assert_eq!([own.adopt(open()), own.adopt(open()), own.adopt(open())], [500, 501, -1]);
        assert_eq!(io::Error::last_os_error().raw_os_error(), Some(::libc::EMFILE));
        own.close_all();
        assert_eq!(own.open().count(), 0);
        assert_eq!(own.duplicate(0, 501), 501);
        assert_eq!((own.standard(501), own.standard(500)), (Some(0), None));
        own.close_all();
    }

    #[test]
    fn a_file_that_was_opened_to_write_counts_until_it_is_closed_and_forgotten() {
        let file = std::env::temp_dir().join(format!("talisman-written-{}", std::process::id()));
        let name = CString::new(file.as_os_str().as_encoded_bytes()).expect("no zero is in it");
        // SAFETY: opens files of our own.
        let open = |name: &CStr, flags| unsafe { ::libc::open(name.as_ptr(), flags, 0o600) };
        let mut own = Descriptors::new();
        own.set_range(510..514);
        own.adopt(open(c"/dev/null", ::libc::O_RDWR));
        assert!(!own.have_written(), "it is no file");
        let written = own.adopt(open(&name, ::libc::O_WRONLY | ::libc::O_CREAT));
        assert!(own.have_written());
        own.forget_closed();
        assert!(own.have_written(), "it is open");
        own.forget(own.number(written).expect("it is one of them"));
        // SAFETY: the one that was opened above.
        unsafe { ::libc::close(written) };
        assert!(own.have_written());
        own.forget_closed();
        assert!(!own.have_written());
        own.adopt(open(&name, ::libc::O_RDONLY));
        assert!(!own.have_written(), "it is only read");
        own.close_all();
        std::fs::remove_file(&file).expect("it was made here");
    }
}
