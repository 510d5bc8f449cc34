//! What the threads of a node say to the launcher, and what they wait for from it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::member::NodeCommands;
use crate::takeover::successor::{Heir, Leading};
use talisman_base::ids::PeId;
use talisman_control::exit_cause::How;
use talisman_control::protocol::{Fetch, NodeReport, Stop, Task, ToLauncher};
use talisman_job::progress::Steps;
use talisman_store::files::catalog::Place;
use talisman_store::files::remote::Piece;

/// A PE waits at most so long at a step until what is to happen there has happened.
const STEP_WAIT: Duration = Duration::from_secs(2);
/// Last words are given so long to be written.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A node's voice, which any thread may use: nothing but the waits that say so waits.
#[derive(Clone)]
pub struct Control {
    queue: mpsc::UnboundedSender<Outgoing>,
    shared: Arc<Shared>,
    runtime: Handle,
}

/// What goes to the launcher.
pub enum Outgoing {
    Message(ToLauncher),
    /// All before this has been written.
    Written(std::sync::mpsc::Sender<()>),
}

/// What the control thread has heard, for those who wait for it.
pub struct Shared {
    heard: Mutex<Heard>,
    changed: Condvar,
    watched: Vec<u64>,
    /// The number of the next question for bytes. One thread asks at a time: what others would have on its way beside that would keep what
    /// the launcher has to say waiting.
    next_fetch: Mutex<u64>,
    /// The next step at which something is to happen; the largest number if there is none.
    next_watched: AtomicU64,
    /// Whether the job survives losses.
    survives: bool,
}

#[derive(Default)]
pub struct Heard {
    pub book: Option<Vec<Option<SocketAddr>>>,
    pub went: bool,
    pub step_seen: u64,
    /// Where this node listens.
    pub address: Option<SocketAddr>,
    /// What it left behind, when it had stopped last.
    pub report: Option<NodeReport>,
    /// PEs are to stop, and not to wait for anything.
    pub halted: bool,
    /// What is asked for and has not come, and what has.
    pub fetching: Option<Fetch>,
    pub fetched: Option<Result<Piece, String>>,
    /// When the program began.
    pub began: Option<Instant>,
    /// What this process needs to become the launcher.
    pub heir: Option<Heir>,
    /// It has become that.
    pub leading: Option<Leading>,
    orders: Option<Arc<dyn NodeCommands>>,
}

impl Shared {
    pub fn new(task: &Task) -> Arc<Self> {
        let watched = task.watched.clone();
        let next_watched = AtomicU64::new(watched.first().copied().unwrap_or(u64::MAX));
        // No two processes of a node have the same numbers.
        let next_fetch = Mutex::new(task.life << 32);
        Arc::new(Shared {
            heard: Mutex::default(),
            changed: Condvar::new(),
            watched,
            next_fetch,
            next_watched,
            // Other processes come in jobs that survive losses, and in no others.
            survives: task.admits,
        })
    }

    /// The control thread has heard something.
    pub fn change(&self, change: impl FnOnce(&mut Heard)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// What concerns the program, which has begun.
    pub fn order(&self, give: impl FnOnce(&dyn NodeCommands)) {
        // Taken out first: what is done then may look at what was heard.
        if let Some(orders) = self.orders() {
            give(&*orders);
        }
    }

    /// How far the program says it is, once it runs.
    pub fn steps(&self) -> Option<Steps> {
        self.orders().map(|orders| orders.steps())
    }

    /// For how long the program has been running.
    pub fn running(&self) -> Duration {
        self.lock().began.map(|began| began.elapsed()).unwrap_or_default()
    }

    /// What is asked for and has not come.
    pub fn fetching(&self) -> Option<Fetch> {
        self.lock().fetching
    }

    /// Bytes have come, or will not.
    pub fn on_fetched(&self, number: u64, piece: Result<Piece, String>) {
        self.change(|heard| {
            if heard.fetching.take_if(|fetch| fetch.number == number).is_some() {
                heard.fetched = Some(piece);
            }
        });
    }

    /// Where this node listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.lock().address
    }

    /// What it left behind, when it had stopped last.
    pub fn report(&self) -> Option<NodeReport> {
        self.lock().report.clone()
    }

    pub fn heir(&self) -> Option<Heir> {
        self.lock().heir.clone()
    }

    /// What the program does about what is heard, once it runs.
    pub fn orders(&self) -> Option<Arc<dyn NodeCommands>> {
        self.lock().orders.clone()
    }

