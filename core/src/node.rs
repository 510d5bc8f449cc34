//! What the PEs of one process share, and what the nodes of one job share in this process.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use talisman_ft::Version;
use talisman_ft::double::Contents;

use crate::balance::Settings;
use crate::checkpoint;
use crate::checkpoint::said::{Said, SavedPeriod};
use crate::checkpoint::store::Store;
use crate::cluster::control::Lines;
use crate::launch::output::tell;
use crate::launch::progress::Steps;
use crate::launch::{BalancingStep, CheckpointTaken, Output, ResultValue, Results, RunArgs};
use crate::measure::Measures;
use crate::message::pool::Depot;
use crate::pe::running::Window;
use crate::pe::try_current;
use crate::shared::values::SharedValues;
use crate::undelivered::Leftovers;
use talisman_base::history::Few;
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_sched::park::Parker;

/// How the program is to be run, as far as PEs look at it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    /// Seeds `cx.rng()`.
    pub(crate) seed: u64,
    /// Packs every message, even within a node.
    pub(crate) pack_all: bool,
    /// Packs and unpacks every object after each of its messages.
    pub(crate) repack: bool,
    /// What is measured for load balancing.
    pub(crate) measures: Measures,
    /// The number of the host that the node is on.
    pub(crate) host: u32,
    /// How objects are balanced, if they are.
    pub(crate) balance: Option<Arc<Settings>>,
    /// The other nodes of its host, if there is more than one host.
    pub(crate) neighbours: Arc<[u32]>,
    /// When checkpoints are taken, if they are.
    pub(crate) checkpoints: Option<Arc<checkpoint::Settings>>,
    /// Of how much of what has been tables make nothing.
    pub(crate) few: Few,
}

impl Config {
    pub(crate) fn of(options: &RunArgs) -> Self {
        Config {
            seed: options.seed,
            pack_all: options.pack_all,
            repack: options.repack,
            host: 0,
            neighbours: Arc::default(),
            measures: Settings::of(options).map_or(options.measures, |settings| settings.measures()),
            balance: Settings::of(options).map(Arc::new),
            checkpoints: checkpoint::Settings::of(options).map(Arc::new),
            few: options.few,
        }
    }
}

impl Config {
    /// Whether the job may go on when it loses a node.
    pub(crate) fn survives(&self) -> bool {
        self.checkpoints.is_some()
    }
}

/// What the PEs of one process share.
pub(crate) struct Node {
    pub(crate) shape: Shape,
    /// Who is there, of those that have a number.
    pub(crate) view: Arc<View>,
    pub(crate) number: u32,
    pub(crate) config: Config,
    pub(crate) depot: Arc<Depot>,
    pub(crate) shared: SharedValues,
    pub(crate) job: Arc<Job>,
    /// The parts of checkpoints that this process holds.
    pub(crate) store: Arc<Store>,
    /// Where the PEs of this node sleep, by their rank in it.
    pub(crate) parkers: Box<[Parker]>,
    /// Where other threads see what they run.
    pub(crate) windows: Box<[Window]>,
}

impl Node {
    /// One whose PEs sleep on futexes: it has no other node to listen to.
    pub(crate) fn new(shape: Shape, number: u32, config: Config, job: Arc<Job>) -> Arc<Node> {
        Node::in_view(Arc::new(View::whole(shape)), Arc::default(), shape, number, config, job)
    }

    /// The same where perhaps not all are there, and parts of checkpoints may be.
    pub(crate) fn in_view(
        view: Arc<View>,
        store: Arc<Store>,
        shape: Shape,
        number: u32,
        config: Config,
        job: Arc<Job>,
    ) -> Arc<Node> {
        let parkers = (0..shape.pes_per_node).map(|_| Parker::new()).collect();
        Node::sleeping_in_view(parkers, view, store, shape, number, config, job)
    }

