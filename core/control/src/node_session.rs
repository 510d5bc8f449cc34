//! What a node does about the launcher's words, and about its silence.
//!
//! Pure: what happened goes in, actions come out. In a real job the threads of `cluster::member` and
//! `cluster::control_thread` carry them out, in a simulated one the world. What the program and its connections make of
//! them is said to the launcher by those who know: `Ready`, `Linked`, `Ended`, `Done`, `Failed`.
//!
//! ```text
//! Hello ─► Join ─► (Ready) ─► Connect ─► (Linked) ─► Begin ─► Stop ─► (Done) [─► (Settled) ─► Leave]
//!                                      at any time after that: Halt ─► (Halted) ─► Resume ─► (Resumed)
//! ```

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use talisman_ft::double::Order;
use talisman_ft::view::View;
use talisman_ft::{Epoch, Version};

use crate::follower::Follower;
use crate::heartbeat::Heartbeat;
use crate::logging::fragments::WordPiece;
use crate::protocol::{Place, Stop, Task, ToLauncher, ToNode, VERSION};
use talisman_base::layout::mark::LayoutMark;
use talisman_job::progress::Steps;
use talisman_job::{Failure, Results};
use talisman_observe::sometimes::sometimes;
use talisman_store::files::remote::Piece;

#[cfg(test)]
mod tests;

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Say something to the launcher.
    Say(ToLauncher),
    /// This is what the node is: it opens its port, and says that it is ready. From now on it ticks.
    Join(Arc<Task>),
    /// This is where the nodes listen: it connects with them, and says that it is linked.
    Connect(Vec<Option<SocketAddr>>),
    /// All nodes are linked: the program begins.
    Begin,
    /// What was to happen at this step has happened.
    StepSeen(u64),
    /// The job is over: all PEs stop, and the node says what it leaves behind.
    Stop(Stop),
    /// The job is over before the program began: the process ends with status 0, and says nothing.
    Exit,
    /// This process cannot be a node of this launcher: it tells it so as `Failed`, and ends.
    Refuse(Unfit),
    /// Nodes are lost: all PEs stop after the entry that runs and are dropped, links stay, and the node says `Halted`. What
    /// was said of the job's end does not hold any more.
    Halt {
        /// The one that begins; larger than all before.
        epoch: Epoch,
        /// All that are lost since the job began.
        lost: Vec<u32>,
    },
    /// Which process each node is now: known before the next [`Action::Resume`].
    Places(Vec<Place>),
    /// All have halted: PEs are made anew on the old links, restore what the order says, and the node says `Resumed`. The
    /// order's epoch is that of the last `Halt`.
    Resume(Box<Order>),
    /// All connections are tried, for so long at most, and the node says `Tried` with this number.
    Try {
        /// The number of the question.
        inquiry: u32,
        /// As long as anybody may be silent.
        limit: Duration,
    },
    /// Somebody asks for a checkpoint, which is begun, and answered once it is committed.
    Checkpoint { on_disk: bool, leaving: Vec<u32> },
    /// The PEs are to take a step of load balancing.
    Balance,
    /// Somebody looks at the job: the node says its figures.
    Look,
    /// The launcher has printed a piece of the lines that this version ended: they need not be kept any more.
    LinesSeen {
        /// The version that ended their period.
        version: Version,
        /// Where they were printed.
        node: u32,
        /// Which piece of them.
        piece: u32,
    },
    /// The launcher says something about the logs of messages: a piece of that.
    Logging(WordPiece),
    /// Bytes that were asked for have come, or why they do not.
    Fetched { number: u64, piece: Result<Piece, String> },
    /// All nodes have said `Done`: the process ends with status 0.
    Leave,
    /// The node cannot go on: it tells the launcher why as `Failed`, and ends with the status of a loss.
    Fail(String),
    /// There is no launcher any more: the process dies at once, whatever its threads do.
    Die,
    /// There is no launcher any more, and the job goes on without: the node looks for who takes over.
    Seek,
    /// The launcher says nothing, and the job can do without it: it is killed, so that all know that it is gone.
    Fence,
    /// Another has taken the launcher's place: it is told what this node is, and what it has said before that still holds.
    Introduce,
}

/// Why a process cannot be a node of its launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The launcher speaks otherwise.
    #[error(
        "the launcher speaks version {theirs} of the control connection, this node {VERSION}; run one build"
    )]
    Version {
        /// The launcher's.
        theirs: u16,
    },
    /// The launcher is another program.
    #[error("the launcher is another build of this program; run the same file on all nodes")]
    Build,
    /// The launcher said something else first.
    #[error("the first message of the launcher is not the setup of this node")]
    NoTask,
    /// The launcher ended before it said anything of use.
    #[error("the launcher closed the control connection before it sent this node its setup")]
    NoLauncher,
}

