//! What the launcher and its nodes say to each other.
//!
//! The conversation of one node: `Hello` → `Task` → `Ready` → `Book` → `Linked` → `Go`, then the program runs, then
//! `Stop` → `Done`. With `--ft`, a loss interrupts that: `Halt` → `Halted` → `Resume` → `Resumed`, and the end is
//! `Done` → `Settle` → `Settled` → `Leave`. A process that replaces a lost one joins after `Linked` → `Go` with `Halt`. `docs/src/reference/wire-control.md` has it byte by byte.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use talisman_ft::double::{Contents, Held, Order};
use talisman_ft::logging::Membership;
use talisman_ft::{Epoch, Version};

use crate::follower::Follower;
use crate::heritage::Heritage;
use crate::logging::fragments::WordPiece;
use talisman_base::auth::Secret;
use talisman_base::ids::PeId;
use talisman_base::layout::mark::LayoutMark;
use talisman_base::topology::Peer;
use talisman_base::transport::Transport;
use talisman_job::lines::Lines;
use talisman_job::loads::PeLoads;
use talisman_job::progress::Steps;
use talisman_job::snapshot::figures::NodeFigures;
use talisman_job::undelivered::Leftovers;
use talisman_job::{BalancingStep, CheckpointTaken, Failure, LogKept, Results};
use talisman_observe::stats::Totals;
use talisman_store::files::catalog;
use talisman_store::files::remote::Piece;
use talisman_store::restart::{CheckpointDirs, Restart};

/// The version of this conversation. It changes with every message that is read otherwise than before.
pub const VERSION: u16 = 23;

/// From the launcher to a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToNode {
    /// What this node is; the answer to `Hello`.
    Task(Box<Task>),
    /// Where each node listens, once all are ready.
    Book(Vec<Option<SocketAddr>>),
    /// All nodes are linked: the program begins.
    Go,
    /// The job is over.
    Stop(Stop),
    /// What was to happen at this step has happened: whoever waits for it may go on.
    StepSeen(u64),
    /// The launcher is there.
    Ping,
    /// Nodes are lost, or added (`--ft`): all PEs stop after the entry that runs, and are dropped; the answer is `Halted`. It may
    /// come at any time after `Go`, also after `Stop` and `Done`, which are void then.
    Halt {
        /// The one that begins now; each is larger than those before.
        epoch: Epoch,
        /// All that are lost since the job began.
        lost: Vec<u32>,
    },
    /// Before `Resume`, if processes have been replaced: which process each node is now, of those that are there.
    Places(Vec<Place>),
    /// All have halted: how this node goes on, in the epoch of its last `Halt`; the answer is `Resumed`.
    Resume(Box<Order>),
    /// Somebody asks for a checkpoint: it is begun; the answer is `Checkpointed`, from whichever node. It is void with the next `Halt`.
    Checkpoint {
        /// It is to be on disk when it is answered, if the job keeps what is asked for there.
        on_disk: bool,
        /// The others are to go on from it without these nodes: of everything there are to be two copies beside them.
        leaving: Vec<u32>,
    },
    /// Somebody asks for a step of load balancing: it is begun; the answer is `Balanced`, from whichever node. It is void with the next
    /// `Halt`.
    Balance,
    /// The launcher has printed these lines: the node need not keep them any more.
    LinesSeen {
        /// The version that ended their period.
        version: Version,
        /// Where they were printed.
        node: u32,
        /// Which piece of them.
        piece: u32,
    },
    /// All have said `Done` (`--ft`), and all that the program has said is printed: nobody goes back any more, whoever leads. With all
    /// results; the answer is `Settled`.
    Settle(Results),
    /// All have said `Settled`, or the job has failed (`--ft`): the process ends.
    Leave,
    /// Some node cannot reach another: this one tries all its connections; the answer is `Tried`.
    Try {
        /// The number of the question, as there may be several.
        inquiry: u32,
    },
    /// Another has taken the launcher's place, which the node need not look for, as its host's agent has: the answer is `Follow`.
    Introduce,
    /// The answer to `Fetch` of this number, or why there is none.
    Fetched { number: u64, piece: Result<Piece, String> },
    /// Losses that the job has had, as its report will have them (`--ft`): whoever leads next is to know of them, too.
    Losses {
        /// The place of the first of these among all; what the node was told of those from there on does not hold any more.
        from: u32,
        /// Those that the others have not gone on without yet come last.
        losses: Vec<Failure>,
    },
    /// Of a job that logs its messages (`--ft logging`): a piece of a [`crate::logging::messages::ToMember`].
    Logging(WordPiece),
    /// Somebody looks at the job: the answer is `Figures`.
    Look,
}

