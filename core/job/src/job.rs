//! The job, as the nodes of one process share it: how it ends, what it prints, what it reports.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use talisman_ft::Version;
use talisman_ft::double::Contents;

use crate::diagnostics::{self, subjects::CONTROL};
use crate::lines::Lines;
use crate::loads::PeLoads;
use crate::output_commit::{Said, SavedPeriod};
use crate::progress::Steps;
use crate::undelivered::Leftovers;
use crate::{BalancingStep, CheckpointTaken, Output, ResultValue, Results};

/// A request from outside that a PE carries out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A checkpoint, whether it is to be on disk, and the nodes that leave after it.
    Checkpoint { on_disk: bool, leaving: Vec<u32> },
    /// A step of load balancing.
    Balance,
}

/// Steps of load balancing that a report has: those of a job of weeks would not go into the message that brings them.
const STEPS_KEPT: usize = 10_000;

/// The job, as the nodes of this process share it: how it ends, what it prints, what it reports.
///
/// With fault tolerance its PEs have several *lives*: they stop when another node is lost ([`Job::halt`]), and are made anew
/// ([`Job::begin_again`]).
pub struct Job {
    /// The PEs are to stop: the job has ended, or halts.
    over: AtomicBool,
    /// The job may go on after its PEs have stopped, so that their links stay.
    survives: AtomicBool,
    /// It does: what its PEs still say of an end in order is of a life that is over.
    halts: AtomicBool,
    /// What the program says, if that may still be taken back.
    said: Said,
    end: Mutex<Option<End>>,
    pub output: Output,
    pub steps: AtomicU64,
    pub expected_steps: AtomicU64,
    results: Mutex<Results>,
    balancing: Mutex<VecDeque<BalancingStep>>,
    checkpoints: Mutex<VecDeque<CheckpointTaken>>,
    /// Messages that nobody got.
    leftovers: Mutex<Leftovers>,
    loads: Mutex<Vec<PeLoads>>,
    /// What somebody outside has asked for that no PE has heard of.
    asked: Mutex<Vec<Asked>>,
    /// The nodes of this process, whose PEs are to stop at the end.
    nodes: Mutex<Vec<Weak<dyn Stop>>>,
    /// The rest of the job, if it has other processes.
    others: OnceLock<Box<dyn Others>>,
}

/// The processes that a job has beside this one.
pub trait Others: Send + Sync {
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

    /// So many requests from outside for a step of load balancing are answered: by what it did, or why there was none.
    fn balanced(&self, asked: u32, step: Result<String, String>) {
        let _ = (asked, step);
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

/// PEs of this process that run the job.
pub trait Stop: Send + Sync {
    /// The job is over, or halts: they look at [`Job::is_over`], also those that sleep.
    fn stop(&self);
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    pub status: i32,
    /// What went wrong.
    pub message: Option<String>,
}

impl Job {
    pub fn new(output: Output) -> Arc<Job> {
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
            loads: Mutex::default(),
            asked: Mutex::default(),
            nodes: Mutex::default(),
            others: OnceLock::new(),
        })
    }

    /// A node of this process runs the job.
    pub fn runs_on(&self, node: Weak<dyn Stop>) {
        let mut nodes = lock(&self.nodes);
        nodes.retain(|node| node.strong_count() > 0);
        nodes.push(node);
    }

    /// Whether the job has ended, or halts; PEs look at it between messages.
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// From now on other processes hear of what happens here.
    pub fn join(&self, others: Box<dyn Others>) {
        assert!(self.others.set(others).is_ok(), "a job joins the others once");
    }

    /// Ends the job. The first word counts, except that a failure is heard over a success.
    pub fn end(&self, status: i32, message: Option<String>) {
        if status == 0 && self.halts.load(Ordering::Relaxed) {
            return;
        }
        let end = End { status, message };
        if let Some(others) = self.others.get() {
            others.end(&end);
        }
        self.end_unless(end, |end| end.status == 0 && self.halts.load(Ordering::Relaxed));
    }

    /// The job has ended, as the others know.
    pub fn end_here(&self, new: End) {
        self.end_unless(new, |_| false);
    }

    /// Unless it is void. Whoever halts clears the end after that is known: a halt comes before this or after it, not in between.
    fn end_unless(&self, new: End, is_void: impl FnOnce(&End) -> bool) {
        let mut end = lock(&self.end);
        if is_void(&new) {
            return;
        }
        if end.as_ref().is_none_or(|end| end.status == 0 && new.status != 0) {
            *end = Some(new);
        }
        drop(end);
        self.stop_pes();
    }

    /// From now on the loss of another node is not the end of the job.
    pub fn survive(&self) {
        self.survives.store(true, Ordering::Relaxed);
    }

