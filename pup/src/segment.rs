//! Large plain slices that travel beside the packed bytes, not in them.

use std::alloc::{Layout, alloc, dealloc};
use std::any::Any;
use std::fmt;
use std::io;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::{Range, RangeInclusive};
use std::ptr::{NonNull, slice_from_raw_parts_mut};
use std::sync::Arc;

use bytes::Bytes;

use crate::found::{find_at_once, is_found_at_once};
use crate::mapped::Mapped;
use crate::{Page, Plain, PlainProof, streamed};

/// Slices of plain values of at least so many bytes become segments, where a [`Packer`](crate::Packer) makes any.
/// Below, copying a slice costs less than a further piece in a vectored write.
pub const SEGMENT_MIN: usize = 16 << 10;

/// Of so many bytes, memory may be found at once ([`found_at_once`](crate::found_at_once)). For longer ones it is not, since a peer may
/// say that it sends what it never does.
const AT_ONCE: RangeInclusive<usize> = 64 << 10..=16 << 20;

/// Alignments above this are not asked for by any plain type, so a peer that names one is wrong.
pub const ALIGN_MAX: usize = 4096;

/// The memory of one large plain slice: what `Pup` would have copied into the packed bytes.
///
/// Going out it is lent by the value it is part of, which something keeps alive; coming in it is memory of its own,
/// which becomes the vector that the program gets.
#[derive(Clone)]
pub struct Segment(Arc<Memory>);

struct Memory {
    at: NonNull<u8>,
    len: usize,
    align: usize,
    owner: Owner,
}

enum Owner {
    /// From the global allocator, with this layout.
    Own(Layout),
    /// Pages that are mapped for it.
    Mapped(Mapped),
    /// Part of something that lives as long.
    Kept(Arc<dyn Any + Send + Sync>),
}

// SAFETY: plain bytes that nobody changes while a segment of them lives, but who has the only one (`Segment::bytes_mut`): those of `Own`
// and `Mapped` are the segment's alone, those of `Kept` by the promise of `Segment::lent`.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Segment {
    /// A vector's memory, moved.
    pub fn of_vec<T: Plain>(values: Vec<T>) -> Self {
        let mut values = ManuallyDrop::new(values);
        let layout = Layout::array::<T>(values.capacity()).expect("a vector's own layout");
        let at = NonNull::new(values.as_mut_ptr().cast()).expect("a vector's pointer");
        let len = values.len() * size_of::<T>();
        Segment(Arc::new(Memory { at, len, align: align_of::<T>(), owner: Owner::Own(layout) }))
    }

    /// Memory that something else owns.
    ///
    /// # Safety
    /// The `len` bytes at `at` are initialised and stay where and what they are as long as `keeper` lives; `align` is a
    /// power of two.
    pub unsafe fn lent(
        at: NonNull<u8>,
        len: usize,
        align: usize,
        keeper: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        Segment(Arc::new(Memory { at, len, align, owner: Owner::Kept(keeper) }))
    }

    /// A part of it, which keeps the whole. It is aligned like that only if it is the whole.
    ///
    /// # Panics
    /// If the range is not within it.
    pub fn part(&self, range: Range<usize>) -> Segment {
        let part = &self.bytes()[range];
        if part.len() == self.0.len {
            return self.clone();
        }
        let (at, len) = (NonNull::from(part).cast(), part.len());
        // SAFETY: the memory of a segment stays where and what it is while a clone of it lives.
        unsafe { Segment::lent(at, len, 1, Arc::new(self.clone())) }
    }

    /// Bytes, shared.
    pub(crate) fn of_bytes(bytes: Bytes) -> Self {
        let (at, len) = (NonNull::from(&*bytes).cast(), bytes.len());
        // SAFETY: the memory of `Bytes` stays where and what it is while a clone of them lives.
        unsafe { Segment::lent(at, len, 1, Arc::new(bytes)) }
    }

    /// The same bytes in memory of their own, as they would be behind a network.
    pub fn copied(&self) -> Self {
        let mut buffer =
            SegmentBuffer::new(self.0.len, self.0.align).expect("as much memory as there is, once more");
        buffer.fill(self.bytes());
        buffer.finish().expect("it was filled")
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `at` and `len` are those of live, initialised memory: see `Owner`.
        unsafe { std::slice::from_raw_parts(self.0.at.as_ptr(), self.0.len) }
    }

    /// How its values are aligned.
    pub fn align(&self) -> usize {
        self.0.align
    }

    /// What keeps the memory that it has not of its own.
    pub(crate) fn keeper<K: Any>(&self) -> Option<&K> {
        match &self.0.owner {
            Owner::Own(_) | Owner::Mapped(_) => None,
            Owner::Kept(keeper) => (**keeper).downcast_ref(),
        }
    }

    /// The bytes, to be written to, if nobody else has the segment. Not for memory that whoever keeps it does not let others write to.
    pub(crate) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        let memory = Arc::get_mut(&mut self.0)?;
        // SAFETY: live, initialised memory (see `Owner`), of which this is the only segment.
        Some(unsafe { std::slice::from_raw_parts_mut(memory.at.as_ptr(), memory.len) })
    }

    /// Puts its bytes to an address, in place of what is there: pages that arrived in memory of their own
    /// ([`SegmentBuffer::new`]) are moved if nobody else has them, anything else is copied. Gives whether they were
    /// moved.
    ///
    /// # Safety
    /// As many bytes from `to` on, which is a multiple of 4096, are private anonymous memory that can be read and
    /// written. They are the caller's, and nothing refers to what is in them.
    ///
    /// # Errors
    /// The system has neither room for the pages as they are nor for a copy; what was there may be gone.
    pub unsafe fn move_to(self, to: NonNull<u8>) -> io::Result<bool> {
        let mut memory = match Arc::try_unwrap(self.0) {
            Ok(memory) => memory,
            // SAFETY: by the contract.
            Err(shared) => return Ok(unsafe { shared.copy_to(to) }),
        };
        // The memory has nothing to free then.
        let nothing = Owner::Own(Layout::new::<()>());
        match std::mem::replace(&mut memory.owner, nothing) {
            // SAFETY: by the contract.
            Owner::Mapped(mapped) => unsafe { mapped.move_to(to) },
            other => {
                memory.owner = other;
                // SAFETY: by the contract.
                Ok(unsafe { memory.copy_to(to) })
            }
        }
    }

    /// The values, without a copy if this segment is theirs alone.
    ///
    /// `None` if the bytes are not a whole number of values.
    pub(crate) fn into_vec<T>(self, _: PlainProof<T>) -> Option<Vec<T>> {
        let (len, size) = (self.0.len, size_of::<T>());
        if size == 0 || len % size != 0 {
            return None;
        }
        match Arc::try_unwrap(self.0) {
            Ok(memory) => Some(memory.into_vec()),
            Err(shared) => Some(shared.copied()),
        }
    }
}

