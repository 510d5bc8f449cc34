//! What a protocol wants to be done. Plain data: tests assert the exact list.

use crate::Version;
use crate::coordinated::Word;
use crate::event::Member;
use crate::logging::Order;

/// Something is to be done, in the order in which it is said.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// This image begins: no entry runs here any more; what the runtime has under way comes to its end, and then
    /// [`crate::event::Event::AtRest`].
    Freeze(Version),
    /// It says nothing, and leaves unread what comes, until it is asked again or thaws: it has been counted.
    HoldStill,
    /// It reads again what comes; when it is at rest it says so.
    GoOnFrozen,
    /// Its part of this image is packed.
    Capture(Version),
    /// Entries run again, and then [`crate::event::Event::Thawed`].
    Thaw,
    /// Its part of this image is kept here, and a copy at each of its keepers.
    Copy(Version),
    /// This image is what the job goes back to; older ones are not needed any more.
    Commit(Version),
    /// What is kept of this image is of no use. The one before stays.
    Abort(Version),
    /// The root tells those who wait for it that an image was committed, or why not.
    Answer(Result<Version, String>),
    /// Another member is told something.
    Tell {
        /// Who.
        to: Member,
        /// What.
        word: Word,
    },
    /// What the leader of a job that logs wants.
    Order(Order),
}
