//! The memory of parts: slabs that the parts of one version after the other fill.
//!
//! The large slices of a part are put one behind the other. Once a version is not needed any more, whatever comes next fills its
//! slabs again, whatever the sizes of its slices: memory that the system has to find and to clear costs several times the copy.
//!
//! Where there is room for large pages, they are asked for, as long as the system finds them sooner than small ones
//! ([`HugePages`](crate::huge_pages::HugePages)).

use std::sync::Arc;

use bytes::Bytes;

use crate::pages::slab_of;
use crate::shm_map::Shared;
use crate::slab::{LINE, Slab};
use talisman_pup::{ALIGN_MAX, Fault, Packed, Packer, PupError, SEGMENT_MIN, Segment, SegmentBuffer};

/// What the first slab of a part has room for. Each is twice as large as the one before, so that small parts take little and large ones few.
const SMALLEST: usize = (256 << 10) - LINE;
const LARGEST: usize = 32 << 20;

/// Where slabs come from.
pub trait SlabSource {
    /// A slab for at least so many bytes that nobody needs any more.
    fn spare_slab(&self, len: usize) -> Option<Arc<Slab>>;

    /// A new one, if there is memory.
    fn new_slab(&self, len: usize) -> Option<Arc<Slab>>;
}

/// Slabs that nothing is in, each with how many versions have come since something was.
#[derive(Default)]
pub struct Slabs(Vec<(Arc<Slab>, u32)>);

/// Slabs that so many versions have not needed are given back. What waits with a PE is much at one checkpoint and little at the next.
const SPARE_FOR: u32 = 8;

impl Slabs {
    /// The smallest for at least so many bytes, of such as are alike the one that came first: a part whose last slab it filled in part only
    /// is followed by one that does the same, and the rest of that one needs no memory. One that was made for a single slice larger than any
    /// is left for the next of that kind, which would need a new one.
    pub fn take(&mut self, len: usize) -> Option<Arc<Slab>> {
        let fits = |slab: &Slab| slab.len - LINE >= len && (len > LARGEST || slab.len <= LARGEST);
        let large = self.0.iter().enumerate().filter(|(_, (slab, _))| fits(slab));
        let (place, _) = large.min_by_key(|(_, (slab, _))| slab.len)?;
        Some(self.0.remove(place).0)
    }

    /// Takes in those of a part that is gone, if nobody has any of it.
    pub fn add(&mut self, room: Room) {
        let spare = room.slabs.into_iter().filter(|slab| Arc::strong_count(slab) == 1);
        self.0.extend(spare.map(|slab| (slab, 0)));
    }

    /// A version has come that did not need these.
    pub fn age(&mut self) {
        self.0.retain_mut(|(_, spare_for)| {
            *spare_for += 1;
            *spare_for < SPARE_FOR
        });
    }
}

/// Where the slices of a part go.
#[derive(Default)]
pub struct Room {
    slabs: Vec<Arc<Slab>>,
    /// Bytes of the last one that are taken.
    used: usize,
    /// Others that values of the part are in, which nothing was copied for.
    pages: Vec<Arc<Slab>>,
    /// Where objects are packed before it is known how large they are.
    scratch: Vec<u8>,
}