impl Memory {
    /// For plain values of which a whole number is here.
    fn into_vec<T>(self) -> Vec<T> {
        let Owner::Own(layout) = self.owner else { return self.copied() };
        let fits = layout.align() == align_of::<T>() && layout.size() % size_of::<T>() == 0;
        if !fits {
            return self.copied();
        }
        let memory = ManuallyDrop::new(self);
        let (len, capacity) = (memory.len / size_of::<T>(), layout.size() / size_of::<T>());
        // SAFETY: the memory is from the global allocator with the layout of a vector of this capacity, its first `len`
        // values are initialised, and it is given up here.
        unsafe { Vec::from_raw_parts(memory.at.as_ptr().cast(), len, capacity) }
    }

    /// # Safety
    /// As many bytes at `to` can be written to, and are no part of this.
    unsafe fn copy_to(&self, to: NonNull<u8>) -> bool {
        // SAFETY: by the contract; the bytes here are initialised.
        unsafe { std::ptr::copy_nonoverlapping(self.at.as_ptr(), to.as_ptr(), self.len) };
        false
    }

    fn copied<T>(&self) -> Vec<T> {
        let len = self.len / size_of::<T>();
        let mut values = Vec::<T>::with_capacity(len);
        // SAFETY: the vector has room for `len` values, which are plain (the caller has the proof), and is another
        // allocation.
        unsafe {
            std::ptr::copy_nonoverlapping(self.at.as_ptr(), values.as_mut_ptr().cast(), len * size_of::<T>());
            values.set_len(len);
        }
        values
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Owner::Own(layout) = self.owner
            && layout.size() > 0
        {
            // SAFETY: allocated with this layout, and freed once.
            unsafe { dealloc(self.at.as_ptr(), layout) };
        }
    }
}

impl<T: Plain> From<Vec<T>> for Segment {
    fn from(values: Vec<T>) -> Self {
        Segment::of_vec(values)
    }
}

/// Bytes are compared, wherever they are.
impl PartialEq for Segment {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Segment {}

impl AsRef<[u8]> for Segment {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Segment({} bytes)", self.0.len)
    }
}

/// Memory for a segment that arrives: filled from the front, then it is a [`Segment`].
pub struct SegmentBuffer {
    /// Of which the first bytes are initialised, as many as are filled.
    memory: Memory,
    filled: usize,
}

