//! What a job of several processes leaves behind: its end as the launcher knows it, with what its nodes have said last.

use std::io;
use std::time::Duration;

use crate::coordinator::{Back, End};
use crate::job_result::UNRECOVERABLE;
use talisman_job::loads::PeLoads;
use talisman_job::progress::Steps;
use talisman_job::undelivered::Leftovers;
use talisman_job::{
    BalancingStep, CheckpointTaken, ExitStatus, Failure, LogKept, NotInjected, Results, Signal, Undelivered,
};
use talisman_observe::stats::Totals;

/// What a job of several processes left behind.
#[derive(Clone, Debug, Default)]
pub struct ClusterOutcome {
    /// Exit status: 0 for success.
    pub status: i32,
    /// What went wrong.
    pub message: Option<String>,
    /// The signal that ended the job, if one did.
    pub interrupted: Option<Signal>,
    /// Nodes of the job, which the hosts file may have decided.
    pub nodes: u32,
    /// From the program's beginning to its end.
    pub wall: Duration,
    pub steps: Steps,
    /// What the program reported, on whichever node.
    pub results: Results,
    /// What each PE counted, those of node 0 first; zeros for those of a node that was lost.
    pub totals: Vec<Totals>,
    /// What the steps of load balancing did.
    pub balancing: Vec<BalancingStep>,
    /// Checkpoints that were committed.
    pub checkpoints: Vec<CheckpointTaken>,
    /// What each node has kept for others, in a job that logs.
    pub logging: Vec<LogKept>,
    /// Nodes that were lost while the program ran.
    pub failures: Vec<Failure>,
    /// Messages that nobody got.
    pub undelivered: Vec<Undelivered>,
    /// What the objects of PEs had to do, of those that know.
    pub loads: Vec<PeLoads>,
    /// Faults that were asked for, and did not happen.
    pub not_injected: Vec<NotInjected>,
    /// The loss of a node before the program had begun: see [`End`].
    pub early_loss: Option<String>,
    /// What the job may be started again from, though it cannot go on: see [`End`].
    pub back: Option<Back>,
}

/// What is known when all nodes are gone.
pub struct Ended {
    pub end: End,
    /// For how long the program ran.
    pub wall: Duration,
}

/// The reports of all nodes as one, for a job with so many PEs on each.
pub fn merge(ended: Ended, pes: usize) -> ClusterOutcome {
    let Ended { end: End { stop, reports, steps, failures, not_injected, results, early_loss, back }, wall } =
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
        back,
        ..ClusterOutcome::default()
    };
    let mut leftovers = Leftovers::default();
    for mut report in reports {
        leftovers.add(report.leftovers);
        outcome.loads.append(&mut report.loads);
        report.totals.resize(pes, Totals::default());
        outcome.totals.append(&mut report.totals);
        outcome.balancing.append(&mut report.balancing);
        outcome.checkpoints.append(&mut report.checkpoints);
        outcome.logging.extend(report.kept);
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
    pub fn usage(message: String) -> Self {
        let status = ExitStatus::Usage.code().into();
        ClusterOutcome { status, message: Some(message), ..ClusterOutcome::default() }
    }

    /// Nothing was started, because a host cannot be reached.
    pub fn unreachable(message: String) -> Self {
        ClusterOutcome { status: UNRECOVERABLE, message: Some(message), ..ClusterOutcome::default() }
    }

    /// Not all was printed.
    pub fn lose_output(&mut self, error: &io::Error) {
        if self.status == 0 {
            self.status = 1;
            self.message = Some(format!("cannot write the program's output: {error}; some of it is lost"));
        }
    }
}
