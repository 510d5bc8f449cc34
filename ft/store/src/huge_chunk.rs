//! Memory that several slabs of one length are pieces of: large pages, which each of them is too short for.

use std::ptr::NonNull;
use std::sync::Arc;

use rustix::mm::munmap;

use super::huge_pages::HUGE_PAGE;
use super::shared::SharedMemory;

/// Memory for slabs, which they keep until the last of them is gone.
pub struct HugeChunk {
    at: NonNull<u8>,
    len: usize,
    memory: Arc<SharedMemory>,
    /// Where it is in that memory.
    from: u64,
    /// How long each piece is.
    piece: usize,
    /// So many of its first bytes are in large pages.
    large: usize,
}

// SAFETY: a chunk is its address; its bytes are reached by the slabs that it was divided into, each by its own.
unsafe impl Send for HugeChunk {}
// SAFETY: as above.
unsafe impl Sync for HugeChunk {}

/// Where a slab is in a chunk, and how many of its first bytes have pages.
pub struct Piece {
    pub from: usize,
    pub len: usize,
    pub paged: usize,
}

impl HugeChunk {
    /// For slabs of this length, as many as are in a large page, and for one at least; none if there is no large page for it.
    pub fn new(memory: &Arc<SharedMemory>, piece: usize) -> Option<Arc<HugeChunk>> {
        let mut chunk = HugeChunk::map(memory, piece)?;
        // SAFETY: within the chunk, which begins at a multiple of a large page.
        let find = |at: &usize| unsafe { memory.large_pages.find(chunk.at.add(*at)) };
        let all = (0..chunk.len / HUGE_PAGE).map(|page| page * HUGE_PAGE);
        chunk.large = all.take_while(find).count() * HUGE_PAGE;
        (chunk.large > 0).then(|| Arc::new(chunk))
    }

    /// The same, without pages yet.
    pub fn map(memory: &Arc<SharedMemory>, piece: usize) -> Option<HugeChunk> {
        let len = piece.checked_mul(HUGE_PAGE.div_ceil(piece.max(1)))?;
        let (at, from) = memory.aligned_pages(len, HUGE_PAGE)?;
        Some(HugeChunk { at, len, memory: memory.clone(), from, piece, large: 0 })
    }

    pub fn at(&self) -> NonNull<u8> {
        self.at
    }

    /// What it is pages of, and from where on.
    pub fn place(&self) -> (&Arc<SharedMemory>, u64) {
        (&self.memory, self.from)
    }

    pub fn pieces(&self) -> impl Iterator<Item = Piece> + use<> {
        let (len, large) = (self.piece, self.large);
        let paged = move |from: usize| large.saturating_sub(from).min(len);
        (0..self.len / len).map(move |piece| piece * len).map(move |from| Piece {
            from,
            len,
            paged: paged(from),
        })
    }
}

impl Drop for HugeChunk {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and nobody has any of it any more: whoever does has a slab, which has this. That a mapping as it was made
        // cannot be taken back does not happen.
        let _ = unsafe { munmap(self.at.as_ptr().cast(), self.len) };
        self.memory.give_back(self.from, self.len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 260 << 10;

    #[test]
    fn it_is_divided_into_pieces_of_one_length() {
        let memory = Arc::new(SharedMemory::new().expect("the system has it"));
        let mut chunk = HugeChunk::map(&memory, LEN).expect("there is memory");
        assert!(chunk.at.as_ptr().addr().is_multiple_of(HUGE_PAGE));
        let pieces: Vec<_> = chunk.pieces().map(|piece| (piece.from, piece.len, piece.paged)).collect();
        assert_eq!(pieces, [0, 1, 2, 3, 4, 5, 6, 7].map(|piece| (piece * LEN, LEN, 0)));
        chunk.large = HUGE_PAGE;
        let paged: Vec<_> = chunk.pieces().map(|piece| piece.paged).collect();
        assert_eq!(paged, [LEN, LEN, LEN, LEN, LEN, LEN, LEN, HUGE_PAGE - 7 * LEN]);
    }

    #[test]
    fn what_is_as_long_as_several_large_pages_is_alone() {
        let memory = Arc::new(SharedMemory::new().expect("the system has it"));
        let lens = [HUGE_PAGE - 4096, HUGE_PAGE, HUGE_PAGE + 4096, 3 * HUGE_PAGE];
        let chunks = lens.map(|len| HugeChunk::map(&memory, len).expect("there is memory"));
        assert_eq!(chunks.each_ref().map(|chunk| chunk.pieces().count()), [2, 1, 1, 1]);
        let ends = chunks.iter().map(|chunk| chunk.from + chunk.len as u64);
        let next = chunks.iter().skip(1).map(|chunk| chunk.from);
        assert!(ends.zip(next).all(|(end, next)| end <= next && next.is_multiple_of(HUGE_PAGE as u64)));
    }
}
