//! Frames of one lane that their sender keeps, numbered, until the receiver cannot ask for them any more.
//!
//! They are in segments. One that is full never changes, so that an image has it by reference, and the keeper of
//! images gets it once. Frames have no numbers in them: both ends count.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// A segment is closed when its frames have so many bytes.
const SEGMENT: usize = 256 << 10;

/// Frames `first() .. end()` of a lane.
#[derive(Clone, Debug)]
pub struct Retained<F> {
    closed: VecDeque<Arc<Segment<F>>>,
    open: Segment<F>,
    /// Frames before this one are not asked for, whether they are still there or not.
    first: u64,
    /// What those of all segments take, in bytes.
    bytes: usize,
}

/// Consecutive frames.
#[derive(Clone, Debug)]
pub struct Segment<F> {
    /// The number of the first one.
    pub first: u64,
    /// All of them.
    pub frames: Vec<F>,
    bytes: usize,
}

impl<F> Segment<F> {
    fn starting_at(first: u64) -> Self {
        Segment { first, frames: Vec::new(), bytes: 0 }
    }

    fn end(&self) -> u64 {
        self.first + self.frames.len() as u64
    }
}

impl<F: Clone> Retained<F> {
    /// Nothing, of a lane on which so many frames were sent before.
    #[must_use]
    pub fn starting_at(first: u64) -> Self {
        Retained { closed: VecDeque::new(), open: Segment::starting_at(first), first, bytes: 0 }
    }

    /// The number of the first frame that may be asked for.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// How many frames were sent on this lane since the job began.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.open.end()
    }

    /// Which there are.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.first..self.end()
    }

    /// The memory that they take, in bytes, as far as it was told.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// A frame of so many bytes is sent. Returns its number.
    pub fn push(&mut self, frame: F, bytes: usize) -> u64 {
        if self.open.bytes >= SEGMENT {
            let next = Segment::starting_at(self.open.end());
            self.closed.push_back(Arc::new(std::mem::replace(&mut self.open, next)));
        }
        self.open.frames.push(frame);
        self.open.bytes += bytes;
        self.bytes += bytes;
        self.open.end() - 1
    }

    /// One frame, if it is there.
    #[must_use]
    pub fn get(&self, number: u64) -> Option<&F> {
        let newest = (self.open.first <= number).then_some(&self.open);
        let older = || self.closed.get(self.closed_before(number)).map(|segment| &**segment);
        let segment = newest.or_else(older).filter(|_| number >= self.first)?;
        segment.frames.get(usize::try_from(number.checked_sub(segment.first)?).ok()?)
    }

    /// Those from this number on, with their numbers.
    pub fn from(&self, number: u64) -> impl Iterator<Item = (u64, &F)> {
        let number = number.max(self.first);
        let closed = self.closed.range(self.closed_before(number)..);
        closed.map(|segment| &**segment).chain([&self.open]).flat_map(move |segment| {
            let skipped = number.saturating_sub(segment.first);
            (segment.first + skipped..).zip(segment.frames.iter().skip(skipped as usize))
        })
    }

    /// How many closed segments end before this frame.
    fn closed_before(&self, number: u64) -> usize {
        self.closed.partition_point(|segment| segment.end() <= number)
    }

    /// Nobody asks for frames before this one any more. Whole segments go.
    pub fn forget(&mut self, before: u64) {
        self.first = self.first.max(before.min(self.end()));
        while self.closed.front().is_some_and(|segment| segment.end() <= self.first) {
            self.bytes -= self.closed.pop_front().map_or(0, |segment| segment.bytes);
        }
        if self.closed.is_empty() && self.first == self.open.end() {
            self.bytes = 0;
            self.open = Segment::starting_at(self.first);
        }
    }
}
