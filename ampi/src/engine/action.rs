//! What the engine wants done. Whoever drives it does so in the order of the list.

use talisman_pup::Pup;

use super::{Context, Frame, Payload, Rank};
use crate::ports::Ask;
use crate::window::Access;

/// Where the bytes of a message are, or go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Buffer {
    /// In which memory.
    pub area: Area,
    /// The address, or the offset in bytes in a scratch area.
    pub at: u64,
    /// How many values.
    pub count: u64,
    /// The datatype of the values, by its handle: the engine does not look at it.
    pub datatype: u32,
    /// Length of all values when they are packed.
    pub bytes: u64,
}

/// A memory of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Area {
    /// The program's.
    Memory,
    /// That of a running collective, by its number.
    Scratch(u32),
}

impl Buffer {
    /// So many bytes in the program's memory.
    pub fn of_bytes(at: u64, bytes: u64) -> Buffer {
        Buffer { area: Area::Memory, at, count: bytes, datatype: 0, bytes }
    }

    /// No bytes at all.
    pub const EMPTY: Buffer = Buffer { area: Area::Memory, at: 0, count: 0, datatype: 0, bytes: 0 };
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub enum Action {
    /// Read the buffer of the frame, if it has one, and send the frame. The buffer may be used again after that.
    Send {
        /// The receiver.
        to: Rank,
        /// What.
        frame: Frame<Buffer>,
    },
    /// Write the bytes into the buffer: as many as it has room for.
    Deliver {
        /// The bytes.
        payload: Payload,
        /// Where they go.
        into: Buffer,
    },
    /// Copy the values of one buffer to another that holds as many bytes.
    Copy {
        /// From here.
        from: Buffer,
        /// To here.
        into: Buffer,
    },
    /// Combine values: `into[i] = left[i] op into[i]`.
    Combine {
        /// The operation, by its handle.
        op: u32,
        /// The left operands.
        left: Buffer,
        /// The right operands, and the results.
        into: Buffer,
    },
    /// Do something with the window that is accessed in this context.
    Access {
        /// Who asks for it.
        source: Rank,
        /// Which window.
        context: Context,
        /// What.
        access: Box<Access>,
        /// What it needs.
        payload: Payload,
    },
    /// Answer what is asked of the rank's ports, or of the names that it keeps.
    Ask {
        /// Who asks.
        source: Rank,
        /// What.
        ask: Box<Ask>,
    },
    /// A collective begins that needs so many bytes of scratch memory, by its number.
    Allocate {
        /// Whose.
        scratch: u32,
        /// How many.
        bytes: u64,
    },
    /// That collective has ended.
    Free {
        /// Whose memory.
        scratch: u32,
    },
    /// Resume the rank: what it waits for has come.
    Wake,
}

/// Things to do, in order. Kept by who drives the engine, so that it is allocated once.
pub type Actions = Vec<Action>;
