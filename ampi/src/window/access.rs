//! What a rank does with the window of another: it is said in a frame, and done where that is taken in.

use talisman_pup::Pup;

use crate::datatype::Datatype;
use crate::engine::{Inline, Tag};

/// Something that is done with a window. Answers are messages in the window's context, with the tag that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub enum Access {
    /// Values of the window are written, combined, or sent back.
    Values {
        /// Where displacement 0 of the values is, in units of the window.
        at: i64,
        /// How they lie there: datatypes have names with their own rank only.
        datatype: Datatype,
        /// How many.
        count: u64,
        /// What is done with them.
        deed: Deed,
        /// What they were before is sent back.
        answer: Option<Tag>,
    },
    /// The window is to be locked. What is asked for after that waits until it is.
    Lock {
        /// No other rank may have it locked.
        is_exclusive: bool,
        /// The tag of an answer that comes when it is, if there is to be one.
        answer: Option<Tag>,
    },
    /// It is not any more.
    Unlock {
        /// The tag of the answer.
        answer: Tag,
    },
    /// Nothing is done: when the answer is there, all that was asked for before has been done.
    Flush {
        /// The tag of the answer.
        answer: Tag,
    },
}

/// What is done with values of a window.
#[derive(Clone, Debug, PartialEq, Eq, Pup)]
pub enum Deed {
    /// Nothing: they are only sent back.
    Get,
    /// They are what the frame brings.
    Put,
    /// Each is combined with one that the frame brings, by an operation that MPI brings along: it has the same handle everywhere.
    Combine {
        /// The operation.
        op: u32,
    },
    /// It is what the frame brings, if it was this before.
    Swap {
        /// The bytes that it is compared with.
        compare: Inline,
    },
}
