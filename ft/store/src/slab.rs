//! A slab: pages that are filled from the front by the slices of one part after the other.
//!
//! Pages that are new cost more than what is put there. The system clears each before it is mapped, unless it is told at once what is to be in
//! it: so the slices that come first are written to the file that a slab has its pages of, and only the next ones are copied.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::param::page_size;

use super::huge_chunk::HugeChunk;
use super::huge_pages::HUGE_PAGE;
use super::shared::SharedMemory;
use super::shm_map::SharedSlab;

/// A slab is a multiple of this, which is one of any page.
const UNIT: usize = 64 << 10;
/// So much new memory is asked for at a time before it is filled, where it is not written: if pages were found one by one when they are first
/// written to, each would cost a trap. The first checkpoints of a job block it a tenth less long so.
const WINDOW: usize = 1 << 20;
/// Slices begin with a line of the caches: copies go past these by whole lines.
pub const LINE: usize = 64;

/// Some pages. The first line is the stamp's.
pub struct Slab {
    pub at: NonNull<u8>,
    pub len: usize,
    /// What they are pages of, and which, if others can map them.
    pub shared: Option<(Arc<SharedMemory>, u64)>,
    /// So many of its first bytes have pages, which are mapped.
    paged: AtomicUsize,
    /// What it is a piece of, if not memory of its own.
    piece_of: Option<Arc<HugeChunk>>,
}

// SAFETY: a slab is its address; its bytes are reached by the buffers and segments that it was divided into, each by its own, and the
// stamp as an atomic.
unsafe impl Send for Slab {}
// SAFETY: as above.
unsafe impl Sync for Slab {}

impl Slab {
    /// New memory for at least so many bytes, if there is any: such as others can map, if that is there.
    pub fn new(len: usize, shared: Option<&Arc<SharedMemory>>) -> Option<Arc<Slab>> {
        Slab::of(len.checked_add(LINE)?.checked_next_multiple_of(UNIT)?, shared)
    }

    /// The same, without a page that is not needed: one of many for one value each.
    pub fn of_pages(len: usize, shared: Option<&Arc<SharedMemory>>) -> Option<Arc<Slab>> {
        Slab::of(Slab::len_for(len)?, shared)
    }

    /// How long the one is that [`Slab::of_pages`] makes.
    pub fn len_for(len: usize) -> Option<usize> {
        len.checked_add(LINE)?.checked_next_multiple_of(page_size())
    }