    /// The same with places to sleep, where perhaps not all are there, and parts of checkpoints may be.
    pub(crate) fn sleeping_in_view(
        parkers: Box<[Parker]>,
        view: Arc<View>,
        store: Arc<Store>,
        shape: Shape,
        number: u32,
        config: Config,
        job: Arc<Job>,
    ) -> Arc<Node> {
        let (depot, shared) = (Arc::default(), SharedValues::default());
        let windows = (0..shape.pes_per_node).map(|_| Window::default()).collect();
        let node =
            Arc::new(Node { shape, view, number, config, depot, shared, job, store, parkers, windows });
        lock(&node.job.nodes).push(Arc::downgrade(&node));
        node
    }
}

/// Requests for checkpoints: each whether it is to be on disk, and the nodes that go then.
pub(crate) type Asked = Vec<(bool, Vec<u32>)>;

/// Steps of load balancing that a report has: those of a job of weeks would not go into the message that brings them.
const STEPS_KEPT: usize = 10_000;

/// The job, as the nodes of this process share it: how it ends, what it prints, what it reports.
///
/// With fault tolerance its PEs have several *lives*: they stop when another node is lost ([`Job::halt`]), and are made anew
/// ([`Job::begin_again`]).
pub(crate) struct Job {
    /// The PEs are to stop: the job has ended, or halts.
    over: AtomicBool,
    /// The job may go on after its PEs have stopped, so that their links stay.
    survives: AtomicBool,
    /// It does: what its PEs still say of an end in order is of a life that is over.
    halts: AtomicBool,
    /// What the program says, if that may still be taken back.
    said: Said,
    end: Mutex<Option<End>>,
    pub(crate) output: Output,
    pub(crate) steps: AtomicU64,
    pub(crate) expected_steps: AtomicU64,
    results: Mutex<Results>,
    balancing: Mutex<VecDeque<BalancingStep>>,
    checkpoints: Mutex<VecDeque<CheckpointTaken>>,
    /// Messages that nobody got.
    leftovers: Mutex<Leftovers>,
    /// What somebody outside has asked for that no PE has heard of.
    asked: Mutex<Asked>,
    /// The nodes of this process, to be woken at the end.
    nodes: Mutex<Vec<Weak<Node>>>,
    /// The rest of the job, if it has other processes.
    others: OnceLock<Box<dyn Others>>,
}

/// The processes that a job has beside this one.
pub(crate) trait Others: Send + Sync {
    /// The job ended here.
    fn end(&self, end: &End);

    /// The program finished a step here. Returns when whatever was to happen at this step has happened.
    fn step(&self, step: u64);

    /// A node cannot be reached, or says what cannot be: it is to be ended if it is not yet, and the job to go on without it.
    fn suspect(&self, node: u32, why: String);

    /// So many requests from outside for a checkpoint are answered: by this version, or why there is none; and why it is not on disk, if it was
    /// to be.
    fn answer(&self, asked: u32, checkpoint: Result<Version, String>, not_written: Option<String>) {
        let _ = (asked, checkpoint, not_written);
    }

    /// This version is committed, with so much in the part of each node.
    fn committed(&self, version: Version, contents: Vec<(u32, Contents)>) {
        let _ = (version, contents);
    }

    /// Something people should know.
    fn note(&self, text: String) {
        let _ = text;
    }

    /// The program printed this, in a period that will not be done again, or in its last.
    fn say(&self, lines: Lines);
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) status: i32,
    /// What went wrong.
    pub(crate) message: Option<String>,
}

impl Job {
    pub(crate) fn new(output: Output) -> Arc<Job> {
        Arc::new(Job {
            over: AtomicBool::new(false),
            survives: AtomicBool::new(false),
            halts: AtomicBool::new(false),
            said: Said::default(),
            end: Mutex::default(),
            output,
            steps: AtomicU64::new(0),
            expected_steps: AtomicU64::new(0),
            results: Mutex::default(),
            balancing: Mutex::default(),
            checkpoints: Mutex::default(),
            leftovers: Mutex::default(),
            asked: Mutex::default(),
            nodes: Mutex::default(),
            others: OnceLock::new(),
        })
    }

