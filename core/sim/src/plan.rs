//! What a simulated world is like: everything that a seed decides, as plain data.

use std::time::Duration;

use super::fault::Fault;
use talisman_base::history::Few;
use talisman_base::topology::Shape;
use talisman_job::RunArgs;
use talisman_job::checkpoints::FaultTolerance;
use talisman_job::faults::{Chaos, Kill};
use talisman_store::disk::DiskRates;

/// A world. Equal plans and programs give equal runs, event by event.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Of every choice that is not stated here: delays, orders, which byte is damaged. Each part of the world draws from a
    /// generator of its own, so that leaving out a fault changes nothing else than what follows from it.
    pub seed: u64,
    /// The nodes of each host, in increasing order of their numbers. One that has none at the start may get some.
    pub hosts: Vec<u32>,
    /// How many processes each host takes; without a word, as many as it has at the start. Nobody is turned away: it decides where a process
    /// is started whose node had none, or had it on a host that is lost.
    pub slots: Vec<u32>,
    /// The hosts of processes that wait to take a lost node's place (`--spares`). They are numbered behind all nodes that there may be.
    pub spares: Vec<u32>,
    /// How many nodes there may ever be (`--max-nodes`), if there are fewer at the start.
    pub max_nodes: u32,
    /// Whether a process finds what the one before it has left on another host's disk, as hosts may share a folder (`--ckpt-dir`).
    pub shares_folder: bool,
    /// PEs of each node.
    pub pes_per_node: u32,
    /// The network.
    pub network: Network,
    /// The disks, of which each node has one.
    pub disk: DiskRates,
    /// How PEs take turns.
    pub schedule: Schedule,
    /// What bounds queues.
    pub limits: Limits,
    /// What goes wrong, in no order.
    pub faults: Vec<Fault>,
    /// Nodes that the launcher is asked to kill (`--kill`).
    pub kills: Vec<Kill>,
    /// The same at random (`--chaos`).
    pub chaos: Option<Chaos>,
    /// How objects are balanced (`--balancer`, `--lb-every` and what belongs to them), and how the job survives losses (`--ft`,
    /// `--ckpt-every`, and with `--ft double` `--respawn`). No other option is looked at.
    pub options: Box<RunArgs>,
    /// Whether the job goes on without its launcher, if it survives losses: nodes take its place if it has one host, and a process that agents
    /// start if it has several. Lines of its output may then come twice.
    pub heirs: bool,
    /// Whether PEs that have halted go on reading their links until their node is told how to go on. Nobody can begin an epoch before all have
    /// halted for it, so that nothing else brings one a message of a later epoch than its own.
    pub lingers: bool,
    /// How a job that does not end well is started again from what it has left on its disks (`--restart`): on other hosts and PEs,
    /// perhaps. Nothing is, if it has left no checkpoint that is whole.
    pub again: Option<Box<Plan>>,
    /// From then on nothing goes wrong by itself any more: rates are zero, cuts are mended, what was slow is not. What was
    /// planned for later does not happen.
    pub healed_ns: u64,
    /// Without a word for so long, launcher and nodes count each other as lost (`--silence`).
    pub silence: Duration,
    /// Simulated time after which the job counts as hanging.
    pub patience_ns: u64,
    /// Events after which the job counts as running for ever.
    pub events_max: u64,
}

/// The network between nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Between nodes of one host.
    pub near: Line,
    /// Between hosts. All nodes of a host share its line in each direction.
    pub far: Line,
    /// What happens to what is under way, until the network is healed.
    pub rates: Rates,
}

/// What carries bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The time of an empty message, in nanoseconds: between these.
    pub latency_ns: (u64, u64),
    /// Of a million chunks so many take ten times as long.
    pub late_ppm: u32,
    /// Bytes per microsecond (megabytes per second). All who share the line share this.
    pub bytes_per_us: f64,
}

