//! The memory of parts: slabs that the parts of one version after the other fill.
//!
//! The large slices of a part are put one behind the other. Once a version is not needed any more, whatever comes next fills its
//! slabs again, whatever the sizes of its slices: memory that the system has to find and to clear costs several times the copy.
//!
//! Large pages are not asked for: filling slabs again takes a sixth less of the processor's time with them (fewer pages are looked up
//! when a part is read from another process), but where the machine is a virtual one, the host may have to find each of their bytes
//! first: the first two checkpoints of a job blocked it more than twice as long.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

use bytes::Bytes;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use super::mapped::{Shared, SharedSlab};
use super::shared::SharedMemory;
use super::store::Store;
use crate::pup::{ALIGN_MAX, Packed, Packer, SEGMENT_MIN, Segment, SegmentBuffer};

/// What the first slab of a part has room for. Each is twice as large as the one before, so that small parts take little and large ones few.
const SMALLEST: usize = (256 << 10) - LINE;
const LARGEST: usize = 32 << 20;
/// A slab is a multiple of this, which is one of any page.
const UNIT: usize = 64 << 10;
/// So much new memory is asked for at a time, before it is filled: if pages were found one by one when they are first written to, each would
/// cost a trap. The first checkpoints of a job block it a tenth less long so.
const WINDOW: usize = 1 << 20;
/// Slices begin with a line of the caches: copies go past these by whole lines.
const LINE: usize = 64;

/// Some pages. The first line is the stamp's.
pub(super) struct Slab {
    at: NonNull<u8>,
    len: usize,
    /// What they are pages of, and which, if others can map them.
    shared: Option<(Arc<SharedMemory>, u64)>,
    /// So many of its first bytes have been asked for.
    paged: AtomicUsize,
}

// SAFETY: a slab is its address; its bytes are reached by the buffers and segments that it was divided into, each by its own, and the
// stamp as an atomic.
unsafe impl Send for Slab {}
// SAFETY: as above.
unsafe impl Sync for Slab {}

impl Slab {
    /// New memory for at least so many bytes, if there is any: such as others can map, if that is there.
    pub(super) fn new(len: usize, shared: Option<&Arc<SharedMemory>>) -> Option<Arc<Slab>> {
        let len = len.checked_add(LINE)?.checked_next_multiple_of(UNIT)?;
        let pages = shared.and_then(|memory| Some((memory.clone(), memory.pages(len)?)));
        if let Some((memory, (at, from))) = pages {
            return Some(Arc::new(Slab {
                at,
                len,
                shared: Some((memory, from)),
                paged: AtomicUsize::new(0),
            }));
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: new memory, at an address that the system chooses.
        let at = unsafe { mmap_anonymous(std::ptr::null_mut(), len, access, MapFlags::PRIVATE) }.ok()?;
        Some(Arc::new(Slab { at: NonNull::new(at.cast())?, len, shared: None, paged: AtomicUsize::new(0) }))
    }

    /// Sees that there are pages for what is about to be filled up to `end`, by one who has it alone.
    fn page_in(&self, end: usize) {
        let paged = self.paged.load(Ordering::Relaxed);
        if end <= paged {
            return;
        }
        let end = end.next_multiple_of(WINDOW).min(self.len);
        // SAFETY: within the slab, whose ends and windows are those of pages; what is there stays as it is. A system that does not
        // know this (Linux before 5.14), or has no memory, finds the pages when they are written to.
        let _ = unsafe {
            let from = self.at.as_ptr().add(paged).cast();
            madvise(from, end - paged, Advice::LinuxPopulateWrite)
        };
        self.paged.store(end, Ordering::Relaxed);
    }

    /// It is about to be filled, by one who has it alone. Whoever has mapped it knows from now on.
    fn begin(&self) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.stamp().store(NEXT.fetch_add(1, Ordering::Relaxed), Ordering::SeqCst);
        // Also before what is copied past the caches.
        fence(Ordering::SeqCst);
    }

