//! A large frame on its way in.

use std::mem::MaybeUninit;

use crc32fast::Hasher;

use crate::frame::{ENTRY, Entry, FrameError, HEADER, Header, TRAILER, entries};
use talisman_observe::mutations::mutated;
use talisman_pup::{Segment, SegmentBuffer};

/// Bytes read at once, which are in the cache when their checksum is computed.
const CHUNK: usize = 256 << 10;
/// Fewer missing bytes than this are read together with what follows.
const STRAIGHT_MIN: usize = 2 << 10;

/// Takes the frame's bytes as they come. Memory of the head and of the table is taken as they arrive; memory of a
/// segment when the segment before it is complete, and not touched before its bytes are there.
#[derive(Debug)]
pub(super) struct Assembly {
    header: Header,
    part: Part,
    table: Vec<u8>,
    head: Vec<u8>,
    to_come: std::vec::IntoIter<Entry>,
    segments: Vec<Segment>,
    sum: Hasher,
    trailer: Vec<u8>,
    /// Bytes of the frame so far.
    len: u64,
}

/// What of the frame is arriving.
#[derive(Debug)]
enum Part {
    Table,
    Head,
    Segment(SegmentBuffer),
    Trailer,
    Complete,
}

impl Assembly {
    /// Of the frame that this header begins.
    ///
    /// # Errors
    /// As [`Assembly::take`].
    pub(super) fn new(header: Header) -> Result<Assembly, FrameError> {
        let mut assembly = Assembly {
            header,
            part: Part::Table,
            table: Vec::new(),
            head: Vec::new(),
            to_come: Vec::new().into_iter(),
            segments: Vec::new(),
            sum: Hasher::new(),
            trailer: Vec::new(),
            len: HEADER as u64,
        };
        assembly.step()?;
        Ok(assembly)
    }

    /// Takes the next bytes; how many, which is none only when the frame is complete or there are none.
    ///
    /// # Errors
    /// A frame that is damaged or cannot be.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<usize, FrameError> {
        let bytes = &bytes[..bytes.len().min(self.missing())];
        match &mut self.part {
            Part::Table => self.table.extend_from_slice(bytes),
            Part::Head => self.head.extend_from_slice(bytes),
            Part::Segment(buffer) => _ = buffer.fill(bytes),
            Part::Trailer => self.trailer.extend_from_slice(bytes),
            Part::Complete => {}
        }
        self.took(bytes.len())?;
        Ok(bytes.len())
    }

    /// Bytes that its present part lacks.
    fn missing(&self) -> usize {
        match &self.part {
            Part::Table => self.header.segments as usize * ENTRY - self.table.len(),
            Part::Head => self.header.head as usize - self.head.len(),
            Part::Segment(buffer) => buffer.left(),
            Part::Trailer => TRAILER - self.trailer.len(),
            Part::Complete => 0,
        }
    }

    /// Whether so many bytes of its present part are missing that they are to be read straight into place.
    pub(super) fn wants_much(&self) -> bool {
        matches!(self.part, Part::Head | Part::Segment(_)) && self.missing() >= STRAIGHT_MIN
    }

    /// Where they go, or the first of them.
    pub(super) fn room(&mut self) -> &mut [MaybeUninit<u8>] {
        let most = self.missing().min(CHUNK);
        match &mut self.part {
            Part::Head => {
                self.head.reserve(most);
                &mut self.head.spare_capacity_mut()[..most]
            }
            // SAFETY: memory that the buffer has to itself, borrowed as long as it is; bytes that may be anything.
            Part::Segment(buffer) => unsafe {
                &mut (&mut *(buffer.spare() as *mut [MaybeUninit<u8>]))[..most]
            },
            _ => &mut [],
        }
    }

    /// Says that the first `n` bytes of [`Assembly::room`] were filled.
    ///
    /// # Errors
    /// As [`Assembly::take`].
    ///
    /// # Safety
    /// They were.
    pub(super) unsafe fn filled(&mut self, n: usize) -> Result<(), FrameError> {
        match &mut self.part {
            // SAFETY: the room was the spare capacity from the vector's length on; the caller has filled so many.
            Part::Head => unsafe { self.head.set_len(self.head.len() + n) },
            // SAFETY: the same of the buffer.
            Part::Segment(buffer) => unsafe { buffer.advance(n) },
            _ => {}
        }
        self.took(n)
    }

    /// `n` bytes more are in the present part.
    fn took(&mut self, n: usize) -> Result<(), FrameError> {
        self.len += n as u64;
        match &self.part {
            Part::Head => self.sum.update(last(&self.head, n)),
            Part::Segment(buffer) => self.sum.update(last(buffer.filled(), n)),
            _ => {}
        }
        self.step()
    }

    /// Goes on to the part that lacks something.
    fn step(&mut self) -> Result<(), FrameError> {
        while self.missing() == 0 {
            self.part = match std::mem::replace(&mut self.part, Part::Complete) {
                Part::Table => self.end_table()?,
                Part::Head => self.next_segment()?,
                Part::Segment(buffer) => {
                    self.segments.extend(buffer.finish());
                    self.next_segment()?
                }
                Part::Trailer => self.end()?,
                Part::Complete => return Ok(()),
            };
        }
        Ok(())
    }

    fn end_table(&mut self) -> Result<Part, FrameError> {
        if crc32fast::hash(&self.table) != self.header.sum {
            return Err(FrameError::Damaged);
        }
        self.to_come = entries(&self.table)?.into_iter();
        Ok(Part::Head)
    }

    fn next_segment(&mut self) -> Result<Part, FrameError> {
        let Some(Entry { len, align }) = self.to_come.next() else { return Ok(Part::Trailer) };
        // The table was checked: only memory can be lacking.
        let buffer = SegmentBuffer::new(len as usize, align as usize);
        buffer.map(Part::Segment).map_err(|_| FrameError::Memory(len))
    }

    fn end(&mut self) -> Result<Part, FrameError> {
        let sum = self.sum.clone().finalize().to_le_bytes();
        if self.trailer == sum || mutated("checksum-ignored") {
            Ok(Part::Complete)
        } else {
            Err(FrameError::Damaged)
        }
    }

    /// Whether all of it is here.
    pub(super) fn complete(&self) -> bool {
        matches!(self.part, Part::Complete)
    }

    /// The message: the PE it is for, its head and segments; and how long the frame was.
    pub(super) fn finish(self) -> (u16, Vec<u8>, Vec<Segment>, u64) {
        (self.header.rank, self.head, self.segments, self.len)
    }
}

fn last(bytes: &[u8], n: usize) -> &[u8] {
    &bytes[bytes.len() - n..]
}
