//! The launcher's end: a host's agent behind the same few calls that the nodes of this host are behind.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::asks::Asks;
use super::conversation::{Host, forward};
use super::message::{Begin, ToAgent};
use super::session::Heir;
use crate::local::Events;
use crate::printer::{Lines, Print};
use crate::succession::estate::Site;
use crate::succession::process_registry::ProcessRegistry;
use talisman_base::auth::{BYTES, Secret};
use talisman_base::frame::Decoder;
use talisman_control::agent_watch::Watch;
use talisman_control::hosts::Share;
use talisman_control::protocol::ToNode;
use talisman_store::files::remote::{Answer, Ask};
use talisman_transport::tcp::Talk;

/// The nodes of another host.
pub struct RemoteHost {
    orders: mpsc::UnboundedSender<ToAgent>,
    /// Until it is started.
    waiting: Option<(Way, mpsc::UnboundedReceiver<ToAgent>)>,
    serving: Option<JoinHandle<()>>,
    /// Whether what is said there may be read by others: the secret is left out, which the agent knows.
    is_overheard: bool,
    /// Who is there, in a job that can do without its launcher, and the number of this host there.
    rolls: Option<(ProcessRegistry, u32)>,
    asks: Asks,
}

/// How its agent is come by.
enum Way {
    Login(Box<Start>),
    Found(Box<Attached>),
}

/// What to start there, and by what it is found out whether it is the same program.
pub struct Start {
    pub share: Share,
    /// The nodes that it has at the start, beside processes that wait.
    pub nodes: Range<u32>,
    /// The program's path, there as here.
    pub program: PathBuf,
    /// What tells this executable from others.
    pub build: u64,
    pub begin: Begin,
    /// What only an agent on this host has: it is started without ssh, and outlives this process.
    pub heir: Option<Heir>,
}

/// An agent that another launcher has started, and that has come by itself.
pub struct Attached {
    pub site: Site,
    /// Nodes whose processes are there.
    pub nodes: Vec<u32>,
    pub silence: Duration,
    pub talk: Talk,
    /// What has come of it.
    pub decoder: Decoder,
}

impl RemoteHost {
    /// Nobody runs yet.
    pub fn new(start: Start, rolls: Option<(ProcessRegistry, u32)>) -> Self {
        RemoteHost::by(Way::Login(Box::new(start)), rolls)
    }

    /// Its nodes run.
    pub fn attached(attached: Attached, rolls: (ProcessRegistry, u32)) -> Self {
        let host = RemoteHost::by(Way::Found(Box::new(attached)), Some(rolls));
        RemoteHost { is_overheard: true, ..host }
    }

    fn by(way: Way, rolls: Option<(ProcessRegistry, u32)>) -> Self {
        let (orders, queue) = mpsc::unbounded_channel();
        rolls.iter().for_each(|(rolls, rank)| rolls.add(*rank, orders.clone()));
        let (waiting, asks) = (Some((way, queue)), Asks::default());
        RemoteHost { orders, waiting, serving: None, is_overheard: false, rolls, asks }
    }

    /// Logs in and starts the nodes. Everything that comes of it, failures too, will be an event.
    pub fn start(&mut self, events: &Events, lines: &Lines) {
        if let Some((way, queue)) = self.waiting.take() {
            let (rolls, asks) = (self.rolls.clone(), self.asks.clone());
            let serving = serve(way, queue, events.clone(), lines.clone(), rolls, asks);
            self.serving = Some(tokio::spawn(serving));
        }
    }

    /// Says something to a node of this host, in the order of the calls and without waiting.
    pub fn send(&self, node: u32, mut message: ToNode) {
        if let ToNode::Task(task) = &mut message
            && self.is_overheard
        {
            task.secret = Secret::from_bytes([0; BYTES]);
        }
        let _ = self.orders.send(ToAgent::Say(node, message));
    }

    /// Starts another process for a node, which has none any more. What comes of it will be events.
    pub fn start_again(&self, node: u32) {
        let _ = self.orders.send(ToAgent::Start(node));
    }

    /// A process that waits is this node from now on.
    pub fn use_spare(&self, spare: u32, node: u32) {
        let _ = self.orders.send(ToAgent::Use { spare, node });
    }

    /// Asks its agent about files. Nothing comes if it is lost.
    pub fn ask(&self, ask: Ask) -> oneshot::Receiver<Answer> {
        self.asks.ask(ask, |message| self.orders.send(message).is_ok())
    }

    /// Whether the conversation with its agent is over.
    pub fn is_lost(&self) -> bool {
        self.orders.is_closed()
    }

    /// Kills a node of this host; its end will be an event, or the loss of its host.
    pub fn kill(&self, node: u32) {
        let _ = self.orders.send(ToAgent::Kill(node));
    }

    /// All nodes of the job have ended: the agent may, too.
    pub fn begin_to_finish(&self) {
        let _ = self.orders.send(ToAgent::Finish);
    }

    /// Waits until all that the nodes wrote has been handed on, and the agent has ended.
    pub async fn finish(self) {
        self.begin_to_finish();
        if let Some(serving) = self.serving {
            let _ = serving.await;
        }
    }
}

/// From the first word to the end; if that is no good one, all nodes that are left are lost.
async fn serve(
    way: Way,
    orders: mpsc::UnboundedReceiver<ToAgent>,
    events: Events,
    lines: Lines,
    rolls: Option<(ProcessRegistry, u32)>,
    asks: Asks,
) {
    let (written, queue) = mpsc::unbounded_channel();
    let (said, sayings) = mpsc::unbounded_channel();
    let forwarding = tokio::spawn(forward(queue, lines.clone(), said.clone()));
    let mut host = Host {
        watch: way.watch(),
        began: Instant::now(),
        input: None,
        used: BTreeMap::new(),
        rolls: rolls.clone(),
        asks: asks.clone(),
        is_given_up: false,
        events,
        written,
        said,
    };
    let ended = match way {
        Way::Login(start) => host.converse(&start, orders, sayings).await,
        Way::Found(attached) => host.go_on(*attached, orders, sayings).await,
    };
    asks.give_up();
    if let Some((rolls, rank)) = rolls.filter(|_| ended.is_err()) {
        // Before anybody goes on without it, it has to be certain that nobody else does.
        rolls.on_lost(rank).await;
    }
    let lost = ended.err().and_then(|why| host.lose(&why));
    drop(host);
    let _ = forwarding.await;
    if let Some(message) = lost {
        let _ = lines.send(Print::Warn(message)).await;
    }
}

impl Way {
    /// What is known of the host at first.
    fn watch(&self) -> Watch {
        match self {
            Way::Login(start) => {
                let Start { share, nodes, begin, .. } = &**start;
                Watch::with(
                    &share.host.to_string(),
                    nodes.clone(),
                    begin.nodes.iter().copied(),
                    begin.silence,
                )
            }
            Way::Found(attached) => {
                let Attached { site, nodes, silence, .. } = &**attached;
                Watch::with(&site.name, site.nodes.clone(), nodes.iter().copied(), *silence)
            }
        }
    }
}
