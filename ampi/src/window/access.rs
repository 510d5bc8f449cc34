//! What a rank does with the window of another: it is said in a frame, and done where that is taken in.

use talisman_pup::Pup;

use super::Window;
use crate::datatype::{Datatype, Datatypes};
use crate::engine::{Buffer, Context, Inline, Rank, Tag};

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

/// What a rank wants with values of another's window. It does that itself if the other one waits on its PE.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Whose memory that is.
    pub target: Rank,
    /// The window's context.
    pub context: Context,
    /// Where displacement 0 of the values is, in units of the window.
    pub at: i64,
    /// How many.
    pub count: u64,
    /// How they lie there, by its handle.
    pub datatype: u32,
    /// What is done with them.
    pub deed: &'a Deed,
    /// What it brings for that.
    pub brings: Buffer,
    /// Where what they were before is to be.
    pub gets: Option<Buffer>,
    /// If all is done that the target was asked for before, it may be done at once.
    pub at_once: Option<NeedsLock>,
}

/// Whether it has to have the lock of the window for that.
pub type NeedsLock = bool;

impl Wanted<'_> {
    /// The bytes from the lowest to the highest that the values have there, from where displacement 0 is.
    pub(crate) fn span(&self, datatypes: &Datatypes) -> Option<(i64, i64)> {
        datatypes.get(self.datatype).ok()?.span(self.count)
    }

    /// Where displacement 0 is in this window, if this rank may access it now, and all bytes of this span are in it.
    pub(crate) fn address_in(&self, window: &Window, by: Rank, span: (i64, i64)) -> Option<u64> {
        let needs_lock = self.at_once?;
        let may = !needs_lock || window.lock.is_held_by(by);
        window.region.address(self.at, span).filter(|_| may)
    }

    /// What the target is asked for.
    pub fn access(&self, datatype: Datatype, answer: Option<Tag>) -> Access {
        Access::Values { at: self.at, datatype, count: self.count, deed: self.deed.clone(), answer }
    }
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
