//! What the launcher wants of a node of a job that logs, as the control thread hears it and the thread of the PE looks for it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::shown::Shown;
use talisman_cluster::member::NodeCommands;
use talisman_control::logging::fragments::{Joined, WordPiece};
use talisman_control::logging::messages::ToMember;
use talisman_control::protocol::Stop;
use talisman_ft::Version;
use talisman_ft::view::View;
use talisman_job::job::{End, Job};
use talisman_job::progress::Steps;
use talisman_job::snapshot::figures::NodeFigures;

/// The launcher's words that the PE's thread has not heard yet.
pub(crate) struct LoggedCommands {
    job: Arc<Job>,
    /// Has the PE's thread look.
    knock: Box<dyn Fn() + Send + Sync>,
    /// Has connections tried.
    try_all: Box<dyn Fn(u32, Duration) + Send + Sync>,
    /// The nodes that could not be reached, and why.
    complaints: Box<dyn Fn() -> Vec<(u32, String)> + Send + Sync>,
    shown: Shown,
    has_any: AtomicBool,
    /// The job is over, or the others go on without this node.
    is_over: AtomicBool,
    heard: Mutex<Heard>,
    /// It is to end.
    may_leave: Condvar,
}

#[derive(Default)]
struct Heard {
    joined: Joined,
    words: VecDeque<ToMember>,
    /// Somebody wants a checkpoint, or so many steps of load balancing.
    wants_checkpoint: bool,
    wanted_steps: u32,
    /// A line is on this node's disk, or why not.
    written: Option<(Version, Option<String>)>,
    /// A word could not be read: why.
    garbled: Option<String>,
    stop: Option<Stop>,
    leaves: bool,
    /// The largest life of a process that was heard of.
    lives: u64,
    /// Who is there, if others than at the job's beginning.
    view: Option<View>,
}

impl LoggedCommands {
    pub(crate) fn new(
        job: Arc<Job>,
        knock: impl Fn() + Send + Sync + 'static,
        try_all: impl Fn(u32, Duration) + Send + Sync + 'static,
        complaints: impl Fn() -> Vec<(u32, String)> + Send + Sync + 'static,
        (shown, view): (Shown, Option<View>),
    ) -> Self {
        LoggedCommands {
            job,
            knock: Box::new(knock),
            try_all: Box::new(try_all),
            complaints: Box::new(complaints),
            shown,
            has_any: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            heard: Mutex::new(Heard { view, ..Heard::default() }),
            may_leave: Condvar::new(),
        }
    }

    /// Waits until the process is to end: all know that the job is over, or it has failed.
    pub(super) fn wait_to_leave(&self) {
        let heard = self.may_leave.wait_while(self.lock(), |heard| !heard.leaves);
        drop(heard.unwrap_or_else(PoisonError::into_inner));
    }

    /// Whether anything has been said since that was last taken.
    pub(super) fn has_any(&self) -> bool {
        self.has_any.load(Ordering::Acquire)
    }

    /// The words that have come, in order.
    ///
    /// # Errors
    /// The launcher cannot be understood.
    pub(super) fn take(&self) -> Result<VecDeque<ToMember>, String> {
        self.has_any.store(false, Ordering::Release);
        let mut heard = self.lock();
        match heard.garbled.take() {
            Some(why) => Err(why),
            None => Ok(std::mem::take(&mut heard.words)),
        }
    }

    /// Whether somebody wants a checkpoint that has not been asked for here.
    pub(super) fn take_wish(&self) -> bool {
        std::mem::take(&mut self.lock().wants_checkpoint)
    }

    /// How many steps of load balancing somebody wants that have not been asked for here.
    pub(super) fn take_wanted_steps(&self) -> u32 {
        std::mem::take(&mut self.lock().wanted_steps)
    }

    /// What became of the line that was to be written, once.
    pub(super) fn take_written(&self) -> Option<(Version, Option<String>)> {
        self.lock().written.take()
    }

    /// This line is on disk, or why not.
    pub(super) fn wrote(&self, line: Version, wrong: Option<String>) {
        self.hear(|heard| heard.written = Some((line, wrong)));
    }

    /// Whether it is stopped or released, which is asked for each turn.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Whether the others go on without this node.
    pub(super) fn is_released(&self) -> bool {
        let heard = self.lock();
        heard.leaves && heard.stop.is_none()
    }

    /// Whether the job is over, as the launcher has said.
    pub(super) fn is_stopped(&self) -> bool {
        self.lock().stop.is_some()
    }

    fn hear(&self, word: impl FnOnce(&mut Heard)) {
        let mut heard = self.lock();
        word(&mut heard);
        self.is_over.store(heard.stop.is_some() || heard.leaves, Ordering::Release);
        drop(heard);
        self.has_any.store(true, Ordering::Release);
        (self.knock)();
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NodeCommands for LoggedCommands {
    fn stop(&self, stop: Stop) {
        self.job.end_here(End { status: stop.status, message: stop.message.clone() });
        self.hear(|heard| heard.stop = Some(stop));
    }

    fn steps(&self) -> Steps {
        self.job.progress()
    }

    fn logging(&self, piece: WordPiece) {
        self.hear(|heard| match heard.joined.push(piece) {
            Ok(word) => {
                heard.lives = heard.lives.max(word.as_ref().map_or(0, lives_of));
                if let Some(ToMember::Line { membership, .. }) = &word {
                    heard.view = Some(membership.view.clone());
                }
                heard.words.extend(word);
            }
            Err(error) => heard.garbled = Some(format!("the launcher cannot be understood: {error}")),
        });
    }

    fn checkpoint(&self, _: bool, _: Vec<u32>) {
        self.hear(|heard| heard.wants_checkpoint = true);
    }

    fn balance(&self) {
        self.hear(|heard| heard.wanted_steps += 1);
    }

    fn look(&self) {
        self.shown.ask();
    }

    fn figures(&self) -> Option<NodeFigures> {
        Some(self.shown.figures())
    }

    fn try_connections(&self, inquiry: u32, limit: Duration) {
        (self.try_all)(inquiry, limit);
    }

    fn complaints(&self) -> Vec<(u32, String)> {
        (self.complaints)()
    }

    /// A loss does not take back that it is told to stop.
    fn ended(&self) -> Option<Stop> {
        self.lock().stop.clone()
    }

    fn lives(&self) -> u64 {
        self.lock().lives
    }

    fn view(&self) -> Option<View> {
        self.lock().view.clone()
    }

    fn leave(&self) {
        self.hear(|heard| heard.leaves = true);
        self.may_leave.notify_all();
    }
}

/// The largest life of a process that a word speaks of.
fn lives_of(word: &ToMember) -> u64 {
    let places = if let ToMember::Order { places, .. } = word { &places[..] } else { &[] };
    places.iter().map(|place| place.life).max().unwrap_or(0)
}
