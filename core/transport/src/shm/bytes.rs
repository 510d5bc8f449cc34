//! The byte ring: what does not fit a slot, in chunks that slots announce.
//!
//! Both sides know how long each chunk is, so neither position of the writer is shared: publishing the slot publishes the
//! bytes. The reader says how far it is beside its position in the slot ring.

use super::memory::Bytes;
use super::slots::{Impossible, Positions, advanced};
use super::sync::Ordering;

/// Chunks begin at cache lines, so that the two sides never write and read one line at a time.
const ALIGN: usize = 64;

/// The end that writes.
pub(super) struct Writer {
    bytes: Bytes,
    /// Where the next chunk goes: bytes written so far, with the gaps between chunks.
    tail: u64,
    /// What the reader last said.
    head: u64,
}

impl Writer {
    pub(super) fn new(bytes: Bytes) -> Writer {
        Writer { bytes, tail: 0, head: 0 }
    }

    /// Bytes of a full chunk.
    #[inline(always)]
    pub(super) fn chunk(&self) -> usize {
        chunk(&self.bytes)
    }

    /// Whether there is room for a chunk of `n` bytes.
    #[inline]
    pub(super) fn has_room(&mut self, n: usize, positions: &Positions) -> Result<bool, Impossible> {
        if n <= self.room() {
            return Ok(true);
        }
        let head = positions.bytes.load(Ordering::Acquire);
        self.head = advanced(self.head, head, self.tail)?;
        // With room for a part of a line, a chunk would fit and the gap behind it not.
        if head.is_multiple_of(ALIGN as u64) { Ok(n <= self.room()) } else { Err(Impossible) }
    }

    fn room(&self) -> usize {
        self.bytes.len() - (self.tail - self.head) as usize
    }

    /// Copies a chunk in, which is in two parts. There is room for it.
    #[inline]
    pub(super) fn write(&mut self, [start, end]: [&[u8]; 2]) {
        let bytes = start.len() + end.len();
        debug_assert!(bytes <= self.room(), "bytes that are not free");
        self.bytes.write(self.tail, start);
        self.bytes.write(self.tail + start.len() as u64, end);
        self.tail += bytes.next_multiple_of(ALIGN) as u64;
    }
}

/// The end that reads.
pub(super) struct Reader {
    bytes: Bytes,
    /// Bytes read so far, with the gaps.
    head: u64,
    /// What the writer was last told of `head`.
    published: u64,
}

impl Reader {
    pub(super) fn new(bytes: Bytes) -> Reader {
        Reader { bytes, head: 0, published: 0 }
    }

    /// Bytes of a full chunk.
    #[inline(always)]
    pub(super) fn chunk(&self) -> usize {
        chunk(&self.bytes)
    }

    /// Copies the next bytes out, those of one chunk, and goes on behind them.
    ///
    /// # Safety
    /// `to` is at most a chunk, may be written to, and lies outside the ring.
    #[inline]
    pub(super) unsafe fn read(&mut self, to: *mut [u8], positions: &Positions) {
        // SAFETY: as promised.
        unsafe { self.read_ahead(0, to) };
        self.pass(to.len(), positions);
    }

    /// Copies bytes out that follow behind so many others, and stays where it is.
    ///
    /// # Safety
    /// As for [`Reader::read`], of all of them together.
    #[inline]
    pub(super) unsafe fn read_ahead(&self, before: usize, to: *mut [u8]) {
        // SAFETY: as promised.
        unsafe { self.bytes.read(self.head + before as u64, to) };
    }

    /// Has the processor fetch the first of so many bytes that follow.
    #[inline]
    pub(super) fn prefetch(&self, bytes: usize) {
        self.bytes.prefetch(self.head, bytes);
    }

    /// Goes on behind a chunk of so many bytes.
    #[inline]
    pub(super) fn pass(&mut self, bytes: usize, positions: &Positions) {
        self.head += bytes.next_multiple_of(ALIGN) as u64;
        // A writer waits for room for a chunk at most, so with less than one kept back it never waits in vain.
        if (self.head - self.published) as usize >= self.chunk() {
            self.publish(positions);
        }
    }

    /// Gives every byte that was read back to the writer.
    pub(super) fn publish(&mut self, positions: &Positions) {
        if self.head != self.published {
            positions.bytes.store(self.head, Ordering::Release);
            self.published = self.head;
        }
    }
}

/// An eighth of the ring: the reader copies one chunk out while the writer copies others in.
fn chunk(bytes: &Bytes) -> usize {
    bytes.len() / 8
}
