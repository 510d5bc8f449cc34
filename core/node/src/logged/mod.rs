//! A node of a job that logs its messages (`--ft logging`): its PEs, its links, and what the launcher tells it.
//!
//! The protocol and what a node keeps are in [`talisman_core::logging`]; a [`Driver`](driver::Driver) brings it frames and words, and has
//! its PEs run, on threads of their own where there are several.
//! A PE has a clock that stands still in a turn, and sends into an outbox, as in the simulation of messages: so what it is given is all
//! that decides what it does. The process lives as long as the job, or until it is lost; no other process stops when one is.

mod commands;
mod driver;
mod hosted;
mod kept;
mod links;
mod output_lines;
mod part_lending;
mod pe_thread;
mod round;
mod seat;
mod task;
mod twin;
mod writing;

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use super::connections::Connections;
use super::held_up::{HeldUp, LOOK_EVERY};
use super::threads::{stack_size, tell_of_missing, thread_name, trace_writer};
use driver::Driver;
use hosted::Hosted;
use links::Links;
use pe_thread::{Desk, Returns};
use seat::Seat;
use talisman_cluster::{Control, fixed_layout};
use talisman_control::protocol::{NodeReport, Task, ToLauncher};
use talisman_ft::logging::Membership;
use talisman_ft::view::View;
use talisman_job::checkpoints::FaultTolerance;
use talisman_job::job::{End, Job, Others};
use talisman_job::lines::Lines;
use talisman_job::{LogKept, Results};
use talisman_kernel::node::Node;
use talisman_kernel::pe::Pe;
use talisman_observe::stats::Totals;
use talisman_pup::{found_at_once, lease_from};
use talisman_sched::idle::Idle;
use talisman_store::versions::Store;
use talisman_transport::link::Link;

pub(crate) use commands::LoggedCommands;
pub(crate) use links::Parts;
pub(crate) use output_lines::OutputLines;

/// What is left of a node: what each of its PEs has counted, and what it kept for others.
type Left = (Vec<Totals>, LogKept);

/// Makes a node that nothing has happened on, where these are there.
pub(crate) type MakeNode = Box<dyn Fn(&View) -> Result<Arc<Node>, String> + Send + Sync>;

/// What the threads of a node that logs share.
pub(crate) struct LoggedNode {
    pub(crate) task: Arc<Task>,
    pub(crate) control: Control,
    pub(crate) job: Arc<Job>,
    pub(crate) connections: Arc<Connections>,
    /// Who was there at the job's beginning, and who was when this process came.
    pub(crate) first: Membership,
    pub(crate) membership: Membership,
    /// What writes parts of checkpoints.
    pub(crate) store: Arc<Store>,
    /// What its PEs are of. Another one comes with each line: nothing of it is in the parts.
    pub(crate) node: Mutex<Arc<Node>>,
    /// Makes another one.
    pub(crate) make_node: MakeNode,
    pub(crate) commands: Arc<LoggedCommands>,
    /// What the program has printed.
    pub(crate) said: OutputLines,
    /// How many bytes it may keep for others, if that is limited.
    pub(crate) log_budget: Option<u64>,
    /// Which of the ways to log.
    pub(crate) ft: FaultTolerance,
    /// Whether it has a twin at each cut.
    pub(crate) checks: bool,
    /// Its PEs run again: what they do beside sending is done already.
    pub(crate) runs_again: Arc<AtomicBool>,
    /// The beginning of the job's time.
    pub(crate) start: Instant,
}

impl LoggedNode {
    /// Runs the node to the end of the job. `program` makes the job's first message on the first PE, as often as that begins anew.
    pub(crate) fn run(self, parts: Parts, program: impl Fn(&Pe) + Sync) {
        let (done, is_done) = channel();
        let (this, program) = (&self, &program);
        let writer = trace_writer(&self.node(), self.task.life, &self.job, self.start);
        let (totals, kept) = thread::scope(|scope| {
            let (going, over) = channel();
            let tracing = writer.map(|writer| scope.spawn(move || writer.run(&over)));
            let threads = this.begin_threads(scope, program);
            let drive = move || {
                let _leasing = lease_from(this.store.pages());
                // Through memory both sides copy at the same time, and finding pages first takes longer (1 MiB: 0.95 ms in place of 0.65).
                let _found = parts.links.values().all(Link::is_watched).then(found_at_once);
                let left = match Links::new(parts) {
                    Ok(links) => this.driver(links, threads, program).run(),
                    Err(error) => this.control.failed(format!("its links cannot be watched: {error}")),
                };
                let _ = done.send(());
                left
            };
            let drive = move || if fixed_layout::is_here() { this.at_fixed_place(drive) } else { drive() };
            let left = match as_pe(this.name()).spawn_scoped(scope, drive) {
                Ok(pe) => {
                    this.watch(&is_done);
                    pe.join().unwrap_or_else(|_| {
                        this.control.failed("its PEs cannot be dropped: a value panicked")
                    })
                }
                Err(error) => this.control.failed(format!("the system gives no thread for its PEs: {error}")),
            };
            drop(going);
            tell_of_missing(tracing.and_then(|thread| thread.join().unwrap_or_default()), &this.job);
            left
        });
        self.control.stopped(self.report(totals, kept));
        self.commands.wait_to_leave();
        if self.job.how_it_ended().is_some_and(|end| end.status == 0) {
            // Nobody goes on from anything.
            self.store.clear(self.first.view.there().collect());
        }
    }

