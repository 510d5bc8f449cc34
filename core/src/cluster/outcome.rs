//! What a job of several processes leaves behind: its end as the launcher knows it, with what its nodes have said last.

use std::io;
use std::time::Duration;

use super::conductor::End;
use super::printer::Printer;
use super::verdict::UNRECOVERABLE;
use talisman_job::progress::Steps;
use talisman_job::undelivered::Leftovers;
use talisman_job::{
    BalancingStep, CheckpointTaken, ExitStatus, Failure, NotInjected, Results, Signal, Undelivered,
};
use talisman_observe::stats::Totals;
use talisman_store::restart::Shelves;

/// What a job of several processes left behind.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterOutcome {
    /// Exit status: 0 for success.
    pub(crate) status: i32,
    /// What went wrong.
    pub(crate) message: Option<String>,
    /// The signal that ended the job, if one did.
    pub(crate) interrupted: Option<Signal>,
    /// Nodes of the job, which the hosts file may have decided.
    pub(crate) nodes: u32,
    /// From the program's beginning to its end.
    pub(crate) wall: Duration,
    pub(crate) steps: Steps,
    /// What the program reported, on whichever node.
    pub(crate) results: Results,
    /// What each PE counted, those of node 0 first; zeros for those of a node that was lost.
    pub(crate) totals: Vec<Totals>,
    /// What the steps of load balancing did.
    pub(crate) balancing: Vec<BalancingStep>,
    /// Checkpoints that were committed.
    pub(crate) checkpoints: Vec<CheckpointTaken>,
    /// Nodes that were lost while the program ran.
    pub(crate) failures: Vec<Failure>,
    /// Messages that nobody got.
    pub(crate) undelivered: Vec<Undelivered>,
    /// Faults that were asked for, and did not happen.
    pub(crate) not_injected: Vec<NotInjected>,
    /// The loss of a node before the program had begun: see [`End`].
    pub(crate) early_loss: Option<String>,
}

/// What is known when all nodes are gone.
pub(crate) struct Ended {
    pub(crate) end: End,
    /// For how long the program ran.
    pub(crate) wall: Duration,
}

/// The reports of all nodes as one, for a job with so many PEs on each.
pub(crate) fn merge(ended: Ended, pes: usize) -> ClusterOutcome {
    let Ended { end: End { stop, reports, steps, failures, not_injected, results, early_loss }, wall } =
        ended;
    let told = reports.iter().map(|report| report.wall).max().filter(|wall| !wall.is_zero());
    let mut outcome = ClusterOutcome {
        status: stop.status,
        message: stop.message,
        nodes: reports.len() as u32,
        wall: told.unwrap_or(wall),
        steps,
        failures,
        not_injected,
        results,
        early_loss,
        ..ClusterOutcome::default()
    };
    let mut leftovers = Leftovers::default();
    for mut report in reports {
        leftovers.add(report.leftovers);
        report.totals.resize(pes, Totals::default());
        outcome.totals.append(&mut report.totals);
        outcome.balancing.append(&mut report.balancing);
        outcome.checkpoints.append(&mut report.checkpoints);
        report.results.iter().for_each(|(name, value)| outcome.results.set(name, value.clone()));
    }
    outcome.undelivered = leftovers.told();
    outcome.checkpoints.sort_by_key(|taken| taken.version);
    // Whoever is the first PE may have been several, one after the other.
    outcome.balancing.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
    let (checkpoints, balancing, wall) = (&outcome.checkpoints, &outcome.balancing, outcome.wall);
    outcome.failures.iter_mut().for_each(|failure| failure.find_what_followed(checkpoints, balancing, wall));
    outcome
}

impl ClusterOutcome {
    /// Nothing was started, because the options cannot be.
    pub(super) fn usage(message: String) -> Self {
        let status = ExitStatus::Usage.code().into();
        ClusterOutcome { status, message: Some(message), ..ClusterOutcome::default() }
    }

    /// Nothing was started, because a host cannot be reached.
    pub(super) fn unreachable(message: String) -> Self {
        ClusterOutcome { status: UNRECOVERABLE, message: Some(message), ..ClusterOutcome::default() }
    }

    /// All nodes have ended: looks after what they kept, and waits until all is printed.
    pub(super) fn conclude(&mut self, shelves: Option<&Shelves>, printer: Printer) {
        shelves.iter().for_each(|shelves| self.is_kept_on(shelves));
        printer.finish().unwrap_or_else(|error| self.lose_output(&error));
    }

    /// Its checkpoints were kept there: after a failure, they may still be.
    fn is_kept_on(&mut self, shelves: &Shelves) {
        let has_ended_well = self.status == 0 && self.interrupted.is_none();
        // If nothing has begun there are no checkpoints, and whoever starts the job again finds what it found.
        if has_ended_well || self.early_loss.is_some() {
            shelves.tidy();
        }
        if has_ended_well {
            return;
        }
        if let Some(message) = self.message.as_mut().filter(|_| shelves.may_have_any()) {
            let dir = shelves.dir.display();
            message.push_str(&format!(
                "; if it had taken a checkpoint, it can go on from that: --restart {dir}"
            ));
        }
    }

    fn lose_output(&mut self, error: &io::Error) {
        if self.status == 0 {
            self.status = 1;
            self.message = Some(format!("cannot write the program's output: {error}; some of it is lost"));
        }
    }
}