impl Room {
    /// Where an object can be packed: memory, empty, that the one before it used.
    pub fn scratch(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.scratch)
    }

    /// The next object may be packed there, if that is not too much to hold on to.
    pub fn keep_scratch(&mut self, scratch: Vec<u8>) {
        if scratch.capacity() <= SMALLEST {
            self.scratch = scratch;
        }
    }

    /// What was packed somewhere, and that memory, empty. What is beside its large slices goes into slabs too if it is as much as one of
    /// them: whoever maps these has it then. Without memory for it, it is refused.
    pub fn packed(
        &mut self,
        source: &dyn SlabSource,
        (mut packer, segments): (Packer, Vec<Segment>),
    ) -> (Packed, Vec<u8>) {
        let mut refusal = packer.take_refusal();
        let (mut bytes, needs) = packer.into_parts();
        let copied = self.copied(source, &bytes).unwrap_or_else(|| {
            refusal.get_or_insert_with(|| PupError::new(0, Fault::Memory { bytes: bytes.len() }));
            Bytes::new()
        });
        let packed = Packed::new(copied, segments, needs).refused(refusal);
        bytes.clear();
        (packed, bytes)
    }

    fn copied(&mut self, source: &dyn SlabSource, bytes: &[u8]) -> Option<Bytes> {
        let is_large = bytes.len() >= SEGMENT_MIN;
        if let Some(copy) = is_large.then(|| self.copy(source, bytes, 1)).flatten() {
            return Some(Bytes::from_owner(copy));
        }
        let mut copy = Vec::new();
        copy.try_reserve_exact(bytes.len()).ok()?;
        copy.extend_from_slice(bytes);
        Some(copy.into())
    }

    /// A copy of a slice, in slabs of the store or in new ones; none if there is no memory.
    pub fn copy(&mut self, source: &dyn SlabSource, bytes: &[u8], align: usize) -> Option<Segment> {
        let (from, mut buffer) = self.next(source, bytes.len(), align)?;
        let slab = self.slabs.last()?;
        if slab.write(from, bytes) {
            // SAFETY: all of them were written, to where the buffer is in the slab.
            unsafe { buffer.advance(bytes.len()) };
        } else {
            slab.page_in(from + bytes.len());
            buffer.fill_past_cache(bytes);
        }
        buffer.finish()
    }

    /// Memory for a slice, in slabs of the store or in new ones; none if there is none.
    pub fn buffer(&mut self, source: &dyn SlabSource, len: usize, align: usize) -> Option<SegmentBuffer> {
        let (from, buffer) = self.next(source, len, align)?;
        self.slabs.last()?.page_in(from + len);
        Some(buffer)
    }

    /// The same, perhaps without pages yet, and where in the last slab it is.
    fn next(&mut self, source: &dyn SlabSource, len: usize, align: usize) -> Option<(usize, SegmentBuffer)> {
        if !align.is_power_of_two() || align > ALIGN_MAX {
            return None;
        }
        let from = self.place(align, len).or_else(|| {
            self.grow(source, len)?;
            self.place(align, len)
        })?;
        let slab = self.slabs.last()?;
        self.used = from + len;
        // SAFETY: `place` says that it is in the slab, and aligned; everything from `used` on is nobody's, and this is taken once.
        Some((from, unsafe { SegmentBuffer::lent(slab.at.add(from), len, align, slab.clone()) }))
    }

    /// Where the next slice would be in the last slab, if there is room for it. Slabs are aligned to pages, and so to anything.
    fn place(&self, align: usize, len: usize) -> Option<usize> {
        let from = self.used.checked_next_multiple_of(align.max(LINE))?;
        let end = from.checked_add(len)?;
        self.slabs.last().is_some_and(|slab| end <= slab.len).then_some(from)
    }

    fn grow(&mut self, source: &dyn SlabSource, len: usize) -> Option<()> {
        let usual = self.slabs.last().map_or(SMALLEST, |slab| (2 * slab.len).min(LARGEST) - LINE);
        // What is larger than any is about as large the next time, and has the same slab then.
        let next = if len > LARGEST { len.saturating_add(len / 16) } else { usual.max(len) };
        self.begin(source.spare_slab(next).or_else(|| source.new_slab(next))?);
        Some(())
    }

    /// The next slices go into this slab, in which nothing is.
    pub fn begin(&mut self, slab: Arc<Slab>) {
        slab.begin();
        self.slabs.push(slab);
        self.used = LINE;
    }

    /// The values of a part that are in pages which it keeps are there.
    pub fn hold_pages(&mut self, part: &Packed) {
        self.pages = part.segments().iter().filter_map(slab_of).collect();
    }

    /// Where its slabs are, for others; none if none of them can be mapped.
    pub fn shared(&self) -> Option<Shared> {
        let all = || self.slabs.iter().chain(&self.pages);
        let (memory, _) = all().find_map(|slab| slab.shared.as_ref())?;
        let slabs = all().filter_map(|slab| slab.place()).collect();
        Some(Shared { descriptor: memory.descriptor(), slabs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_source::TestSource;
    use talisman_pup::Purpose;

    /// What is copied by turns to where pages are new, to where there are some already, and to where the system does not write.
    #[test]
    fn a_copy_is_what_it_is_of_wherever_it_goes() {
        let (store, mut room) = (TestSource::default(), Room::default());
        store.share();
        let slices = [20_001, SEGMENT_MIN, 3 * SMALLEST, 100_000, 5, 70_003]
            .map(|len: usize| (0..len).map(|at| (at * 7 % 251) as u8).collect::<Vec<u8>>());
        let copy = |room: &mut Room| {
            slices.each_ref().map(|slice| room.copy(&store, slice, 8).expect("there is memory"))
        };
        let check = |copies: &[Segment]| {
            for (copy, slice) in copies.iter().zip(&slices) {
                assert!(copy.bytes() == slice, "{} bytes", slice.len());
                assert_eq!((copy.align(), copy.bytes().as_ptr().addr() % 8), (8, 0));
            }
        };
        let first = copy(&mut room);
        filled(&mut room, &store, 100, 8);
        let second = copy(&mut room);
        let (memory, _) = room.slabs[0].shared.as_ref().expect("it is such as others can map");
        memory.forbid_to_write();
        let third = copy(&mut room);
        [&first, &second, &third].into_iter().for_each(|copies| check(copies));
        drop((first, second, third));
        let mut slabs = Slabs::default();
        slabs.add(room);
        let mut again = Room::default();
        while let Some(slab) = slabs.take(1) {
            again.begin(slab);
            check(&copy(&mut again));
        }
    }

    fn filled(room: &mut Room, source: &TestSource, len: usize, align: usize) -> Segment {
        let mut buffer = room.buffer(source, len, align).expect("there is memory");
        buffer.fill(&vec![len as u8; len]);
        buffer.finish().expect("it was filled")
    }

    #[test]
    fn slices_are_behind_one_another_and_aligned() {
        let (store, mut room) = (TestSource::default(), Room::default());
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
        let (store, mut slabs) = (TestSource::default(), Slabs::default());
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
        let (store, mut slabs, mut room) = (TestSource::default(), Slabs::default(), Room::default());
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
        let (store, mut slabs, mut room) = (TestSource::default(), Slabs::default(), Room::default());
        filled(&mut room, &store, 1000, 8);
        slabs.add(room);
        (1..SPARE_FOR).for_each(|_| slabs.age());
        assert_eq!(slabs.0.len(), 1);
        slabs.age();
        assert!(slabs.take(1).is_none());
    }

    #[test]
    fn the_slab_of_a_single_slice_is_left_for_the_next() {
        let (store, mut slabs, mut room) = (TestSource::default(), Slabs::default(), Room::default());
        filled(&mut room, &store, LARGEST + 1, 8);
        slabs.add(room);
        assert!(slabs.take(LARGEST - LINE).is_none());
        assert!(slabs.take(LARGEST + 1000).is_some(), "it is a little larger than the slice was");
    }

    #[test]
    fn much_beside_large_slices_is_in_slabs_too() {
        let (store, mut room) = (TestSource::default(), Room::default());
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
    fn what_cannot_be_is_refused() {
        let (store, mut room) = (TestSource::default(), Room::default());
        assert!(room.buffer(&store, 8, 3).is_none());
        assert!(room.buffer(&store, 8, 2 * ALIGN_MAX).is_none());
        assert!(room.buffer(&store, usize::MAX - 8, 8).is_none());
        assert!(room.buffer(&store, usize::MAX / 2, 8).is_none());
        assert!(room.buffer(&store, 8, 8).is_some());
    }
}
