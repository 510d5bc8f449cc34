//! Files whose content is told again. A rank that may do again what it did reads all of one when it opens it to read.
//!
//! In some the system says something of itself and of processes (`/proc`, `/sys`): memory that is used, load. They say something else each
//! time, so the rank reads a copy in memory. Others the rank has written itself: it would find there what it wrote only later. It has the
//! file itself when it first opens it, since others may write to it, and a copy when it does that again, until it does what it has not
//! done before.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use ::libc::{O_ACCMODE, O_CREAT, O_DIRECTORY, O_NONBLOCK, O_PATH, O_RDONLY};

use super::appended::SAME;
use super::departed::meta;
use super::stand_ins::stand_in_by;
use crate::libc::list::List;
use crate::libc::outcome::{may_run_again, told_size};
use crate::libc::{current, errno, set_errno};

/// What the system says kinds of file systems by (`linux/magic.h`): `proc`, `sysfs`, both kinds of `cgroup`.
const KINDS: [i64; 4] = [0x9fa0, 0x6265_6572, 0x0027_e0eb, 0x6367_7270];

/// More of one is not told again.
const MOST: i64 = 1 << 20;
/// The same of one that the rank has written: all that it reads is kept in the log.
const MOST_OWN: i64 = 16 << 10;
const CHUNK: usize = 8 << 10;

/// So many files are remembered that a rank has written to.
const REMEMBERED: usize = 4096;

/// What is told of a file, as a mark beside those of files that may be made, which are others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Content {
    /// It is the system's, and read from a copy.
    Kernel = 1,
    /// It was written by the rank.
    Own = u64::MAX,
}

impl Content {
    pub(super) fn of_mark(mark: u64) -> Option<Content> {
        [Content::Kernel, Content::Own].into_iter().find(|content| *content as u64 == mark)
    }

    /// That of what was opened with these flags, if it is told.
    pub(super) fn of(descriptor: c_int, flags: c_int) -> Option<Content> {
        let only_reads = flags & (O_ACCMODE | O_CREAT | O_DIRECTORY | O_PATH) == O_RDONLY;
        if !may_run_again() || !only_reads || descriptor < 0 {
            return None;
        }
        let own = || is_written(descriptor).then_some(Content::Own);
        is_of_kernel(descriptor).then_some(Content::Kernel).or_else(own)
    }
}

/// The rank has opened a file with these flags: if it can write to it, what is in it is told from then on.
pub(super) fn note_written(descriptor: c_int, flags: c_int) {
    if !may_run_again() || flags & O_ACCMODE == O_RDONLY || descriptor < 0 {
        return;
    }
    let Some(meta) = meta(descriptor).filter(is_file) else { return };
    // SAFETY: the running rank's state.
    let written = unsafe { &mut (*current()).written };
    // Without memory it is read again.
    let _noted = is_among(written, meta.st_ino) || written.len() < REMEMBERED && written.push(meta.st_ino);
}

fn is_among(written: &List<u64>, inode: u64) -> bool {
    (0..written.len()).any(|at| written.get(at) == Some(inode))
}

/// Whether the rank has written to a file, which is not long.
fn is_written(descriptor: c_int) -> bool {
    let short = meta(descriptor).filter(|meta| is_file(meta) && meta.st_size <= MOST_OWN);
    // SAFETY: the running rank's state.
    short.is_some_and(|meta| is_among(unsafe { &(*current()).written }, meta.st_ino))
}

fn is_file(meta: &::libc::stat) -> bool {
    meta.st_mode & ::libc::S_IFMT == ::libc::S_IFREG
}

fn is_of_kernel(descriptor: c_int) -> bool {
    let mut of_system = MaybeUninit::<::libc::statfs>::uninit();
    // SAFETY: a place for what is asked for.
    let seen = unsafe { ::libc::fstatfs(descriptor, of_system.as_mut_ptr()) } == 0;
    // SAFETY: it was written if the call has succeeded.
    let kind = seen.then(|| unsafe { of_system.assume_init() }.f_type);
    let is_short = |meta: ::libc::stat| is_file(&meta) && meta.st_size <= MOST;
    kind.is_some_and(|kind| KINDS.contains(&kind)) && meta(descriptor).is_some_and(is_short)
}