    fn of(len: usize, shared: Option<&Arc<SharedMemory>>) -> Option<Arc<Slab>> {
        let find = |memory: &SharedMemory| match len {
            HUGE_PAGE.. => memory.aligned_pages(len, HUGE_PAGE),
            _ => memory.pages(len),
        };
        let pages = shared.and_then(|memory| Some((memory.clone(), find(memory)?)));
        if let Some((memory, (at, from))) = pages {
            return Some(Arc::new(Slab {
                at,
                len,
                shared: Some((memory, from)),
                paged: AtomicUsize::new(0),
                piece_of: None,
            }));
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: new memory, at an address that the system chooses.
        let at = unsafe { mmap_anonymous(std::ptr::null_mut(), len, access, MapFlags::PRIVATE) }.ok()?;
        let at = NonNull::new(at.cast())?;
        Some(Arc::new(Slab { at, len, shared: None, paged: AtomicUsize::new(0), piece_of: None }))
    }

    /// All that a chunk is divided into.
    pub fn pieces_of(chunk: Arc<HugeChunk>) -> impl Iterator<Item = Arc<Slab>> {
        chunk.pieces().map(move |piece| {
            let (memory, begin) = chunk.place();
            Arc::new(Slab {
                // SAFETY: within the chunk.
                at: unsafe { chunk.at().add(piece.from) },
                len: piece.len,
                shared: Some((memory.clone(), begin + piece.from as u64)),
                paged: AtomicUsize::new(piece.paged),
                piece_of: Some(chunk.clone()),
            })
        })
    }

    /// Sees that there are pages for what is about to be filled up to `end`, by one who has it alone.
    pub fn page_in(&self, end: usize) {
        self.find_large_pages(end);
        if !self.has_pages(end) {
            self.find_pages(end.next_multiple_of(WINDOW).min(self.len));
        }
    }

    /// Puts bytes where there are no pages yet, or not for all of them, by one who has it alone; whether it did. If not, anything may be there.
    ///
    /// They go through the file that the slab is mapped from: the pages of the file are those of every mapping, so this thread finds the bytes
    /// there when it has written them, as it finds what any call of the system has put into memory, and so does whoever hears of them from it.
    /// Where they replace what others may still read of a version before (the pages that there are already), the stamp was there first.
    pub fn write(&self, from: usize, bytes: &[u8]) -> bool {
        let end = from + bytes.len();
        self.find_large_pages(end);
        let Some((memory, at)) = self.shared.as_ref().filter(|_| !self.has_pages(end)) else { return false };
        let is_written = memory.write(at + from as u64, bytes).is_ok();
        if is_written {
            // Mapped now, not by a trap for each page when they are filled again. The last ones are left for the next slice.
            self.find_pages(end / UNIT * UNIT);
        }
        is_written
    }

    /// Sees that there are pages for all of it, by one who has it alone: zero, as new memory is. To write that takes a fifth less than to have the
    /// system clear each page when it is mapped.
    pub fn zero(&self) {
        static ZEROS: [u8; UNIT] = [0; UNIT];
        self.find_large_pages(self.len);
        let mut pieces = (0..self.len).step_by(UNIT).map(|from| (from, &ZEROS[..UNIT.min(self.len - from)]));
        // What is not written has its pages right after it.
        let _ = pieces.all(|(from, zeros)| self.write(from, zeros));
        self.find_pages(self.len);
    }

    /// As far as `end`, if they begin where pages are missing.
    fn find_large_pages(&self, end: usize) {
        let Some((memory, _)) = self.shared.as_ref().filter(|_| self.piece_of.is_none()) else { return };
        let paged = self.paged.load(Ordering::Relaxed);
        if !paged.is_multiple_of(HUGE_PAGE) {
            return;
        }
        let next = (paged..end).step_by(HUGE_PAGE).take_while(|from| from + HUGE_PAGE <= self.len);
        // SAFETY: within the slab, which begins at a multiple of a large page if it has room for one.
        let find = |from: &usize| unsafe { memory.large_pages.find(self.at.add(*from)) };
        let found = next.take_while(find).count();
        self.paged.store(paged + found * HUGE_PAGE, Ordering::Relaxed);
    }

    fn has_pages(&self, end: usize) -> bool {
        end <= self.paged.load(Ordering::Relaxed)
    }

    /// Has the system find the pages up to `end`, where one ends, and map them. Those of a file are mapped as if they were to be read: the
    /// system does that for some at a time, and they can be written to then.
    fn find_pages(&self, end: usize) {
        let paged = self.paged.load(Ordering::Relaxed);
        if end <= paged {
            return;
        }
        let is_file = self.shared.is_some();
        let how = if is_file { Advice::LinuxPopulateRead } else { Advice::LinuxPopulateWrite };
        // SAFETY: within the slab, and from the end of a page to that of another; what is there stays as it is. A system that does not
        // know this (Linux before 5.14), or has no memory, finds the pages when they are written to.
        let _ = unsafe { madvise(self.at.as_ptr().add(paged).cast(), end - paged, how) };
        self.paged.store(end, Ordering::Relaxed);
    }

    /// It is about to be filled, by one who has it alone. Whoever has mapped it knows from now on.
    pub fn begin(&self) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.stamp().store(NEXT.fetch_add(1, Ordering::Relaxed), Ordering::SeqCst);
        // Also before what is copied past the caches.
        fence(Ordering::SeqCst);
    }

    /// What memory it is in, and how many slabs are in that.
    pub fn beside(&self) -> (usize, usize) {
        match &self.piece_of {
            Some(chunk) => (chunk.at().as_ptr().addr(), chunk.pieces().count()),
            None => (self.at.as_ptr().addr(), 1),
        }
    }

    fn stamp(&self) -> &AtomicU64 {
        // SAFETY: mapped while `self` lives, aligned, and in the first line, which no slice has any of.
        unsafe { self.at.cast().as_ref() }
    }

