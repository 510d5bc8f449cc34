//! What goes between nodes beside frames, and between nodes and the leader. Between each two it is first in, first out.

use std::collections::{BTreeMap, VecDeque};

use talisman_ft::NodeId;
use talisman_ft::logging::{
    Batch, Cut, Cuts, Holdings, Incarnation, Lane, LogId, Order, Position, Restore, Session, Stable,
};

use crate::image::Image;
use crate::program::Message;

/// A frame on a lane, of two processes.
#[derive(Clone, Debug)]
pub struct Frame {
    pub number: u64,
    pub message: Message,
    pub ride: Vec<u8>,
    pub between: (Incarnation, Incarnation),
}

/// From the process of one incarnation to that of another.
#[derive(Clone, Debug)]
pub struct Mail {
    pub between: (Incarnation, Incarnation),
    pub word: Word,
}

#[derive(Clone, Debug)]
pub enum Word {
    Flush(Vec<Batch>),
    Stable(Vec<Stable>),
    /// How much of the receiver's logs is stable?
    AskStable,
    /// An image, with entries of others' logs that it depends on.
    Copy(Box<Image>, Vec<Batch>),
    Stored(Position),
    /// A link begins: so many frames have been taken from the receiver, by rank. Whether the same is to be said in
    /// return.
    From {
        taken: Vec<u64>,
        answer: bool,
    },
    Fetch(u64),
    Image(Box<Image>),
}

/// To the leader.
#[derive(Clone, Debug)]
pub enum Report {
    Arrived(Incarnation),
    Held(Session, Box<Holdings>),
    Announced(Session),
    AtHorizon(Session),
    Covered(NodeId, Session),
    Imaged(Position),
    Printed(LogId, u64, u64),
}

/// From the leader.
#[derive(Clone, Debug)]
pub enum Command {
    Ask(Session, Vec<NodeId>),
    Announce(Session, Vec<(Cut, Incarnation)>),
    Restore(Session, Vec<Incarnation>, Cuts, Box<Restore>),
    GoLive(Session),
    /// So many lines of a PE were printed.
    Printed(u32, u64),
    Forget(Vec<Position>),
}

/// All that is on its way.
#[derive(Clone, Debug, Default)]
pub struct Network {
    pub frames: BTreeMap<Lane, VecDeque<Frame>>,
    pub mail: BTreeMap<(NodeId, NodeId), VecDeque<Mail>>,
    pub reports: BTreeMap<NodeId, VecDeque<Report>>,
    pub commands: BTreeMap<NodeId, VecDeque<Command>>,
    /// Processes that are to be started.
    pub starts: VecDeque<(NodeId, Incarnation)>,
}

impl Network {
    /// What the leader wants is on its way.
    pub fn order(&mut self, order: Order) {
        let (to, command) = match order {
            Order::Start { node, incarnation } => return self.starts.push_back((node, incarnation)),
            Order::Ask { to, session, lost } => (to, Command::Ask(session, lost)),
            Order::Announce { to, session, restarted } => (to, Command::Announce(session, restarted)),
            Order::Restore { to, session, incarnations, cuts, restore } => {
                (to, Command::Restore(session, incarnations, cuts, Box::new(restore)))
            }
            Order::GoLive { to, session } => (to, Command::GoLive(session)),
            Order::Forget { .. } | Order::Degraded(_) | Order::GiveUp(_) => return,
        };
        self.commands.entry(to).or_default().push_back(command);
    }

    pub fn is_empty(&self) -> bool {
        self.frames.values().all(VecDeque::is_empty)
            && self.mail.values().all(VecDeque::is_empty)
            && self.reports.values().all(VecDeque::is_empty)
            && self.commands.values().all(VecDeque::is_empty)
            && self.starts.is_empty()
    }
}