    /// Whether the job has ended, or halts; PEs look at it between messages.
    #[inline(always)]
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// From now on other processes hear of what happens here.
    pub(crate) fn join(&self, others: Box<dyn Others>) {
        assert!(self.others.set(others).is_ok(), "a job joins the others once");
    }

    /// Ends the job. The first word counts, except that a failure is heard over a success.
    pub(crate) fn end(&self, status: i32, message: Option<String>) {
        if status == 0 && self.halts.load(Ordering::Relaxed) {
            return;
        }
        let end = End { status, message };
        if let Some(others) = self.others.get() {
            others.end(&end);
        }
        self.end_here(end);
    }

    /// The job has ended, as the others know.
    pub(crate) fn end_here(&self, new: End) {
        let mut end = lock(&self.end);
        if end.as_ref().is_none_or(|end| end.status == 0 && new.status != 0) {
            *end = Some(new);
        }
        drop(end);
        self.stop_pes();
    }

    /// From now on the loss of another node is not the end of the job.
    pub(crate) fn survive(&self) {
        self.survives.store(true, Ordering::Relaxed);
    }

    /// Whether the job may go on after its PEs have stopped.
    pub(crate) fn survives(&self) -> bool {
        self.survives.load(Ordering::Relaxed)
    }

    /// The PEs stop, and what they have is dropped, but the job has not ended: see [`Job::begin_again`]. An end in order is
    /// void, since others do not get there.
    pub(crate) fn halt(&self) {
        self.halts.store(true, Ordering::Relaxed);
        lock(&self.end).take_if(|end| end.status == 0);
        self.stop_pes();
    }

    /// After a halt: all PEs of the former life have stopped, and others may run, unless the job has failed meanwhile. What the
    /// program has said since the last cut is taken back.
    pub(crate) fn begin_again(&self) {
        lock(&self.nodes).retain(|node| node.strong_count() > 0);
        self.said.go_back();
        self.take_asked();
        self.steps.store(0, Ordering::Relaxed);
        // Of a life whose end is void.
        *lock(&self.leftovers) = Leftovers::default();
        let end = lock(&self.end);
        self.halts.store(false, Ordering::Relaxed);
        self.over.store(end.is_some(), Ordering::SeqCst);
    }

    fn stop_pes(&self) {
        self.over.store(true, Ordering::SeqCst);
        try_current(|pe| pe.stopped.set(true));
        let nodes: Vec<_> = lock(&self.nodes).iter().filter_map(Weak::upgrade).collect();
        // Whoever was to wake one of them may be what is lost.
        nodes.iter().flat_map(|node| &node.parkers).for_each(Parker::wake);
    }

    /// Another node cannot be reached, or says what cannot be. Without fault tolerance that ends the job with this status.
    pub(crate) fn lose(&self, node: u32, status: i32, why: String) {
        match self.others.get() {
            Some(others) if self.survives() => others.suspect(node, why),
            _ => self.end(status, Some(why)),
        }
    }

    pub(crate) fn how_it_ended(&self) -> Option<End> {
        lock(&self.end).clone()
    }

    /// Prints text of one or more lines; if the job may go back, once it cannot go back behind that any more.
    pub(crate) fn print(&self, text: &str) {
        if self.survives() { self.said.print(text) } else { self.output.print(text) }
    }

    pub(crate) fn record(&self, name: &str, value: ResultValue) {
        if self.survives() {
            return self.said.record(name, value);
        }
        lock(&self.results).set(name, value);
    }

    /// The cut of a version: what this node's first PE keeps of what was said here.
    pub(crate) fn cut(&self, version: Version, node: u32) -> Vec<SavedPeriod> {
        self.said.cut(version, node)
    }

