//! A frame of a lane on its way between two processes, with what rides on it.
//!
//! | bytes | are |
//! |---|---|
//! | 4, 4 | the incarnations of sender and receiver, little-endian, as all numbers |
//! | 8 | the frame's number on its lane |
//! | 4 | which PE of the receiving node it is for, by rank |
//! | 4, … | the ride, after its length |
//! | … | the frame |

use std::sync::Arc;

use talisman_ft::logging::Incarnation;
use talisman_kernel::pe::input_log::Frame;

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
    pub frame: Arc<Frame>,
}

impl Letter {
    /// As it goes: the bytes, with room for so many behind them. The frame's slices go beside.
    pub fn write(&self, room: usize) -> Vec<u8> {
        let Letter { between, number, to, ride, frame } = self;
        let mut head = Vec::with_capacity(FIXED + ride.len() + frame.head.len() + room);
        head.extend(between.0.to_le_bytes());
        head.extend(between.1.to_le_bytes());
        head.extend(number.to_le_bytes());
        head.extend(to.to_le_bytes());
        head.extend((ride.len() as u32).to_le_bytes());
        head.extend(ride);
        head.extend(&frame.head[..]);
        head
    }

    /// The same as a frame.
    pub fn seal(&self) -> Frame {
        Frame { head: self.write(0).into(), segments: self.frame.segments.clone() }
    }

    /// What has come. None if it is too short for what it says that it has.
    pub fn open(Frame { head, segments }: Frame) -> Option<Letter> {
        let word = |at: usize| Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?));
        let number = u64::from_le_bytes(head.get(8..16)?.try_into().ok()?);
        let (between, to, length) = ((word(0)?, word(4)?), word(16)?, word(20)? as usize);
        let ride = head.get(FIXED..FIXED.checked_add(length)?)?.to_vec();
        let frame = Arc::new(Frame { head: head[FIXED + length..].into(), segments });
        Some(Letter { between, number, to, ride, frame })
    }
}
