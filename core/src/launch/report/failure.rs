//! What became of a node that was lost, and how the job went on.

use serde::{Deserialize, Serialize};

use super::CheckpointTaken;

/// A node that was lost while the program ran, or the launcher. Times are in seconds, as the launcher saw them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Which; none is the launcher, whose place a node has taken.
    pub node: Option<u32>,
    /// What became of it, in words.
    pub what: String,
    /// What told: `exit` (its process ended), `silence`, `suspicion` (another could not reach it), `host` (its host is out of reach) or
    /// `itself`.
    pub detected: String,
    /// When it was known to be lost, from the start of the program.
    pub at_s: f64,
    /// From what happened to it until that, where it is known: for kills that the launcher was asked for, and silence.
    pub detect_s: Option<f64>,
    /// From then until all others had halted, those that were lost meanwhile excepted; none if the job ended before.
    pub halt_s: Option<f64>,
    /// From then until all others went on; none if the job ended before.
    pub recover_s: Option<f64>,
    /// From then until everything was held twice again, for which the job was degraded: another loss could have been one too many. None if
    /// the job ended before.
    pub replicate_s: Option<f64>,
    /// The checkpoint that they went back to; none if there was none, and the program began anew.
    pub version: Option<u64>,
    /// Whether another process took its place (`--respawn`).
    pub replaced: bool,
    /// Steps that the program had reported before and did again, where it is known.
    pub steps_redone: Option<u64>,
}

impl Failure {
    /// Whether the others have gone on without it, or with another in its place.
    pub(crate) fn is_settled(&self) -> bool {
        self.recover_s.is_some()
    }

    /// Finds the checkpoint with which everything was held twice again, among those that were committed, by their versions.
    pub(crate) fn find_replication(&mut self, checkpoints: &[CheckpointTaken]) {
        let gone_on = self.is_settled();
        let is_next = |taken: &&CheckpointTaken| gone_on && Some(taken.version) > self.version;
        let next = checkpoints.iter().find(is_next);
        self.replicate_s = next.map(|taken| (taken.at_s + taken.commit_s - self.at_s).max(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_degraded_until_the_next_checkpoint_is_committed() {
        let checkpoint =
            |version, at_s| CheckpointTaken { version, at_s, commit_s: 0.5, ..Default::default() };
        let checkpoints = [checkpoint(3, 1.0), checkpoint(5, 3.0), checkpoint(6, 9.0)];
        let found = |version, recover_s| {
            let mut failure = Failure { at_s: 2.0, version, recover_s, ..Failure::default() };
            failure.find_replication(&checkpoints);
            failure.replicate_s
        };
        assert_eq!(found(Some(3), Some(0.1)), Some(1.5));
        assert_eq!(found(Some(3), None), None, "nobody went on");
        assert_eq!(found(Some(6), Some(0.1)), None);
        assert_eq!(found(None, Some(0.1)), Some(0.0));
    }
}
