//! The entries of one log, packed, from the first that may be asked for to the last.
//!
//! Segments are closed when they are full and dropped when nothing of them may be asked for any more.

use std::collections::VecDeque;

use super::batch::write_front;
use super::coder;
use super::entries::Entries;
use super::entry::Entry;
use super::ids::{Incarnation, LogId};
use super::varint::put;

/// A segment is closed when it has so many bytes.
const SEGMENT: usize = 4096;

/// Consecutive entries of one log.
#[derive(Clone, Debug)]
pub struct InputLog {
    segments: VecDeque<Segment>,
    first: u64,
    end: u64,
    /// What they take, in all segments.
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Segment {
    first: u64,
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<u32>,
}

impl InputLog {
    /// An empty one whose first entry will have this number.
    #[must_use]
    pub fn starting_at(first: u64) -> Self {
        InputLog { segments: VecDeque::new(), first, end: first, bytes: 0 }
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
        self.bytes
    }

    /// One more. Returns its number.
    pub fn append(&mut self, entry: &Entry) -> u64 {
        self.append_with(|bytes| coder::write(bytes, entry))
    }

    /// One more, which another log has as these bytes.
    pub(super) fn append_packed(&mut self, packed: &[u8]) {
        self.append_with(|bytes| bytes.extend_from_slice(packed));
    }

    fn append_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> u64 {
        if self.segments.back().is_none_or(|segment| segment.bytes.len() >= SEGMENT) {
            self.segments.push_back(Segment { first: self.end, bytes: Vec::new(), ends: Vec::new() });
        }
        let segment = self.segments.back_mut().expect("one that is open");
        let before = segment.bytes.len();
        write(&mut segment.bytes);
        segment.ends.push(segment.bytes.len() as u32);
        self.bytes += segment.bytes.len() - before + size_of::<u32>();
        self.end += 1;
        self.end - 1
    }

    /// Those from this number on, as far as they are there, and the number of the first of them.
    #[must_use]
    pub fn from(&self, from: u64) -> (u64, Entries) {
        let from = from.max(self.first).min(self.end);
        let mut entries = Entries::default();
        let begin = self.segments.partition_point(|segment| segment.end() <= from);
        for segment in self.segments.range(begin..) {
            let skipped = from.saturating_sub(segment.first) as usize;
            entries.extend(segment.ends.len() - skipped, &segment.bytes[segment.begin(skipped)..]);
        }
        (from, entries)
    }

    /// Appends a batch of those that [`InputLog::from`] gives, as it would be written; whether there are any.
    pub(super) fn write_batch(
        &self,
        log: LogId,
        incarnation: Incarnation,
        from: u64,
        bytes: &mut Vec<u8>,
    ) -> bool {
        let from = from.max(self.first).min(self.end);
        if from == self.end {
            return false;
        }
        write_front(bytes, log, incarnation, from);
        put(bytes, self.end - from);
        // What is new is mostly in the last one.
        let begin = match self.segments.back() {
            Some(newest) if newest.first <= from => self.segments.len() - 1,
            _ => self.segments.partition_point(|segment| segment.end() <= from),
        };
        for segment in self.segments.range(begin..) {
            let skipped = from.saturating_sub(segment.first) as usize;
            bytes.extend_from_slice(&segment.bytes[segment.begin(skipped)..]);
        }
        true
    }

    /// Nobody asks for entries before this one any more. Whole segments go.
    pub fn forget(&mut self, before: u64) {
        self.first = self.first.max(before.min(self.end));
        while self.segments.front().is_some_and(|oldest| oldest.end() <= self.first) {
            self.bytes -= self.segments.pop_front().map_or(0, |segment| segment.memory());
        }
    }

    /// Entries from this one on never were.
    pub fn truncate(&mut self, end: u64) {
        if end >= self.end {
            return;
        }
        self.first = self.first.min(end);
        self.end = end;
        while self.segments.back().is_some_and(|newest| newest.first >= end) {
            self.bytes -= self.segments.pop_back().map_or(0, |segment| segment.memory());
        }
        if let Some(newest) = self.segments.back_mut() {
            self.bytes -= newest.memory();
            let kept = (end - newest.first) as usize;
            newest.bytes.truncate(newest.begin(kept));
            newest.ends.truncate(kept);
            self.bytes += newest.memory();
        }
    }
}

impl Segment {
    fn end(&self) -> u64 {
        self.first + self.ends.len() as u64
    }

    /// Where the entry begins that so many of the segment precede.
    fn begin(&self, nth: usize) -> usize {
        nth.checked_sub(1).map_or(0, |before| self.ends[before] as usize)
    }

    fn memory(&self) -> usize {
        self.bytes.len() + self.ends.len() * size_of::<u32>()
    }
}
