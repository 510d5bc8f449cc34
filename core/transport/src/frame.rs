//! What stands in front of every piece of a TCP connection's stream: see `docs/src/reference/wire.md`, "Frames".
//!
//! Pure: bytes in, values out. Nothing here allocates by what a peer says.

use super::{HEAD_MAX, SEGMENT_BYTES_MAX, SEGMENTS_MAX};
use talisman_pup::ALIGN_MAX;

/// "Ta" of Talisman, as the first two bytes of each frame.
const MAGIC: u16 = u16::from_le_bytes(*b"Ta");
/// Of this format. Both ends of a connection have the same: the handshake sees to it.
pub const VERSION: u8 = 3;
/// Bytes of a frame's header.
pub const HEADER: usize = 32;
/// Bytes of a segment's entry in a large frame's table.
pub const ENTRY: usize = 16;
/// Bytes of the checksum that ends a large frame.
pub const TRAILER: usize = 4;
/// Longest head of a small frame: a whole one fits the buffer into which a receiver reads, with room to spare.
pub const SMALL_MAX: usize = 12 << 10;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A message without segments, of at most [`SMALL_MAX`] bytes, whose checksum is in the header.
    Small = 1,
    /// Any other message: table, head, segments, then a checksum of head and segments.
    Large = 2,
    /// Says by its header alone how much has arrived.
    Acknowledge = 3,
    /// The sender will send no more; an end of the connection without it means that the connection broke.
    Goodbye = 4,
    /// The first on each connection: `offset` is where in the stream of frames it goes on.
    Begin = 5,
}

impl Kind {
    fn of(byte: u8) -> Option<Kind> {
        [Kind::Small, Kind::Large, Kind::Acknowledge, Kind::Goodbye, Kind::Begin]
            .into_iter()
            .find(|&kind| kind as u8 == byte)
    }
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub kind: Kind,
    /// The PE a message is for.
    pub rank: u16,
    /// Bytes of the head.
    pub head: u32,
    /// Number of segments.
    pub segments: u32,
    /// How much of the other direction's stream has arrived whole, in bytes; of [`Kind::Begin`]: where this
    /// direction's stream goes on.
    pub offset: u64,
    /// Of what follows: a small frame's head, a large one's table.
    pub sum: u32,
}

impl FrameError {
    /// Whether only its size is wrong, in a frame whose checksum is right.
    pub fn is_too_large(&self) -> bool {
        matches!(
            self,
            FrameError::Head(_) | FrameError::Segments(_) | FrameError::Bytes | FrameError::Align(_)
        )
    }
}

/// Why a header or a table cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Its checksum is wrong, so that nothing else in it can be believed, or it is not the one that comes next.
    #[error("a frame is damaged")]
    Damaged,
    #[error("a frame begins with {0:#06x} and not with {MAGIC:#06x}")]
    Magic(u16),
    #[error("a frame of version {0}, where this program speaks version {VERSION}")]
    Version(u8),
    #[error("a frame of the unknown kind {0}")]
    Kind(u8),
    #[error("a head of {0} bytes, above the most there can be ({HEAD_MAX})")]
    Head(u32),
    #[error("a small frame of {0} bytes, above the most there can be ({SMALL_MAX})")]
    Small(u32),
    #[error("{0} segments, above the most there can be ({SEGMENTS_MAX})")]
    Segments(u32),
    #[error("a frame without a message has a length of its own")]
    Length,
    #[error("segments of more than {SEGMENT_BYTES_MAX} bytes in all")]
    Bytes,
    #[error("no memory for a segment of {0} bytes")]
    Memory(u64),
    #[error("a segment aligned to {0} bytes: alignments are powers of two up to {ALIGN_MAX}")]
    Align(u64),
}

impl Header {
    /// Of a frame without a message.
    pub fn bare(kind: Kind, offset: u64) -> Header {
        Header { kind, rank: 0, head: 0, segments: 0, offset, sum: 0 }
    }

    /// Its bytes, where the frame begins at this position of the stream; [`Kind::Begin`] has none, which is 0.
    #[inline]
    pub fn encode(&self, position: u64) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[0..2].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[2] = VERSION;
        bytes[3] = self.kind as u8;
        bytes[4..6].copy_from_slice(&self.rank.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.head.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.segments.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.offset.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.sum.to_le_bytes());
        let sum = checksum(&bytes, position);
        bytes[28..32].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads and checks it, where a frame is to begin at this position.
    ///
    /// # Errors
    /// Whatever a peer of this version would not send.
    #[inline]
    pub fn decode(bytes: &[u8; HEADER], position: u64) -> Result<Header, FrameError> {
        if u32_at(bytes, 28) != checksum(bytes, position) {
            return Err(FrameError::Damaged);
        }
        let magic = u16::from_le_bytes([bytes[0], bytes[1]]);
        if magic != MAGIC {
            return Err(FrameError::Magic(magic));
        }
        if bytes[2] != VERSION {
            return Err(FrameError::Version(bytes[2]));
        }
        let header = Header {
            kind: Kind::of(bytes[3]).ok_or(FrameError::Kind(bytes[3]))?,
            rank: u16::from_le_bytes([bytes[4], bytes[5]]),
            head: u32_at(bytes, 8),
            segments: u32_at(bytes, 12),
            offset: u64_at(bytes, 16),
            sum: u32_at(bytes, 24),
        };
        header.bounded()
    }

