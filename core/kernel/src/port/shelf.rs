//! Where the heads of frames come to lie that are kept for long: one behind the other, in chunks of memory. A chunk of which nothing is
//! kept any more is filled again, so the system has to find memory only for what is kept beyond that; and then for a chunk at once. Large
//! pages are not asked for: where memory is in pieces, the system took ten times as long to find them.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use talisman_pup::find_at_once;

/// Bytes of the first chunk. Each further one is as large as all before it, up to the largest.
const FIRST: usize = 64 << 10;
const LARGEST: usize = 1 << 20;
/// Longer heads have memory of their own, so that little of a chunk is left over.
const HEAD_MAX: usize = FIRST / 4;

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
}

impl Shelf {
    /// A copy of a head, which stays as long as anybody has it.
    #[inline]
    pub fn keep(&mut self, head: &[u8]) -> Bytes {
        if head.len() > HEAD_MAX {
            return Bytes::copy_from_slice(head);
        }
        if self.open.capacity() < head.len() {
            self.begin_chunk();
        }
        self.open.extend_from_slice(head);
        self.open.split().freeze()
    }

    /// Nothing of what came before need be kept: no more memory is kept for what follows than that had taken.
    pub fn begin_line(&mut self) {
        let unused = self.full.len().saturating_sub(std::mem::take(&mut self.filled));
        self.bytes -= self.full.drain(..unused).map(|(_, size)| size).sum::<usize>();
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
        self.size = self.bytes.clamp(FIRST, LARGEST);
        self.bytes += self.size;
        self.open = BytesMut::with_capacity(self.size);
        find_at_once(self.open.spare_capacity_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(shelf: &mut Shelf, heads: usize) -> Vec<Bytes> {
        (0..heads).map(|nth| shelf.keep(&[nth as u8; 1000])).collect()
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
        shelf.begin_line();
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
        (0..20).for_each(|_| shelf.begin_line());
        let kept = fill(&mut shelf, 8_000);
        let most = shelf.bytes;
        drop(kept);
        for _ in 0..3 {
            shelf.begin_line();
            drop(fill(&mut shelf, 100));
        }
        let all: usize = shelf.full.iter().map(|(_, size)| size).sum();
        assert_eq!(shelf.bytes, all + shelf.size);
        assert!(shelf.bytes <= 2 * LARGEST && shelf.bytes < most);
    }

    #[test]
    fn a_long_head_has_memory_of_its_own() {
        let mut shelf = Shelf::default();
        assert_eq!(shelf.keep(&[7; HEAD_MAX + 1]).len(), HEAD_MAX + 1);
        assert_eq!(shelf.bytes, 0);
        assert_eq!(shelf.keep(&[]).len(), 0);
    }
}