    /// A part that is restored has this of what was said. If the job will not go back any more, that counts at once.
    pub(crate) fn take_up(&self, saved: Vec<SavedPeriod>) {
        if self.survives() {
            return self.said.take_up(saved);
        }
        let printed = saved.into_iter().map(|period| period.without_lines(|line| self.output.print(line)));
        let reported: Vec<_> = printed.collect();
        match self.others.get() {
            // Whatever a node reports from now on is newer, whoever reported this.
            Some(others) => reported.into_iter().for_each(|period| others.say(period.into())),
            None => self.said.take_up(reported),
        }
    }

    /// This version is committed: what was said before it counts.
    pub(crate) fn settle(&self, version: Version) {
        if let Some(others) = self.others.get() {
            self.said.until(version).into_iter().for_each(|lines| others.say(lines));
        }
    }

    /// The launcher has printed a piece of what was said in a period.
    pub(crate) fn lines_seen(&self, version: Version, node: u32, piece: u32) {
        self.said.seen(version, node, piece);
    }

    /// The pieces that it has printed, as far as somebody may say them again.
    pub(crate) fn seen(&self) -> Vec<(Version, u32, u32)> {
        self.said.all_seen()
    }

    /// The program has ended: what it said last counts if all others get there too. Gives its last results.
    pub(crate) fn last_words(&self, node: u32) -> Results {
        let (lines, results) = self.said.last_words(node);
        if let Some(others) = self.others.get() {
            lines.into_iter().for_each(|lines| others.say(lines));
        }
        results
    }

    /// What was reported in a process that does not survive.
    pub(crate) fn results(&self) -> Results {
        let mut all = self.said.results();
        lock(&self.results).iter().for_each(|(name, value)| all.set(name, value.clone()));
        all
    }

    /// A step of load balancing is over.
    pub(crate) fn balanced(&self, step: BalancingStep) {
        let mut all = lock(&self.balancing);
        if let Some(last) = all.back_mut() {
            last.measured_after(&step);
        }
        if all.len() == STEPS_KEPT {
            all.pop_front();
        }
        all.push_back(step);
    }

    /// Tells the user something beside the program's output.
    pub(crate) fn say(&self, line: &str) {
        if !self.output.is_kept() {
            tell(line);
        }
    }

    /// The same of what concerns this process, which may be one of several.
    pub(crate) fn warn(&self, line: String) {
        match self.others.get() {
            Some(others) => others.note(line),
            None => self.say(&line),
        }
    }

    /// What the steps of load balancing did.
    pub(crate) fn balancing(&self) -> Vec<BalancingStep> {
        lock(&self.balancing).iter().cloned().collect()
    }

    /// The same, for whoever has to say what is lost when no node is left.
    pub(crate) fn committed(&self, version: Version, contents: Vec<(u32, Contents)>) {
        if let Some(others) = self.others.get() {
            others.committed(version, contents);
        }
    }

    /// A checkpoint is committed.
    pub(crate) fn took_checkpoint(&self, checkpoint: CheckpointTaken) {
        let mut all = lock(&self.checkpoints);
        if all.len() == STEPS_KEPT {
            all.pop_front();
        }
        all.push_back(checkpoint);
    }

    /// Somebody outside asks for a checkpoint, from which the others may be to go on without these nodes; the PE that looks next sees to it.
    pub(crate) fn ask_for_checkpoint(&self, on_disk: bool, leaving: Vec<u32>) {
        lock(&self.asked).push((on_disk, leaving));
    }

    /// What has been asked for since this was last looked at, in this order.
    pub(crate) fn take_asked(&self) -> Asked {
        std::mem::take(&mut *lock(&self.asked))
    }

    /// So many of these requests are answered.
    pub(crate) fn answer(
        &self,
        asked: u32,
        checkpoint: Result<Version, String>,
        not_written: Option<String>,
    ) {
        if let Some(others) = self.others.get().filter(|_| asked > 0) {
            others.answer(asked, checkpoint, not_written);
        }
    }

    /// A PE has ended, and knows this of messages that nobody got.
    pub(crate) fn left_over(&self, leftovers: Leftovers) {
        lock(&self.leftovers).add(leftovers);
    }