    fn stamp(&self) -> &AtomicU64 {
        // SAFETY: mapped while `self` lives, aligned, and in the first line, which no slice has any of.
        unsafe { self.at.cast().as_ref() }
    }

    fn place(&self) -> Option<SharedSlab> {
        let (_, from) = self.shared.as_ref()?;
        let (at, stamp) = (self.at.as_ptr().addr() as u64, self.stamp().load(Ordering::Relaxed));
        Some(SharedSlab { at, len: self.len as u64, from: *from, stamp })
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and nobody has any of it any more: whoever does has the slab. That a mapping as it was made
        // cannot be taken back does not happen.
        let _ = unsafe { munmap(self.at.as_ptr().cast(), self.len) };
        if let Some((memory, from)) = &self.shared {
            memory.give_back(*from, self.len);
        }
    }
}

/// Slabs that nothing is in, each with how many versions have come since something was.
#[derive(Default)]
pub(super) struct Slabs(Vec<(Arc<Slab>, u32)>);

/// Slabs that so many versions have not needed are given back. What waits with a PE is much at one checkpoint and little at the next.
const SPARE_FOR: u32 = 8;

impl Slabs {
    /// The smallest for at least so many bytes, of such as are alike the one that came first: a part whose last slab it filled in part only
    /// is followed by one that does the same, and the rest of that one needs no memory. One that was made for a single slice larger than any
    /// is left for the next of that kind, which would need a new one.
    pub(super) fn take(&mut self, len: usize) -> Option<Arc<Slab>> {
        let fits = |slab: &Slab| slab.len - LINE >= len && (len > LARGEST || slab.len <= LARGEST);
        let large = self.0.iter().enumerate().filter(|(_, (slab, _))| fits(slab));
        let (place, _) = large.min_by_key(|(_, (slab, _))| slab.len)?;
        Some(self.0.remove(place).0)
    }

    /// Takes in those of a part that is gone, if nobody has any of it.
    pub(super) fn add(&mut self, room: Room) {
        let spare = room.slabs.into_iter().filter(|slab| Arc::strong_count(slab) == 1);
        self.0.extend(spare.map(|slab| (slab, 0)));
    }

    /// A version has come that did not need these.
    pub(super) fn age(&mut self) {
        self.0.retain_mut(|(_, spare_for)| {
            *spare_for += 1;
            *spare_for < SPARE_FOR
        });
    }
}

/// Where the slices of a part go.
#[derive(Default)]
pub(super) struct Room {
    slabs: Vec<Arc<Slab>>,
    /// Bytes of the last one that are taken.
    used: usize,
    /// Where objects are packed before it is known how large they are.
    scratch: Vec<u8>,
}