/// Of a million chunks of bytes, so many …
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// … are lost, and sent again after a while by the system below the connection.
    pub lost_ppm: u32,
    /// … come twice below the connection, which costs time only.
    pub doubled_ppm: u32,
    /// … are altered in one bit, unseen by the system.
    pub altered_ppm: u32,
    /// … come only in part, and then the connection is reset.
    pub truncated_ppm: u32,
    /// … are the last of their connection, which is reset at both ends.
    pub reset_ppm: u32,
}

/// How PEs take turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// What a turn of a PE takes, in nanoseconds: between these.
    pub turn_ns: (u64, u64),
    /// Of a million turns so many are followed by a pause, as of a thread that is interrupted …
    pub pause_ppm: u32,
    /// … for between so many nanoseconds.
    pub pause_ns: (u64, u64),
    /// Messages that a PE runs in a turn.
    pub batch: u32,
}

/// What bounds queues. Small ones find more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that the system takes for a connection before there is no more room.
    pub socket_bytes: usize,
    /// Bytes that may wait for a link before its sender does.
    pub unsent_bytes: usize,
    /// Entries of what has been of which a table makes nothing.
    pub few: u32,
}

impl Default for Limits {
    /// As on real nodes.
    fn default() -> Self {
        Limits { socket_bytes: 2 << 20, unsent_bytes: 64 << 20, few: Few::default().0 }
    }
}

impl Plan {
    /// A world in which nothing goes wrong: nodes on one host each.
    pub fn calm(seed: u64, nodes: u32, pes_per_node: u32) -> Plan {
        const MICROSECOND: u64 = 1_000;
        Plan {
            seed,
            hosts: vec![1; nodes as usize],
            slots: Vec::new(),
            spares: Vec::new(),
            max_nodes: 0,
            shares_folder: false,
            pes_per_node,
            network: Network {
                near: Line { latency_ns: (MICROSECOND, 5 * MICROSECOND), late_ppm: 0, bytes_per_us: 4_000.0 },
                far: Line {
                    latency_ns: (5 * MICROSECOND, 50 * MICROSECOND),
                    late_ppm: 0,
                    bytes_per_us: 1_200.0,
                },
                rates: Rates::default(),
            },
            disk: DiskRates::default(),
            schedule: Schedule { turn_ns: (200, 2_000), pause_ppm: 0, pause_ns: (5_000, 500_000), batch: 4 },
            limits: Limits::default(),
            faults: Vec::new(),
            kills: Vec::new(),
            chaos: None,
            options: Box::default(),
            heirs: false,
            lingers: false,
            again: None,
            healed_ns: 0,
            silence: Duration::from_secs(10),
            patience_ns: 3_600_000_000_000,
            events_max: 50_000_000,
        }
    }

    /// All nodes that there are at the start.
    pub fn nodes(&self) -> u32 {
        self.hosts.iter().sum()
    }

    /// All that have a number.
    pub fn numbered(&self) -> u32 {
        self.nodes().max(self.max_nodes)
    }

    /// By the processes that it has.
    pub(super) fn shape(&self) -> Shape {
        Shape { nodes: self.nodes(), pes_per_node: self.pes_per_node }
    }

    /// Whether the job goes on when it loses a node.
    pub fn survives(&self) -> bool {
        self.options.ft != FaultTolerance::Off
    }

    /// Whether its nodes look for another launcher when theirs is lost.
    pub fn has_heirs(&self) -> bool {
        self.heirs && self.survives() && self.hosts.len() == 1
    }

    /// Whether its hosts look for another launcher when theirs is lost.
    pub fn passes_on(&self) -> bool {
        self.heirs && self.survives() && self.hosts.len() > 1
    }

    /// The host on which a node is at the start, or a process that waits; the first one for a node that is not there then.
    pub fn host_of(&self, number: u32) -> u32 {
        let mut first = 0;
        let host = self.hosts.iter().position(|nodes| {
            first += nodes;
            number < first
        });
        let waits = || self.spares.get(number.checked_sub(self.numbered())? as usize).copied();
        host.map(|host| host as u32).or_else(waits).unwrap_or_default()
    }
}
