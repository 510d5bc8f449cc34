//! A part in pieces: how it travels to whoever keeps its other copy, and is kept there.
//!
//! Pieces share the memory of the part, and a copy is kept as the pieces that came: neither is copied on its way. Only who
//! goes back to a copy puts together again what is larger than a piece.

use std::mem;

use talisman_pup::{Packed, Pup, Segment, SegmentBuffer};

/// Most bytes in a piece: little beside what a link may have under way, much beside what a message costs.
pub const PIECE_MAX: usize = 1 << 20;

/// What a part is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Manifest {
    /// Length and alignment of each of its buffers.
    pub buffers: Vec<(u64, u32)>,
    /// How many pieces it comes in.
    pub pieces: u32,
}

impl Manifest {
    /// Of a part that is not cut: each of its buffers is a piece, but for empty ones.
    pub fn uncut(part: &Packed) -> Manifest {
        let buffers = sizes(&part.buffers());
        let pieces = buffers.iter().filter(|(len, _)| *len > 0).count() as u32;
        Manifest { buffers, pieces }
    }
}

fn sizes(buffers: &[Segment]) -> Vec<(u64, u32)> {
    buffers.iter().map(|buffer| (buffer.bytes().len() as u64, buffer.align() as u32)).collect()
}

/// Cuts a part into pieces of some slices each, which together are no more than [`PIECE_MAX`].
pub fn cut(part: &Packed) -> (Manifest, Vec<Vec<Segment>>) {
    let buffers = part.buffers();
    let (mut all, mut piece, mut size) = (Vec::new(), Vec::new(), 0);
    for buffer in &buffers {
        let len = buffer.bytes().len();
        let mut at = 0;
        while at < len {
            if size == PIECE_MAX {
                all.push(mem::take(&mut piece));
                size = 0;
            }
            let end = len.min(at + PIECE_MAX - size);
            piece.push(buffer.part(at..end));
            size += end - at;
            at = end;
        }
    }
    if !piece.is_empty() {
        all.push(piece);
    }
    (Manifest { buffers: sizes(&buffers), pieces: all.len() as u32 }, all)
}

/// Puts a part together again, of the slices of all its pieces; `None` if they are not those of this part.
pub fn put_together(manifest: &Manifest, slices: impl IntoIterator<Item = Segment>) -> Option<Packed> {
    let mut slices = slices.into_iter();
    let buffers = manifest.buffers.iter().map(|(len, align)| {
        let (len, align) = (usize::try_from(*len).ok()?, usize::try_from(*align).ok()?);
        buffer_of(len, align, &mut slices)
    });
    let buffers = buffers.collect::<Option<Vec<_>>>()?;
    slices.next().is_none().then(|| Packed::of_buffers(buffers))
}

fn buffer_of(len: usize, align: usize, slices: &mut impl Iterator<Item = Segment>) -> Option<Segment> {
    let mut buffer = SegmentBuffer::new(len, align).ok()?;
    while buffer.left() > 0 {
        let slice = slices.next()?;
        if slice.bytes().len() == len && slice.align() == align {
            return Some(slice);
        }
        if slice.bytes().len() > buffer.left() {
            return None;
        }
        buffer.fill(slice.bytes());
    }
    buffer.finish()
}

/// The checksum of a piece.
pub fn checksum(piece: &[Segment]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    piece.iter().for_each(|slice| sum.update(slice.bytes()));
    sum.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn part(sizes: &[usize]) -> Packed {
        let bytes = |size: usize| (0..size).map(|i| (i * 7 % 251) as u8).collect::<Vec<u8>>();
        let words = |size: usize| (0..size as u64 / 8).collect::<Vec<u64>>();
        let segments = sizes[1..].iter().map(|size| Segment::of_vec(words(*size))).collect();
        Packed::new(Bytes::from(bytes(sizes[0])), segments, Vec::new())
    }

    #[test]
    fn a_part_is_the_same_after_its_way() {
        for sizes in [
            &[0][..],
            &[5],
            &[PIECE_MAX],
            &[PIECE_MAX + 1],
            &[100, 16 << 10, 32 << 10],
            &[3 * PIECE_MAX + 8, PIECE_MAX - 8, 16, 2 * PIECE_MAX, 0],
        ] {
            let part = part(sizes);
            let (manifest, pieces) = cut(&part);
            assert_eq!(manifest.pieces as usize, pieces.len());
            let size = |piece: &Vec<Segment>| piece.iter().map(|slice| slice.bytes().len()).sum::<usize>();
            assert!(pieces.iter().all(|piece| (1..=PIECE_MAX).contains(&size(piece))), "{sizes:?}");
            assert!(pieces.iter().rev().skip(1).all(|piece| size(piece) == PIECE_MAX), "{sizes:?}");
            let copied = pieces.iter().flatten().map(Segment::copied);
            assert_eq!(put_together(&manifest, copied).as_ref(), Some(&part), "{sizes:?}");
        }
    }

    #[test]
    fn what_is_missing_or_too_much_is_seen() {
        let (manifest, pieces) = cut(&part(&[10, PIECE_MAX, 800]));
        let slices: Vec<Segment> = pieces.into_iter().flatten().collect();
        assert_eq!(put_together(&manifest, slices[1..].to_vec()), None);
        assert_eq!(put_together(&manifest, slices[..slices.len() - 1].to_vec()), None);
        let more = [slices.clone(), vec![slices[0].clone()]].concat();
        assert_eq!(put_together(&manifest, more), None);
        assert!(put_together(&manifest, slices).is_some());
    }
}