impl Room {
    /// Where an object can be packed: memory, empty, that the one before it used.
    pub(super) fn scratch(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.scratch)
    }

    /// The next object may be packed there, if that is not too much to hold on to.
    pub(super) fn keep_scratch(&mut self, scratch: Vec<u8>) {
        if scratch.capacity() <= SMALLEST {
            self.scratch = scratch;
        }
    }

    /// What was packed somewhere, and that memory, empty. What is beside its large slices goes into slabs too if it is as much as one of
    /// them: whoever maps these has it then.
    pub(super) fn packed(
        &mut self,
        store: &Store,
        (packer, segments): (Packer, Vec<Segment>),
    ) -> (Packed, Vec<u8>) {
        let (mut bytes, needs) = packer.into_parts();
        let packed = Packed::new(self.copied(store, &bytes), segments, needs);
        bytes.clear();
        (packed, bytes)
    }

    fn copied(&mut self, store: &Store, bytes: &[u8]) -> Bytes {
        let is_large = bytes.len() >= SEGMENT_MIN;
        let Some(mut memory) = is_large.then(|| self.buffer(store, bytes.len(), 1)).flatten() else {
            return Bytes::copy_from_slice(bytes);
        };
        memory.fill_past_cache(bytes);
        Bytes::from_owner(memory.finish().expect("it has room for just these"))
    }

    /// Memory for a slice, in slabs of the store or in new ones; none if there is none.
    pub(super) fn buffer(&mut self, store: &Store, len: usize, align: usize) -> Option<SegmentBuffer> {
        if !align.is_power_of_two() || align > ALIGN_MAX {
            return None;
        }
        let from = self.place(align, len).or_else(|| {
            self.grow(store, len)?;
            self.place(align, len)
        })?;
        let slab = self.slabs.last()?;
        slab.page_in(from + len);
        self.used = from + len;
        // SAFETY: `place` says that it is in the slab, and aligned; everything from `used` on is nobody's, and this is taken once.
        Some(unsafe { SegmentBuffer::lent(slab.at.add(from), len, align, slab.clone()) })
    }

    /// Where the next slice would be in the last slab, if there is room for it. Slabs are aligned to pages, and so to anything.
    fn place(&self, align: usize, len: usize) -> Option<usize> {
        let from = self.used.checked_next_multiple_of(align.max(LINE))?;
        let end = from.checked_add(len)?;
        self.slabs.last().is_some_and(|slab| end <= slab.len).then_some(from)
    }

    fn grow(&mut self, store: &Store, len: usize) -> Option<()> {
        let usual = self.slabs.last().map_or(SMALLEST, |slab| (2 * slab.len).min(LARGEST) - LINE);
        // What is larger than any is about as large the next time, and has the same slab then.
        let next = if len > LARGEST { len.saturating_add(len / 16) } else { usual.max(len) };
        self.begin(store.spare_slab(next).or_else(|| store.new_slab(next))?);
        Some(())
    }

    /// The next slices go into this slab, in which nothing is.
    pub(super) fn begin(&mut self, slab: Arc<Slab>) {
        slab.begin();
        self.slabs.push(slab);
        self.used = LINE;
    }

    /// Where its slabs are, for others; none if none of them can be mapped.
    pub(super) fn shared(&self) -> Option<Shared> {
        let (memory, _) = self.slabs.iter().find_map(|slab| slab.shared.as_ref())?;
        let slabs = self.slabs.iter().filter_map(|slab| slab.place()).collect();
        Some(Shared { descriptor: memory.descriptor(), slabs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pup::Purpose;

    fn filled(room: &mut Room, store: &Store, len: usize, align: usize) -> Segment {
        let mut buffer = room.buffer(store, len, align).expect("there is memory");
        buffer.fill(&vec![len as u8; len]);
        buffer.finish().expect("it was filled")
    }

    #[test]
    fn slices_are_behind_one_another_and_aligned() {
        let (store, mut room) = (Store::default(), Room::default());
        let sizes = [(1, 1), (100, 8), (64, 64), (3, 4096), (SMALLEST, 8), (0, 1), (24 * SMALLEST + 1, 16)];
        let all: Vec<Segment> =
            sizes.iter().map(|(len, align)| filled(&mut room, &store, *len, *align)).collect();
        for (segment, (len, align)) in all.iter().zip(sizes) {
            assert_eq!(segment.bytes(), vec![len as u8; len], "nothing else is there");
            assert_eq!((segment.align(), segment.bytes().as_ptr() as usize % align), (align, 0));
        }
        let lens: Vec<usize> = room.slabs.iter().map(|slab| slab.len).collect();
        assert_eq!(lens, [1, 2, 24].map(|times| times * (SMALLEST + LINE)));
    }

    #[test]
    fn slabs_in_which_nothing_is_are_filled_again() {
        let (store, mut slabs) = (Store::default(), Slabs::default());
        let mut room = Room::default();
        let first = filled(&mut room, &store, 1000, 8);
        let second = filled(&mut room, &store, SMALLEST, 8);
        let at = second.bytes().as_ptr();
        drop(second);
        slabs.add(room);
        assert!(
            slabs
                .take(SMALLEST + 1)
                .is_some_and(|slab| slab.at.as_ptr().wrapping_add(LINE).cast_const() == at)
        );
        assert!(slabs.take(1).is_none(), "a slice is in the other");
        drop(first);
    }

    #[test]
    fn slabs_that_are_alike_are_filled_in_the_same_order_again() {
        let (store, mut slabs, mut room) = (Store::default(), Slabs::default(), Room::default());
        let of_three =
            |room: &mut Room| [(); 3].map(|()| filled(room, &store, LARGEST - 4 * LINE, 8).bytes().as_ptr());
        let first = of_three(&mut room);
        slabs.add(room);
        let mut room = Room::default();
        let again = [(); 3].map(|()| {
            room.begin(slabs.take(LARGEST - 4 * LINE).expect("there are three"));
            filled(&mut room, &store, LARGEST - 4 * LINE, 8).bytes().as_ptr()
        });
        assert_eq!(first, again);
    }

    #[test]
    fn slabs_that_are_not_needed_for_long_are_given_back() {
        let (store, mut slabs, mut room) = (Store::default(), Slabs::default(), Room::default());
        filled(&mut room, &store, 1000, 8);
        slabs.add(room);
        (1..SPARE_FOR).for_each(|_| slabs.age());
        assert_eq!(slabs.0.len(), 1);
        slabs.age();
        assert!(slabs.take(1).is_none());
    }

    #[test]
    fn the_slab_of_a_single_slice_is_left_for_the_next() {
        let (store, mut slabs, mut room) = (Store::default(), Slabs::default(), Room::default());
        filled(&mut room, &store, LARGEST + 1, 8);
        slabs.add(room);
        assert!(slabs.take(LARGEST - LINE).is_none());
        assert!(slabs.take(LARGEST + 1000).is_some(), "it is a little larger than the slice was");
    }

    #[test]
    fn much_beside_large_slices_is_in_slabs_too() {
        let (store, mut room) = (Store::default(), Room::default());
        let mut packed = |len: usize| {
            let mut packer = Packer::over(Purpose::Migration, room.scratch());
            packer.bytes(&vec![7; len]);
            let (packed, scratch) = room.packed(&store, (packer, Vec::new()));
            room.keep_scratch(scratch);
            assert_eq!(packed.bytes(), vec![7; len]);
            let slab =
                room.slabs.last().map(|slab| slab.at.as_ptr().addr()..slab.at.as_ptr().addr() + slab.len);
            slab.is_some_and(|slab| slab.contains(&packed.bytes().as_ptr().addr()))
        };
        assert!(packed(SEGMENT_MIN));
        assert!(!packed(SEGMENT_MIN - 1), "so few are not worth a segment");
        assert!(packed(SMALLEST + 1));
        assert_eq!(room.scratch().capacity(), 0, "what is that large is given back");
    }

    #[test]
    fn new_memory_is_asked_for_before_it_is_filled() {
        let slab = Slab::new(4 * WINDOW, None).expect("there is memory");
        let has_page = |from: usize| {
            let mut said = 0_u8;
            // SAFETY: it is asked of the one page at `from`, which is the slab's, and there is a byte for it.
            let done = unsafe { libc::mincore(slab.at.add(from).as_ptr().cast(), 1, (&raw mut said).cast()) };
            assert_eq!(done, 0);
            said & 1 == 1
        };
        let windows = || (0..slab.len).step_by(WINDOW).filter(|from| has_page(*from)).count();
        assert_eq!(windows(), 0);
        for (filled, expected) in [(1, 1), (WINDOW, 1), (WINDOW + 1, 2), (slab.len, 5)] {
            slab.page_in(filled);
            assert_eq!(windows(), expected, "for {filled} bytes");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let (store, mut room) = (Store::default(), Room::default());
        assert!(room.buffer(&store, 8, 3).is_none());
        assert!(room.buffer(&store, 8, 2 * ALIGN_MAX).is_none());
        assert!(room.buffer(&store, usize::MAX - 8, 8).is_none());
        assert!(room.buffer(&store, usize::MAX / 2, 8).is_none());
        assert!(room.buffer(&store, 8, 8).is_some());
    }
}
