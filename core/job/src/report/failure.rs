//! What became of a node that was lost, and how the job went on.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{BalancingStep, CheckpointTaken};

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
    /// From what happened to it until that: just so long, or at most ([`detect_exact`](Self::detect_exact)), as it had said something before. Nodes
    /// and launcher say every 250 ms that they are there. None of `suspicion`: others cannot reach it, and nothing happened to it.
    pub detect_s: Option<f64>,
    /// Whether `detect_s` is just so long: for kills that the launcher was asked for, and silence.
    pub detect_exact: bool,
    /// From when it was known until all others had halted, those that were lost meanwhile excepted; none if the job ended before.
    pub halt_s: Option<f64>,
    /// From then until all others went on; none if the job ended before.
    pub recover_s: Option<f64>,
    /// From then until everything was held twice again. None if the job ended before, or one node was left, which has nobody to hold
    /// anything for it.
    pub replicate_s: Option<f64>,
    /// From then, for how long the job was degraded: another loss could have been one too many. That is until everything was held twice
    /// again, or else until the job ended; none if it never went on.
    pub degraded_s: Option<f64>,
    /// From then until the next balancing step was done; none without a balancer, or if the job ended before.
    pub balance_s: Option<f64>,
    /// The checkpoint that they went back to; none if there was none, and the program began anew.
    pub version: Option<u64>,
    /// Nodes that went on, those that took the places of lost ones among them; none if the job ended before.
    pub nodes_left: Option<u32>,
    /// Whether another process took its place (`--respawn`, `--spares`).
    pub replaced: bool,
    /// Steps that the program had reported before and did again, where it is known.
    pub steps_redone: Option<u64>,
}

impl Failure {
    /// Whether the others have gone on without it, or with another in its place.
    pub fn is_settled(&self) -> bool {
        self.recover_s.is_some()
    }

    /// Finds what followed, when the job has ended after `wall`: among the checkpoints that were committed, by their versions, and the
    /// balancing steps, by their times.
    pub fn find_what_followed(
        &mut self,
        checkpoints: &[CheckpointTaken],
        steps: &[BalancingStep],
        wall: Duration,
    ) {
        if !self.is_settled() {
            return;
        }
        let after = |end_s: f64| (end_s - self.at_s).max(0.0);
        let is_next = |taken: &&CheckpointTaken| Some(taken.version) > self.version;
        let next = checkpoints.iter().find(is_next).filter(|_| self.nodes_left != Some(1));
        self.replicate_s = next.map(|taken| after(taken.at_s + taken.commit_s));
        self.degraded_s = self.replicate_s.or(Some(after(wall.as_secs_f64())));
        // What was under way at the loss was never done, so that those steps which were done are over before it or began after it.
        let ends = steps.iter().map(|step| step.at_s + step.step_s);
        self.balance_s = ends.filter(|end_s| *end_s > self.at_s).min_by(f64::total_cmp).map(after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The job went on after a loss at 2 s, and ended at 10 s.
    fn lost(version: Option<u64>) -> Failure {
        Failure { at_s: 2.0, version, recover_s: Some(0.1), nodes_left: Some(3), ..Failure::default() }
    }

    fn found(mut failure: Failure) -> Failure {
        let checkpoint =
            |version, at_s| CheckpointTaken { version, at_s, commit_s: 0.5, ..Default::default() };
        let step = |at_s| BalancingStep { at_s, step_s: 0.25, ..Default::default() };
        let checkpoints = [checkpoint(3, 1.0), checkpoint(5, 3.0), checkpoint(6, 9.0)];
        let steps = [step(8.0), step(1.0), step(2.5)];
        failure.find_what_followed(&checkpoints, &steps, Duration::from_secs(10));
        failure
    }

    #[test]
    fn a_job_is_degraded_until_the_next_checkpoint_is_committed() {
        let held_twice = |failure| {
            let Failure { replicate_s, degraded_s, .. } = found(failure);
            (replicate_s, degraded_s)
        };
        assert_eq!(held_twice(lost(Some(3))), (Some(1.5), Some(1.5)));
        assert_eq!(held_twice(Failure { recover_s: None, ..lost(Some(3)) }), (None, None), "nobody went on");
        assert_eq!(held_twice(lost(Some(6))), (None, Some(8.0)), "there was none any more");
        assert_eq!(held_twice(lost(None)), (Some(0.0), Some(0.0)));
        let alone = Failure { nodes_left: Some(1), ..lost(Some(3)) };
        assert_eq!(held_twice(alone), (None, Some(8.0)), "nobody holds anything for it");
    }

    #[test]
    fn the_next_balancing_step_is_the_first_that_was_done_after_the_loss() {
        assert_eq!(found(lost(Some(3))).balance_s, Some(0.75));
        assert_eq!(found(Failure { at_s: 8.5, ..lost(Some(3)) }).balance_s, None);
        assert_eq!(found(Failure { recover_s: None, ..lost(Some(3)) }).balance_s, None);
    }
}
