//! A message of several chunks while it arrives.

use super::flaw::Flaw;
use super::frame::Begin;
use super::slots::Positions;
use super::{HEAD_MAX, Incoming, SEGMENTS_MAX, Segment, SegmentBuffer, bytes, table};

/// Takes its parts in the order in which the sender's `Waiting` writes them. Memory is taken as bytes arrive, for a
/// segment when its first chunk does; untouched memory of a segment that never arrives costs addresses alone.
pub(super) struct Arriving {
    rank: u16,
    /// Bytes of the table.
    table: usize,
    /// Bytes of the table and the head.
    front_len: usize,
    front: Vec<u8>,
    count: usize,
    segments: Vec<Segment>,
    /// The segment that is not whole.
    current: Option<SegmentBuffer>,
}

impl Arriving {
    pub(super) fn new(begin: Begin) -> Result<Arriving, Flaw> {
        let (head, count) = (begin.head, begin.segments);
        if head > HEAD_MAX as u64 {
            return Err(Flaw::Head(head));
        }
        if count > SEGMENTS_MAX as u64 {
            return Err(Flaw::Segments(count));
        }
        let (count, table) = (count as usize, count as usize * table::ENTRY);
        let front_len = table + head as usize;
        if front_len == 0 {
            return Err(Flaw::Empty);
        }
        let (front, segments) = (Vec::new(), Vec::new());
        Ok(Arriving { rank: begin.rank, table, front_len, front, count, segments, current: None })
    }

    /// Takes the next chunk; whether the message is whole then.
    pub(super) fn take(&mut self, bytes: &mut bytes::Reader, positions: &Positions) -> Result<bool, Flaw> {
        if self.front.len() < self.front_len {
            self.take_front(bytes, positions)?;
            if self.front.len() < self.front_len {
                return Ok(false);
            }
            if !table::is_bounded(&self.front[..self.table]) {
                return Err(Flaw::SegmentBytes);
            }
        } else if let Some(buffer) = &mut self.current {
            take_into(buffer, bytes, positions);
        }
        self.finish_whole_segments()?;
        Ok(self.segments.len() == self.count)
    }

    fn take_front(&mut self, bytes: &mut bytes::Reader, positions: &Positions) -> Result<(), Flaw> {
        let n = bytes.chunk().min(self.front_len - self.front.len());
        self.front.try_reserve(n).map_err(|_| Flaw::Memory(self.front_len))?;
        let spare = &raw mut self.front.spare_capacity_mut()[..n];
        // SAFETY: `n` is at most a chunk; the vector's own memory has room for it, and is all written then.
        unsafe {
            bytes.read(spare as *mut [u8], positions);
            self.front.set_len(self.front.len() + n);
        }
        Ok(())
    }

    /// Goes on to the next segment of which bytes are missing.
    fn finish_whole_segments(&mut self) -> Result<(), Flaw> {
        while self.segments.len() < self.count {
            let buffer = match self.current.take() {
                Some(buffer) => buffer,
                None => self.next_buffer()?,
            };
            if buffer.left() > 0 {
                self.current = Some(buffer);
                break;
            }
            self.segments.extend(buffer.finish());
        }
        Ok(())
    }

    fn next_buffer(&self) -> Result<SegmentBuffer, Flaw> {
        let (len, align) = table::entry(&self.front, self.segments.len());
        let align = usize::try_from(align).unwrap_or(usize::MAX);
        Ok(SegmentBuffer::new(len as usize, align)?)
    }

    /// Gives the message, which is whole, to `f`.
    pub(super) fn give(self, f: &mut dyn FnMut(Incoming<'_>)) {
        f(Incoming { rank: self.rank, head: &self.front[self.table..], segments: self.segments });
    }
}

fn take_into(buffer: &mut SegmentBuffer, bytes: &mut bytes::Reader, positions: &Positions) {
    let n = bytes.chunk().min(buffer.left());
    let spare = buffer.spare().cast::<u8>();
    // SAFETY: the buffer has room for `n` bytes, at most a chunk, in memory of its own; they are written then.
    unsafe {
        bytes.read(std::ptr::slice_from_raw_parts_mut(spare, n), positions);
        buffer.advance(n);
    }
}