    /// Whether the job may go on after its PEs have stopped.
    pub fn survives(&self) -> bool {
        self.survives.load(Ordering::Relaxed)
    }

    /// The PEs stop, and what they have is dropped, but the job has not ended: see [`Job::begin_again`]. An end in order is
    /// void, since others do not get there.
    pub fn halt(&self) {
        self.halts.store(true, Ordering::Relaxed);
        lock(&self.end).take_if(|end| end.status == 0);
        self.stop_pes();
    }

    /// After a halt: all PEs of the former life have stopped, and others may run, unless the job has failed meanwhile. What the
    /// program has said since the last cut is taken back.
    pub fn begin_again(&self) {
        lock(&self.nodes).retain(|node| node.strong_count() > 0);
        self.said.go_back();
        self.take_asked();
        self.steps.store(0, Ordering::Relaxed);
        // Of a life whose end is void.
        *lock(&self.leftovers) = Leftovers::default();
        lock(&self.loads).clear();
        let end = lock(&self.end);
        self.halts.store(false, Ordering::Relaxed);
        self.over.store(end.is_some(), Ordering::SeqCst);
    }

    fn stop_pes(&self) {
        self.over.store(true, Ordering::SeqCst);
        let nodes: Vec<_> = lock(&self.nodes).iter().filter_map(Weak::upgrade).collect();
        nodes.iter().for_each(|node| node.stop());
    }

    /// Another node cannot be reached, or says what cannot be. Without fault tolerance that ends the job with this status.
    pub fn lose(&self, node: u32, status: i32, why: String) {
        match self.others.get() {
            Some(others) if self.survives() => others.suspect(node, why),
            _ => self.end(status, Some(why)),
        }
    }

    pub fn how_it_ended(&self) -> Option<End> {
        lock(&self.end).clone()
    }

    /// Prints text of one or more lines; if the job may go back, once it cannot go back behind that any more.
    pub fn print(&self, text: &str) {
        if self.survives() { self.said.print(text) } else { self.output.print(text) }
    }

    /// The same to standard error.
    pub fn print_errors(&self, text: &str) {
        if self.survives() { self.said.print_errors(text) } else { self.output.print_errors(text) }
    }

    pub fn record(&self, name: &str, value: ResultValue) {
        if self.survives() {
            return self.said.record(name, value);
        }
        lock(&self.results).set(name, value);
    }

    /// The cut of a version: what this node's first PE keeps of what was said here.
    pub fn cut(&self, version: Version, node: u32) -> Vec<SavedPeriod> {
        self.said.cut(version, node)
    }

    /// A part that is restored has this of what was said. If the job will not go back any more, that counts at once.
    pub fn take_up(&self, saved: Vec<SavedPeriod>) {
        if self.survives() {
            return self.said.take_up(saved);
        }
        let printed =
            saved.into_iter().map(|period| period.without_lines(|line| self.output.print_held(line)));
        let reported: Vec<_> = printed.collect();
        match self.others.get() {
            // Whatever a node reports from now on is newer, whoever reported this.
            Some(others) => reported.into_iter().for_each(|period| others.say(period.into())),
            None => self.said.take_up(reported),
        }
    }

    /// This version is committed: what was said before it counts.
    pub fn settle(&self, version: Version) {
        if let Some(others) = self.others.get() {
            self.said.until(version).into_iter().for_each(|lines| others.say(lines));
        }
    }

    /// The launcher has printed a piece of what was said in a period.
    pub fn lines_seen(&self, version: Version, node: u32, piece: u32) {
        self.said.seen(version, node, piece);
    }

    /// The pieces that it has printed, as far as somebody may say them again.
    pub fn seen(&self) -> Vec<(Version, u32, u32)> {
        self.said.all_seen()
    }

    /// The program has ended: what it said last counts if all others get there too. Gives its last results.
    pub fn last_words(&self, node: u32) -> Results {
        let (lines, results) = self.said.last_words(node);
        if let Some(others) = self.others.get() {
            lines.into_iter().for_each(|lines| others.say(lines));
        }
        results
    }

    /// What was reported in a process that does not survive.
    pub fn results(&self) -> Results {
        let mut all = self.said.results();
        lock(&self.results).iter().for_each(|(name, value)| all.set(name, value.clone()));
        all
    }

    /// A step of load balancing is over.
    pub fn balanced(&self, step: BalancingStep) {
        let mut all = lock(&self.balancing);
        if let Some(last) = all.back_mut() {
            last.measured_after(&step);
        }
        if all.len() == STEPS_KEPT {
            all.pop_front();
        }
        all.push_back(step);
    }

    /// Tells the user something beside the program's output: an event of the level `info` or above.
    pub fn say(&self, event: impl FnOnce()) {
        if !self.output.is_kept() {
            diagnostics::say(event);
        }
    }