/// What a node has heard of its launcher.
#[derive(Debug)]
pub struct NodeSession {
    /// What tells this executable from others.
    build: u64,
    /// What it is, once it has been told, and whether the launcher is still there.
    joined: Option<(Arc<Task>, Heartbeat)>,
    has_book: bool,
    has_begun: bool,
    /// The steps that the launcher was last shown.
    shown: Steps,
    /// Of the last `Halt`.
    epoch: Epoch,
    /// Whether that waits for its `Resume`.
    has_halted: bool,
    /// The last one that was obeyed.
    order: Option<Order>,
    /// The largest [`Task::life`] that was heard of.
    lives: u64,
    /// The results of the job, once nobody goes back any more.
    settled: Option<Results>,
    /// Losses that the job has had.
    losses: Vec<Failure>,
    /// Of this process.
    layout: Option<LayoutMark>,
}

impl NodeSession {
    /// Of a process of this build that has not said `Hello` yet.
    pub fn new(build: u64) -> Self {
        NodeSession {
            build,
            joined: None,
            has_book: false,
            has_begun: false,
            shown: Steps::default(),
            epoch: 0,
            has_halted: false,
            order: None,
            lives: 0,
            settled: None,
            losses: Vec::new(),
            layout: None,
        }
    }

    /// The same, of a program that needs everything to be at the same addresses in all processes, if it does.
    pub fn laid_out(self, layout: Option<LayoutMark>) -> Self {
        NodeSession { layout, ..self }
    }

    /// What a process with this number and layout says first.
    pub fn hello(pid: u32, layout: Option<LayoutMark>) -> ToLauncher {
        ToLauncher::Hello { version: VERSION, pid, layout }
    }

    /// The launcher said something. Two words of it may come to one action, or to none.
    pub fn on_message(&mut self, message: ToNode) -> Option<Action> {
        let Some((task, heartbeat)) = &mut self.joined else { return self.on_first(message) };
        heartbeat.heard();
        match message {
            ToNode::Book(book) => {
                (!std::mem::replace(&mut self.has_book, true)).then_some(Action::Connect(book))
            }
            ToNode::Go => (!std::mem::replace(&mut self.has_begun, true)).then_some(Action::Begin),
            ToNode::StepSeen(step) => Some(Action::StepSeen(step)),
            ToNode::Stop(stop) if self.has_begun => Some(Action::Stop(stop)),
            // There is nothing to end in order.
            ToNode::Stop(_) => {
                sometimes("a job was over before its program began");
                Some(Action::Exit)
            }
            ToNode::Halt { epoch, lost } => self.halt(epoch, lost),
            ToNode::Places(places) => {
                let lives = places.iter().map(|place| place.life);
                self.lives = lives.fold(self.lives, u64::max);
                self.has_halted.then_some(Action::Places(places))
            }
            ToNode::Resume(order) => self.resume(order),
            ToNode::Checkpoint { on_disk, leaving } => {
                (self.has_begun && !self.has_halted).then_some(Action::Checkpoint { on_disk, leaving })
            }
            ToNode::Look => self.has_begun.then_some(Action::Look),
            ToNode::Balance => (self.has_begun && !self.has_halted).then_some(Action::Balance),
            ToNode::Try { inquiry } => {
                let limit = task.silence;
                self.has_begun.then_some(Action::Try { inquiry, limit })
            }
            ToNode::LinesSeen { version, node, piece } => Some(Action::LinesSeen { version, node, piece }),
            ToNode::Settle(results) => {
                self.settled = Some(results);
                Some(Action::Say(ToLauncher::Settled))
            }
            ToNode::Fetched { number, piece } => Some(Action::Fetched { number, piece }),
            ToNode::Logging(piece) => self.has_begun.then_some(Action::Logging(piece)),
            ToNode::Leave => Some(Action::Leave),
            ToNode::Losses { from, losses } => {
                self.losses.truncate(from as usize);
                self.losses.extend(losses);
                None
            }
            ToNode::Introduce => self.has_begun.then_some(Action::Introduce),
            ToNode::Task(_) | ToNode::Ping => None,
        }
    }

    /// What was said cannot be read.
    pub fn on_garbled(&self, error: &dyn std::fmt::Display) -> Action {
        Action::Fail(format!("the launcher cannot be understood: {error}"))
    }

    /// The connection ended, whichever way: without the launcher nobody would end this process any more, unless another takes
    /// its place.
    pub fn on_end(&self) -> Action {
        sometimes("a node lost its launcher");
        match () {
            () if self.outlives() => Action::Seek,
            () if self.joined.is_some() => Action::Die,
            () => Action::Refuse(Unfit::NoLauncher),
        }
    }

