//! How much of a text is at the end of a file.

use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;

use rustix::fs::{FileType, fstat};

/// How long a file is; none of what is no file.
pub(super) fn size(file: BorrowedFd<'_>) -> Option<u64> {
    let stat = fstat(file).ok()?;
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    is_file.then(|| stat.st_size.unsigned_abs())
}

/// How many bytes of a text have come to a file that was so long before.
pub(super) fn of_file(file: BorrowedFd<'_>, before: u64, text: &[u8]) -> usize {
    let Some(after) = size(file).and_then(|now| usize::try_from(now.checked_sub(before)?).ok()) else {
        return 0;
    };
    let mut there = vec![0; after.min(text.len())];
    // It may have been opened for writing only.
    let read = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
        .and_then(|file| file.read_exact_at(&mut there, before));
    match read {
        // Somebody else has written there since.
        Ok(()) if !text.starts_with(&there) => 0,
        _ => there.len(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Write, pipe};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn what_has_come_of_a_text_is_found() {
        let path = std::env::temp_dir().join(format!("talisman-end-{}", std::process::id()));
        let mut file = File::create(&path).unwrap();
        file.write_all(b"before").unwrap();
        let before = size(file.as_fd()).unwrap();
        assert_eq!((before, of_file(file.as_fd(), before, b"text")), (6, 0));
        file.write_all(b"te").unwrap();
        assert_eq!(of_file(file.as_fd(), before, b"text"), 2);
        file.write_all(b"xt and more").unwrap();
        assert_eq!(of_file(file.as_fd(), before, b"text"), 4);
        assert_eq!(of_file(file.as_fd(), before, b"other"), 0);
        file.set_len(3).unwrap();
        assert_eq!(of_file(file.as_fd(), before, b"text"), 0, "it was cut off");
        std::fs::remove_file(path).unwrap();
        let (_read, write) = pipe().unwrap();
        assert_eq!((size(write.as_fd()), of_file(write.as_fd(), 0, b"text")), (None, 0));
    }
}
