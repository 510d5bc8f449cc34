//! Files in which the system says something of itself and of processes (`/proc`, `/sys`): memory that is used, load. They say something
//! else each time, so a rank that may do again what it did reads all of one when it opens it, and is told that again.

use std::ffi::c_int;
use std::mem::{MaybeUninit, zeroed};

use ::libc::{O_ACCMODE, O_CREAT, O_DIRECTORY, O_NONBLOCK, O_PATH, O_RDONLY};

use super::departed::meta;
use crate::libc::outcome::{may_run_again, told_size};

/// What the system says kinds of file systems by (`linux/magic.h`): `proc`, `sysfs`, both kinds of `cgroup`.
const KINDS: [i64; 4] = [0x9fa0, 0x6265_6572, 0x0027_e0eb, 0x6367_7270];

/// More of one is not told again.
const MOST: i64 = 1 << 20;
const CHUNK: usize = 8 << 10;

/// Whether what was opened with these flags is such a file, and has to be told again.
pub(super) fn is_told(descriptor: c_int, flags: c_int) -> bool {
    let only_reads = flags & (O_ACCMODE | O_CREAT | O_DIRECTORY | O_PATH) == O_RDONLY;
    may_run_again() && only_reads && descriptor >= 0 && is_of_kernel(descriptor)
}

fn is_of_kernel(descriptor: c_int) -> bool {
    let mut of_system = MaybeUninit::<::libc::statfs>::uninit();
    // SAFETY: a place for what is asked for.
    let seen = unsafe { ::libc::fstatfs(descriptor, of_system.as_mut_ptr()) } == 0;
    // SAFETY: it was written if the call has succeeded.
    let kind = seen.then(|| unsafe { of_system.assume_init() }.f_type);
    let is_short =
        |meta: ::libc::stat| meta.st_mode & ::libc::S_IFMT == ::libc::S_IFREG && meta.st_size <= MOST;
    kind.is_some_and(|kind| KINDS.contains(&kind)) && meta(descriptor).is_some_and(is_short)
}

/// A file in memory with all that is in this one, as it was when that was first read; the other one is closed.
pub(super) fn told_content(descriptor: c_int, flags: c_int) -> c_int {
    let on_exec = if flags & ::libc::O_CLOEXEC == 0 { 0 } else { ::libc::MFD_CLOEXEC };
    // SAFETY: a string of C, and descriptors of which the program has not heard.
    unsafe {
        // One that waits for what comes has nothing more.
        ::libc::fcntl(descriptor, ::libc::F_SETFL, O_NONBLOCK);
        let copy = ::libc::memfd_create(c"told".as_ptr(), on_exec);
        let mut chunk: [u8; CHUNK] = zeroed();
        let mut len = 0;
        while len < MOST {
            let read = told_size(&mut chunk, |chunk| {
                ::libc::read(descriptor, chunk.as_mut_ptr().cast(), chunk.len())
            });
            if read <= 0 {
                break;
            }
            ::libc::write(copy, chunk.as_ptr().cast(), read.unsigned_abs());
            len += read as i64;
        }
        ::libc::close(descriptor);
        ::libc::lseek(copy, 0, ::libc::SEEK_SET);
        copy
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
        let copy = told_content(open(c"/proc/cpuinfo"), O_RDONLY);
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