    fn wait_for<T>(&self, mut look: impl FnMut(&mut Heard) -> Option<T>) -> T {
        let mut heard = self.lock();
        loop {
            if let Some(found) = look(&mut heard) {
                return found;
            }
            heard = self.changed.wait(heard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Control {
    pub fn new(queue: mpsc::UnboundedSender<Outgoing>, shared: Arc<Shared>, runtime: Handle) -> Self {
        Control { queue, shared, runtime }
    }

    /// The runtime of the control thread, for what else a node does beside its PEs. It has one thread: nothing there
    /// may take long.
    pub fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Says something to the launcher, without waiting.
    pub fn send(&self, message: ToLauncher) {
        let _ = self.queue.send(Outgoing::Message(message));
    }

    /// This is where this node listens: all others will know.
    pub fn ready(&self, address: Option<SocketAddr>) {
        self.shared.lock().address = address;
        self.send(ToLauncher::Ready(address));
    }

    /// The program has ended the job, here.
    pub fn ended(&self, status: i32, message: Option<String>) {
        self.send(ToLauncher::Ended(Stop { status, message }));
    }

    /// The program has finished a step. If a fault is to be injected at it, this waits until that has happened.
    #[inline]
    pub fn step(&self, steps: Steps) {
        if steps.done >= self.shared.next_watched.load(Ordering::Relaxed) {
            self.wait_at(steps);
        }
    }

    /// Waits for some bytes of the file of a part that is in a folder of another host. Whoever leads sees to it that there is an answer.
    ///
    /// # Errors
    /// What is wrong there, or that the host is lost.
    pub fn fetch(&self, pe: PeId, place: Place, from: u64) -> Result<Piece, String> {
        let mut next = self.shared.next_fetch.lock().unwrap_or_else(PoisonError::into_inner);
        let fetch = Fetch { number: *next, pe, place, from };
        *next += 1;
        self.shared.lock().fetching = Some(fetch);
        self.send(ToLauncher::Fetch(fetch));
        self.shared.wait_for(|heard| heard.fetched.take())
    }

    /// All PEs have stopped: says what this node leaves behind.
    pub fn stopped(&self, report: NodeReport) {
        self.shared.lock().report = Some(report.clone());
        self.send(ToLauncher::Done(report.into()));
    }

    /// The same, and waits until that is written. The process is to end then, with any status.
    pub fn done(&self, report: NodeReport) {
        self.stopped(report);
        self.flush();
    }

    /// This node cannot start, or cannot go on: says why, and ends the process.
    pub fn failed(&self, why: impl Into<String>) -> ! {
        self.send(ToLauncher::Failed(why.into()));
        self.flush();
        match How::of_failed(self.shared.survives) {
            How::Exited(status) => std::process::exit(status),
            _ => die(),
        }
    }

    /// Should the launcher be lost, this process may take its place.
    pub fn inherit(&self, heir: Heir) {
        self.shared.lock().heir = Some(heir);
    }

    /// The job that this process leads, if it does.
    pub fn leading(&self) -> Option<Leading> {
        self.shared.lock().leading.take()
    }

    pub fn give(&self, orders: Arc<dyn NodeCommands>) {
        self.shared.lock().orders = Some(orders);
    }

    pub fn wait_for_book(&self) -> Vec<Option<SocketAddr>> {
        self.shared.wait_for(|heard| heard.book.take())
    }

    pub fn wait_for_go(&self) {
        self.shared.wait_for(|heard| heard.went.then_some(()));
    }

    /// Waits until all that was said is written.
    fn flush(&self) {
        let (written, is_written) = std::sync::mpsc::channel();
        let _ = self.queue.send(Outgoing::Written(written));
        let _ = is_written.recv_timeout(LAST_WORDS);
    }

    #[cold]
    fn wait_at(&self, steps: Steps) {
        let next = self.shared.watched.iter().find(|watched| **watched > steps.done);
        self.shared.next_watched.fetch_max(next.copied().unwrap_or(u64::MAX), Ordering::Relaxed);
        self.send(ToLauncher::Step(steps));
        let heard = self.shared.lock();
        let not_seen = |heard: &mut Heard| heard.step_seen < steps.done && !heard.halted;
        drop(self.shared.changed.wait_timeout_while(heard, STEP_WAIT, not_seen));
    }
}

/// Ends this process whatever its other threads do.
pub fn die() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort()
}
