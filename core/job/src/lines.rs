//! What the program printed and reported, on its way to the launcher.

use serde::{Deserialize, Serialize};
use talisman_ft::Version;

use crate::Results;

/// What the program printed through `cx.output()` on one node in the period between two checkpoints, and reported there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lines {
    /// The version that ended the period, which is committed, or gone back to. None: it is the job's last period, which counts
    /// once all have said `Done`, and is forgotten if the job goes back.
    pub version: Option<Version>,
    /// Of what has no version: that of the cut that ended the period, which may never be committed, and the last there is if none did. What was
    /// said before a cut is printed before what was said after it, wherever that was.
    pub until: Version,
    /// Where it was said; its heirs say it again.
    pub node: u32,
    /// Which piece of that, from 0: what would be too long for a frame is sent in several, divided in the same way each time.
    pub piece: u32,
    /// Without ends of line.
    pub lines: Vec<String>,
    /// Results that the program has reported there; a lost node has no `Done` to say them in.
    pub results: Results,
}

/// Lines that a version ended: that version, the node they are of, and which of several.
pub type Piece = (Version, u32, u32);
