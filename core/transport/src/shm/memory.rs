//! The memory of a byte ring, of which bytes are only ever copied in and out.

use std::ptr::NonNull;

use super::slots::Keeper;

/// Of a cache.
const LINE: usize = 64;
/// As many lines as are on their way at a time.
const PREFETCHED: usize = 16 * LINE;

/// A power of two of bytes that another process sees too. Positions count on; the ring wraps them.
pub(super) struct Bytes {
    at: NonNull<u8>,
    len: usize,
    _keeper: Keeper,
}

// SAFETY: the memory is copied to and from at places that the slot ring hands from one side to the other.
unsafe impl Send for Bytes {}

impl Bytes {
    /// # Safety
    /// `len` bytes at `at` are there as long as `keeper` lives, and no reference into them exists anywhere.
    pub(super) unsafe fn new(at: NonNull<u8>, len: usize, keeper: Keeper) -> Bytes {
        assert!(len.is_power_of_two(), "a ring of {len} bytes");
        Bytes { at, len, _keeper: keeper }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Copies `bytes`, which are no more than the ring has, to `position`.
    #[inline]
    pub(super) fn write(&self, position: u64, bytes: &[u8]) {
        assert!(bytes.len() <= self.len);
        let (at, first) = self.place(position, bytes.len());
        // SAFETY: `first` bytes from `at` on, and the rest from the beginning on, are inside the ring. The source is
        // other memory: it is borrowed, and nobody has references into the ring.
        unsafe {
            self.at.add(at).as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), first);
            self.at.as_ptr().copy_from_nonoverlapping(bytes.as_ptr().add(first), bytes.len() - first);
        }
    }

    /// Copies the bytes at `position` to `to`, which is no longer than the ring.
    ///
    /// A writer that keeps to the protocol is done with them. One that does not makes them what it likes; they are
    /// looked at only where they are copied to.
    ///
    /// # Safety
    /// `to` may be written to, and lies outside the ring.
    #[inline]
    pub(super) unsafe fn read(&self, position: u64, to: *mut [u8]) {
        assert!(to.len() <= self.len);
        let (at, first) = self.place(position, to.len());
        let start: *mut u8 = to.cast();
        // SAFETY: the source is inside the ring, as in `write`; the caller answers for the target.
        unsafe {
            self.at.add(at).as_ptr().copy_to_nonoverlapping(start, first);
            self.at.as_ptr().copy_to_nonoverlapping(start.add(first), to.len() - first);
        }
    }

    /// Has the processor fetch the bytes at `position`, the first kibibyte at most: they come together then, not one line after the other.
    #[inline]
    pub(super) fn prefetch(&self, position: u64, bytes: usize) {
        let (at, first) = self.place(position, bytes.min(PREFETCHED));
        for line in (at..at + first).step_by(LINE) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: it is inside the ring, and nothing is read.
            unsafe {
                use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
                _mm_prefetch::<_MM_HINT_T0>(self.at.add(line).as_ptr().cast());
            }
            #[cfg(not(target_arch = "x86_64"))]
            let _ = line;
        }
    }

    /// Where `position` is in the ring, and how many of `n` bytes from there come before its end.
    #[inline(always)]
    fn place(&self, position: u64, n: usize) -> (usize, usize) {
        let at = position as usize & (self.len - 1);
        (at, n.min(self.len - at))
    }
}
