//! Which pages of a slot have something in them.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use super::layout::PAGE;

/// So many pages are looked up at a time: entries of 8 bytes.
const AT_ONCE: usize = 4096;

/// Set in an entry of a page that is in memory, or in swap (Documentation/admin-guide/mm/pagemap.rst).
const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;
/// Set in an entry of a page that is still that of a file.
const OF_FILE: u64 = 1 << 61;

/// The system's list of pages of this process.
pub(super) struct PageMap(File);

impl PageMap {
    pub fn open() -> io::Result<PageMap> {
        File::open("/proc/self/pagemap").map(PageMap)
    }

    /// Runs of addresses in this range whose pages were touched, in order. A gap of one page is taken in: one more
    /// page costs less than one more run.
    pub fn runs(&self, range: Range<usize>) -> io::Result<Vec<Range<usize>>> {
        self.runs_of(range, |entry| entry & (PRESENT | SWAPPED) != 0)
    }

    /// The same of pages that were written to, in a private mapping of a file or of nothing.
    pub fn written_runs(&self, range: Range<usize>) -> io::Result<Vec<Range<usize>>> {
        self.runs_of(range, |entry| entry & (PRESENT | SWAPPED) != 0 && entry & OF_FILE == 0)
    }

    fn runs_of(&self, range: Range<usize>, counts: fn(u64) -> bool) -> io::Result<Vec<Range<usize>>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut entries = vec![0; AT_ONCE * 8];
        let mut at = range.start / PAGE * PAGE;
        while at < range.end {
            let pages = (range.end - at).div_ceil(PAGE).min(AT_ONCE);
            let entries = &mut entries[..pages * 8];
            self.0.read_exact_at(entries, (at / PAGE * 8) as u64)?;
            for entry in entries.chunks_exact(8) {
                let entry = u64::from_le_bytes(entry.try_into().map_err(io::Error::other)?);
                if counts(entry) {
                    add(&mut runs, at);
                }
                at += PAGE;
            }
        }
        Ok(runs)
    }
}

fn add(runs: &mut Vec<Range<usize>>, page: usize) {
    match runs.last_mut() {
        Some(last) if page - last.end <= PAGE => last.end = page + PAGE,
        _ => runs.push(page..page + PAGE),
    }
}
