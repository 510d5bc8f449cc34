//! What the launcher wants of a node whose program has begun, as the thread hears it that makes PEs.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use talisman_ft::double::Order;
use talisman_ft::{Epoch, NodeId, Version};

use super::shown::Shown;
use talisman_cluster::member;
use talisman_control::job_result::UNRECOVERABLE;
use talisman_control::protocol::{Place, Stop};
use talisman_job::diagnostics::subjects::CONTROL;
use talisman_job::job::{End, Job};
use talisman_job::progress::Steps;
use talisman_job::snapshot::figures::NodeFigures;

/// The launcher's last words, and how the job stands by them.
pub(super) struct Commands {
    number: NodeId,
    job: Arc<Job>,
    /// Has a PE look at what the job is asked for.
    knock: Box<dyn Fn() + Send + Sync>,
    /// Has connections tried.
    try_all: Box<dyn Fn(u32, Duration) + Send + Sync>,
    /// The nodes that could not be reached, and why.
    complaints: Box<dyn Fn() -> Vec<(NodeId, String)> + Send + Sync>,
    /// What is shown of the node, if anything is.
    shown: Option<Shown>,
    heard: Mutex<Heard>,
    changed: Condvar,
}

/// What is to be done when no PE runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Say that all have halted for this epoch, in which these are lost.
    Halt(Epoch, Vec<NodeId>),
    /// Begin another life; which process each node is now, if that was said.
    Resume(Order, Vec<Place>),
    /// Say what this node leaves behind: the job has ended.
    Over,
    /// End the process.
    Leave,
}

#[derive(Default)]
struct Heard {
    /// Not answered yet.
    halt: Option<(Epoch, Vec<NodeId>)>,
    /// It has halted, and was not told how to go on.
    waits: bool,
    resume: Option<Order>,
    places: Vec<Place>,
    leave: bool,
    /// It was said how the job ended.
    said_over: bool,
}

impl Commands {
    pub(super) fn new(
        number: NodeId,
        job: Arc<Job>,
        knock: impl Fn() + Send + Sync + 'static,
        try_all: impl Fn(u32, Duration) + Send + Sync + 'static,
        complaints: impl Fn() -> Vec<(NodeId, String)> + Send + Sync + 'static,
    ) -> Self {
        let (knock, try_all, complaints) = (Box::new(knock), Box::new(try_all), Box::new(complaints));
        Commands {
            number,
            job,
            knock,
            try_all,
            complaints,
            shown: None,
            heard: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// With what is shown of the node.
    pub(super) fn showing(self, shown: Shown) -> Self {
        Commands { shown: Some(shown), ..self }
    }

    /// Waits for what is to be done next. All PEs have stopped.
    pub(super) fn next(&self) -> Word {
        let mut heard = self.lock();
        loop {
            if let Some(word) = heard.next(&self.job) {
                return word;
            }
            heard = self.changed.wait(heard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A word of the launcher. What it changes of the job is seen with it.
    fn hear(&self, word: impl FnOnce(&mut Heard)) {
        word(&mut self.lock());
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Heard {
    fn next(&mut self, job: &Job) -> Option<Word> {
        if self.leave {
            return Some(Word::Leave);
        }
        if let Some((epoch, lost)) = self.halt.take() {
            return Some(Word::Halt(epoch, lost));
        }
        if let Some(order) = self.resume.take() {
            return Some(Word::Resume(order, std::mem::take(&mut self.places)));
        }
        let is_news = job.how_it_ended().is_some() && !std::mem::replace(&mut self.said_over, true);
        is_news.then_some(Word::Over)
    }
}

impl member::NodeCommands for Commands {
    fn stop(&self, Stop { status, message }: Stop) {
        self.hear(|heard| {
            // Whoever is left says why it does not go on: the launcher's terminal may be far away.
            if let Some(why) = message.as_ref().filter(|_| heard.waits && status == UNRECOVERABLE) {
                let number = self.number;
                self.job.say(|| tracing::error!(target: CONTROL, "node {number}: {why}"));
            }
            self.job.end_here(End { status, message });
        });
    }

    fn steps(&self) -> Steps {
        self.job.progress()
    }

    fn halt(&self, epoch: Epoch, lost: Vec<NodeId>) {
        self.hear(|heard| {
            *heard = Heard { halt: Some((epoch, lost)), waits: true, ..Heard::default() };
            self.job.halt();
        });
    }

    fn places(&self, places: Vec<Place>) {
        self.hear(|heard| heard.places = places);
    }

    fn resume(&self, order: Order) {
        self.hear(|heard| {
            heard.waits = false;
            heard.resume = Some(order);
            self.job.begin_again();
        });
    }

    fn checkpoint(&self, on_disk: bool, leaving: Vec<u32>) {
        self.job.ask_for_checkpoint(on_disk, leaving);
        (self.knock)();
    }

    fn balance(&self) {
        self.job.ask_for_balance();
        (self.knock)();
    }

    fn look(&self) {
        self.shown.iter().for_each(Shown::ask);
    }

    fn figures(&self) -> Option<NodeFigures> {
        self.shown.as_ref().map(Shown::figures)
    }

    fn try_connections(&self, inquiry: u32, limit: Duration) {
        (self.try_all)(inquiry, limit);
    }

    fn complaints(&self) -> Vec<(NodeId, String)> {
        (self.complaints)()
    }

    fn lines_seen(&self, version: Version, node: u32, piece: u32) {
        self.job.lines_seen(version, node, piece);
    }

    fn seen(&self) -> Vec<(Version, u32, u32)> {
        self.job.seen()
    }

    fn failed(&self) -> Option<Stop> {
        let end = self.job.how_it_ended().filter(|end| end.status != 0)?;
        Some(Stop { status: end.status, message: end.message })
    }

    fn leave(&self) {
        self.hear(|heard| heard.leave = true);
    }
}

#[cfg(test)]
mod tests {
    use talisman_ft::view::View;

    use super::member::NodeCommands as _;
    use super::*;
    use talisman_job::Output;

    fn order(epoch: Epoch) -> Order {
        let view = View::whole(2).after(epoch, 2, |_| true, |node| node);
        Order { restore: vec![0], ..Order::new(view, None, 1) }
    }

    #[test]
    fn a_halt_is_answered_once_and_an_older_order_is_not_obeyed() {
        let job = Job::new(Output::capture());
        let orders = Commands::new(0, job.clone(), || (), |_, _| (), Vec::new);
        orders.halt(1, vec![0]);
        assert_eq!((orders.next(), job.is_over()), (Word::Halt(1, vec![0]), true));
        orders.resume(order(1));
        assert!(!job.is_over());
        orders.halt(2, vec![0, 1]);
        assert_eq!((orders.next(), job.is_over()), (Word::Halt(2, vec![0, 1]), true));
        orders.resume(order(2));
        assert_eq!(orders.next(), Word::Resume(order(2), vec![]));
    }

    #[test]
    fn an_end_is_said_once_and_again_if_it_was_void() {
        let job = Job::new(Output::capture());
        let orders = Commands::new(0, job.clone(), || (), |_, _| (), Vec::new);
        job.end(0, None);
        assert_eq!(orders.next(), Word::Over);
        orders.halt(1, vec![0]);
        assert_eq!(orders.next(), Word::Halt(1, vec![0]));
        orders.stop(Stop { status: 3, message: None });
        assert_eq!(orders.next(), Word::Over);
        orders.leave();
        assert_eq!(orders.next(), Word::Leave);
    }
}
