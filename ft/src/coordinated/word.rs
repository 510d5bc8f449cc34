//! What members say to each other.

use crate::Version;

/// A message about an image of the whole job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word {
    /// Down: no entry runs any more. The first wave of counts begins.
    Freeze(Version),
    /// Down: count.
    Ask(u32),
    /// Up: messages that a whole branch has sent and taken, in this wave.
    Counted {
        /// Which wave.
        wave: u32,
        /// Sent.
        sent: u64,
        /// Taken.
        received: u64,
    },
    /// Down: nothing is on its way; each takes its part.
    Take,
    /// Up: a whole branch has.
    Taken,
    /// Down: all have; the program goes on.
    Thaw,
    /// To the root: a part and its copies are kept, or why not.
    Safe(Version, Result<(), String>),
    /// Down: every part is held as often as can be.
    Commit(Version),
    /// Down: this version will never be complete.
    Abort(Version),
}
