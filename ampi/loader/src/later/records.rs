//! What a rank has loaded later, written down in the image itself: so it moves with the rank, and who maps the image
//! again finds it there.

use std::mem::size_of;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::PAGE;

/// At the beginning of the room for libraries: offsets in the image, zero if there is nothing.
#[repr(C)]
#[derive(Clone, Copy)]
struct Header {
    first: usize,
    last: usize,
    /// Where what follows may begin.
    end: usize,
    /// How often something was loaded.
    batches: usize,
}

/// One library; its path follows.
#[repr(C)]
#[derive(Clone, Copy)]
struct Record {
    next: usize,
    offset: usize,
    thread_locals: usize,
    batch: usize,
    is_global: usize,
    path: usize,
}

/// One library that a rank has loaded later.
#[derive(Clone, Debug)]
pub struct Late {
    pub path: PathBuf,
    /// Where it is in the image.
    pub offset: usize,
    /// Where its thread-locals are in the image.
    pub thread_locals: Option<usize>,
    /// Those that were loaded at once have the same number.
    pub batch: usize,
    /// Libraries that are loaded after it may use it.
    pub is_global: bool,
}

/// The records of the rank whose image is at `base`.
pub struct Records {
    base: usize,
    room: Range<usize>,
}

impl Records {
    /// # Safety
    /// The image is mapped, and nobody else works on its records.
    pub unsafe fn new(base: usize, room: Range<usize>) -> Records {
        Records { base, room }
    }

    fn header(&self) -> Option<*mut Header> {
        (!self.room.is_empty()).then_some((self.base + self.room.start) as *mut Header)
    }

    fn read(&self) -> Option<Header> {
        // SAFETY: the beginning of the room: zeroes, or what was written here.
        self.header().map(|header| unsafe { header.read() })
    }

    /// The first free offset.
    pub fn end(&self) -> usize {
        let end = self.read().map_or(0, |header| header.end);
        end.max(self.room.start + size_of::<Header>()).min(self.room.end)
    }

    pub fn next_batch(&self) -> usize {
        self.read().map_or(0, |header| header.batches)
    }

    /// All, in the order in which they were loaded. A rank may have written over them: what makes no sense ends the
    /// list.
    pub fn all(&self) -> Vec<Late> {
        let mut all = Vec::new();
        let mut at = self.read().map_or(0, |header| header.first);
        while self.holds(at, size_of::<Record>()) && all.len() < self.room.len() / PAGE {
            // SAFETY: inside of the room; `add` has written it.
            let record = unsafe { ((self.base + at) as *const Record).read_unaligned() };
            let path = at + size_of::<Record>();
            if !self.holds(path, record.path) || !self.holds(record.offset, 1) {
                break;
            }
            // SAFETY: the same.
            let path = unsafe { std::slice::from_raw_parts((self.base + path) as *const u8, record.path) };
            all.push(Late {
                path: Path::new(std::ffi::OsStr::from_bytes(path)).to_owned(),
                offset: record.offset,
                thread_locals: (record.thread_locals != 0).then_some(record.thread_locals),
                batch: record.batch,
                is_global: record.is_global != 0,
            });
            at = record.next;
        }
        all
    }

    fn holds(&self, at: usize, len: usize) -> bool {
        at >= self.room.start && at.checked_add(len).is_some_and(|end| end <= self.room.end)
    }

    /// Bytes that records of these paths take.
    pub fn len_of<'a>(paths: impl Iterator<Item = &'a Path>) -> usize {
        let one = |path: &Path| {
            (size_of::<Record>() + path.as_os_str().len()).next_multiple_of(align_of::<Record>())
        };
        paths.map(one).sum::<usize>() + align_of::<Record>()
    }

    /// Writes down what was loaded at once; `end`: where what follows may begin.
    ///
    /// # Safety
    /// The room has as many free bytes for them as [`Records::len_of`] says, from [`Records::end`] on, and can be
    /// written to.
    pub unsafe fn add(&mut self, batch: &[Late], end: usize) {
        let (Some(place), Some(mut header)) = (self.header(), self.read()) else { return };
        let mut at = self.end().next_multiple_of(align_of::<Record>());
        for late in batch {
            let path = late.path.as_os_str().as_bytes();
            let record = Record {
                next: 0,
                offset: late.offset,
                thread_locals: late.thread_locals.unwrap_or(0),
                batch: late.batch,
                is_global: usize::from(late.is_global),
                path: path.len(),
            };
            // SAFETY: the caller's promise; the last record was written here.
            unsafe {
                ((self.base + at) as *mut Record).write(record);
                let text = (self.base + at + size_of::<Record>()) as *mut u8;
                std::ptr::copy_nonoverlapping(path.as_ptr(), text, path.len());
                match header.last {
                    0 => header.first = at,
                    last => (*((self.base + last) as *mut Record)).next = at,
                }
            }
            header.last = at;
            at = (at + size_of::<Record>() + path.len()).next_multiple_of(align_of::<Record>());
        }
        (header.end, header.batches) = (end, header.batches + 1);
        // SAFETY: the caller's promise.
        unsafe { place.write(header) };
    }

    /// From now on others may use libraries that were loaded at once.
    pub fn make_global(&mut self, batch: usize) {
        let mut at = self.read().map_or(0, |header| header.first);
        while self.holds(at, size_of::<Record>()) {
            // SAFETY: inside of the room; `add` has written it.
            let record = unsafe { &mut *((self.base + at) as *mut Record) };
            if record.batch == batch {
                record.is_global = 1;
            }
            at = record.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_down_is_found_again() {
        let mut room = vec![0u64; 1 << 11];
        let base = room.as_mut_ptr() as usize - 4096;
        // SAFETY: the room is ours.
        let mut records = unsafe { Records::new(base, 4096..4096 + 16384) };
        assert!(records.all().is_empty());
        let late = |path: &str, batch| Late {
            path: path.into(),
            offset: 8000,
            thread_locals: (batch == 1).then_some(8064),
            batch,
            is_global: false,
        };
        for batch in [vec![late("/a", 0), late("/lib/longer", 0)], vec![late("", 1)]] {
            let len = Records::len_of(batch.iter().map(|late| &*late.path));
            let end = records.end() + len;
            // SAFETY: there is room.
            unsafe { records.add(&batch, end) };
            assert_eq!(records.end(), end);
        }
        records.make_global(0);
        let all = records.all();
        let paths: Vec<&Path> = all.iter().map(|late| &*late.path).collect();
        assert_eq!(paths, ["/a", "/lib/longer", ""].map(Path::new));
        let others: Vec<_> = all.iter().map(|l| (l.batch, l.is_global, l.thread_locals)).collect();
        assert_eq!(others, [(0, true, None), (0, true, None), (1, false, Some(8064))]);
        assert_eq!(records.next_batch(), 2);
    }
}