    /// Another has taken the launcher's place, and has just said something.
    pub fn on_successor(&mut self) {
        self.joined.iter_mut().for_each(|(_, heartbeat)| heartbeat.heard());
    }

    /// What another launcher has to know of this node; nothing before it has joined. The process has this number.
    pub fn follower(&self, pid: u32) -> Option<Follower> {
        let (task, heartbeat) = self.joined.as_ref()?;
        let order = self.order.clone().unwrap_or_else(|| first_order(task));
        Some(Follower {
            version: VERSION,
            job: task.job,
            node: task.number,
            pid,
            life: task.life,
            lives: self.lives.max(task.life),
            address: None,
            epoch: self.epoch,
            view: order.view,
            committed: order.committed,
            next_version: order.next_version,
            failures: order.failures,
            steps: Steps::default(),
            running: Duration::ZERO,
            unheard: heartbeat.unheard(),
            seen: Vec::new(),
            settled: self.settled.clone(),
            losses: self.losses.clone(),
            layout: self.layout.clone(),
        })
    }

    /// A tick of the heartbeat went by ([`crate::heartbeat::TICK`]).
    pub fn on_tick(&mut self) -> Vec<Action> {
        let outlives = self.outlives();
        let Some((task, heartbeat)) = &mut self.joined else { return Vec::new() };
        let mut actions = vec![Action::Say(ToLauncher::Alive)];
        if heartbeat.tick() {
            sometimes("the launcher was silent for too long");
            if outlives {
                return vec![Action::Fence];
            }
            let silence = task.silence;
            actions.push(Action::Fail(format!(
                "heard nothing of the launcher for {silence:?} (was it stopped? see --silence)"
            )));
        }
        actions
    }

    /// The program is so far, as somebody who shows it has seen.
    pub fn on_look(&mut self, steps: Steps) -> Option<Action> {
        (std::mem::replace(&mut self.shown, steps) != steps).then_some(Action::Say(ToLauncher::Step(steps)))
    }

    /// Somebody asked this process to end (SIGTERM).
    pub fn on_terminated(&self) -> Action {
        Action::Say(ToLauncher::Terminated)
    }

    /// Every epoch begins once, and none after a later one.
    fn halt(&mut self, epoch: Epoch, lost: Vec<u32>) -> Option<Action> {
        if !self.has_begun || epoch <= self.epoch {
            return None;
        }
        if std::mem::replace(&mut self.has_halted, true) {
            sometimes("a node was told to halt that had not resumed yet");
        }
        self.epoch = epoch;
        Some(Action::Halt { epoch, lost })
    }

    /// An order that is out of date has been replaced, or will be.
    fn resume(&mut self, order: Box<Order>) -> Option<Action> {
        let is_due = self.has_halted && order.view.epoch == self.epoch;
        self.has_halted &= !is_due;
        is_due.then(|| {
            self.order = Some((*order).clone());
            Action::Resume(order)
        })
    }

    /// Whether the job goes on without its launcher: before the program has begun there is nothing to save.
    fn outlives(&self) -> bool {
        let has_heritage = self.joined.as_ref().is_some_and(|(task, _)| task.heritage.is_some());
        self.has_begun && has_heritage
    }

    fn on_first(&mut self, message: ToNode) -> Option<Action> {
        match message {
            ToNode::Task(task) => Some(match self.unfit(&task) {
                Some(unfit) => Action::Refuse(unfit),
                None => self.join(Arc::new(*task)),
            }),
            // What was printed of the process that this one replaces, or asked for by it, may have been said to that one.
            ToNode::Ping | ToNode::LinesSeen { .. } | ToNode::Fetched { .. } | ToNode::Logging(_) => None,
            ToNode::Stop(_) => Some(Action::Exit),
            _ => Some(Action::Refuse(Unfit::NoTask)),
        }
    }

    fn unfit(&self, task: &Task) -> Option<Unfit> {
        if task.version != VERSION {
            return Some(Unfit::Version { theirs: task.version });
        }
        (task.build != self.build).then_some(Unfit::Build)
    }

    fn join(&mut self, task: Arc<Task>) -> Action {
        self.joined = Some((task.clone(), Heartbeat::new(task.silence)));
        Action::Join(task)
    }
}

/// How the first life begins: with the program, or where a former job was.
pub fn first_order(task: &Task) -> Order {
    match &task.restart {
        None => Order::new(View::beginning_with(task.begins_with, task.nodes), None, 1),
        Some(restart) => Order {
            restore: vec![task.number],
            ..Order::new(restart.view.clone(), Some(restart.version), restart.next_version)
        },
    }
}
