//! A large frame on its way out.

use std::io::IoSlice;

use crc32fast::Hasher;

use crate::frame::{ENTRY, Entry, HEADER, Header, Kind, TRAILER};
use talisman_pup::Segment;

/// Its bytes are in several places: in front header, table and head, then the segments where they are, then the
/// checksum, which is computed as the frame is written, piece by piece, while a piece is in the cache.
pub(super) struct Large {
    /// Header, table and head.
    front: Vec<u8>,
    segments: Vec<Segment>,
    /// Where each segment ends, counted from the frame's first byte.
    ends: Vec<usize>,
    sum: Hasher,
    /// How far the checksum goes.
    summed: usize,
    trailer: [u8; TRAILER],
}

impl Large {
    /// Of a message, at this position of the stream; `offset` is what has arrived from the peer.
    pub(super) fn new(rank: u16, head: &[u8], segments: Vec<Segment>, offset: u64, position: u64) -> Large {
        let table = table(&segments);
        let header = Header {
            kind: Kind::Large,
            rank,
            head: head.len() as u32,
            segments: segments.len() as u32,
            offset,
            sum: crc32fast::hash(&table),
        };
        let front = [&header.encode(position), &*table, head].concat();
        let ends = ends(front.len(), &segments);
        let summed = HEADER + table.len();
        Large { front, segments, ends, sum: Hasher::new(), summed, trailer: [0; TRAILER] }
    }

    /// Bytes of the whole frame.
    pub(super) fn len(&self) -> usize {
        self.body_end() + TRAILER
    }

    fn body_end(&self) -> usize {
        self.ends.last().copied().unwrap_or(self.front.len())
    }

    /// Carries the checksum on, up to `to` bytes of the frame. It never goes back: when a frame is sent again after a
    /// broken connection, what was summed stays so.
    pub(super) fn sum_to(&mut self, to: usize) {
        let to = to.min(self.body_end());
        while self.summed < to {
            let part = part(&self.front, &self.segments, &self.ends, self.summed);
            let part = &part[..part.len().min(to - self.summed)];
            self.sum.update(part);
            self.summed += part.len();
        }
        if to == self.body_end() {
            self.trailer = self.sum.clone().finalize().to_le_bytes();
        }
    }

    /// Adds what is to be written from `from` on, `most` bytes or a little more, to `slices`; how many bytes those are.
    ///
    /// If they reach the frame's end, its checksum must go as far.
    pub(super) fn gather<'a>(&'a self, from: usize, most: usize, slices: &mut Slices<'a>) -> usize {
        let (mut at, to) = (from, (from + most).min(self.body_end()));
        while at < to && slices.room() > 1 {
            let part = part(&self.front, &self.segments, &self.ends, at);
            let part = &part[..part.len().min(to - at)];
            slices.push(part);
            at += part.len();
        }
        if at >= self.body_end() {
            debug_assert_eq!(self.summed, self.body_end(), "the checksum goes to the end");
            let rest = &self.trailer[at - self.body_end()..];
            slices.push(rest);
            at += rest.len();
        }
        at - from
    }
}

fn table(segments: &[Segment]) -> Vec<u8> {
    let entry = |segment: &Segment| {
        Entry { len: segment.bytes().len() as u64, align: segment.align() as u64 }.encode()
    };
    let mut table = Vec::with_capacity(segments.len() * ENTRY);
    segments.iter().for_each(|segment| table.extend_from_slice(&entry(segment)));
    table
}

fn ends(front: usize, segments: &[Segment]) -> Vec<usize> {
    let ends = segments.iter().scan(front, |end, segment| {
        *end += segment.bytes().len();
        Some(*end)
    });
    ends.collect()
}

/// The bytes at `at` that lie together, of a frame whose body is not over there.
fn part<'a>(front: &'a [u8], segments: &'a [Segment], ends: &[usize], at: usize) -> &'a [u8] {
    if at < front.len() {
        return &front[at..];
    }
    let number = ends.partition_point(|&end| end <= at);
    let bytes = segments[number].bytes();
    &bytes[bytes.len() - (ends[number] - at)..]
}

/// Pieces of one vectored write.
pub(super) struct Slices<'a> {
    slices: [IoSlice<'a>; Slices::MOST],
    used: usize,
}

impl<'a> Slices<'a> {
    /// More than this many at once are not faster.
    const MOST: usize = 16;

    pub(super) fn new() -> Self {
        Slices { slices: [IoSlice::new(&[]); Self::MOST], used: 0 }
    }

    /// How many more fit.
    pub(super) fn room(&self) -> usize {
        Self::MOST - self.used
    }

    pub(super) fn push(&mut self, bytes: &'a [u8]) {
        self.slices[self.used] = IoSlice::new(bytes);
        self.used += 1;
    }

    pub(super) fn as_slice(&self) -> &[IoSlice<'a>] {
        &self.slices[..self.used]
    }
}