    pub fn place(&self) -> Option<SharedSlab> {
        let (_, from) = self.shared.as_ref()?;
        let (at, stamp) = (self.at.as_ptr().addr() as u64, self.stamp().load(Ordering::Relaxed));
        Some(SharedSlab { at, len: self.len as u64, from: *from, stamp })
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        if self.piece_of.is_some() {
            // A large page is given back as a whole: to divide it costs the system more than it gains, and it has fewer large ones then.
            return;
        }
        // SAFETY: mapped by `of`, and nobody has any of it any more: whoever does has the slab. That a mapping as it was made
        // cannot be taken back does not happen.
        let _ = unsafe { munmap(self.at.as_ptr().cast(), self.len) };
        if let Some((memory, from)) = &self.shared {
            memory.give_back(*from, self.len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without large pages.
    fn shared() -> (Arc<SharedMemory>, Arc<Slab>) {
        let memory = Arc::new(SharedMemory::new().expect("the system has it"));
        memory.large_pages.forbid();
        let slab = Slab::new(4 * WINDOW, Some(&memory)).expect("there is memory");
        (memory, slab)
    }

    /// Whether there is the first page of the unit that this byte is in.
    fn has_page(slab: &Slab, at: usize) -> bool {
        let mut said = 0_u8;
        let page = at / UNIT * UNIT;
        // SAFETY: it is asked of one page, which is the slab's, and there is a byte for it.
        let done = unsafe { libc::mincore(slab.at.add(page).as_ptr().cast(), 1, (&raw mut said).cast()) };
        assert_eq!(done, 0);
        said & 1 == 1
    }

    fn bytes(slab: &Slab, from: usize, len: usize) -> &[u8] {
        // SAFETY: within the slab, which is mapped and so initialised, and which nobody changes while a test looks.
        unsafe { std::slice::from_raw_parts(slab.at.add(from).as_ptr(), len) }
    }

    fn some(len: usize, first: usize) -> Vec<u8> {
        (first..first + len).map(|at| (at * 7 % 251) as u8).collect()
    }

    #[test]
    fn new_memory_is_asked_for_before_it_is_filled() {
        for slab in [Slab::new(4 * WINDOW, None).expect("there is memory"), shared().1] {
            let windows = || (0..slab.len).step_by(WINDOW).filter(|from| has_page(&slab, *from)).count();
            assert_eq!(windows(), 0);
            for (filled, expected) in [(1, 1), (WINDOW, 1), (WINDOW + 1, 2), (slab.len, 5)] {
                slab.page_in(filled);
                assert_eq!(windows(), expected, "for {filled} bytes");
            }
        }
    }

    #[test]
    fn what_is_written_is_where_it_is_mapped_and_needs_no_other_pages() {
        let (_memory, slab) = shared();
        let (mut from, mut all) = (LINE, Vec::new());
        for len in [1, 100, 4096, 5000, UNIT - 1, 3 * UNIT + 17, WINDOW, 16 << 10] {
            assert!(slab.write(from, &some(len, from)), "{len} bytes at {from}");
            all.push((from, len));
            from += len.next_multiple_of(LINE);
        }
        for (from, len) in all {
            assert!(bytes(&slab, from, len) == some(len, from), "{len} bytes at {from}");
        }
        assert!(has_page(&slab, from - LINE) && !has_page(&slab, from + UNIT));
        assert!(slab.has_pages(from / UNIT * UNIT));
    }

    #[test]
    fn what_is_zero_has_all_its_pages() {
        let len = 3 * UNIT + 5000;
        for (memory, slab) in [shared(), shared()].map(|(memory, _)| {
            let slab = Slab::of_pages(len, Some(&memory)).expect("there is memory");
            (memory, slab)
        }) {
            assert!(slab.len < 4 * UNIT && slab.len > len);
            slab.zero();
            assert!(slab.has_pages(slab.len) && (0..slab.len).step_by(UNIT).all(|at| has_page(&slab, at)));
            assert!(bytes(&slab, 0, slab.len).iter().all(|byte| *byte == 0));
            memory.forbid_to_write();
            let slab = Slab::of_pages(len, Some(&memory)).or_else(|| Slab::of_pages(len, None));
            let slab = slab.expect("there is memory");
            slab.zero();
            assert!(slab.has_pages(slab.len) && has_page(&slab, slab.len - 1));
        }
    }

    #[test]
    fn slices_are_written_as_long_as_they_need_new_pages() {
        let (_memory, slab) = shared();
        slab.page_in(1);
        assert!(!slab.write(LINE, &[1; WINDOW / 2]), "it has pages");
        assert!(slab.write(WINDOW - 100, &some(UNIT, 0)), "it has some of its pages");
        assert!(bytes(&slab, WINDOW - 100, UNIT) == some(UNIT, 0));
        assert_eq!(bytes(&slab, WINDOW - 200, 100), [0; 100], "that was not written");
        slab.page_in(slab.len);
        assert!(bytes(&slab, WINDOW - 100, UNIT) == some(UNIT, 0), "what is there stays as it is");
        assert!(!slab.write(2 * WINDOW, &[1; 100]));
        let own = Slab::new(WINDOW, None).expect("there is memory");
        assert!(!own.write(LINE, &[1; 100]), "nothing is mapped there");
    }

    /// Where there are large pages.
    #[test]
    fn what_is_filled_is_the_same_in_large_pages() {
        let memory = Arc::new(SharedMemory::new().expect("the system has it"));
        let slab = Slab::new(4 * HUGE_PAGE + UNIT, Some(&memory)).expect("there is memory");
        assert!(slab.at.as_ptr().addr().is_multiple_of(HUGE_PAGE));
        let mut from = LINE;
        for len in [1, 5000, UNIT, WINDOW, HUGE_PAGE, HUGE_PAGE + 1, 300] {
            if !slab.write(from, &some(len, from)) {
                slab.page_in(from + len);
                // SAFETY: within the slab, which nobody else has heard of.
                unsafe {
                    slab.at
                        .add(from)
                        .copy_from_nonoverlapping(NonNull::from(&some(len, from)[..]).cast(), len)
                };
            }
            from += len;
        }
        assert!(bytes(&slab, LINE, from - LINE) == some(from - LINE, LINE));
        slab.zero();
        assert!(slab.has_pages(slab.len) && bytes(&slab, LINE, from - LINE) == some(from - LINE, LINE));
    }

    #[test]
    fn what_the_system_does_not_write_can_be_copied() {
        let (memory, slab) = shared();
        assert!(slab.write(LINE, &[1; 100]));
        memory.forbid_to_write();
        assert!(!slab.write(LINE + 100, &[2; UNIT]));
        assert!(!slab.has_pages(UNIT), "nothing is known of them");
        slab.page_in(LINE + 100 + UNIT);
        assert!(has_page(&slab, WINDOW - 1), "as where nothing is written");
        assert_eq!(bytes(&slab, LINE, 101), [[1; 100].as_slice(), &[0]].concat());
    }
}