/// A segment cannot be taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// The alignment is none, or above [`ALIGN_MAX`].
    #[error("a segment aligned to {align} bytes: alignments are powers of two up to {ALIGN_MAX}")]
    Align {
        /// What was asked for.
        align: usize,
    },
    /// There is not so much memory.
    #[error("no memory for a segment of {len} bytes")]
    Memory {
        /// What was asked for.
        len: usize,
    },
}

impl SegmentBuffer {
    /// Room for `len` bytes, not touched yet. For [`Page`]s, of 16 KiB or more, it is mapped for them alone.
    ///
    /// # Errors
    /// An alignment that cannot be, or more memory than there is.
    pub fn new(len: usize, align: usize) -> Result<Self, SegmentError> {
        if !align.is_power_of_two() || align > ALIGN_MAX {
            return Err(SegmentError::Align { align });
        }
        if align == align_of::<Page>()
            && len >= SEGMENT_MIN
            && let Some(mapped) = Mapped::new(len)
        {
            let memory = Memory { at: mapped.at(), len, align, owner: Owner::Mapped(mapped) };
            return Ok(SegmentBuffer { memory, filled: 0 });
        }
        let layout = Layout::from_size_align(len.max(1), align).map_err(|_| SegmentError::Memory { len })?;
        // SAFETY: the layout is not empty.
        let at = NonNull::new(unsafe { alloc(layout) }).ok_or(SegmentError::Memory { len })?;
        let mut buffer =
            SegmentBuffer { memory: Memory { at, len, align, owner: Owner::Own(layout) }, filled: 0 };
        if AT_ONCE.contains(&len) && is_found_at_once() {
            let spare = buffer.spare();
            // SAFETY: just allocated, and of no type that has to be initialised.
            find_at_once(unsafe { &mut *(spare as *mut [MaybeUninit<u8>]) });
        }
        Ok(buffer)
    }

    /// Room in memory that something else owns.
    ///
    /// # Safety
    /// The `len` bytes at `at` are there as long as `keeper` lives, and until then nobody else reads or writes them. `align` is a
    /// power of two that `at` is a multiple of.
    pub unsafe fn lent(
        at: NonNull<u8>,
        len: usize,
        align: usize,
        keeper: Arc<dyn Any + Send + Sync>,
    ) -> SegmentBuffer {
        SegmentBuffer { memory: Memory { at, len, align, owner: Owner::Kept(keeper) }, filled: 0 }
    }

    /// Bytes that it has room for, filled or not, and how they are aligned.
    pub fn size(&self) -> (usize, usize) {
        (self.memory.len, self.memory.align)
    }

    /// Bytes that are still to come.
    pub fn left(&self) -> usize {
        self.memory.len - self.filled
    }

    /// Where the next bytes go: [`SegmentBuffer::left`] of them, not initialised.
    pub fn spare(&mut self) -> *mut [u8] {
        // SAFETY: `filled` is within the memory.
        slice_from_raw_parts_mut(unsafe { self.memory.at.as_ptr().add(self.filled) }, self.left())
    }

    /// What has been filled.
    pub fn filled(&self) -> &[u8] {
        // SAFETY: so many bytes were written.
        unsafe { std::slice::from_raw_parts(self.memory.at.as_ptr(), self.filled) }
    }

    /// Says that the next `n` bytes were written to [`SegmentBuffer::spare`].
    ///
    /// # Safety
    /// They were.
    pub unsafe fn advance(&mut self, n: usize) {
        assert!(n <= self.left(), "{n} bytes written where {} were left", self.left());
        self.filled += n;
    }

    /// Copies the next bytes in, as many as fit; how many those were.
    pub fn fill(&mut self, bytes: &[u8]) -> usize {
        let n = bytes.len().min(self.left());
        // SAFETY: there is room for `n`, and `bytes` is other memory: it is borrowed, this is not.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.spare().cast(), n) };
        self.filled += n;
        n
    }

    /// The same, for memory that is in no cache and need not be soon: nothing is read of what was there before, and nothing has to
    /// leave the caches for it.
    pub fn fill_past_cache(&mut self, bytes: &[u8]) -> usize {
        let n = bytes.len().min(self.left());
        // SAFETY: there is room for `n`, and `bytes` is other memory: it is borrowed, this is not.
        unsafe { streamed::copy(bytes.as_ptr(), self.spare().cast(), n) };
        self.filled += n;
        n
    }

    /// Begins again: what was filled is forgotten.
    pub fn clear(&mut self) {
        self.filled = 0;
    }

