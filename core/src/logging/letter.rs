//! A frame of a lane on its way between two processes, with what rides on it.
//!
//! | bytes | are |
//! |---|---|
//! | 4, 4 | the incarnations of sender and receiver, little-endian, as all numbers |
//! | 8 | the frame's number on its lane |
//! | 4 | which PE of the receiving node it is for, by rank; the highest bit: not all of it need be the same when it is made again |
//! | 4, … | the ride, after its length |
//! | … | the frame |

use talisman_ft::logging::Incarnation;
use talisman_kernel::pe::input_log::Frame;
use talisman_pup::Segment;

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
        let word = |at: usize| Some(u32::from_le_bytes(fixed.get(at..at + 4)?.try_into().ok()?));
        let number = u64::from_le_bytes(fixed.get(8..16)?.try_into().ok()?);
        let (between, to, length) = ((word(0)?, word(4)?), word(16)?, word(20)? as usize);
        let (ride, head) = rest.split_at_checked(length)?;
        let (is_determined, to) = (to & UNDETERMINED == 0, to & !UNDETERMINED);
        let frame = Frame::with_head(head, segments);
        Some(Letter { between, number, to, ride: ride.to_vec(), frame, is_determined })
    }
}
