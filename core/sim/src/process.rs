//! A process of a simulated job: a node from its start to its end.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use super::clock::LocalClock;
use super::disk_log::Diary;
use super::lives::Lives;
use super::seeking::Seeking;
use super::steps::Steps;
use talisman_control::connecting::Connecting;
use talisman_control::node_session::NodeSession;
use talisman_control::protocol::{Stop, ToLauncher};
use talisman_ft::Version;
use talisman_ft::double::Contents;
use talisman_job::job::{End, Job, Others};
use talisman_job::lines::Lines;
use talisman_kernel::pe::try_current;
use talisman_node::linking::Streams;
use talisman_node::peer_incarnations::PeerIncarnations;
use talisman_transport::Peer;
use talisman_transport::handshake::Identity;

/// How far a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has not begun.
    Planned,
    /// It runs.
    Up,
    /// It has said all, and is about to exit.
    Leaving,
    /// It is no more.
    Gone,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Death {
    /// By itself, when its PEs had ended if it had any.
    Exited,
    /// In the midst of whatever it did.
    Killed,
}

/// A process. What the program and the runtime have in it goes with it.
pub(super) struct Process {
    pub(super) number: u32,
    pub(super) host: u32,
    pub(super) stage: Cell<Stage>,
    /// It is in the place of another, or was no node at the start.
    pub(super) is_late: bool,
    /// It looks for another launcher.
    pub(super) seeks: Cell<bool>,
    /// How far it is with that.
    pub(super) seeking: RefCell<Option<Seeking>>,
    /// The launcher lets it go while the others go on.
    pub(super) is_let_go: Cell<bool>,
    /// Its program has begun: before, nobody takes turns.
    pub(super) went: Cell<bool>,
    /// Until when it does nothing (SIGSTOP).
    pub(super) stopped_until: Cell<u64>,
    /// Until when strangers keep others from the door where it is looked for when there is no launcher.
    pub(super) crowded_until: Cell<u64>,
    /// How many times as long everything takes, and until when.
    pub(super) slow: Cell<(u32, u64)>,
    /// It dies in its next turn, of which so many millionths get out.
    pub(super) dies_amid: Cell<Option<u32>>,
    /// What it keeps on its disk.
    pub(super) diary: Rc<RefCell<Diary>>,
    /// Whether another process takes itself for this one.
    pub(super) impostor: Cell<bool>,
    pub(super) clock: LocalClock,
    pub(super) job: Arc<Job>,
    pub(super) node_session: RefCell<NodeSession>,
    pub(super) identity: RefCell<Option<Arc<Identity>>>,
    pub(super) connecting: RefCell<Option<Connecting>>,
    /// As its task says.
    pub(super) life: Cell<u64>,
    /// With which processes it is linked.
    pub(super) met: RefCell<PeerIncarnations>,
    /// Connections made before there are PEs to use them.
    pub(super) streams: RefCell<Streams>,
    /// Connections that its PEs miss.
    pub(super) missed: Arc<Mutex<Vec<Peer>>>,
    /// What its PEs say to the launcher.
    pub(super) said: Arc<Mutex<Vec<ToLauncher>>>,
    /// Where PEs wait until the launcher has seen a step.
    pub(super) steps: Arc<Steps>,
    pub(super) running: RefCell<Option<Rc<Running>>>,
    /// What it has beside those PEs.
    pub(super) lives: Lives,
    /// How its PEs take turns, by their rank.
    pub(super) turns: RefCell<Vec<Turns>>,
}

/// A node whose program runs.
pub(super) struct Running {
    pub(super) pes: Vec<talisman_node::turns::Turns>,
}

/// What the world knows of a PE.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turns {
    /// When it takes its next turn, if that is planned.
    pub(super) planned: Option<u64>,
    /// The latest time for which one has ever been planned.
    pub(super) last: u64,
    /// Until when it is busy with the last.
    pub(super) busy_until: u64,
}

impl Process {
    pub(super) fn new(
        (number, host): (u32, u32),
        job: Arc<Job>,
        node_session: NodeSession,
        diary: Rc<RefCell<Diary>>,
        lives: Lives,
    ) -> Self {
        Process {
            number,
            host,
            stage: Cell::new(Stage::Planned),
            is_late: false,
            seeks: Cell::new(false),
            seeking: RefCell::default(),
            is_let_go: Cell::new(false),
            went: Cell::new(false),
            stopped_until: Cell::new(0),
            crowded_until: Cell::new(0),
            slow: Cell::new((1, 0)),
            dies_amid: Cell::new(None),
            diary,
            impostor: Cell::new(false),
            clock: LocalClock::default(),
            job,
            node_session: RefCell::new(node_session),
            identity: RefCell::default(),
            connecting: RefCell::default(),
            life: Cell::default(),
            met: RefCell::default(),
            streams: RefCell::new(BTreeMap::new()),
            missed: Arc::default(),
            said: Arc::default(),
            steps: Arc::default(),
            running: RefCell::default(),
            lives,
            turns: RefCell::default(),
        }
    }