/// From a node to the launcher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToLauncher {
    /// The process is there.
    Hello {
        /// [`VERSION`] of the node's program.
        version: u16,
        /// Its process id on its host.
        pid: u32,
        /// Where everything is in it, if the program needs that to be the same in all processes.
        layout: Option<LayoutMark>,
    },
    /// It has read its task, and listens where others may reach it, if they need to.
    Ready(Option<SocketAddr>),
    /// It is linked with all other nodes.
    Linked,
    /// How far its program says it is.
    Step(Steps),
    /// Its program has ended the job.
    Ended(Stop),
    /// Something people should know, such as a refused connection.
    Note(String),
    /// It has stopped: what it leaves behind.
    Done(Box<NodeReport>),
    /// It knows that nobody goes back any more.
    Settled,
    /// It is there.
    Alive,
    /// It cannot start, or cannot go on.
    Failed(String),
    /// Somebody asked this process to end (SIGTERM), which ends the job in order.
    Terminated,
    /// Its PEs have stopped for this epoch and are dropped.
    Halted {
        epoch: Epoch,
        /// What this node holds of checkpoints.
        held: Vec<Held>,
        /// Steps that the program had reported there.
        steps: u64,
    },
    /// Its PEs are back at what the order of this epoch said, and go on.
    Resumed {
        epoch: Epoch,
        /// Steps that the program had reported where it was gone back to, on the nodes whose parts are restored here.
        steps: u64,
    },
    /// So many requests for a checkpoint are answered: by this version, which is committed, or why there is none.
    Checkpointed {
        asked: u32,
        checkpoint: Result<Version, String>,
        /// Why it is not on disk, where it was to be.
        not_written: Option<String>,
    },
    /// So many requests for a step of load balancing are answered: by what it did, or why there was none.
    Balanced { asked: u32, step: Result<String, String> },
    /// A version is committed (`--ft`), with so much in the part of each node: should nobody be left who knows, the launcher can say what is lost.
    Committed { version: Version, contents: Vec<(u32, Contents)> },
    /// It cannot reach another node. The launcher sees to it that one of the two is lost, or ends a job without `--ft`.
    Suspect {
        node: u32,
        /// A sentence for people.
        why: String,
    },
    /// The answer to `Try` of this number: the nodes with which it has no connection, after it has tried for as long as anybody may be silent.
    Tried { inquiry: u32, missed: Vec<u32> },
    /// Lines of `cx.output()`, of a period that will not be done again.
    Lines(Lines),
    /// Of a job that logs its messages (`--ft logging`): a piece of a [`crate::logging::messages::FromMember`].
    Logging(WordPiece),
    /// It needs some bytes of a file of what the job goes on from, which is on another host; the answer is `Fetched`.
    Fetch(Fetch),
    /// Its launcher is gone: what a new one has to know of it. The first message of a connection with a node that has taken over, or the
    /// answer to `Introduce`.
    Follow(Box<Follower>),
    /// What it is at, for whoever looks at the job.
    Figures(Box<NodeFigures>),
}

/// Bytes of the file of a part that are to come from another host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetch {
    /// That of no other, also of former processes of the node.
    pub number: u64,
    /// Whose part.
    pub pe: PeId,
    /// In which folder.
    pub place: catalog::Place,
    /// The first byte.
    pub from: u64,
}

/// A node's process, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub node: u32,
    /// As [`Task::life`].
    pub life: u64,
    /// Where it listens.
    pub address: Option<SocketAddr>,
    /// Its host, by its number among those of the job.
    pub host: u32,
}

