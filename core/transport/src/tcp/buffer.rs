//! Where a receiver reads to, except for the inside of large frames.

/// More would copy more of large frames before their rest goes straight into place; less would be more reads for a
/// stream of small ones.
const SIZE: usize = 16 << 10;

/// Bytes that were read and not looked at yet.
#[derive(Debug)]
pub(super) struct Buffer {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Buffer {
    pub(super) fn new() -> Buffer {
        Buffer { bytes: vec![0; SIZE].into_boxed_slice(), start: 0, end: 0 }
    }

    /// What is there.
    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Says that the first `n` bytes of [`Buffer::rest`] are done with.
    #[inline]
    pub(super) fn consume(&mut self, n: usize) {
        self.start += n;
        if self.start == self.end {
            self.clear();
        }
    }

    /// Room for more, behind what is there. There is some: no part of a frame that is kept fills the buffer.
    #[inline]
    pub(super) fn room(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        &mut self.bytes[self.end..]
    }

    /// Says that the first `n` bytes of [`Buffer::room`] were filled.
    #[inline]
    pub(super) fn filled(&mut self, n: usize) {
        self.end += n;
    }

    /// Forgets what is there.
    pub(super) fn clear(&mut self) {
        (self.start, self.end) = (0, 0);
    }
}
