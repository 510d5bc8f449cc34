//! A bounded ring of words, which one PE writes and another thread takes: what is written in one go is taken in one go.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Both ends of a ring of so many words, a power of two.
pub(super) fn ring(capacity: usize) -> (Input, Output) {
    assert!(capacity.is_power_of_two(), "places are found by masking");
    let words = (0..capacity).map(|_| AtomicU64::new(0)).collect();
    let ring = Arc::new(Ring { words, written: OwnLines::default(), taken: OwnLines::default() });
    let input = Input { ring: ring.clone(), at: Cell::new(0), until: Cell::new(capacity as u64) };
    (input, Output { ring, at: 0 })
}

struct Ring {
    words: Box<[AtomicU64]>,
    /// How many words were ever written.
    written: OwnLines,
    /// How many of them were taken.
    taken: OwnLines,
}

/// A count that one end changes and the other looks at. Processors fetch lines by twos.
#[derive(Default)]
#[repr(align(128))]
struct OwnLines(AtomicU64);

/// The end of a PE.
pub(super) struct Input {
    ring: Arc<Ring>,
    /// Words that were written.
    at: Cell<u64>,
    /// There is room up to here, and perhaps for more.
    until: Cell<u64>,
}

impl Input {
    /// Writes a word and those behind it, all or none; whether there was room.
    #[inline(always)]
    pub(super) fn put<const N: usize>(&self, first: u64, more: [u64; N]) -> bool {
        let (at, words) = (self.at.get(), &self.ring.words);
        let end = at + 1 + N as u64;
        if end > self.until.get() && !self.has_room(end) {
            return false;
        }
        let mask = words.len() - 1;
        words[at as usize & mask].store(first, Ordering::Relaxed);
        for (place, word) in (at + 1..).zip(more) {
            words[place as usize & mask].store(word, Ordering::Relaxed);
        }
        self.at.set(end);
        self.ring.written.0.store(end, Ordering::Release);
        true
    }

    /// Looks how far the other end is.
    #[cold]
    fn has_room(&self, end: u64) -> bool {
        self.until.set(self.ring.taken.0.load(Ordering::Acquire) + self.ring.words.len() as u64);
        end <= self.until.get()
    }
}

/// The end of the thread that takes.
pub(super) struct Output {
    ring: Arc<Ring>,
    at: u64,
}

impl Output {
    /// Appends all that was written to these bytes, each word in little-endian order; whether that was anything.
    pub(super) fn take(&mut self, bytes: &mut Vec<u8>) -> bool {
        let (written, words) = (self.ring.written.0.load(Ordering::Acquire), &self.ring.words);
        let count = (written - self.at) as usize;
        let from = self.at as usize & (words.len() - 1);
        let (second, first) = words.split_at(from);
        let first = &first[..count.min(first.len())];
        let second = &second[..count - first.len()];
        let begin = bytes.len();
        bytes.resize(begin + count * size_of::<u64>(), 0);
        let (places, _) = bytes[begin..].as_chunks_mut();
        let (front, back) = places.split_at_mut(first.len());
        copy(first, front);
        copy(second, back);
        self.at = written;
        self.ring.taken.0.store(written, Ordering::Release);
        count > 0
    }
}

fn copy(words: &[AtomicU64], places: &mut [[u8; 8]]) {
    for (place, word) in places.iter_mut().zip(words) {
        *place = word.load(Ordering::Relaxed).to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(output: &mut Output) -> Vec<u64> {
        let mut bytes = Vec::new();
        output.take(&mut bytes);
        bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
    }

    #[test]
    fn words_come_out_as_they_went_in() {
        let (input, mut output) = ring(8);
        assert!(input.put(1, [2, 3]) && input.put(4, [5, 6]));
        assert!(!input.put(7, [8, 9]), "two words have room");
        assert!(input.put(7, [8]) && !input.put(9, []));
        assert_eq!(taken(&mut output), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert!(input.put(9, [10, 11, 12]) && input.put(13, [14, 15]));
        assert_eq!(taken(&mut output), [9, 10, 11, 12, 13, 14, 15]);
        assert!(taken(&mut output).is_empty());
    }

    #[test]
    fn another_thread_sees_all_of_them_in_order() {
        const COUNT: u64 = 200_000;
        let (input, mut output) = ring(64);
        let writer = std::thread::spawn(move || {
            for word in (0..COUNT).step_by(2) {
                while !input.put(word, [word + 1]) {
                    std::thread::yield_now();
                }
            }
        });
        let mut next = 0;
        while next < COUNT {
            let words = taken(&mut output);
            assert_eq!(words.len() % 2, 0, "what was written in one go is taken in one go");
            for word in words {
                assert_eq!(word, next);
                next += 1;
            }
            std::thread::yield_now();
        }
        writer.join().unwrap();
    }
}
