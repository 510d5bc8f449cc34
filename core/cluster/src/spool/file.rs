//! How much of a text has come to a file, to which others write too.

use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;

use rustix::fs::{FileType, OFlags, SeekFrom, fcntl_getfl, fstat, seek};

/// The system writes to a file by pages, and can be kept from the next.
const PAGE: u64 = 4096;
/// Others do not write more meanwhile.
const LOOKED_AT: usize = 1 << 20;

/// Where the next text will come, or behind; none of what is no file.
pub(super) fn place(file: BorrowedFd<'_>) -> Option<u64> {
    let stat = fstat(file).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let appends = fcntl_getfl(file).is_ok_and(|flags| flags.contains(OFlags::APPEND));
    if appends { Some(stat.st_size.unsigned_abs()) } else { seek(file, SeekFrom::Current(0)).ok() }
}

/// How many bytes of a text have come that was written there or behind.
pub(super) fn come(file: BorrowedFd<'_>, from: u64, text: &[u8]) -> usize {
    let Some(len) = place(file).and_then(|now| usize::try_from(now.checked_sub(from)?).ok()) else {
        return 0;
    };
    let mut there = vec![0; len.min(LOOKED_AT)];
    // It may have been opened for writing only.
    let read = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
        .and_then(|file| file.read_exact_at(&mut there, from));
    match read {
        Ok(()) => come_to(&there, from, text),
        // As much as has come is ours, as far as can be known.
        Err(_) => len.min(text.len()),
    }
}

/// The same of what is there now from this place on.
fn come_to(there: &[u8], from: u64, text: &[u8]) -> usize {
    let begins = |at: &usize| there[*at..].iter().zip(text).take_while(|(one, other)| one == other).count();
    let ends = |(at, len): &(usize, usize)| {
        let end = at + len;
        *len == text.len() || end == there.len() || (from + end as u64).is_multiple_of(PAGE)
    };
    let found = (0..there.len()).map(|at| (at, begins(&at))).filter(ends);
    found.map(|(_, len)| len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::io::{Write, pipe};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn what_has_come_of_a_text_is_found() {
        let path = std::env::temp_dir().join(format!("talisman-file-{}", std::process::id()));
        for appends in [false, true] {
            let _ = std::fs::remove_file(&path);
            let mut file = File::options().create(true).append(appends).write(true).open(&path).unwrap();
            file.write_all(b"before").unwrap();
            let before = place(file.as_fd()).unwrap();
            assert_eq!((before, come(file.as_fd(), before, b"text")), (6, 0));
            file.write_all(b"te").unwrap();
            assert_eq!(come(file.as_fd(), before, b"text"), 2);
            file.write_all(b"xt").unwrap();
            assert_eq!(come(file.as_fd(), before, b"text"), 4);
            assert_eq!(come(file.as_fd(), before, b"other"), 0);
        }
        std::fs::remove_file(path).unwrap();
        let (_read, write) = pipe().unwrap();
        assert_eq!((place(write.as_fd()), come(write.as_fd(), 0, b"text")), (None, 0));
    }

    #[test]
    fn others_may_have_written_before_and_behind() {
        let text = b"three\nfour\n";
        assert_eq!(come_to(b"one\nthree\nfour\ntwo\n", 0, text), text.len());
        assert_eq!(come_to(b"one\ntwo\nthr", 0, text), 3, "it was cut off at the end");
        assert_eq!(come_to(b"one\nthrtwo\n", 4089, text), 3, "where a page ends");
        assert_eq!(come_to(b"one\nthrtwo\n", 0, text), 0, "elsewhere that is somebody else's");
        assert_eq!(come_to(b"", 0, text), 0);
    }
}