    /// The whole segment; `None` while bytes are missing.
    pub fn finish(self) -> Option<Segment> {
        (self.left() == 0).then(|| Segment(Arc::new(self.memory)))
    }
}

impl fmt::Debug for SegmentBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SegmentBuffer({} of {} bytes)", self.filled, self.memory.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_goes_through_without_a_copy() {
        let values: Vec<f64> = (0..5000).map(f64::from).collect();
        let at = values.as_ptr();
        let back: Vec<f64> = Segment::of_vec(values).into_vec(PlainProof::new()).unwrap();
        assert_eq!((back.as_ptr(), back.len(), back[4999]), (at, 5000, 4999.0));
    }

    #[test]
    fn what_is_shared_or_aligned_otherwise_is_copied() {
        let segment = Segment::of_vec(vec![1u64, 2, 3]);
        let shared = segment.clone();
        assert_eq!(segment.into_vec::<u64>(PlainProof::new()).unwrap(), [1, 2, 3]);
        assert_eq!(shared.into_vec::<u32>(PlainProof::new()).unwrap(), [1, 0, 2, 0, 3, 0]);
        assert!(Segment::of_vec(vec![1u8, 2, 3]).into_vec::<u16>(PlainProof::new()).is_none());
    }

    #[test]
    fn what_arrives_in_pieces_becomes_a_vector() {
        let mut buffer = SegmentBuffer::new(24, 8).unwrap();
        assert_eq!(buffer.fill(&7u64.to_le_bytes()), 8);
        buffer.clear();
        for value in [1.5f64, 2.5, 3.5] {
            buffer.fill(&value.to_le_bytes());
        }
        let at = buffer.filled().as_ptr();
        assert_eq!(buffer.fill(&[0]), 0);
        let values = buffer.finish().unwrap().into_vec::<f64>(PlainProof::new()).unwrap();
        assert_eq!((values.as_ptr().cast(), values), (at, vec![1.5, 2.5, 3.5]));
    }

    #[test]
    fn a_part_keeps_the_whole() {
        let segment = Segment::of_vec(vec![1u64, 2, 3]);
        let (part, whole) = (segment.part(8..16), segment.part(0..24));
        drop(segment);
        assert_eq!((part.bytes(), part.align()), (&2u64.to_le_bytes()[..], 1));
        assert_eq!((whole.bytes().len(), whole.align()), (24, 8));
    }

    #[test]
    fn what_is_filled_in_memory_of_another_keeps_that() {
        let (mut words, keeper) = (vec![0u64; 4], Arc::new(()));
        let at: NonNull<u8> = NonNull::from(&mut words[1..3]).cast();
        // SAFETY: two words at which nobody looks until they are dropped, after the buffer and its segment.
        let mut buffer = unsafe { SegmentBuffer::lent(at, 16, 8, keeper.clone()) };
        assert_eq!(buffer.size(), (16, 8));
        buffer.fill(&1u64.to_le_bytes());
        buffer.fill_past_cache(&2u64.to_le_bytes());
        let segment = buffer.finish().unwrap();
        assert_eq!((segment.bytes().as_ptr(), Arc::strong_count(&keeper)), (at.as_ptr().cast_const(), 2));
        assert_eq!(segment.into_vec(PlainProof::<u64>::new()).unwrap(), [1, 2]);
        assert_eq!(Arc::strong_count(&keeper), 1);
    }

    #[test]
    fn past_the_cache_the_same_bytes_come() {
        let bytes: Vec<u8> = (0..1000).map(|at| (at * 7 % 251) as u8).collect();
        for (start, len) in [(0, 0), (1, 5), (3, 63), (0, 64), (5, 64), (8, 129), (13, 900)] {
            let mut buffer = SegmentBuffer::new(start + len, 1).unwrap();
            buffer.fill(&bytes[..start]);
            assert_eq!(buffer.fill_past_cache(&bytes[start..start + len]), len);
            assert_eq!(buffer.fill_past_cache(&bytes), 0, "it is full");
            assert_eq!(buffer.finish().unwrap().bytes(), &bytes[..start + len], "{len} from {start} on");
        }
    }

    #[test]
    fn impossible_ones_are_refused() {
        assert_eq!(SegmentBuffer::new(8, 3).unwrap_err(), SegmentError::Align { align: 3 });
        assert_eq!(SegmentBuffer::new(8, 8192).unwrap_err(), SegmentError::Align { align: 8192 });
        assert!(SegmentBuffer::new(usize::MAX / 2, 8).is_err());
        drop(SegmentBuffer::new(0, 8).unwrap().finish());
        drop(SegmentBuffer::new(100, 64).unwrap());
    }
}
