//! The entries of one log, packed, from the first that may be asked for to the last.
//!
//! Segments are closed when they are full and dropped when nothing of them may be asked for any more. What is in them
//! is read from the start of one, so they are small.

use std::collections::VecDeque;

use super::coder::Coder;
use super::entry::Entry;
use super::varint::Reader;

/// A segment is closed when it has so many bytes.
const SEGMENT: usize = 4096;

/// Consecutive entries of one log.
#[derive(Clone, Debug)]
pub struct InputLog {
    pes_per_node: u32,
    segments: VecDeque<Segment>,
    first: u64,
    end: u64,
}

#[derive(Clone, Debug)]
struct Segment {
    first: u64,
    bytes: Vec<u8>,
    coder: Coder,
}

impl InputLog {
    /// An empty one whose first entry will have this number.
    #[must_use]
    pub fn starting_at(first: u64, pes_per_node: u32) -> Self {
        InputLog { pes_per_node, segments: VecDeque::new(), first, end: first }
    }

    /// The number of the first entry that is there.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The number that the next entry will have: the length of the log since the job began.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The memory that it takes, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.segments.iter().map(|segment| segment.bytes.len()).sum()
    }

    /// One more. Returns its number.
    pub fn append(&mut self, entry: &Entry) -> u64 {
        let (number, pes) = (self.end, self.pes_per_node);
        if self.segments.back().is_none_or(|segment| segment.bytes.len() >= SEGMENT) {
            self.segments.push_back(Segment { first: number, bytes: Vec::new(), coder: Coder::new(pes) });
        }
        let segment = self.segments.back_mut().expect("one that is open");
        segment.coder.write(&mut segment.bytes, entry);
        self.end += 1;
        number
    }

    /// Those from this number on, as far as they are there, with their numbers.
    pub fn entries(&self, from: u64) -> impl Iterator<Item = (u64, Entry)> + '_ {
        let ends = self.segments.iter().skip(1).map(|segment| segment.first).chain([self.end]);
        let wanted = self.segments.iter().zip(ends).filter(move |(_, end)| *end > from);
        let all = wanted
            .flat_map(|(segment, end)| segment.read(self.pes_per_node).take((end - segment.first) as usize));
        all.filter(move |(number, _)| *number >= from.max(self.first))
    }

    /// Nobody asks for entries before this one any more. Whole segments go.
    pub fn forget(&mut self, before: u64) {
        self.first = self.first.max(before.min(self.end));
        while self.segments.get(1).is_some_and(|next| next.first <= self.first) {
            self.segments.pop_front();
        }
        if self.first == self.end {
            self.segments.clear();
        }
    }

    /// Entries from this one on never were.
    pub fn truncate(&mut self, end: u64) {
        if end >= self.end {
            return;
        }
        let mut shorter = InputLog::starting_at(self.first.min(end), self.pes_per_node);
        let kept = self.entries(self.first).take_while(|(number, _)| *number < end);
        kept.for_each(|(_, entry)| {
            shorter.append(&entry);
        });
        *self = shorter;
    }
}

impl Segment {
    fn read(&self, pes_per_node: u32) -> impl Iterator<Item = (u64, Entry)> + '_ {
        let (mut reader, mut coder) = (Reader::new(&self.bytes), Coder::new(pes_per_node));
        (self.first..).map_while(move |number| {
            let entry = (reader.left() > 0).then(|| coder.read(&mut reader))?;
            Some((number, entry.expect("written here")))
        })
    }
}
