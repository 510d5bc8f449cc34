//! A program in memory: which pages come from where.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

use crate::PAGE;
use crate::elf::{Segment, Segments};

/// A range of a loaded program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Bytes from the base, whole pages.
    pub offset: usize,
    /// Bytes, whole pages.
    pub len: usize,
    /// What is there.
    pub kind: PartKind,
}

/// What a part of a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Code and constants: the file's pages, shared by all ranks, never written to. They are not packed.
    Text,
    /// Variables: pages that were touched have to be packed.
    Data,
}

/// Pages of an object that are mapped at once. Offsets are those in the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    at: usize,
    /// Bytes from the file, whole pages.
    file_len: usize,
    /// Where in the file.
    file_offset: usize,
    /// Bytes after `at` that are whole pages of zeroes from `file_len` on.
    len: usize,
    /// From here to the end of the file's last page are zeroes, if the program has more data than the file.
    zero_from: Option<usize>,
    writable: bool,
    executable: bool,
}

impl Mapping {
    fn of(segment: &Segment) -> Mapping {
        let pages = segment.pages();
        let file_end = segment.at + segment.file_len;
        let has_file = segment.file_len > 0;
        let file_len = if has_file { file_end.next_multiple_of(PAGE) - pages.start } else { 0 };
        Mapping {
            at: pages.start,
            file_len,
            file_offset: if has_file { segment.offset / PAGE * PAGE } else { 0 },
            len: pages.len(),
            zero_from: (has_file && segment.len > segment.file_len).then_some(file_end),
            writable: segment.writable,
            executable: segment.executable,
        }
    }

    /// Code and constants that follow each other in the file and in memory are one mapping: a process may have 65,530.
    fn extends(&self, next: &Mapping) -> bool {
        let follows =
            self.at + self.file_len == next.at && self.file_offset + self.file_len == next.file_offset;
        follows && !self.writable && !next.writable
    }

    /// As how many the system counts it: zeroes are one of their own.
    pub fn count(&self) -> usize {
        usize::from(self.file_len > 0) + usize::from(self.len > self.file_len)
    }

    pub fn part(&self, object: usize) -> Part {
        let kind = if self.writable { PartKind::Data } else { PartKind::Text };
        Part { offset: object + self.at, len: self.len, kind }
    }

    /// Maps the pages of an object that is at `start`.
    ///
    /// # Safety
    /// These addresses are the caller's to use, and nothing there is needed any more.
    pub unsafe fn map(&self, start: usize, file: &File) -> io::Result<()> {
        let mut access = ProtFlags::READ;
        access.set(ProtFlags::WRITE, self.writable);
        access.set(ProtFlags::EXEC, self.executable);
        let at = start + self.at;
        if self.file_len > 0 {
            let flags = MapFlags::PRIVATE | MapFlags::FIXED;
            // SAFETY: the caller's promise.
            unsafe { mmap(at as *mut c_void, self.file_len, access, flags, file, self.file_offset as u64) }?;
        }
        if self.len > self.file_len {
            // SAFETY: the caller's promise.
            unsafe { map_zeroes(at + self.file_len..at + self.len, access) }?;
        }
        if let Some(from) = self.zero_from {
            let end = at + self.file_len;
            // SAFETY: the last page of the file's part, which was mapped above and is writable: only such segments
            // have more in memory than in the file.
            unsafe { std::ptr::write_bytes((start + from) as *mut u8, 0, end - (start + from)) };
        }
        Ok(())
    }
}

impl Mapping {
    /// Whether these pages are the file's for good.
    pub fn is_text(&self) -> bool {
        !self.writable
    }

    /// Copies the pages of data of an object that is at `start`, where zeroes are mapped: they are the rank's from the
    /// beginning.
    ///
    /// # Safety
    /// These addresses are the caller's to use, and zeroes that can be written to are mapped there.
    pub unsafe fn copy(&self, start: usize, file: &File) -> io::Result<()> {
        let at = start + self.at;
        let end = self.zero_from.map_or(at + self.file_len, |from| start + from);
        // SAFETY: the caller's promise.
        let bytes = unsafe { std::slice::from_raw_parts_mut(at as *mut u8, end - at) };
        let mut done = 0;
        // The last page of a file may end early.
        while let len @ 1.. = file.read_at(&mut bytes[done..], (self.file_offset + done) as u64)? {
            done += len;
        }
        Ok(())
    }
}

/// # Safety
/// These addresses are the caller's to use, and nothing there is needed any more.
pub unsafe fn map_zeroes(range: Range<usize>, access: ProtFlags) -> io::Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
    // SAFETY: the caller's promise.
    unsafe { mmap_anonymous(range.start as *mut c_void, range.len(), access, flags) }?;
    Ok(())
}

/// Takes addresses where nothing is. False if something is there.
pub fn reserve(range: Range<usize>) -> bool {
    let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE | MapFlags::NORESERVE;
    let place = range.start as *mut c_void;
    // SAFETY: the system refuses where something is.
    let mapped = unsafe { mmap_anonymous(place, range.len(), ProtFlags::empty(), flags) };
    let Ok(mapped) = mapped else { return false };
    if mapped != place {
        // An old system takes the address as a wish.
        // SAFETY: what was mapped just now.
        let _refused = unsafe { munmap(mapped, range.len()) };
    }
    mapped == place
}

/// The mappings of an object.
pub fn mappings(segments: &Segments) -> Vec<Mapping> {
    let mut all: Vec<Mapping> = Vec::new();
    for segment in &segments.loads {
        let next = Mapping::of(segment);
        match all.last_mut() {
            Some(last) if last.extends(&next) => {
                last.file_len += next.file_len;
                last.len += next.len;
                last.executable |= next.executable;
            }
            _ => all.push(next),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(at: usize, len: usize, file_len: usize, writable: bool, executable: bool) -> Segment {
        Segment { at, len, offset: at, file_len, align: PAGE, writable, executable }
    }

    #[test]
    fn constants_and_code_are_one_mapping_and_data_is_another() {
        let loads = vec![
            segment(0, 0x800, 0x800, false, false),
            segment(0x1000, 0x1234, 0x1234, false, true),
            segment(0x3000, 0x10, 0x10, false, false),
            segment(0x4df0, 0x3000, 0x300, true, false),
        ];
        let all = mappings(&Segments { loads, ..Segments::default() });
        let parts: Vec<Part> = all.iter().map(|mapping| mapping.part(0x10000)).collect();
        assert_eq!(
            parts,
            [
                Part { offset: 0x10000, len: 0x4000, kind: PartKind::Text },
                Part { offset: 0x14000, len: 0x4000, kind: PartKind::Data }
            ]
        );
        assert!(all[0].executable);
        assert_eq!((all[1].file_len, all[1].zero_from), (0x2000, Some(0x50f0)));
    }

    #[test]
    fn a_hole_between_segments_stays_one() {
        let loads = vec![segment(0, 0x10, 0x10, false, false), segment(0x20_0000, 0x10, 0x10, false, true)];
        assert_eq!(mappings(&Segments { loads, ..Segments::default() }).len(), 2);
    }
}
