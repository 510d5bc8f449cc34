//! What the launcher wants of a node of a job that logs, as the control thread hears it and the thread of the PE looks for it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::shown::Shown;
use talisman_cluster::member::NodeCommands;
use talisman_control::logging::fragments::{Joined, WordPiece};
use talisman_control::logging::messages::ToMember;
use talisman_control::protocol::Stop;
use talisman_ft::Version;
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
    shown: Shown,
    has_any: AtomicBool,
    heard: Mutex<Heard>,
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
}

impl LoggedCommands {
    pub(crate) fn new(
        job: Arc<Job>,
        knock: impl Fn() + Send + Sync + 'static,
        try_all: impl Fn(u32, Duration) + Send + Sync + 'static,
        shown: Shown,
    ) -> Self {
        let (knock, try_all) = (Box::new(knock), Box::new(try_all));
        let (has_any, heard) = (AtomicBool::new(false), Mutex::default());
        LoggedCommands { job, knock, try_all, shown, has_any, heard }
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

    /// Whether the job is over, as the launcher has said.
    pub(super) fn is_stopped(&self) -> bool {
        self.lock().stop.is_some()
    }

    fn hear(&self, word: impl FnOnce(&mut Heard)) {
        word(&mut self.lock());
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
            Ok(word) => heard.words.extend(word),
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
}