    /// What the PEs of this process know of messages that nobody got.
    pub(crate) fn leftovers(&self) -> Leftovers {
        lock(&self.leftovers).clone()
    }

    /// The checkpoints that were committed.
    pub(crate) fn checkpoints(&self) -> Vec<CheckpointTaken> {
        lock(&self.checkpoints).iter().cloned().collect()
    }

    /// How far the program says it is.
    pub(crate) fn progress(&self) -> Steps {
        let total = self.expected_steps.load(Ordering::Relaxed);
        Steps { done: self.steps.load(Ordering::Relaxed), total: (total > 0).then_some(total) }
    }

    /// The job has gone back to where the program had reported so many steps.
    pub(crate) fn step_again(&self, steps: u64) {
        self.steps.fetch_max(steps, Ordering::Relaxed);
    }

    /// The program finished a step.
    pub(crate) fn step(&self, step: u64) {
        self.steps.fetch_max(step, Ordering::Relaxed);
        if let Some(others) = self.others.get() {
            others.step(step);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in a critical section panics half way.
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use std::ptr::NonNull;
    use std::sync::atomic::AtomicU32;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, poll};

    use super::*;
    use talisman_sched::bell::Bell;
    use talisman_sched::sync::AsymmetricFence;

    /// Nothing here takes long.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn a_failure_is_heard_over_a_success_and_the_first_failure_counts() {
        let job = Job::new(Output::capture());
        assert!(!job.is_over());
        job.end(0, None);
        job.end(1, Some("first".into()));
        job.end(1, Some("second".into()));
        job.end(0, None);
        assert_eq!(job.how_it_ended(), Some(End { status: 1, message: Some("first".into()) }));
    }

    #[test]
    fn a_halt_is_no_end_and_what_ends_the_job_after_it_counts() {
        let job = Job::new(Output::capture());
        job.halt();
        assert_eq!((job.is_over(), job.how_it_ended()), (true, None));
        job.begin_again();
        assert!(!job.is_over());
        job.end(0, None);
        job.halt();
        job.end(0, None);
        assert_eq!(job.how_it_ended(), None, "it is void, and so is what the former life still says");
        job.end(1, None);
        job.begin_again();
        assert_eq!((job.is_over(), job.how_it_ended()), (true, Some(End { status: 1, message: None })));
    }

    /// Memory that processes share, in which a PE says that it sleeps.
    #[derive(Default)]
    struct Word(AtomicU32);

    #[test]
    fn a_pe_hears_that_the_job_halts_when_whoever_was_to_wake_it_was_killed_before_it_did() {
        let (word, bell) = (Arc::new(Word::default()), Arc::new(Bell::new().unwrap()));
        let ring = {
            let bell = bell.clone();
            move || bell.ring()
        };
        // SAFETY: the word is kept, and has the layout of a futex; a parker allows for whatever others write there.
        let parker = unsafe {
            Parker::in_shared_memory(
                NonNull::from(&word.0).cast(),
                word.clone(),
                AsymmetricFence::new(),
                ring,
            )
        };
        let (shape, job) = (Shape { nodes: 2, pes_per_node: 1 }, Job::new(Output::capture()));
        let (view, parkers) = (Arc::new(View::whole(shape)), Box::new([parker]));
        let node =
            Node::sleeping_in_view(parkers, view, Arc::default(), shape, 0, Config::default(), job.clone());
        let (done, woke) = channel();
        thread::spawn(move || {
            let sleep = || {
                // As another process does that is killed just then.
                word.0.store(0, Ordering::SeqCst);
                let _ = done.send(());
                let mut heard = [PollFd::new(&*bell, PollFlags::IN)];
                poll(&mut heard, None).unwrap();
            };
            let _ = node.parkers[0].park_in(|| node.job.is_over(), sleep);
            let _ = done.send(());
        });
        woke.recv_timeout(PATIENCE).expect("the PE sleeps");
        job.halt();
        woke.recv_timeout(PATIENCE).expect("the PE wakes");
    }
}
