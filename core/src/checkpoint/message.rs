//! What PEs say to each other about checkpoints. None of it counts for quiescence.

use talisman_ft::Version;

use crate::ids::PeId;
use crate::pup::{Packed, Pup};
use crate::route::Route;

/// A message about a checkpoint.
#[derive(Debug, Pup)]
pub(crate) enum Checkpoint {
    /// To the root: a checkpoint is wanted; this receiver is told once it is committed.
    Request { then: Option<Route> },
    /// Down: no entry runs any more, and everything else is to come to its end.
    Freeze { version: Version },
    /// Down: count.
    Ask { wave: u32 },
    /// Up: messages that a whole branch has sent and received, in this wave.
    Count { wave: u32, sent: u64, received: u64 },
    /// Down: nothing is on its way; each takes its part.
    Take,
    /// Up: a whole branch has.
    Taken { bytes: u64 },
    /// Down: all have; the program goes on.
    Thaw,
    /// To the PE of the buddy that is in the same lane: a piece of a part.
    Copy { version: Version, of: PeId, piece: u32, pieces: u32, bytes: Packed },
    /// Back: it is held there, whole.
    Stored { version: Version, of: PeId },
    /// To the root: this PE's part is held twice.
    Safe { version: Version, bytes: u64 },
    /// Down: so is everybody's. Older versions are not needed any more.
    Commit { version: Version },
}