    /// The threads of its PEs, if there are several: where each finds what it is to do, and where all put what they have done.
    fn begin_threads<'scope, 'env: 'scope>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        program: &'env (dyn Fn(&Pe) + Sync),
    ) -> (Vec<Arc<Desk>>, Arc<Returns>) {
        let (pes, returns) = (self.task.pes, Arc::new(Returns::default()));
        let ranks = (0..pes).filter(|_| pes > 1);
        let begin = |rank| {
            let (desk, returns) = (Arc::new(Desk::new()), returns.clone());
            let of_thread = desk.clone();
            let pe = move || {
                let _leasing = lease_from(self.store.pages());
                pe_thread::work(Hosted::new(self, program, rank), &of_thread, &returns, self.idle());
            };
            let begun = as_pe(thread_name(self.task.number * pes + rank)).spawn_scoped(scope, pe);
            if let Err(error) = begun {
                self.control.failed(format!("the system gives no thread for its PE {rank}: {error}"));
            }
            desk
        };
        (ranks.map(begin).collect(), returns)
    }

    fn driver<'a>(
        &'a self,
        links: Links,
        (desks, returns): (Vec<Arc<Desk>>, Arc<Returns>),
        program: &'a (dyn Fn(&Pe) + Sync),
    ) -> Driver<'a> {
        let seats = match desks.is_empty() {
            true => vec![Seat::here(Hosted::new(self, program, 0))],
            false => desks.into_iter().map(Seat::on_thread).collect(),
        };
        Driver::new(self, links, seats, returns, program)
    }

    /// How its threads wait: one that shares its core with PEs of other nodes gives it to them.
    fn idle(&self) -> Idle {
        Idle::sharing_cores(self.node().shares_cores())
    }

    /// That of its driver's thread: where this is the only PE's as well, as PEs are called.
    fn name(&self) -> String {
        if self.task.pes == 1 { thread_name(self.task.number) } else { format!("node{}", self.task.number) }
    }

    /// Drives the PEs on a thread at the same place in every process, for which this one waits.
    fn at_fixed_place(&self, drive: impl FnOnce() -> Left + Send) -> Left {
        match fixed_layout::thread::run(&self.name(), drive) {
            Ok(left) => left.unwrap_or_else(|panic| resume_unwind(panic)),
            Err(error) => {
                self.control.failed(format!("its thread cannot be where it is on all nodes: {error}"))
            }
        }
    }

    /// Until the PEs have ended: people are told of an entry that does not return when the job is to end.
    fn watch(&self, is_done: &std::sync::mpsc::Receiver<()>) {
        let mut held_up = None;
        while is_done.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            if self.job.is_over() {
                // No line begins any more: it stays this node.
                let held_up = held_up.get_or_insert_with(|| HeldUp::new([&self.node()].into_iter()));
                held_up
                    .look(self.start.elapsed(), &self.job)
                    .into_iter()
                    .for_each(|line| self.job.warn(line));
            }
        }
    }

    fn node(&self) -> Arc<Node> {
        self.node.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A fresh one takes its place, where these are there, which is woken from now on.
    ///
    /// # Errors
    /// What the system refuses.
    fn renew_node(&self, view: &View) -> Result<Arc<Node>, String> {
        let fresh = (self.make_node)(view)?;
        self.connections.wakes(&fresh);
        *self.node.lock().unwrap_or_else(PoisonError::into_inner) = fresh.clone();
        Ok(fresh)
    }

    fn report(&self, totals: Vec<Totals>, kept: LogKept) -> NodeReport {
        NodeReport {
            totals,
            // What a node had reported that was released is with those that stay.
            results: if self.commands.is_released() { Results::default() } else { self.job.results() },
            steps: self.job.progress(),
            wall: self.start.elapsed(),
            balancing: self.job.balancing(),
            // The launcher has heard of each.
            checkpoints: Vec::new(),
            kept: Some(kept),
            leftovers: self.job.leftovers(),
            loads: self.job.loads(),
        }
    }
}

/// A thread for what a PE does.
fn as_pe(name: String) -> thread::Builder {
    stack_size().into_iter().fold(thread::Builder::new().name(name), thread::Builder::stack_size)
}

/// The beginning of the job's time, in a process that came when the program had been running for so long.
pub(crate) fn start_of(running: Duration) -> Instant {
    let now = Instant::now();
    now.checked_sub(running).unwrap_or(now)
}

/// What such a node's PEs say to the other processes beside frames. How the job ends is said by the driver, when no loss can unsay it.
pub(crate) struct LoggedVoice {
    pub(crate) control: Control,
    pub(crate) job: std::sync::Weak<Job>,
    pub(crate) runs_again: Arc<AtomicBool>,
    pub(crate) said: OutputLines,
}

impl Others for LoggedVoice {
    fn end(&self, end: &End) {
        self.said.end(end.clone());
    }

    fn suspect(&self, node: u32, why: String) {
        self.control.send(ToLauncher::Suspect { node, why });
    }

    fn balanced(&self, asked: u32, step: Result<String, String>) {
        if !self.runs_again.load(Ordering::Relaxed) {
            self.control.send(ToLauncher::Balanced { asked, step });
        }
    }

    fn note(&self, text: String) {
        self.control.send(ToLauncher::Note(text));
    }

    /// What a former job had reported: it goes into later checkpoints as well.
    fn say(&self, lines: Lines) {
        let Some(job) = self.job.upgrade() else { return };
        lines.results.iter().for_each(|(name, value)| job.record(name, value.clone()));
    }

    fn step(&self, _: u64) {
        let job = self.job.upgrade().filter(|_| !self.runs_again.load(Ordering::Relaxed));
        job.into_iter().for_each(|job| self.control.step(job.progress()));
    }
}