    /// Whether the lengths are those of its kind.
    #[inline]
    fn bounded(self) -> Result<Header, FrameError> {
        match self.kind {
            Kind::Small if self.head as usize > SMALL_MAX => Err(FrameError::Small(self.head)),
            Kind::Small if self.segments != 0 => Err(FrameError::Length),
            Kind::Large if self.head as usize > HEAD_MAX => Err(FrameError::Head(self.head)),
            Kind::Large if self.segments as usize > SEGMENTS_MAX => Err(FrameError::Segments(self.segments)),
            Kind::Small | Kind::Large => Ok(self),
            _ if self.head != 0 || self.segments != 0 => Err(FrameError::Length),
            _ => Ok(self),
        }
    }
}

/// Of the header's other bytes and of where it stands: a whole frame that is missing or there twice is noticed as well, since
/// those after it are not where they say.
#[inline]
pub fn checksum(bytes: &[u8; HEADER], position: u64) -> u32 {
    crc32fast::hash(&bytes[..28]) ^ (position ^ (position >> 32)) as u32
}

/// One line of a large frame's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Bytes of the segment.
    pub len: u64,
    /// How its memory is aligned.
    pub align: u64,
}

impl Entry {
    /// Its bytes.
    pub fn encode(&self) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        bytes[..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..].copy_from_slice(&self.align.to_le_bytes());
        bytes
    }
}

/// The segments that a table announces, whose checksum the caller has compared.
///
/// # Errors
/// An alignment that cannot be, or too many bytes in all.
pub fn entries(table: &[u8]) -> Result<Vec<Entry>, FrameError> {
    let mut left = SEGMENT_BYTES_MAX;
    table.chunks_exact(ENTRY).map(|bytes| entry(bytes, &mut left)).collect()
}

fn entry(bytes: &[u8], left: &mut u64) -> Result<Entry, FrameError> {
    let (len, align) = (u64_at(bytes, 0), u64_at(bytes, 8));
    if !align.is_power_of_two() || align > ALIGN_MAX as u64 {
        return Err(FrameError::Align(align));
    }
    *left = left.checked_sub(len).ok_or(FrameError::Bytes)?;
    Ok(Entry { len, align })
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: Header =
        Header { kind: Kind::Large, rank: 3, head: 70_000, segments: 2, offset: 1 << 40, sum: 0xdead_beef };

    /// Beyond what 32 bits count.
    const POSITION: u64 = (5 << 32) + 71;

    fn resealed(change: impl FnOnce(&mut [u8; HEADER])) -> Result<Header, FrameError> {
        let mut bytes = SAMPLE.encode(POSITION);
        change(&mut bytes);
        let sum = checksum(&bytes, POSITION);
        bytes[28..].copy_from_slice(&sum.to_le_bytes());
        Header::decode(&bytes, POSITION)
    }

    #[test]
    fn a_header_comes_back() {
        assert_eq!(Header::decode(&SAMPLE.encode(POSITION), POSITION), Ok(SAMPLE));
        let bare = Header::bare(Kind::Goodbye, 7);
        assert_eq!(Header::decode(&bare.encode(0), 0), Ok(bare));
    }

    #[test]
    fn a_frame_in_the_place_of_another_is_seen() {
        for other in [POSITION + HEADER as u64, POSITION - 1, POSITION + (1 << 32), 0] {
            assert_eq!(Header::decode(&SAMPLE.encode(POSITION), other), Err(FrameError::Damaged), "{other}");
        }
    }

    #[test]
    fn every_flipped_bit_is_seen() {
        for bit in 0..HEADER * 8 {
            let mut bytes = SAMPLE.encode(POSITION);
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::decode(&bytes, POSITION), Err(FrameError::Damaged), "bit {bit}");
        }
    }

    #[test]
    fn what_no_peer_sends_is_named() {
        assert_eq!(resealed(|bytes| bytes[0] = 0), Err(FrameError::Magic(0x6100)));
        assert_eq!(resealed(|bytes| bytes[2] = 9), Err(FrameError::Version(9)));
        assert_eq!(resealed(|bytes| bytes[3] = 6), Err(FrameError::Kind(6)));
        assert_eq!(resealed(|bytes| bytes[3] = 3), Err(FrameError::Length));
        assert_eq!(resealed(|bytes| bytes[3] = 1), Err(FrameError::Small(70_000)));
        assert_eq!(resealed(|bytes| bytes[11] = 255), Err(FrameError::Head(0xff01_1170)));
        assert_eq!(resealed(|bytes| bytes[15] = 0x11), Err(FrameError::Segments(0x1100_0002)));
    }

    #[test]
    fn tables_are_bounded() {
        let table = |len, align| Entry { len, align }.encode();
        assert_eq!(entries(&table(9, 8)), Ok(vec![Entry { len: 9, align: 8 }]));
        assert_eq!(entries(&table(9, 3)), Err(FrameError::Align(3)));
        assert_eq!(entries(&table(9, 8192)), Err(FrameError::Align(8192)));
        assert_eq!(entries(&table(SEGMENT_BYTES_MAX + 1, 8)), Err(FrameError::Bytes));
        let two = [table(SEGMENT_BYTES_MAX, 8), table(1, 8)].concat();
        assert_eq!(entries(&two), Err(FrameError::Bytes));
    }
}
