//! What a sender keeps: every frame that the peer has not acknowledged, in order, whether written or not.

use std::collections::VecDeque;

use super::large::{Large, Slices};
use talisman_observe::sometimes::sometimes;

/// Small frames that lie together.
const TOGETHER: usize = 64 << 10;
/// Emptied buffers kept for the next small frames: what is in flight of a stream between two acknowledgements.
const SPARE: usize = 8;
/// Bytes of one write, which are in the cache when their checksum is computed.
const CHUNK: usize = 256 << 10;

/// Frames in stream order, and where the next byte to write is. Positions in the stream are counted in bytes from its
/// very first, over all connections.
#[derive(Default)]
pub(super) struct Retained {
    pieces: VecDeque<Piece>,
    /// Position of the first piece.
    first: u64,
    /// Position after the last.
    end: u64,
    /// Position of the next byte to write, which is at `at` in the piece `piece`.
    written: u64,
    piece: usize,
    at: usize,
    spare: Vec<Vec<u8>>,
}

enum Piece {
    /// Any number of whole frames.
    Frames(Vec<u8>),
    Large(Box<Large>),
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Piece::Frames(bytes) => bytes.len(),
            Piece::Large(large) => large.len(),
        }
    }
}

/// What is to be written next.
#[allow(clippy::large_enum_variant, reason = "used where it is made")]
pub(super) enum Next<'a> {
    Nothing,
    One(&'a [u8]),
    Several(Slices<'a>),
}

impl Retained {
    /// Position after the last frame.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Position of the next byte to write.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Bytes of all frames that are here.
    #[cfg(test)]
    pub(super) fn kept(&self) -> u64 {
        self.end - self.first
    }

    /// Bytes that are to be written.
    #[inline]
    pub(super) fn unwritten(&self) -> usize {
        (self.end - self.written) as usize
    }

    /// Adds a frame that lies in two pieces.
    #[inline]
    pub(super) fn push_small(&mut self, header: &[u8], head: &[u8]) {
        let len = header.len() + head.len();
        let bytes = match self.pieces.back_mut() {
            Some(Piece::Frames(bytes)) if bytes.len() + len <= TOGETHER => bytes,
            _ => self.begin_piece(),
        };
        bytes.extend_from_slice(header);
        bytes.extend_from_slice(head);
        self.end += len as u64;
    }

    #[cold]
    fn begin_piece(&mut self) -> &mut Vec<u8> {
        let bytes = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(TOGETHER));
        self.pieces.push_back(Piece::Frames(bytes));
        match self.pieces.back_mut() {
            Some(Piece::Frames(bytes)) => bytes,
            _ => unreachable!("it was pushed just now"),
        }
    }

    /// Adds a large frame.
    pub(super) fn push_large(&mut self, large: Large) {
        self.end += large.len() as u64;
        self.pieces.push_back(Piece::Large(Box::new(large)));
    }

    /// What is to be written next, about [`CHUNK`] bytes.
    pub(super) fn next(&mut self) -> Next<'_> {
        if self.unwritten() == 0 {
            return Next::Nothing;
        }
        if self.at == self.pieces[self.piece].len() {
            (self.piece, self.at) = (self.piece + 1, 0);
        }
        if self.piece + 1 < self.pieces.len() {
            self.finish_sums();
            return Next::Several(self.gather());
        }
        if let Piece::Large(_) = self.pieces[self.piece] {
            self.finish_sums();
        }
        match &self.pieces[self.piece] {
            Piece::Frames(bytes) => Next::One(&bytes[self.at..]),
            Piece::Large(_) => Next::Several(self.gather()),
        }
    }

    /// Frames that the next write completes need their checksum.
    fn finish_sums(&mut self) {
        let (mut left, mut at) = (CHUNK, self.at);
        for piece in self.pieces.iter_mut().skip(self.piece) {
            if let Piece::Large(large) = piece
                && large.len() - at <= left + crate::frame::TRAILER
            {
                large.sum_to(large.len());
            }
            left = left.saturating_sub(piece.len() - at);
            at = 0;
            if left == 0 {
                break;
            }
        }
    }

    fn gather(&self) -> Slices<'_> {
        let (mut slices, mut left, mut at) = (Slices::new(), CHUNK, self.at);
        for piece in self.pieces.iter().skip(self.piece) {
            if left == 0 || slices.room() < 2 {
                break;
            }
            let taken = match piece {
                Piece::Frames(bytes) => {
                    slices.push(&bytes[at..]);
                    bytes.len() - at
                }
                Piece::Large(large) => large.gather(at, left, &mut slices),
            };
            if at + taken < piece.len() {
                break;
            }
            left = left.saturating_sub(taken);
            at = 0;
        }
        slices
    }

    /// Says that the next `n` bytes were written.
    #[inline]
    pub(super) fn advance(&mut self, n: usize) {
        self.written += n as u64;
        let mut n = n;
        while n > 0 {
            let len = self.pieces[self.piece].len();
            let here = n.min(len - self.at);
            self.at += here;
            n -= here;
            if let Piece::Large(large) = &mut self.pieces[self.piece] {
                large.sum_to(self.at);
            }
            if n > 0 {
                (self.piece, self.at) = (self.piece + 1, 0);
            }
        }
    }

    /// Lets go of what the peer has, which is everything before `acknowledged`.
    pub(super) fn trim(&mut self, acknowledged: u64) {
        // After a break the peer may acknowledge what it had before, while that is being written again.
        let until = acknowledged.min(self.written);
        if until < acknowledged {
            sometimes("a peer acknowledged what was about to be written again");
        }
        while let Some(front) = self.pieces.front()
            && self.first + front.len() as u64 <= until
        {
            if front.len() == 0 && self.pieces.len() == 1 {
                break;
            }
            self.first += front.len() as u64;
            self.drop_front();
        }
    }

    fn drop_front(&mut self) {
        if self.pieces.len() == 1
            && let Some(Piece::Frames(bytes)) = self.pieces.front_mut()
        {
            // The only one goes on being filled: a conversation of small messages stays on the same cache lines.
            bytes.clear();
            self.at = 0;
            return;
        }
        let front = self.pieces.pop_front();
        match self.piece.checked_sub(1) {
            Some(piece) => self.piece = piece,
            None => self.at = 0,
        }
        if let Some(Piece::Frames(mut bytes)) = front
            && self.spare.len() < SPARE
        {
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    /// Goes back (or on) to `position`, where the peer wants the stream to go on: between what was let go and the end.
    pub(super) fn seek(&mut self, position: u64) {
        let position = position.clamp(self.first, self.end);
        if position < self.written {
            sometimes("what had been written was written again");
            self.mark_half_written();
        }
        (self.written, self.piece) = (position, 0);
        let mut left = (position - self.first) as usize;
        while self.piece + 1 < self.pieces.len() && left >= self.pieces[self.piece].len() {
            left -= self.pieces[self.piece].len();
            self.piece += 1;
        }
        self.at = left;
    }

    fn mark_half_written(&self) {
        if let Some(Piece::Large(large)) = self.pieces.get(self.piece)
            && 0 < self.at
            && self.at < large.len()
        {
            sometimes("a large frame that was written in part began again");
        }
    }
}