/// What a node is told about itself and the job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// [`VERSION`] of the launcher's program.
    pub version: u16,
    /// This node.
    pub number: u32,
    /// How many have a number.
    pub nodes: u32,
    /// How many there are at the start: those with the lowest numbers.
    pub begins_with: u32,
    /// PEs of each node.
    pub pes: u32,
    /// What tells this job from others.
    pub job: u64,
    /// What proves to other nodes that one is of this job.
    pub secret: Secret,
    /// Whether connections between nodes are encrypted. The key comes from the secret.
    pub tls: bool,
    /// What tells this executable from others.
    pub build: u64,
    /// How this node and each other are linked, by the other's number; its own entry has no meaning.
    pub via: Vec<Transport>,
    /// The interface to listen at, if any link needs it.
    pub listen: IpAddr,
    pub host: Host,
    /// The steps that [`ToNode::StepSeen`] is to be awaited after, in increasing order.
    pub watched: Vec<u64>,
    /// Whether somebody looks at steps as they go by.
    pub progress: bool,
    /// Without a word for so long, the other side counts as lost.
    pub silence: Duration,
    /// This node's host, by its number among those of the job.
    pub host_number: u32,
    /// Where checkpoints are kept, if that is on disk.
    pub checkpoint_dirs: Option<CheckpointDirs>,
    /// What the job goes on from, if it does not begin.
    pub restart: Option<Restart>,
    /// Which of the processes this is that have been started in place of lost ones, counted from 1; 0 from the job's start.
    pub life: u64,
    /// For how long the program has been running.
    pub running: Duration,
    /// Whether it listens even if no link needs that yet: other processes may come.
    pub admits: bool,
    /// What it needs to do without the launcher; none if it ends with it.
    pub heritage: Option<Heritage>,
    /// By node: who keeps what it was given, in a job that logs.
    pub keepers: Vec<u32>,
    /// Who is there in such a job, if others are than at its beginning.
    pub membership: Option<Membership>,
}

impl Task {
    /// Whether any other node is linked with this one by such a transport.
    pub fn has(&self, is_such: impl Fn(Transport) -> bool) -> bool {
        let others = self.via.iter().enumerate().filter(|(node, _)| *node != self.number as usize);
        others.into_iter().any(|(_, other)| is_such(*other))
    }
}

/// What the nodes of one host share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// The nodes of this host, in increasing order.
    pub nodes: Vec<u32>,
    /// The number of the descriptor of their shared memory, if they have one.
    pub memory: Option<RawFd>,
    /// The numbers of the eventfds that wake PEs: those of the host's first node first.
    pub bells: Vec<RawFd>,
}

/// How a job ended, or is to end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Exit status: 0 for success.
    pub status: i32,
    /// What went wrong.
    pub message: Option<String>,
}

/// What a node leaves behind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeReport {
    /// What each of its PEs counted.
    pub totals: Vec<Totals>,
    /// Results the program reported on this node.
    pub results: Results,
    pub steps: Steps,
    /// From `Go` to the end.
    pub wall: Duration,
    /// What steps of load balancing did that began on this node.
    pub balancing: Vec<BalancingStep>,
    /// Checkpoints that were committed, as this node's first PE knows.
    pub checkpoints: Vec<CheckpointTaken>,
    /// What it has kept for others, in a job that logs.
    pub kept: Option<LogKept>,
    /// What its PEs know of messages that nobody got.
    pub leftovers: Leftovers,
    /// What the objects of its PEs had to do, if that is known.
    pub loads: Vec<PeLoads>,
}

/// The PE of a lane, in the process that its node is in this life.
pub type PeerInLife = (Peer, u64);

impl Place {
    /// Its PEs, of which it has so many.
    pub fn lanes(self, pes: u32) -> impl Iterator<Item = PeerInLife> {
        (0..pes).map(move |lane| (Peer { node: self.node, lane }, self.life))
    }

    /// Of two processes, the one that came later dials the other.
    pub fn is_dialled_by(self, node: u32, life: u64) -> bool {
        (life, node) > (self.life, self.node)
    }
}

#[cfg(test)]
mod tests {
    use talisman_ft::logging::LogId;
    use talisman_ft::view::View;

    use super::*;
    use crate::logging::fragments::pieces_of;
    use crate::logging::messages::{FromMember, ToMember};
    use talisman_base::frame::{Decoder, encode};

    fn there_and_back(message: &ToLauncher) -> ToLauncher {
        let mut decoder = Decoder::default();
        decoder.push(&encode(message).unwrap());
        decoder.next().unwrap().expect("a whole message")
    }

    #[test]
    fn reports_keep_the_bits_of_results() {
        let mut report = NodeReport { wall: Duration::from_nanos(12_345_678_901), ..NodeReport::default() };
        report.results.set("sum", 0.1 + 0.2);
        report.results.set("least", f64::MIN_POSITIVE / 4.0);
        report.results.set("atoms", 23_558_u64);
        report.totals = vec![Totals { local: u64::MAX, ..Totals::default() }; 2];
        report.steps = Steps { done: 4, total: Some(9) };
        let message = ToLauncher::Done(report.into());
        assert_eq!(there_and_back(&message), message);
    }

    /// The examples of `docs/src/reference/wire-control.md`, by name.
    fn documented(name: &str) -> Vec<u8> {
        let text = include_str!("../wire-control.md");
        let line = text.lines().find(|line| line.starts_with(&format!("{name}  "))).expect("an example");
        let bytes = line.split_whitespace().skip(1);
        bytes.map(|byte| u8::from_str_radix(byte, 16).expect("two hexadecimal digits")).collect()
    }