    pub(super) fn is_up(&self) -> bool {
        matches!(self.stage.get(), Stage::Up | Stage::Leaving)
    }

    pub(super) fn is_gone(&self) -> bool {
        self.stage.get() == Stage::Gone
    }

    /// The number that the system would give it.
    pub(super) fn pid(&self) -> u32 {
        1000 + self.number
    }

    /// Its PEs, if its program runs.
    pub(super) fn running(&self) -> Option<Rc<Running>> {
        self.running.borrow().clone()
    }

    /// Another one that is to be this node, on this host, with nothing in memory but this.
    pub(super) fn successor(&self, build: u64, host: u32, lives: Lives) -> Process {
        let (job, diary) = (Job::new(self.job.output.clone()), self.diary.clone());
        Process::late((self.number, host), job, NodeSession::new(build), diary, lives)
    }

    /// One that is no node of the job's beginning.
    pub(super) fn late(
        place: (u32, u32),
        job: Arc<Job>,
        node_session: NodeSession,
        diary: Rc<RefCell<Diary>>,
        lives: Lives,
    ) -> Self {
        Process { is_late: true, ..Process::new(place, job, node_session, diary, lives) }
    }

    /// How many times as long everything takes at this time.
    pub(super) fn slowness(&self, now: u64) -> u64 {
        let (times, until) = self.slow.get();
        if now < until { u64::from(times) } else { 1 }
    }

    /// Whether the PE of this rank is to have a turn now; it is planned no longer.
    pub(super) fn is_planned(&self, rank: u32, now: u64) -> bool {
        let turns = &mut self.turns.borrow_mut()[rank as usize];
        // Later than planned if its process was stopped.
        let is_planned = turns.planned.is_some_and(|planned| planned <= now);
        if is_planned {
            turns.planned = None;
        }
        is_planned
    }

    /// What the PE of this rank has done takes until then.
    pub(super) fn is_busy(&self, rank: u32, until: u64) {
        self.turns.borrow_mut()[rank as usize].busy_until = until;
    }

    /// What its PEs say goes to the launcher from now on.
    pub(super) fn join_the_others(&self) {
        let (said, steps) = (self.said.clone(), self.steps.clone());
        let voice = Voice { said, steps, job: Arc::downgrade(&self.job) };
        self.job.join(Box::new(voice));
    }
}

/// What the PEs say to the launcher.
struct Voice {
    said: Arc<Mutex<Vec<ToLauncher>>>,
    steps: Arc<Steps>,
    job: std::sync::Weak<Job>,
}

impl Voice {
    fn say_to_launcher(&self, message: ToLauncher) {
        self.said.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(message);
    }
}

impl Others for Voice {
    fn end(&self, end: &End) {
        let stop = Stop { status: end.status, message: end.message.clone() };
        self.say_to_launcher(ToLauncher::Ended(stop));
    }

    fn suspect(&self, node: u32, why: String) {
        self.say_to_launcher(ToLauncher::Suspect { node, why });
    }

    fn answer(&self, asked: u32, checkpoint: Result<Version, String>, not_written: Option<String>) {
        self.say_to_launcher(ToLauncher::Checkpointed { asked, checkpoint, not_written });
    }

    fn balanced(&self, asked: u32, step: Result<String, String>) {
        self.say_to_launcher(ToLauncher::Balanced { asked, step });
    }

    /// Nothing depends on this but what people are told, and with another letter for each checkpoint every seed would stand for another case.
    fn committed(&self, _: Version, _: Vec<(u32, Contents)>) {}

    fn say(&self, lines: Lines) {
        self.say_to_launcher(ToLauncher::Lines(lines));
    }

    /// A thread would stay here until the launcher has seen to what is to happen at this step, or for two seconds.
    fn step(&self, _: u64) {
        let Some(done) = self.job.upgrade().map(|job| job.progress()) else { return };
        if self.steps.watches(done.done) {
            self.say_to_launcher(ToLauncher::Step(done));
            try_current(|pe| self.steps.wait(pe.id, done.done));
        }
    }
}
