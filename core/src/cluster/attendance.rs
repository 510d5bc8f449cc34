//! What a node does about the launcher's words, and about its silence.
//!
//! Pure: what happened goes in, actions come out. In a real job the threads of [`super::member`] and
//! [`super::control_thread`] carry them out, in a simulated one the world. What the program and its connections make of
//! them is said to the launcher by those who know: `Ready`, `Linked`, `Ended`, `Done`, `Failed`.
//!
//! ```text
//! Hello ─► Join ─► (Ready) ─► Connect ─► (Linked) ─► Begin ─► Stop ─► (Done) [─► Leave]
//!                                      at any time after that: Halt ─► (Halted) ─► Resume ─► (Resumed)
//! ```

use std::net::SocketAddr;
use std::sync::Arc;

use talisman_ft::double::Order;
use talisman_ft::{Epoch, Version};

use super::control::{Place, Stop, Task, ToLauncher, ToNode, VERSION};
use super::heartbeat::Heartbeat;
use crate::launch::progress::Steps;
use crate::sometimes::sometimes;

#[cfg(test)]
mod tests;

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
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
    /// Somebody asks for a checkpoint, which is begun, and answered once it is committed.
    Checkpoint,
    /// The launcher has the lines of this node that this version ended: they need not be kept any more.
    LinesSeen {
        /// The version that ended their period.
        version: Version,
        /// Where they were printed.
        node: u32,
    },
    /// All nodes have said `Done`: the process ends with status 0.
    Leave,
    /// The node cannot go on: it tells the launcher why as `Failed`, and ends with the status of a loss.
    Fail(String),
    /// There is no launcher any more: the process dies at once, whatever its threads do.
    Die,
}

/// Why a process cannot be a node of its launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
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
    #[error("the launcher did not say first what this node is to do")]
    NoTask,
    /// The launcher ended before it said anything of use.
    #[error("the launcher closed the control connection before it said what this node is to do")]
    NoLauncher,
}

/// What a node has heard of its launcher.
#[derive(Debug)]
pub(crate) struct Attendance {
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
}

impl Attendance {
    /// Of a process of this build that has not said `Hello` yet.
    pub(crate) fn new(build: u64) -> Self {
        Attendance {
            build,
            joined: None,
            has_book: false,
            has_begun: false,
            shown: Steps::default(),
            epoch: 0,
            has_halted: false,
        }
    }

    /// What a process with this number says first.
    pub(crate) fn hello(pid: u32) -> ToLauncher {
        ToLauncher::Hello { version: VERSION, pid }
    }

    /// The launcher said something. Two words of it may come to one action, or to none.
    pub(crate) fn on_message(&mut self, message: ToNode) -> Option<Action> {
        let Some((_, heartbeat)) = &mut self.joined else { return self.on_first(message) };
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
            ToNode::Places(places) => self.has_halted.then_some(Action::Places(places)),
            ToNode::Resume(order) => self.resume(order),
            ToNode::Checkpoint => (self.has_begun && !self.has_halted).then_some(Action::Checkpoint),
            ToNode::LinesSeen { version, node } => Some(Action::LinesSeen { version, node }),
            ToNode::Leave => Some(Action::Leave),
            ToNode::Task(_) | ToNode::Ping => None,
        }
    }

    /// What was said cannot be read.
    pub(crate) fn on_garbled(&self, error: &dyn std::fmt::Display) -> Action {
        Action::Fail(format!("the launcher cannot be understood: {error}"))
    }

    /// The connection ended, whichever way: without the launcher nobody would end this process any more.
    pub(crate) fn on_end(&self) -> Action {
        sometimes("a node lost its launcher");
        if self.joined.is_some() { Action::Die } else { Action::Refuse(Unfit::NoLauncher) }
    }

    /// A tick of the heartbeat went by ([`super::heartbeat::TICK`]).
    pub(crate) fn on_tick(&mut self) -> Vec<Action> {
        let Some((task, heartbeat)) = &mut self.joined else { return Vec::new() };
        let mut actions = vec![Action::Say(ToLauncher::Alive)];
        if heartbeat.tick() {
            sometimes("the launcher was silent for too long");
            let silence = task.silence;
            actions.push(Action::Fail(format!(
                "heard nothing of the launcher for {silence:?} (was it stopped? see --silence)"
            )));
        }
        actions
    }

    /// The program is so far, as somebody who shows it has seen.
    pub(crate) fn on_look(&mut self, steps: Steps) -> Option<Action> {
        (std::mem::replace(&mut self.shown, steps) != steps).then_some(Action::Say(ToLauncher::Step(steps)))
    }

    /// Somebody asked this process to end (SIGTERM).
    pub(crate) fn on_terminated(&self) -> Action {
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
        is_due.then_some(Action::Resume(order))
    }

    fn on_first(&mut self, message: ToNode) -> Option<Action> {
        match message {
            ToNode::Task(task) => Some(match self.unfit(&task) {
                Some(unfit) => Action::Refuse(unfit),
                None => self.join(Arc::new(*task)),
            }),
            ToNode::Ping => None,
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
