//! What a slot says: seven words, the first of which is the header.
//!
//! Header, from the low end: kind (8 bits), length of an inline head (8), rank (16), checksum (32). Words and bytes are in
//! the order of the machine: both sides run on it.

use super::slots::Content;

/// Bytes of a head that needs no more than its slot.
pub(super) const INLINE_MAX: usize = 48;

const INLINE: u8 = 1;
const BEGIN: u8 = 2;
const MORE: u8 = 3;

/// A slot, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// A whole message.
    Inline(Inline),
    /// A message of which the slot has the sizes, and the byte ring the first chunk.
    Begin(Begin),
    /// The byte ring has another chunk of the message begun last.
    More,
}

/// A short head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inline {
    pub(super) rank: u16,
    len: u8,
    words: [u64; 6],
}

/// The sizes of a message that is longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begin {
    pub(super) rank: u16,
    /// Bytes of the head.
    pub(super) head: u64,
    /// How many segments.
    pub(super) segments: u64,
}

/// Why a slot cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameFlaw {
    #[error("a slot whose checksum does not fit its content")]
    Check,
    #[error("a slot of the unknown kind {0}")]
    Kind(u8),
    #[error("{0} bytes said to be in a slot, which has room for {INLINE_MAX}")]
    Length(u8),
}

impl Inline {
    /// `head` is at most [`INLINE_MAX`] bytes.
    #[inline(always)]
    pub(super) fn new(rank: u16, head: &[u8]) -> Inline {
        let mut bytes = [0; INLINE_MAX];
        bytes[..head.len()].copy_from_slice(head);
        let word = |at: usize| u64::from_ne_bytes(bytes[at * 8..][..8].try_into().expect("eight bytes"));
        Inline { rank, len: head.len() as u8, words: std::array::from_fn(word) }
    }

    /// Runs `f` with the head.
    #[inline(always)]
    pub(super) fn with_head<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        let bytes = self.words.map(u64::to_ne_bytes);
        f(&bytes.as_flattened()[..usize::from(self.len)])
    }
}

impl Frame {
    /// The content of a slot that is written in lap `lap`.
    #[inline(always)]
    pub(super) fn pack(self, lap: u64) -> Content {
        let (kind, len, rank, words) = match self {
            Frame::Inline(Inline { rank, len, words }) => (INLINE, len, rank, words),
            Frame::Begin(Begin { rank, head, segments }) => (BEGIN, 0, rank, [head, segments, 0, 0, 0, 0]),
            Frame::More => (MORE, 0, 0, [0; 6]),
        };
        seal(u32::from(kind) | u32::from(len) << 8 | u32::from(rank) << 16, words, lap)
    }

    /// Reads a slot of lap `lap`.
    #[inline(always)]
    pub(super) fn unpack(content: Content, lap: u64) -> Result<Frame, FrameFlaw> {
        let [first, a, b, c, d, e, f] = content;
        let (header, words) = (first as u32, [a, b, c, d, e, f]);
        if (first >> 32) as u32 != checksum(lap, header, &words) {
            return Err(FrameFlaw::Check);
        }
        let (kind, len, rank) = (header as u8, (header >> 8) as u8, (header >> 16) as u16);
        match kind {
            INLINE if usize::from(len) > INLINE_MAX => Err(FrameFlaw::Length(len)),
            INLINE => Ok(Frame::Inline(Inline { rank, len, words })),
            BEGIN => Ok(Frame::Begin(Begin { rank, head: a, segments: b })),
            MORE => Ok(Frame::More),
            kind => Err(FrameFlaw::Kind(kind)),
        }
    }
}

/// Adds the checksum to the lower half of a header and the other six words.
#[inline(always)]
pub(super) fn seal(header: u32, words: [u64; 6], lap: u64) -> Content {
    let [a, b, c, d, e, f] = words;
    [u64::from(header) | u64::from(checksum(lap, header, &words)) << 32, a, b, c, d, e, f]
}

/// Of the header and all words of a slot, and of its lap, so that what was left of an earlier one does not fit.
///
/// Multiplications that run side by side, 64 bits each into 128 and folded: 3 ns, where a CRC-32 of so few bytes takes 15.
/// It is against stray writes, which it misses once in four thousand million times, not against forgery: who can write to
/// the segment can compute it.
#[inline(always)]
fn checksum(lap: u64, header: u32, words: &[u64; 6]) -> u32 {
    // Digits of pi: any odd constants with bits spread evenly would do.
    const KEYS: [u64; 8] = [
        0x243f_6a88_85a3_08d3,
        0x1319_8a2e_0370_7345,
        0xa409_3822_299f_31d1,
        0x082e_fa98_ec4e_6c89,
        0x4528_21e6_38d0_1377,
        0xbe54_66cf_34e9_0c6d,
        0xc0ac_29b7_c97c_50dd,
        0x3f84_d5b5_b547_0917,
    ];
    let pair = |at: usize| folded(words[at] ^ KEYS[at], words[at + 1] ^ KEYS[at + 1]);
    let (a, b, c) = (pair(0), pair(2), pair(4));
    let d = folded(u64::from(header) ^ KEYS[6], lap ^ KEYS[7]);
    let all = folded(a ^ c.rotate_left(23) ^ KEYS[1], b ^ d.rotate_left(41) ^ KEYS[4]);
    (all ^ all >> 32) as u32
}

#[inline(always)]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Frame> {
        let head: Vec<u8> = (0..48).map(|i| i * 5 + 1).collect();
        let inline = [0, 1, 7, 8, 9, 24, 47, 48].map(|n| Frame::Inline(Inline::new(3, &head[..n])));
        let begin = Frame::Begin(Begin { rank: 65535, head: 1 << 30, segments: 1 << 16 });
        [inline.as_slice(), &[begin, Frame::More]].concat()
    }

    #[test]
    fn what_was_packed_is_read() {
        for (lap, frame) in (1..).zip(samples()) {
            assert_eq!(Frame::unpack(frame.pack(lap), lap), Ok(frame));
        }
        let Frame::Inline(inline) = samples()[5] else { panic!("the sixth is one") };
        inline.with_head(|head| assert_eq!((head.len(), head[23]), (24, 116)));
    }

    #[test]
    fn each_flipped_bit_and_each_other_lap_shows() {
        for frame in samples() {
            let content = frame.pack(9);
            for bit in 0..7 * 64 {
                let mut flipped = content;
                flipped[bit / 64] ^= 1 << (bit % 64);
                assert_eq!(Frame::unpack(flipped, 9), Err(FrameFlaw::Check), "bit {bit} of {frame:?}");
            }
            assert_eq!(Frame::unpack(content, 8), Err(FrameFlaw::Check));
        }
        assert_eq!(Frame::unpack([0; 7], 1), Err(FrameFlaw::Check));
    }

    #[test]
    fn well_formed_nonsense_is_refused() {
        let signed = |header: u32| Frame::unpack(seal(header, [0; 6], 1), 1);
        assert_eq!(signed(0), Err(FrameFlaw::Kind(0)));
        assert_eq!(signed(4), Err(FrameFlaw::Kind(4)));
        assert_eq!(signed(u32::from(INLINE) | 49 << 8), Err(FrameFlaw::Length(49)));
    }
}
