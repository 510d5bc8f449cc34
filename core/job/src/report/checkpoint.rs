//! What a checkpoint cost.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A checkpoint that was committed: the job can go back to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckpointTaken {
    /// Which; versions rise.
    pub version: u64,
    /// When it began, in seconds from the start of the job.
    pub at_s: f64,
    /// Why there was one: `period`, `auto`, `steps`, `request` (of the program), `asked` (from outside) or `failure`.
    pub trigger: String,
    /// Objects in it.
    pub objects: u64,
    /// Bytes of it; each is held twice.
    pub bytes: u64,
    /// How long no entry ran, in seconds.
    pub blocked_s: f64,
    /// From when it began until every part of it was held twice, in seconds.
    pub commit_s: f64,
}

/// As a line of the log.
impl fmt::Display for CheckpointTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "checkpoint {} ({}): {} objects, {} bytes; blocked for {:.6} s, committed after {:.6} s",
            self.version, self.trigger, self.objects, self.bytes, self.blocked_s, self.commit_s
        )
    }
}
