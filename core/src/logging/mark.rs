//! What a frame was: kept where it is taken, for the process that makes it again.
//!
//! A node that goes back makes all frames again that others have taken of it. These are to be the same bytes: else its program breaks the
//! rule, and everything that follows is of another run than what the others have.
//!
//! Of a frame with an object that is packed to bytes that nothing determines, as a virtual rank is with what it has left on its stack, only
//! the beginning is looked at: it says what the frame is, and for which object.

use serde::{Deserialize, Serialize};
use talisman_kernel::pe::input_log::Frame;
use talisman_kernel::wire::BESIDE;

/// Bytes of a slice beside the head that are looked at: all of a short one, of a long one as many in pieces over all of it.
const LOOKED_AT: usize = 64 << 10;
/// Bytes of such a piece.
const PIECE: usize = 256;

/// Bytes at the beginning of a head that are looked at where others need not be the same: the kind of message, its sender, the object.
const START: usize = 32;

/// A frame's length and sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Its bytes, or as many as there is room for; 0 if not all of it need be the same when it is made again.
    pub bytes: u32,
    /// CRC-32 of its head and of what is looked at of its slices, or of its beginning.
    pub sum: u32,
}

impl Mark {
    /// That of a frame; whether all of it has to be the same when it is made again.
    pub fn of(frame: &Frame, is_determined: bool) -> Mark {
        if !is_determined {
            return Mark { bytes: 0, sum: crc32fast::hash(start_of(frame)) };
        }
        let mut sum = crc32fast::Hasher::new();
        sum.update(&frame.head);
        let mut bytes = frame.head.len();
        for segment in &frame.segments {
            bytes += segment.bytes().len();
            look_at(segment.bytes(), |piece| sum.update(piece));
        }
        Mark { bytes: u32::try_from(bytes).unwrap_or(u32::MAX), sum: sum.finalize() }
    }
}

/// A head that is long is the first slice, behind one byte: whether it is need not be the same.
fn start_of(frame: &Frame) -> &[u8] {
    let head = match &frame.segments[..] {
        [first, ..] if frame.head[..] == [BESIDE] => first.bytes(),
        _ => &frame.head,
    };
    &head[..head.len().min(START)]
}

fn look_at(bytes: &[u8], mut look: impl FnMut(&[u8])) {
    if bytes.len() <= LOOKED_AT {
        return look(bytes);
    }
    let every = bytes.len() / (LOOKED_AT / PIECE);
    bytes.chunks(every.max(PIECE)).for_each(|chunk| look(&chunk[..PIECE.min(chunk.len())]));
    look(&bytes[bytes.len() - PIECE..]);
}

/// A frame was made again, and is not what was taken.
#[derive(Clone, Debug)]
pub struct Differs {
    /// Who had taken it.
    pub to: u32,
    /// Its number on the lane.
    pub number: u64,
    /// What was taken.
    pub taken: Mark,
    /// What was made now.
    pub frame: Frame,
    /// All of it should have been the same.
    pub is_determined: bool,
}

impl Differs {
    /// For people: `described` is what the frame is, as its PE knows.
    pub fn message(&self, described: &str) -> String {
        let Mark { bytes, .. } = Mark::of(&self.frame, self.is_determined);
        let before = match self.taken.bytes {
            0 => "an object that moved".to_owned(),
            before if before == bytes => "as many bytes, and others".to_owned(),
            before => format!("{before} bytes"),
        };
        format!(
            "it runs again what was done before its process was lost, and sends node {} something else: {described}; its message {} to \
             there had {before}. With --ft logging, what an entry does has to follow from its messages and the state of its object: not \
             from a clock, the order of a hash map, or random numbers other than cx.rng()",
            self.to, self.number
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_pup::Segment;

    fn frame(head: &[u8], slice: Vec<u8>) -> Frame {
        Frame::with_head(head, vec![Segment::of_vec(slice)])
    }

    #[test]
    fn another_frame_has_another_mark() {
        let slice = |changed: Option<usize>| {
            let mut slice: Vec<u8> = (0..300_000_u32).map(|n| n as u8).collect();
            changed.into_iter().for_each(|at| slice[at] ^= 1);
            slice
        };
        let mark = Mark::of(&frame(b"head", slice(None)), true);
        assert_eq!(mark, Mark::of(&frame(b"head", slice(None)), true));
        assert_eq!(mark.bytes, 300_004);
        let others = [
            frame(b"heap", slice(None)),
            frame(b"head", slice(Some(0))),
            frame(b"head", slice(Some(299_999))),
            frame(b"head", slice(None)[1..].to_vec()),
        ];
        others.iter().for_each(|other| assert_ne!(mark, Mark::of(other, true)));
        let short = |at: usize| {
            let mut slice = vec![0_u8; LOOKED_AT];
            slice[at] = 1;
            Mark::of(&frame(b"", slice), true)
        };
        assert_ne!(short(777), short(778), "of a short slice everything counts");
    }

    #[test]
    fn what_differs_is_told_by_its_length_if_that_does() {
        let taken = Mark { bytes: 9, sum: 1 };
        let differs = |head: &[u8]| {
            let frame = frame(head, Vec::new());
            Differs { to: 2, number: 17, taken, frame, is_determined: true }
        };
        let told = differs(b"12345").message("5 bytes: `take` of Runner[1]");
        assert!(
            told.contains("node 2") && told.contains("Runner[1]") && told.contains("had 9 bytes"),
            "{told}"
        );
        assert!(differs(b"123456789").message("").contains("as many bytes, and others"));
    }
    #[test]
    fn of_what_nothing_determines_the_beginning_counts() {
        let long = |end: u8| [&[7; START][..], &[end; 9]].concat();
        let of = |head: &[u8], slice: Vec<u8>| Mark::of(&frame(head, slice), false);
        let mark = of(&long(1), vec![1; 70_000]);
        assert_eq!(mark, of(&long(2), vec![2; 90_000]));
        // Its head is so long that it is a slice.
        assert_eq!(mark, of(&[BESIDE], long(3)));
        let mut other = long(1);
        other[START - 1] = 8;
        assert_ne!(mark, of(&other, vec![1; 70_000]), "it is for another object");
        assert_ne!(mark, Mark::of(&frame(&long(1), vec![1; 70_000]), true), "all of it should be the same");
        assert_eq!(of(b"short", Vec::new()), of(b"short", vec![1]));
    }
}
