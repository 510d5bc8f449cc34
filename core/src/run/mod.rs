//! Running a job: on threads, or simulated in one.

mod beginning;
pub(crate) mod connections;
mod cores;
mod held_up;
pub(crate) mod in_turn;
pub(crate) mod linking;
mod lives;
pub(crate) mod member;
pub(crate) mod met;
mod orders;
pub(crate) mod panics;
mod threads;
mod together;
pub(crate) mod turns;
mod worker;

pub(crate) use beginning::beginning;
pub(crate) use panics::caught;

use std::sync::Arc;
use std::time::Duration;

use crate::chare::{Args, Chare, MainChare};
use crate::node::Config;
use crate::pe::{Here, Pe};
use crate::registry::main_chare_of;
use crate::simulation::messages::back::Back;
use crate::simulation::messages::losing::Losses;
use crate::simulation::messages::{self, Machine};
use crate::simulation::run_for_user;
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_control::outcome::ClusterOutcome;
pub use talisman_job::Measures;
use talisman_job::checkpoints::FaultTolerance;
use talisman_job::job::Job;
use talisman_job::report::{MessageCounts, PeTimes};
use talisman_job::{
    BalancingStep, CheckpointTaken, Failure, NotInjected, Output, Progress, Results, RunArgs, Undelivered,
};
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
    /// Nodes that were lost while the program ran.
    pub failures: Vec<Failure>,
    /// Messages for elements that did not exist when the job ended well; some of very many kinds.
    pub undelivered: Vec<Undelivered>,
    /// Faults that were asked for (`--kill`, `--chaos`), and did not happen.
    pub not_injected: Vec<NotInjected>,
    /// In simulation: a hash of every event in order. The same seed and program give the same.
    pub trace: Option<u64>,
    /// In simulation: how many events there were.
    pub events: u64,
}

/// What is looked at while a job runs.
pub struct Watch {
    job: Arc<Job>,
    progress: Progress,
}

impl Watch {
    /// The job prints to `output`; `progress` shows its steps.
    pub fn new(output: Output, progress: Progress) -> Self {
        Watch { job: Job::new(output), progress }
    }

    /// Something that can end the job from another thread.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.job.clone())
    }
}

/// Ends a job from outside.
pub struct Stopper(Arc<Job>);

impl Stopper {
    /// Ends the job with this exit status.
    pub fn stop(&self, status: i32) {
        self.0.end(status, None);
    }
}

/// Runs a program's main chare with its arguments until the job ends.
pub fn run<C: MainChare, A: Args + Send>(args: A, options: &RunArgs, watch: Watch) -> Outcome {
    if options.simulate {
        let job = watch.job.clone();
        return in_turn::watched(&job, || run_on::<C, A>(args, options, watch, None));
    }
    run_on::<C, A>(args, options, watch, None)
}

/// The same, simulated message by message, where these nodes are lost from the start.
pub(crate) fn run_without<C: MainChare, A: Args + Send>(
    args: A,
    options: &RunArgs,
    watch: &Watch,
    lost: &[u32],
) -> Outcome {
    panics::listen();
    let shape = Shape { nodes: options.nodes, pes_per_node: options.pes_per_node() };
    let main = |pe: &Pe| create_main::<C, A>(pe, args);
    let view = View::without(shape, lost);
    let done = messages::run(view, shape, Config::of(options), &watch.job, None, main);
    outcome(&watch.job, done)
}

/// The same; in simulation, on the model of a machine.
pub(crate) fn run_on<C: MainChare, A: Args + Send>(
    args: A,
    options: &RunArgs,
    watch: Watch,
    machine: Option<&Machine>,
) -> Outcome {
    panics::listen();
    if options.loses_simulated_nodes() && machine.is_none() {
        return run_for_user(options, beginning::<C, A>(args), &watch.job);
    }
    let shape = Shape { nodes: options.nodes, pes_per_node: options.pes_per_node() };
    let config = Config::of(options);
    let main = |pe: &Pe| create_main::<C, A>(pe, args);
    let job = watch.job.clone();
    let done = if options.simulate {
        messages::run(View::whole(shape), shape, config, &job, machine, main)
    } else if shape.nodes > 1 {
        let nodes = together::nodes(shape, options.transport, config, &job).expect("links");
        threads::run_nodes(nodes, &job, watch.progress, Some(main))
    } else {
        threads::run(shape, config, &job, watch.progress, main)
    };
    outcome(&job, done)
}

/// The same where the job goes back to checkpoints, and loses nodes then.
pub(crate) fn run_going_back<C: MainChare, A: Args + Send>(
    args: A,
    options: &RunArgs,
    watch: &Watch,
    backs: &[Back],
) -> Outcome {
    panics::listen();
    let options = RunArgs { ft: FaultTolerance::Double, ..options.clone() };
    let shape = Shape { nodes: options.nodes, pes_per_node: options.pes_per_node() };
    let main = |pe: &Pe| create_main::<C, A>(pe, args);
    let done = messages::back::run(shape, &Config::of(&options), &watch.job, backs, main);
    outcome(&watch.job, done)
}

/// The same on the model of a machine that loses nodes.
pub(crate) fn run_losing<C: MainChare, A: Args + Send>(
    args: A,
    options: &RunArgs,
    watch: &Watch,
    machine: &Machine,
    losses: &Losses,
) -> Outcome {
    panics::listen();
    let shape = Shape { nodes: options.nodes, pes_per_node: options.pes_per_node() };
    let main = |pe: &Pe| create_main::<C, A>(pe, args);
    let done = messages::losing::run(shape, &Config::of(options), &watch.job, machine, losses, main);
    outcome(&watch.job, done)
}

/// What the PEs counted, and how long it took.
pub(crate) struct Done {
    pub(crate) wall: Duration,
    pub(crate) totals: Vec<Totals>,
    pub(crate) trace: Option<u64>,
    pub(crate) events: u64,
}

/// The job's first message: its main chare is made on the first PE.
pub(crate) fn create_main<C: Chare, A: Args>(pe: &Pe, args: A) {
    let _here = Here::enter(pe);
    pe.send_create(main_chare_of(C::KEY), pe.view().first(), &C::INITS[0], args, None);
}

fn outcome(job: &Job, done: Done) -> Outcome {
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
        failures: Vec::new(),
        undelivered: job.leftovers().told(),
        not_injected: Vec::new(),
        trace: done.trace,
        events: done.events,
    }
}

impl Outcome {
    /// That of a job of several processes.
    pub(crate) fn of_cluster(ended: ClusterOutcome) -> Self {
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
            failures: ended.failures,
            undelivered: ended.undelivered,
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
