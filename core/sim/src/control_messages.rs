//! What launcher, agents and nodes say to each other in a simulated world, and how long it takes.

use super::fault::Asked;
use talisman_control::event::Event;
use talisman_control::protocol::{ToLauncher, ToNode};
use talisman_control::succession::quorum::Roll;

/// A message of the control plane on its way.
#[derive(Clone, Debug)]
pub(super) enum Letter {
    /// From the launcher to a node.
    ToNode(u32, ToNode),
    /// From the launcher to whoever kills a node: the system on its own host, an agent elsewhere.
    Kill(u32),
    /// From the launcher to whoever starts processes on this host: the node gets another one there.
    Start(u32, u32),
    /// The same of a process that waits: it is this node from now on.
    Use {
        /// Its number until then.
        spare: u32,
        /// The one that it has from then on.
        node: u32,
    },
    /// From the launcher to the agent of a host: it is there.
    Ping(u32),
    /// To the agent of a host: its connection with the launcher is closed.
    HangUp(u32),
    /// To the agent of a host: who is there, for the case that the launcher is lost.
    Roll(u32, Roll),
    /// To the agent of a host: the job goes on without it, if at all.
    Out(u32),
    /// To the agent of a host: the launcher is there, as it was asked by this number.
    Here(u32, u64),
    /// To the launcher, from the agent of a host: it listens for others.
    Listening(u32),
    /// To the launcher, from the agent of a host: it knows the roll of this number.
    Enrolled(u32, u64),
    /// To the launcher, from the agent of a host: whether it is there.
    AreYouThere(u32, u64),
    /// To the launcher, from this host: something happened to a node.
    Happened(u32, u32, Event),
    /// To the launcher, from somebody outside.
    Asked(Asked),
    /// To the launcher, from the agent of a host: it is there.
    Alive(u32),
    /// To the launcher, from the agent of a host: it ends, for this reason.
    Failed(u32, String),
}

impl Letter {
    /// Whether it is for the launcher.
    pub(super) fn is_for_launcher(&self) -> bool {
        matches!(self, Letter::Asked(_)) || self.sender().is_some()
    }

    /// The host whose agent sends it, if one does.
    pub(super) fn sender(&self) -> Option<u32> {
        match self {
            Letter::Happened(host, ..) | Letter::Alive(host) | Letter::Failed(host, _) => Some(*host),
            Letter::Listening(host) | Letter::Enrolled(host, _) | Letter::AreYouThere(host, _) => Some(*host),
            _ => None,
        }
    }

    /// Whether it says no more than that somebody is there.
    pub(super) fn is_sign_of_life(&self) -> bool {
        matches!(self, Letter::Alive(_) | Letter::Happened(_, _, Event::Said(ToLauncher::Alive)))
    }

    /// Whether it is void when there is another launcher.
    pub(super) fn is_of_launcher(&self) -> bool {
        self.is_for_launcher() || matches!(self, Letter::Start(..))
    }

    /// The node whose process it is about, and no later one of it: whatever starts a process may be told to when that has been replaced.
    pub(super) fn process(&self) -> Option<u32> {
        match self {
            Letter::ToNode(node, _) | Letter::Kill(node) | Letter::Start(node, _) => Some(*node),
            _ => None,
        }
    }

    /// In words.
    pub(super) fn words(&self) -> String {
        match self {
            Letter::ToNode(_, ToNode::Task(_)) => "is told its task".into(),
            Letter::ToNode(_, message) => format!("is told {message:?}"),
            Letter::Kill(node) => format!("node {node} is to be killed"),
            Letter::Happened(_, node, Event::Said(ToLauncher::Done(_))) => {
                format!("of node {node} that it has stopped")
            }
            Letter::Happened(_, node, event) => format!("of node {node}: {event:?}"),
            other => format!("{other:?}"),
        }
    }
}