/// Tells what is in a file, which the rank reads by this descriptor then.
pub(super) fn tell_content(descriptor: c_int) {
    let mut at = 0;
    let read = |chunk: &mut [u8]| {
        // SAFETY: as many bytes as there is room for. The position stays where it is.
        let count = unsafe { ::libc::pread(descriptor, chunk.as_mut_ptr().cast(), chunk.len(), at) };
        at += count.max(0) as i64;
        count
    };
    tell(read, |_| {});
}

/// A file in memory with all that is in this one, which is closed; or was in it then, where there is none (-1).
pub(super) fn told_copy(descriptor: c_int, flags: c_int) -> c_int {
    let on_exec = if flags & ::libc::O_CLOEXEC == 0 { 0 } else { ::libc::MFD_CLOEXEC };
    // SAFETY: a string of C, and descriptors of which the program has not heard; as many bytes as there are.
    unsafe {
        // One that waits for what comes has nothing more.
        ::libc::fcntl(descriptor, ::libc::F_SETFL, O_NONBLOCK);
        let copy = ::libc::memfd_create(c"told".as_ptr(), on_exec);
        if copy < 0 {
            // There are too many open files: so it is said.
            let error = errno();
            ::libc::close(descriptor);
            set_errno(error);
            return copy;
        }
        let read = |chunk: &mut [u8]| ::libc::read(descriptor, chunk.as_mut_ptr().cast(), chunk.len());
        tell(read, |chunk| _ = ::libc::write(copy, chunk.as_ptr().cast(), chunk.len()));
        ::libc::close(descriptor);
        ::libc::lseek(copy, 0, ::libc::SEEK_SET);
        copy
    }
}

/// A file in memory with what was told then, in the place of this one, if it is there.
pub(super) fn told_again(descriptor: c_int, flags: c_int) -> c_int {
    let copy = told_copy(-1, flags);
    if descriptor < 0 {
        return copy;
    }
    // SAFETY: the running rank's state.
    stand_in_by(copy, descriptor, SAME, flags, unsafe { &mut (*current()).stand_ins })
}

/// Reads chunk by chunk, and is told what was read when this was first done.
fn tell(mut read: impl FnMut(&mut [u8]) -> isize, mut to: impl FnMut(&[u8])) {
    let mut chunk = [0u8; CHUNK];
    let mut len = 0;
    while len < MOST {
        let count = told_size(&mut chunk, &mut read);
        let Some(part) = usize::try_from(count).ok().and_then(|count| chunk.get(..count)) else { break };
        if part.is_empty() {
            break;
        }
        to(part);
        len += count as i64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &std::ffi::CStr) -> c_int {
        // SAFETY: a string of C.
        unsafe { ::libc::open(path.as_ptr(), O_RDONLY) }
    }

    #[test]
    fn what_the_kernel_says_is_told() {
        for (path, is_so) in [
            (c"/proc/self/statm", true),
            (c"/proc/meminfo", true),
            (c"/proc", false),
            (c"/etc/passwd", false),
        ] {
            let descriptor = open(path);
            assert_eq!(is_of_kernel(descriptor), is_so, "{path:?}");
            // SAFETY: opened just now.
            unsafe { ::libc::close(descriptor) };
        }
    }

    #[test]
    fn all_of_it_is_in_the_copy() {
        let copy = told_copy(open(c"/proc/cpuinfo"), O_RDONLY);
        let expected = std::fs::read("/proc/cpuinfo").unwrap();
        let mut bytes = vec![0u8; expected.len() + 1];
        // SAFETY: as many bytes as there is room for; then it is closed.
        unsafe {
            let len = ::libc::read(copy, bytes.as_mut_ptr().cast(), bytes.len());
            assert_eq!(len, expected.len().cast_signed());
            ::libc::close(copy);
        }
    }
}