    /// Of node 1 of three, which has its own part of version 7 and that of node 0, and knows what was in that of node 2.
    fn held() -> Held {
        let missed = vec![(2, contents())];
        Held { version: 7, view: View::whole(3), held: vec![0, 1], committed: true, missed }
    }

    fn contents() -> Contents {
        Contents { of: [("array A".to_owned(), 5)].into(), others: 1 }
    }

    /// To the same, after the loss of node 2.
    fn order() -> Order {
        let view = View::whole(3).after(1, 3, |node| node != 2, |_| 0);
        Order { restore: vec![1], failures: 1, ..Order::new(view, Some(7), 8) }
    }

    fn results() -> Results {
        let mut results = Results::default();
        results.set("atoms", 3_u64);
        results
    }

    fn losses() -> ToNode {
        let what = "node 2 is gone".into();
        let failure =
            Failure { node: Some(2), what, detected: "exit".into(), at_s: 1.5, ..Failure::default() };
        ToNode::Losses { from: 0, losses: vec![failure] }
    }

    fn printed() -> WordPiece {
        pieces_of(&ToMember::Printed { line: 7, log: LogId { node: 2, rank: 0 }, before: 3 })
            .unwrap()
            .remove(0)
    }

    fn announced() -> WordPiece {
        pieces_of(&FromMember::Announced(2)).unwrap().remove(0)
    }

    fn lines() -> Lines {
        Lines { version: Some(7), node: 2, lines: vec!["hi".into()], ..Lines::default() }
    }

    #[test]
    fn the_documented_bytes_are_those_that_are_sent() {
        let address = "127.0.0.1:8080".parse().unwrap();
        let place = Place { node: 2, life: 1, address: Some(address), host: 3 };
        let checkpointed = ToLauncher::Checkpointed { asked: 1, checkpoint: Ok(9), not_written: None };
        for (name, bytes) in [
            ("Go", encode(&ToNode::Go)),
            ("Linked", encode(&ToLauncher::Linked)),
            ("Hello", encode(&ToLauncher::Hello { version: 23, pid: 4711, layout: None })),
            ("Ready", encode(&ToLauncher::Ready(Some(address)))),
            ("Step", encode(&ToLauncher::Step(Steps { done: 40, total: Some(100) }))),
            ("StepSeen", encode(&ToNode::StepSeen(40))),
            ("Stop", encode(&ToNode::Stop(Stop::default()))),
            ("Halt", encode(&ToNode::Halt { epoch: 1, lost: vec![2] })),
            ("Halted", encode(&ToLauncher::Halted { epoch: 1, held: vec![held()], steps: 40 })),
            ("Places", encode(&ToNode::Places(vec![place]))),
            ("Resume", encode(&ToNode::Resume(Box::new(order())))),
            ("Resumed", encode(&ToLauncher::Resumed { epoch: 1, steps: 36 })),
            ("Suspect", encode(&ToLauncher::Suspect { node: 2, why: "no answer".into() })),
            ("Try", encode(&ToNode::Try { inquiry: 1 })),
            ("Tried", encode(&ToLauncher::Tried { inquiry: 1, missed: vec![2] })),
            ("Lines", encode(&ToLauncher::Lines(lines()))),
            ("LinesSeen", encode(&ToNode::LinesSeen { version: 7, node: 2, piece: 0 })),
            ("Checkpoint", encode(&ToNode::Checkpoint { on_disk: true, leaving: vec![2] })),
            ("Checkpointed", encode(&checkpointed)),
            ("Balance", encode(&ToNode::Balance)),
            ("Balanced", encode(&ToLauncher::Balanced { asked: 1, step: Ok("done".into()) })),
            ("Committed", encode(&ToLauncher::Committed { version: 7, contents: vec![(2, contents())] })),
            ("Settle", encode(&ToNode::Settle(results()))),
            ("Settled", encode(&ToLauncher::Settled)),
            ("Leave", encode(&ToNode::Leave)),
            ("Introduce", encode(&ToNode::Introduce)),
            ("Losses", encode(&losses())),
            ("Printed", encode(&ToNode::Logging(printed()))),
            ("Announced", encode(&ToLauncher::Logging(announced()))),
        ] {
            assert_eq!(documented(name), bytes.unwrap(), "{name}");
        }
        assert_eq!(VERSION, 23, "a new version needs new examples");
    }
}
