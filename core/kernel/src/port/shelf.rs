//! Where the heads of frames come to lie that are kept for long: one behind the other, in chunks of memory. A chunk of which nothing is
//! kept any more is filled again, so the system has to find memory only for what is kept beyond that; and then for a chunk at once. Large
//! pages are not asked for: where memory is in pieces, the system took ten times as long to find them.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use talisman_pup::find_at_once;

/// Bytes of the first chunk. Each further one is as large as all before it, up to the largest. The system finds that in a tenth of a
/// millisecond: where PEs share cores, others believe after half of one that their core is kept by somebody who computes.
const FIRST: usize = 64 << 10;
const LARGEST: usize = 256 << 10;
/// A chunk is no more than this part of what may be left from one line to the next, if that is limited, or as little as this.
const CHUNKS: usize = 8;
const LEAST: usize = 4 << 10;
/// Longer heads than this part of the first chunk have memory of their own, so that little of a chunk is left over.
const HEADS: usize = 4;

/// Chunks that are filled from the front.
#[derive(Default)]
pub struct Shelf {
    /// What is left of the one that is being filled, and how large that is.
    open: BytesMut,
    size: usize,
    /// Full ones, the oldest first: what is left of each, with the whole of which it shares, and how large that is.
    full: VecDeque<(BytesMut, usize)>,
    /// So many of these were filled since the line began.
    filled: usize,
    /// Bytes of all.
    bytes: usize,
    /// So many of these were given to heads since the line began.
    used: usize,
    /// No more is left from one line to the next, if that is limited.
    keeps: Option<usize>,
}

impl Shelf {
    /// One that keeps no more bytes than this from one line to the next, if so.
    pub fn keeping(keeps: Option<usize>) -> Shelf {
        Shelf { keeps, ..Shelf::default() }
    }

    /// Bytes that it has beside those of the heads that were kept since the line began.
    pub fn spare(&self) -> usize {
        self.bytes.saturating_sub(self.used)
    }

    /// A copy of a head, which is in two parts, and stays as long as anybody has it.
    #[inline]
    pub fn keep(&mut self, [start, end]: [&[u8]; 2]) -> Bytes {
        let len = start.len() + end.len();
        if len > FIRST.min(self.largest()) / HEADS {
            return [start, end].concat().into();
        }
        if self.open.capacity() < len {
            self.begin_chunk();
        }
        self.used += len;
        self.open.extend_from_slice(start);
        self.open.extend_from_slice(end);
        self.open.split().freeze()
    }

    /// Nothing of what came before need be kept: no more memory is kept for what follows than that had taken, or than this, if so.
    pub fn begin_line(&mut self, keeps: Option<usize>) {
        (self.keeps, self.used) = (keeps, 0);
        let unused = self.full.len().saturating_sub(std::mem::take(&mut self.filled));
        self.bytes -= self.full.drain(..unused).map(|(_, size)| size).sum::<usize>();
        let most = keeps.unwrap_or(usize::MAX);
        while self.bytes > most
            && let Some((_, size)) = self.full.pop_front()
        {
            self.bytes -= size;
        }
        if self.bytes > most {
            self.open = BytesMut::new();
            self.bytes -= std::mem::take(&mut self.size);
        }
    }

    /// The bytes of the largest chunk.
    #[inline]
    fn largest(&self) -> usize {
        self.keeps.map_or(LARGEST, |keeps| (keeps / CHUNKS).clamp(LEAST, LARGEST))
    }

    #[cold]
    fn begin_chunk(&mut self) {
        if self.size > 0 {
            self.full.push_back((std::mem::take(&mut self.open), self.size));
            self.filled += 1;
        }
        // Nobody has anything of the oldest, if of any.
        if let Some((oldest, size)) = self.full.front_mut()
            && oldest.try_reclaim(*size)
            && let Some(oldest) = self.full.pop_front()
        {
            (self.open, self.size) = oldest;
            return;
        }
        let largest = self.largest();
        self.size = self.bytes.clamp(FIRST.min(largest), largest);
        self.bytes += self.size;
        self.open = BytesMut::with_capacity(self.size);
        find_at_once(self.open.spare_capacity_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(shelf: &mut Shelf, heads: usize) -> Vec<Bytes> {
        (0..heads).map(|nth| shelf.keep([&[nth as u8; 400], &[nth as u8; 600]])).collect()
    }

    fn is_whole(kept: &[Bytes]) -> bool {
        kept.iter().enumerate().all(|(nth, head)| *head == [nth as u8; 1000][..])
    }

    #[test]
    fn what_is_kept_stays_what_it_is_and_its_memory_is_used_again() {
        let mut shelf = Shelf::default();
        let first = fill(&mut shelf, 4_000);
        let (bytes, chunks) = (shelf.bytes, shelf.full.len());
        assert!(is_whole(&first) && chunks > 2);
        shelf.begin_line(None);
        for _ in 0..5 {
            let next = fill(&mut shelf, 1_000);
            assert!(is_whole(&first) && is_whole(&next));
        }
        assert!(shelf.bytes > bytes, "nothing of the first was free");
        drop(first);
        (0..50).for_each(|_| assert!(is_whole(&fill(&mut shelf, 4_000))));
        let most = shelf.bytes;
        (0..50).for_each(|_| assert!(is_whole(&fill(&mut shelf, 4_000))));
        assert_eq!(shelf.bytes, most);
    }

    #[test]
    fn no_more_is_kept_than_a_line_has_taken() {
        let mut shelf = Shelf::default();
        (0..20).for_each(|_| shelf.begin_line(None));
        let kept = fill(&mut shelf, 8_000);
        let most = shelf.bytes;
        drop(kept);
        for _ in 0..3 {
            shelf.begin_line(None);
            drop(fill(&mut shelf, 100));
        }
        let all: usize = shelf.full.iter().map(|(_, size)| size).sum();
        assert_eq!(shelf.bytes, all + shelf.size);
        assert!(shelf.bytes <= 2 * LARGEST && shelf.bytes < most);
    }

    #[test]
    fn what_is_left_to_the_next_line_is_limited_and_so_are_chunks() {
        for keeps in [0, FIRST / 2, 3 * FIRST, 20 * FIRST] {
            let mut shelf = Shelf::keeping(Some(keeps));
            let largest = LEAST.max(keeps / CHUNKS);
            for _ in 0..3 {
                let kept = fill(&mut shelf, 4_000);
                assert!(shelf.full.iter().all(|(_, size)| *size <= largest) && shelf.size <= largest);
                // Beside the heads there is the end of each chunk, and what is left of the last.
                assert_eq!(shelf.spare(), shelf.bytes - 4_000_000);
                assert!(shelf.spare() <= 2 * largest + shelf.full.len() * 1000, "{keeps}");
                drop(kept);
                shelf.begin_line(Some(keeps));
                let all: usize = shelf.full.iter().map(|(_, size)| size).sum();
                assert_eq!((shelf.spare(), shelf.bytes), (shelf.bytes, all + shelf.size));
                assert!(shelf.spare() <= keeps, "{} of {keeps}", shelf.spare());
            }
        }
    }

    #[test]
    fn a_long_head_has_memory_of_its_own() {
        let mut shelf = Shelf::default();
        assert_eq!(shelf.keep([&[7; FIRST / HEADS], &[8]]).len(), FIRST / HEADS + 1);
        assert_eq!(shelf.bytes, 0);
        assert_eq!(shelf.keep([&[], &[]]).len(), 0);
    }
}
