//! What the launcher has to know of a program.

use talisman_pup::{Packed, PupError};

/// What has to be known of the program's chares before a node runs.
pub trait ProgramTypes: Sync {
    /// Their names, by their keys.
    fn chares(&self) -> Vec<(u64, String)>;

    /// Whether a PE's part of a checkpoint has collections whose places are by node.
    ///
    /// # Errors
    /// It cannot be read.
    fn has_nodegroups(&self, part: Packed) -> Result<bool, PupError>;
}
