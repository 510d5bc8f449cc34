//! The memory of a byte ring, of which bytes are only ever copied in and out.

use std::ptr::NonNull;

use super::slots::Keeper;

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

    /// Where `position` is in the ring, and how many of `n` bytes from there come before its end.
    #[inline(always)]
    fn place(&self, position: u64, n: usize) -> (usize, usize) {
        let at = position as usize & (self.len - 1);
        (at, n.min(self.len - at))
    }
}
