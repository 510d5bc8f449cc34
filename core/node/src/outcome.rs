//! How a job ended, and what its PEs counted.

use std::time::Duration;

use talisman_control::outcome::ClusterOutcome;
use talisman_job::job::Job;
use talisman_job::loads::PeLoads;
use talisman_job::report::{MessageCounts, PeTimes};
use talisman_job::{BalancingStep, CheckpointTaken, Failure, LogKept, NotInjected, Results, Undelivered};
use talisman_observe::stats::Totals;

/// What a job left behind.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Exit status: 0 for success.
    pub status: i32,
    /// What went wrong.
    pub message: Option<String>,
    /// Time from start to end, on the job's clock.
    pub wall: Duration,
    /// Steps that the program reported.
    pub steps: u64,
    /// Results that the program reported.
    pub results: Results,
    /// Messages by how far they went.
    pub messages: MessageCounts,
    /// What each PE did.
    pub pe: Vec<PeTimes>,
    /// What the steps of load balancing did; the last of very many.
    pub balancing: Vec<BalancingStep>,
    /// Checkpoints that were committed; the last of very many.
    pub checkpoints: Vec<CheckpointTaken>,
    /// What each node has kept for others, in a job that logs.
    pub logging: Vec<LogKept>,
    /// Nodes that were lost while the program ran.
    pub failures: Vec<Failure>,
    /// Messages for elements that did not exist when the job ended well; some of very many kinds.
    pub undelivered: Vec<Undelivered>,
    /// What the objects of PEs had to do, of those that know.
    pub loads: Vec<PeLoads>,
    /// Faults that were asked for (`--kill`, `--chaos`), and did not happen.
    pub not_injected: Vec<NotInjected>,
    /// In simulation: a hash of every event in order. The same seed and program give the same.
    pub trace: Option<u64>,
    /// In simulation: how many events there were.
    pub events: u64,
}

/// What the PEs counted, and how long it took.
pub struct Done {
    pub wall: Duration,
    pub totals: Vec<Totals>,
    pub trace: Option<u64>,
    pub events: u64,
}

/// That of a job whose PEs ran in this process.
pub fn outcome(job: &Job, done: Done) -> Outcome {
    let end = job.how_it_ended();
    Outcome {
        status: end.as_ref().map_or(0, |end| end.status),
        message: end.and_then(|end| end.message),
        wall: done.wall,
        steps: job.progress().done,
        results: job.results(),
        messages: messages(&done.totals),
        pe: done.totals.iter().map(times).collect(),
        balancing: job.balancing(),
        checkpoints: job.checkpoints(),
        logging: Vec::new(),
        failures: Vec::new(),
        undelivered: job.leftovers().told(),
        loads: job.loads(),
        not_injected: Vec::new(),
        trace: done.trace,
        events: done.events,
    }
}

impl Outcome {
    /// That of a job of several processes.
    pub fn of_cluster(ended: ClusterOutcome) -> Self {
        Outcome {
            status: ended.status,
            message: ended.message,
            wall: ended.wall,
            steps: ended.steps.done,
            results: ended.results,
            messages: messages(&ended.totals),
            pe: ended.totals.iter().map(times).collect(),
            balancing: ended.balancing,
            checkpoints: ended.checkpoints,
            logging: ended.logging,
            failures: ended.failures,
            undelivered: ended.undelivered,
            loads: ended.loads,
            not_injected: ended.not_injected,
            trace: None,
            events: 0,
        }
    }
}

fn messages(totals: &[Totals]) -> MessageCounts {
    let sum = |count: fn(&Totals) -> u64| totals.iter().map(count).sum();
    MessageCounts {
        local: sum(|totals| totals.local),
        between_pes: sum(|totals| totals.between_pes),
        between_nodes: sum(|totals| totals.between_nodes),
        bytes_between_nodes: sum(|totals| totals.bytes_between_nodes),
    }
}

fn times(totals: &Totals) -> PeTimes {
    let seconds = |nanos: u64| Duration::from_nanos(nanos).as_secs_f64();
    PeTimes {
        busy_s: seconds(totals.wall_ns.saturating_sub(totals.idle_ns)),
        idle_s: seconds(totals.idle_ns),
    }
}
