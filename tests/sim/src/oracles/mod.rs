//! What has to hold in every run, whatever goes wrong in it.

use std::fmt;

/// Watches one thing.
pub trait Oracle {}

/// Every oracle, for a workload that says nothing of itself.
pub fn all() -> Vec<Box<dyn Oracle>> {
    Vec::new()
}

/// Oracles that watch this thread, until they are asked what they saw.
pub struct Watched;

/// What should not have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation;

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a violation")
    }
}

impl Watched {
    /// From now on these see what happens in this thread.
    pub fn by(oracles: Vec<Box<dyn Oracle>>) -> Self {
        drop(oracles);
        Watched
    }

    /// The job has ended.
    ///
    /// # Errors
    /// The first violation.
    pub fn end(self, ended_well: bool) -> Result<u64, Violation> {
        let _ = ended_well;
        Ok(0)
    }
}
