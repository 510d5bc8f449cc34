//! A frame of a lane on its way between two processes, with what rides on it.
//!
//! | bytes | are |
//! |---|---|
//! | 4, 4 | the incarnations of sender and receiver, little-endian, as all numbers |
//! | 8 | the frame's number on its lane |
//! | 4 | which PE of the receiving node it is for, by rank; the highest bit: not all of it need be the same when it is made again |
//! | 4, … | the ride, after its length |
//! | … | the frame |

use bytes::{Buf, Bytes};
use talisman_ft::logging::Incarnation;
use talisman_kernel::pe::input_log::Frame;
use talisman_pup::{Segment, Tail};

/// Beside a rank: the frame has bytes that nothing determines.
const UNDETERMINED: u32 = 1 << 31;

/// What is in front of a ride.
const FIXED: usize = 24;

/// A frame on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Letter {
    /// From the process of one incarnation to that of another.
    pub between: (Incarnation, Incarnation),
    /// Its number on the lane.
    pub number: u64,
    /// The rank of the PE that it is for. It comes to the PE of its sender's rank, and goes on by a ring.
    pub to: u32,
    /// What rides on it, written.
    pub ride: Vec<u8>,
    /// What the PE has sent: its sender keeps it too.
    pub frame: Frame,
    /// Whether all of it has to be the same when its sender makes it again.
    pub is_determined: bool,
}

impl Letter {
    /// Appends it as it goes. The frame's slices go beside.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.reserve(FIXED + self.ride.len() + self.frame.head.len());
        self.write_front(bytes);
        bytes.extend_from_slice(&self.frame.head);
    }

    /// The same of all that stands before the frame's head.
    pub fn write_front(&self, bytes: &mut Vec<u8>) {
        let Letter { between, number, to, ride, frame: _, is_determined } = self;
        let to = if *is_determined { *to } else { *to | UNDETERMINED };
        bytes.extend(between.0.to_le_bytes());
        bytes.extend(between.1.to_le_bytes());
        bytes.extend(number.to_le_bytes());
        bytes.extend(to.to_le_bytes());
        bytes.extend((ride.len() as u32).to_le_bytes());
        bytes.extend_from_slice(ride);
    }

    /// What has come. None if it is too short for what it says that it has.
    pub fn open(bytes: &[u8], segments: Vec<Segment>) -> Option<Letter> {
        let (fixed, rest) = bytes.split_at_checked(FIXED)?;
        let front = Front::read(fixed)?;
        let (ride, head) = rest.split_at_checked(front.ride)?;
        Some(front.letter(ride.to_vec(), Frame::with_head(head, segments)))
    }

    /// The same of one without slices of which the last bytes are elsewhere: they are copied once, to where they stay.
    pub fn open_with(bytes: &[u8], last: &dyn Tail) -> Option<Letter> {
        let (fixed, here) = bytes.split_at_checked(FIXED)?;
        let front = Front::read(fixed)?;
        let length = here.len() + last.len();
        let mut rest = Vec::with_capacity(length);
        rest.extend_from_slice(here);
        last.copy_to(&mut rest.spare_capacity_mut()[..last.len()]);
        // SAFETY: there is room for so many, and a tail writes every byte that it is given.
        unsafe { rest.set_len(length) };
        let ride = rest.get(..front.ride)?.to_vec();
        let mut head = Bytes::from(rest);
        head.advance(front.ride);
        Some(front.letter(ride, Frame { head, segments: Vec::new() }))
    }
}

/// What is in front of a ride, and how long that is.
struct Front {
    between: (Incarnation, Incarnation),
    number: u64,
    to: u32,
    is_determined: bool,
    ride: usize,
}

impl Front {
    fn read(fixed: &[u8]) -> Option<Front> {
        let word = |at: usize| Some(u32::from_le_bytes(fixed.get(at..at + 4)?.try_into().ok()?));
        let number = u64::from_le_bytes(fixed.get(8..16)?.try_into().ok()?);
        let (is_determined, to) = (word(16)? & UNDETERMINED == 0, word(16)? & !UNDETERMINED);
        Some(Front { between: (word(0)?, word(4)?), number, to, is_determined, ride: word(20)? as usize })
    }

    fn letter(self, ride: Vec<u8>, frame: Frame) -> Letter {
        let Front { between, number, to, is_determined, ride: _ } = self;
        Letter { between, number, to, ride, frame, is_determined }
    }
}