    /// The same of what concerns this process, which may be one of several.
    pub fn warn(&self, line: String) {
        match self.others.get() {
            Some(others) => others.note(line),
            None => self.say(|| tracing::warn!(target: CONTROL, "{line}")),
        }
    }

    /// What the steps of load balancing did.
    pub fn balancing(&self) -> Vec<BalancingStep> {
        lock(&self.balancing).iter().cloned().collect()
    }

    /// The same, for whoever has to say what is lost when no node is left.
    pub fn committed(&self, version: Version, contents: Vec<(u32, Contents)>) {
        if let Some(others) = self.others.get() {
            others.committed(version, contents);
        }
    }

    /// A checkpoint is committed.
    pub fn took_checkpoint(&self, checkpoint: CheckpointTaken) {
        let mut all = lock(&self.checkpoints);
        if all.len() == STEPS_KEPT {
            all.pop_front();
        }
        all.push_back(checkpoint);
    }

    /// Somebody outside asks for a checkpoint, from which the others may be to go on without these nodes; the PE that looks next sees to it.
    pub fn ask_for_checkpoint(&self, on_disk: bool, leaving: Vec<u32>) {
        lock(&self.asked).push(Asked::Checkpoint { on_disk, leaving });
    }

    /// Somebody outside asks for a step of load balancing, likewise.
    pub fn ask_for_balance(&self) {
        lock(&self.asked).push(Asked::Balance);
    }

    /// What has been asked for since this was last looked at, in this order.
    pub fn take_asked(&self) -> Vec<Asked> {
        std::mem::take(&mut *lock(&self.asked))
    }

    /// So many requests for a step are answered.
    pub fn answer_balance(&self, asked: u32, step: Result<String, String>) {
        if let Some(others) = self.others.get() {
            others.balanced(asked, step);
        }
    }

    /// So many requests for a checkpoint are answered.
    pub fn answer(&self, asked: u32, checkpoint: Result<Version, String>, not_written: Option<String>) {
        if let Some(others) = self.others.get().filter(|_| asked > 0) {
            others.answer(asked, checkpoint, not_written);
        }
    }

    /// A PE has ended, and knows this of messages that nobody got.
    pub fn left_over(&self, leftovers: Leftovers) {
        lock(&self.leftovers).add(leftovers);
    }

    /// What the PEs of this process know of messages that nobody got.
    pub fn leftovers(&self) -> Leftovers {
        lock(&self.leftovers).clone()
    }

    /// A PE has ended, and knows this of what its objects had to do.
    pub fn loaded(&self, loads: PeLoads) {
        lock(&self.loads).push(loads);
    }

    /// What the PEs of this process know of that.
    pub fn loads(&self) -> Vec<PeLoads> {
        lock(&self.loads).clone()
    }

    /// How many of them the job knows, and the last.
    pub fn last_checkpoint(&self) -> (usize, Option<CheckpointTaken>) {
        let taken = lock(&self.checkpoints);
        (taken.len(), taken.back().cloned())
    }

    /// How many steps of load balancing the job knows, and the last.
    pub fn last_balancing(&self) -> (usize, Option<BalancingStep>) {
        let steps = lock(&self.balancing);
        (steps.len(), steps.back().cloned())
    }

    /// The checkpoints that were committed.
    pub fn checkpoints(&self) -> Vec<CheckpointTaken> {
        lock(&self.checkpoints).iter().cloned().collect()
    }

    /// How far the program says it is.
    pub fn progress(&self) -> Steps {
        let total = self.expected_steps.load(Ordering::Relaxed);
        Steps { done: self.steps.load(Ordering::Relaxed), total: (total > 0).then_some(total) }
    }

    /// The job has gone back to where the program had reported so many steps.
    pub fn step_again(&self, steps: u64) {
        self.steps.fetch_max(steps, Ordering::Relaxed);
    }

    /// The program finished a step.
    pub fn step(&self, step: u64) {
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
    use super::*;

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

    /// Hears of an end while a halt comes.
    struct Halting(Weak<Job>);

    impl Others for Halting {
        fn end(&self, _: &End) {
            self.0.upgrade().expect("it is there").halt();
        }

        fn step(&self, _: u64) {}

        fn suspect(&self, _: u32, _: String) {}

        fn say(&self, _: Lines) {}
    }

    #[test]
    fn an_end_that_a_halt_overtakes_is_void() {
        let job = Arc::new(Job::new(Output::capture()));
        job.join(Box::new(Halting(Arc::downgrade(&job))));
        job.end(0, None);
        job.begin_again();
        assert_eq!((job.is_over(), job.how_it_ended()), (false, None));
        job.end(3, None);
        job.begin_again();
        assert_eq!((job.is_over(), job.how_it_ended()), (true, Some(End { status: 3, message: None })));
    }
}
