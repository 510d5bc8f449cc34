//! The options every Talisman program has.

use std::net::IpAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{ArgPredicate, FalseyValueParser};

use super::balancing::{Every, PeSpeed, size};
use super::checkpoints::{CkptEvery, FaultTolerance};
use super::faults::{Chaos, Kill, time};
use crate::balance;
use crate::measure::Measures;

/// Most PEs a node may have: far above any machine's cores, so more is a slip of the finger.
pub const PES_MAX: u32 = 1024;

/// Most nodes a job may have.
pub const NODES_MAX: u32 = 65_536;

/// Most nodes of a job that are processes of their own: each is linked with all others.
pub const PROCESSES_MAX: u32 = 1024;

/// Shortest `--silence`: a machine with more to do than cores keeps a process waiting for some tenths of a second.
pub const SILENCE_MIN: Duration = Duration::from_millis(500);

/// Most PEs of a whole job; each costs memory even if it does nothing.
pub const PES_IN_ALL_MAX: u64 = 1 << 20;

/// PEs per simulated node when `--pes` is not given: fixed, so that a seed means the same run on every machine.
pub const PES_SIMULATED: u32 = 2;

/// The `clap` names of the runtime's options. They are also the long names an option falls back to when the
/// program has an option of the same name itself (`--seed` is then the program's, `--talisman-seed` ours).
pub(super) const IDS: [&str; 31] = [
    "talisman-nodes",
    "talisman-pes",
    "talisman-hosts",
    "talisman-seed",
    "talisman-report",
    "talisman-progress",
    "talisman-simulate",
    "talisman-pack-all",
    "talisman-repack",
    "talisman-transport",
    "talisman-tls",
    "talisman-listen",
    "talisman-silence",
    "talisman-kill",
    "talisman-chaos",
    "talisman-label-output",
    "talisman-balancer",
    "talisman-lb-every",
    "talisman-lb-dump",
    "talisman-lb-log",
    "talisman-node-memory",
    "talisman-pe-speeds",
    "talisman-ft",
    "talisman-ckpt-every",
    "talisman-mtbf",
    "talisman-ft-log",
    "talisman-ckpt-dir",
    "talisman-restart",
    "talisman-respawn",
    "talisman-spares",
    "talisman-max-nodes",
];

/// How nodes that are processes of their own are linked with each other.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transport {
    /// TCP connections, also within a host
    Tcp,
    /// Shared memory between nodes of one host, TCP between hosts
    #[default]
    Shm,
    /// For testing: within a host, shared memory for every other pair of nodes, TCP for the rest
    Mixed,
}

impl Transport {
    /// Whether memory links these two nodes, if they are on one host.
    pub(crate) fn is_memory(self, one: u32, other: u32) -> bool {
        match self {
            Transport::Tcp => false,
            Transport::Shm => true,
            Transport::Mixed => (one + other).is_multiple_of(2),
        }
    }
}

// `clap` takes a doc comment on this struct for the help text of the program it is flattened into, so only
// rustdoc is shown one.
#[cfg_attr(
    doc,
    doc = "The options every Talisman program has, under the heading \"Runtime options\" of its `--help`.

They are added to a program's own automatically; a program that wants to read them flattens this struct into
its own arguments with `#[command(flatten)]`, and they are not added twice. Every option also has an environment
variable, `--pes` for example `TALISMAN_PES`; the command line wins over it.

In code, start from the defaults:

```
use talisman_core::launch::RunArgs;

let run = RunArgs { pes: Some(2), ..RunArgs::default() };
assert_eq!((run.pes_per_node(), run.seed), (2, 0));
assert!(RunArgs { pes: Some(0), ..RunArgs::default() }.validate().is_err());
```"
)]
#[allow(missing_docs, reason = "a doc comment would become the program's help text, see above")]
#[derive(clap::Args, Clone, Debug, PartialEq, Eq)]
#[command(next_help_heading = "Runtime options")]
#[group(skip)]
pub struct RunArgs {
    /// Nodes of the job; if there is more than one, each is a process of its own, which this one starts
    #[arg(id = "talisman-nodes", long = "nodes", env = "TALISMAN_NODES", hide_env_values = true)]
    #[arg(value_name = "N", default_value_t = 1)]
    #[arg(default_value_if("talisman-hosts", ArgPredicate::IsPresent, "0"))]
    pub nodes: u32,

    /// PEs (scheduler threads) per node [default: one per core this process may use, divided by the nodes of
    /// this host; 2 with --simulate]
    #[arg(id = "talisman-pes", long = "pes", env = "TALISMAN_PES", hide_env_values = true)]
    #[arg(value_name = "P")]
    pub pes: Option<u32>,

    /// Start the nodes on the hosts of this file, over ssh: lines `name [slots=N] [address=A] [user=U] [port=P]`;
    /// or "slurm": those of the Slurm allocation. As many nodes as there are slots, unless --nodes says less
    #[arg(id = "talisman-hosts", long = "hosts", env = "TALISMAN_HOSTS", hide_env_values = true)]
    #[arg(value_name = "FILE")]
    pub hosts: Option<PathBuf>,

    /// Where all random numbers start: the same seed gives the objects the same numbers in every run
    #[arg(id = "talisman-seed", long = "seed", env = "TALISMAN_SEED", hide_env_values = true)]
    #[arg(value_name = "S", default_value_t = 0)]
    pub seed: u64,

    /// Write what happened (results, times, message counts) to this file, as JSON
    #[arg(id = "talisman-report", long = "report", env = "TALISMAN_REPORT", hide_env_values = true)]
    #[arg(value_name = "FILE.json")]
    pub report: Option<PathBuf>,

    /// Show on standard error how many steps are done, and how fast they go
    #[arg(id = "talisman-progress", long = "progress", env = "TALISMAN_PROGRESS", hide_env_values = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub progress: bool,

    /// Run the whole job, all nodes and PEs, in one thread on a simulated clock and network; --seed decides
    /// every choice, and a hash of all events is printed at the end: equal seeds, equal hashes
    #[arg(id = "talisman-simulate", long = "simulate", env = "TALISMAN_SIMULATE", hide_env_values = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub simulate: bool,

    /// For testing: pack every message, also those that stay within a node
    #[arg(id = "talisman-pack-all", long = "pack-all", env = "TALISMAN_PACK_ALL", hide = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub pack_all: bool,

    /// For testing: pack and unpack each object after every message
    #[arg(id = "talisman-repack", long = "repack", env = "TALISMAN_REPACK", hide = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub repack: bool,

    /// What is measured for load balancing
    #[arg(skip)]
    pub measures: Measures,

    /// How nodes are linked
    #[arg(id = "talisman-transport", long = "transport", env = "TALISMAN_TRANSPORT", hide_env_values = true)]
    #[arg(value_name = "NAME", value_enum, default_value_t)]
    pub transport: Transport,

    /// Encrypt what goes between nodes over TCP (TLS 1.3, with a key of the job's own)
    #[arg(id = "talisman-tls", long = "tls", env = "TALISMAN_TLS", hide_env_values = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub tls: bool,

    /// The address of this host that nodes listen at for each other [default: loopback]
    #[arg(id = "talisman-listen", long = "listen", env = "TALISMAN_LISTEN", hide_env_values = true)]
    #[arg(value_name = "ADDR")]
    pub listen: Option<IpAddr>,

    /// A node that says nothing for so long counts as lost
    #[arg(id = "talisman-silence", long = "silence", env = "TALISMAN_SILENCE", hide_env_values = true)]
    #[arg(value_name = "TIME", value_parser = time, default_value = "10s")]
    pub silence: Duration,

    /// Kill a node to see what becomes of the job: 1@2s after two seconds, 1@step40 after the program's step 40; with
    /// --simulate in simulated time, the same way for each --seed
    #[arg(id = "talisman-kill", long = "kill", env = "TALISMAN_KILL", hide_env_values = true)]
    #[arg(value_name = "NODE@WHEN", value_delimiter = ',')]
    pub kill: Vec<Kill>,

    /// Kill nodes at random, one every mtbf on average
    #[arg(id = "talisman-chaos", long = "chaos", env = "TALISMAN_CHAOS", hide_env_values = true)]
    #[arg(value_name = "mtbf=T,seed=S")]
    pub chaos: Option<Chaos>,

    /// Begin each line of output with the number of the node that wrote it
    #[arg(id = "talisman-label-output", long = "label-output", env = "TALISMAN_LABEL_OUTPUT")]
    #[arg(hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub label_output: bool,

    /// Move objects between PEs so that all have equally much to do, as this strategy decides; several with + between them
    /// go one after the other. "off": objects stay where they are
    #[arg(id = "talisman-balancer", long = "balancer", env = "TALISMAN_BALANCER", hide_env_values = true)]
    #[arg(value_name = "NAME[+NAME]", default_value = "off")]
    pub balancer: String,

    /// When to: "sync": whenever the program is at `cx.at_sync()`; a time: so often; "auto": when it is worth it
    #[arg(id = "talisman-lb-every", long = "lb-every", env = "TALISMAN_LB_EVERY", hide_env_values = true)]
    #[arg(value_name = "sync|TIME|auto", default_value = "sync")]
    pub lb_every: Every,

    /// Write what each balancing step knew to a file in this folder, for `talisman lb-replay`
    #[arg(id = "talisman-lb-dump", long = "lb-dump", env = "TALISMAN_LB_DUMP", hide_env_values = true)]
    #[arg(value_name = "FOLDER")]
    pub lb_dump: Option<PathBuf>,

    /// Write a line about each balancing step to standard error (--progress does as well)
    #[arg(id = "talisman-lb-log", long = "lb-log", env = "TALISMAN_LB_LOG", hide_env_values = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub lb_log: bool,

    /// Balancing puts no more objects on a node than take so much memory when packed
    #[arg(id = "talisman-node-memory", long = "node-memory", env = "TALISMAN_NODE_MEMORY")]
    #[arg(hide_env_values = true, value_name = "SIZE", value_parser = size)]
    pub node_memory: Option<u64>,

    /// How fast the PEs are, where 1 is usual, from PE 0 on; the list begins anew at its end
    #[arg(id = "talisman-pe-speeds", long = "pe-speeds", env = "TALISMAN_PE_SPEEDS", hide_env_values = true)]
    #[arg(value_name = "SPEED", value_delimiter = ',')]
    pub pe_speeds: Vec<PeSpeed>,

    /// What becomes of a job that loses nodes
    #[arg(id = "talisman-ft", long = "ft", env = "TALISMAN_FT", hide_env_values = true)]
    #[arg(value_name = "HOW", value_enum, default_value_t)]
    pub ft: FaultTolerance,

    /// When to take checkpoints: a time: so often; 100steps: after so many steps of the program; "auto": as often as costs
    /// least, by what they have cost and --mtbf [default with --ft: auto]
    #[arg(
        id = "talisman-ckpt-every",
        long = "ckpt-every",
        env = "TALISMAN_CKPT_EVERY",
        hide_env_values = true
    )]
    #[arg(value_name = "TIME|Nsteps|auto")]
    pub ckpt_every: Option<CkptEvery>,

    /// The mean time between two losses of nodes, in the whole job, for --ckpt-every auto
    #[arg(id = "talisman-mtbf", long = "mtbf", env = "TALISMAN_MTBF", hide_env_values = true)]
    #[arg(value_name = "TIME", value_parser = time)]
    pub mtbf: Option<Duration>,

    /// Write a line about each checkpoint, and each loss of a node, to standard error (--progress does as well)
    #[arg(id = "talisman-ft-log", long = "ft-log", env = "TALISMAN_FT_LOG", hide_env_values = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub ft_log: bool,

    /// With --ft disk: where each node keeps its checkpoints, in a folder of its own on its host [default: that of --restart, else a
    /// new one among the temporary files]
    #[arg(id = "talisman-ckpt-dir", long = "ckpt-dir", env = "TALISMAN_CKPT_DIR", hide_env_values = true)]
    #[arg(value_name = "FOLDER")]
    pub ckpt_dir: Option<PathBuf>,

    /// Go on from the newest checkpoint that a job with --ft disk has left in this folder, on any number of nodes and PEs
    #[arg(id = "talisman-restart", long = "restart", env = "TALISMAN_RESTART", hide_env_values = true)]
    #[arg(value_name = "FOLDER")]
    pub restart: Option<PathBuf>,

    /// With --ft: start a new process in place of a lost one, on the same host if that is there; it gets the part that was lost,
    /// and the job has as many nodes as before
    #[arg(id = "talisman-respawn", long = "respawn", env = "TALISMAN_RESPAWN", hide_env_values = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub respawn: bool,

    /// With --ft: so many processes more are started and wait; when a node is lost, one of them takes its place. They need slots where
    /// --hosts is given
    #[arg(id = "talisman-spares", long = "spares", env = "TALISMAN_SPARES", hide_env_values = true)]
    #[arg(value_name = "K", default_value_t = 0)]
    pub spares: u32,

    /// With --ft: the most nodes that the job may ever have; it begins with --nodes, and `talisman grow` adds others. The program sees
    /// all numbers from its start, like those of nodes that are lost
    #[arg(id = "talisman-max-nodes", long = "max-nodes", env = "TALISMAN_MAX_NODES", hide_env_values = true)]
    #[arg(value_name = "M")]
    pub max_nodes: Option<u32>,
}

impl RunArgs {
    /// Checks the options against each other and against what exists so far.
    ///
    /// # Errors
    /// The first option that cannot be, with what to write instead.
    pub fn validate(&self) -> Result<(), OptionsError> {
        self.validate_pes()?;
        self.validate_nodes()?;
        self.validate_hosts()?;
        self.validate_pes_in_all()?;
        self.validate_silence()?;
        self.validate_tls()?;
        self.validate_faults()?;
        self.validate_balancer()?;
        self.validate_checkpoints()?;
        self.validate_report()
    }

    /// Whether the nodes are processes of their own, which a launcher starts and watches.
    pub fn has_processes(&self) -> bool {
        let is_on_disk = self.ft == FaultTolerance::Disk || self.restart.is_some();
        (self.numbers() > 1 || self.hosts.is_some() || is_on_disk) && !self.simulate
    }

    /// How many nodes have a number: those that the job begins with, and those that may be added.
    pub(crate) fn numbers(&self) -> u32 {
        self.nodes.max(self.max_nodes.unwrap_or(0))
    }

    /// Whether nodes are to be killed in a simulation, which then has processes, a launcher and connections too.
    pub(crate) fn loses_simulated_nodes(&self) -> bool {
        self.simulate && self.nodes > 1 && (!self.kill.is_empty() || self.chaos.is_some())
    }

    /// PEs per node: `--pes`, otherwise the cores this process may use, divided among the nodes of this host
    /// ([`PES_SIMULATED`] in simulation).
    pub fn pes_per_node(&self) -> u32 {
        let default = || match self.hosts {
            _ if self.simulate => PES_SIMULATED,
            Some(_) => available_cores(),
            None => (available_cores() / self.nodes.max(1)).max(1),
        };
        self.pes.unwrap_or_else(default)
    }

    fn validate_pes(&self) -> Result<(), OptionsError> {
        match self.pes {
            Some(0) => Err(OptionsError::NoPes),
            Some(pes) if pes > PES_MAX => Err(OptionsError::TooManyPes { pes }),
            _ => Ok(()),
        }
    }

    /// No nodes given means, with hosts, as many as they have slots.
    fn validate_nodes(&self) -> Result<(), OptionsError> {
        match self.nodes {
            0 if self.hosts.is_some() => Ok(()),
            0 => Err(OptionsError::NoNodes),
            nodes if nodes > NODES_MAX => Err(OptionsError::TooManyNodes { nodes }),
            nodes if (self.has_processes() || self.loses_simulated_nodes()) && nodes > PROCESSES_MAX => {
                Err(OptionsError::TooManyProcesses { nodes })
            }
            _ => Ok(()),
        }
    }

    fn validate_hosts(&self) -> Result<(), OptionsError> {
        match self.hosts {
            Some(_) if self.simulate => Err(OptionsError::HostsSimulated),
            Some(_) if self.listen.is_some() => Err(OptionsError::ListenWithHosts),
            _ => Ok(()),
        }
    }

    fn validate_pes_in_all(&self) -> Result<(), OptionsError> {
        let (nodes, pes) = (self.numbers(), self.pes_per_node());
        let in_all = u64::from(nodes) * u64::from(pes);
        if in_all > PES_IN_ALL_MAX { Err(OptionsError::TooManyPesInAll { nodes, pes }) } else { Ok(()) }
    }

    fn validate_silence(&self) -> Result<(), OptionsError> {
        let silence = self.silence;
        if silence < SILENCE_MIN { Err(OptionsError::SilenceTooShort { silence }) } else { Ok(()) }
    }

    fn validate_tls(&self) -> Result<(), OptionsError> {
        if self.tls && cfg!(not(feature = "tls")) { Err(OptionsError::NoTls) } else { Ok(()) }
    }

    fn validate_faults(&self) -> Result<(), OptionsError> {
        let any = !self.kill.is_empty() || self.chaos.is_some();
        if any && !self.has_processes() && !self.loses_simulated_nodes() {
            return Err(OptionsError::NobodyToKill);
        }
        // With hosts the number of nodes may not be known yet.
        let nodes = self.numbers();
        match self.kill.iter().find(|kill| self.nodes > 0 && kill.node >= nodes) {
            Some(&kill) => Err(OptionsError::NoSuchNode { kill, nodes }),
            None => Ok(()),
        }
    }

    fn validate_balancer(&self) -> Result<(), OptionsError> {
        balance::check_name(&self.balancer).map_err(|message| OptionsError::NoBalancer { message })?;
        match &self.lb_dump {
            Some(folder) if !folder.is_dir() => Err(OptionsError::NoDumpFolder { folder: folder.clone() }),
            _ => Ok(()),
        }
    }

    fn validate_checkpoints(&self) -> Result<(), OptionsError> {
        match self.mtbf {
            _ if self.ft == FaultTolerance::Off && self.ckpt_every.is_some() => {
                Err(OptionsError::CheckpointsWithoutFt)
            }
            Some(mtbf) if mtbf.is_zero() => Err(OptionsError::NoTimeBetweenFailures),
            _ if self.ckpt_dir.is_some() && self.ft != FaultTolerance::Disk => {
                Err(OptionsError::FolderWithoutDisk)
            }
            _ if self.restart.is_some() && self.simulate => Err(OptionsError::RestartSimulated),
            _ => self.validate_replacements().and_then(|()| self.validate_most_nodes()),
        }
    }

    fn validate_replacements(&self) -> Result<(), OptionsError> {
        let option = match (self.respawn, self.spares) {
            (false, 0) => return Ok(()),
            (true, _) => "--respawn",
            (false, _) => "--spares",
        };
        match () {
            () if self.ft == FaultTolerance::Off => Err(OptionsError::ReplacementsWithoutFt { option }),
            () if self.simulate => Err(OptionsError::ReplacementsSimulated { option }),
            () if self.nodes == 1 => Err(OptionsError::NobodyToReplaceFrom { option }),
            () if self.spares > PROCESSES_MAX || self.nodes + self.spares > PROCESSES_MAX => {
                Err(OptionsError::TooManySpares { nodes: self.nodes, spares: self.spares })
            }
            () => Ok(()),
        }
    }

    fn validate_most_nodes(&self) -> Result<(), OptionsError> {
        let Some(most) = self.max_nodes else { return Ok(()) };
        match () {
            () if self.ft == FaultTolerance::Off => Err(OptionsError::MostNodesWithoutFt),
            () if self.simulate => Err(OptionsError::MostNodesSimulated),
            () if self.spares > 0 => Err(OptionsError::MostNodesWithSpares),
            () if most < self.nodes => Err(OptionsError::FewerThanNodes { most, nodes: self.nodes }),
            () if most > PROCESSES_MAX => Err(OptionsError::TooManyProcesses { nodes: most }),
            () => Ok(()),
        }
    }

    /// A report that cannot be written is said before hours of computing, not after.
    fn validate_report(&self) -> Result<(), OptionsError> {
        let Some(file) = &self.report else { return Ok(()) };
        let folder = match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        if file.is_dir() || file.file_name().is_none() {
            return Err(OptionsError::ReportIsNoFile { file: file.clone() });
        }
        if !folder.is_dir() {
            return Err(OptionsError::NoReportFolder { file: file.clone(), folder });
        }
        Ok(())
    }
}

impl Default for RunArgs {
    fn default() -> Self {
        RunArgs {
            nodes: 1,
            pes: None,
            hosts: None,
            seed: 0,
            report: None,
            progress: false,
            simulate: false,
            pack_all: false,
            repack: false,
            measures: Measures::default(),
            transport: Transport::default(),
            tls: false,
            listen: None,
            silence: Duration::from_secs(10),
            kill: Vec::new(),
            chaos: None,
            label_output: false,
            balancer: balance::OFF.into(),
            lb_every: Every::default(),
            lb_dump: None,
            lb_log: false,
            node_memory: None,
            pe_speeds: Vec::new(),
            ft: FaultTolerance::default(),
            ckpt_every: None,
            mtbf: None,
            ft_log: false,
            ckpt_dir: None,
            restart: None,
            respawn: false,
            spares: 0,
            max_nodes: None,
        }
    }
}

/// Cores this process may use: its affinity mask and the quota of its control group count, not only the machine.
fn available_cores() -> u32 {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    u32::try_from(cores).unwrap_or(PES_MAX).min(PES_MAX)
}

/// Runtime options that cannot be; each is a usage error (status 2).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// `--pes 0`.
    #[error("--pes 0: a node needs at least one PE (scheduler thread); leave --pes out for one per core")]
    NoPes,
    /// More than [`PES_MAX`] PEs in a node.
    #[error("--pes {pes}: a node has at most {PES_MAX} PEs (scheduler threads); one per core is usual")]
    TooManyPes {
        /// What was asked for.
        pes: u32,
    },
    /// `--nodes 0`.
    #[error("--nodes 0: a job has at least one node; leave --nodes out for one")]
    NoNodes,
    /// More than [`NODES_MAX`] nodes.
    #[error("--nodes {nodes}: a job has at most {NODES_MAX} nodes")]
    TooManyNodes {
        /// What was asked for.
        nodes: u32,
    },
    /// More than [`PES_IN_ALL_MAX`] PEs in the job.
    #[error("--nodes {nodes} --pes {pes}: a job has at most {PES_IN_ALL_MAX} PEs in all")]
    TooManyPesInAll {
        /// Nodes asked for.
        nodes: u32,
        /// PEs of each.
        pes: u32,
    },
    /// More than [`PROCESSES_MAX`] nodes that are processes.
    #[error(
        "--nodes {nodes}: a job has at most {PROCESSES_MAX} processes; --simulate runs more nodes in one"
    )]
    TooManyProcesses {
        /// What was asked for.
        nodes: u32,
    },
    /// `--hosts` with `--simulate`.
    #[error("--hosts --simulate: a simulation runs in one thread of this machine; leave one of them out")]
    HostsSimulated,
    /// `--hosts` with `--listen`.
    #[error(
        "--hosts --listen: each host has its own address; write address=A after its name in the hosts file"
    )]
    ListenWithHosts,
    /// `--silence` below [`SILENCE_MIN`].
    #[error(
        "--silence {silence:?}: at least {SILENCE_MIN:?}, or a node that only waits for a core counts as lost"
    )]
    SilenceTooShort {
        /// What was asked for.
        silence: Duration,
    },
    /// `--tls` for a program that cannot.
    #[error("--tls: this program was built without encryption; build it with the feature `tls` of talisman")]
    NoTls,
    /// `--kill` or `--chaos` for a job in one process.
    #[error("--kill and --chaos kill nodes that are processes; add --nodes 2 or more, without --simulate")]
    NobodyToKill,
    /// `--kill` names a node that the job does not have.
    #[error("--kill {kill}: there are {nodes} nodes, the last one is {}", nodes - 1)]
    NoSuchNode {
        /// The option.
        kill: Kill,
        /// Nodes of the job.
        nodes: u32,
    },
    /// `--balancer` names a strategy that there is not.
    #[error("--balancer {message}")]
    NoBalancer {
        /// Which, and which there are.
        message: String,
    },
    /// `--lb-dump` names a folder that does not exist.
    #[error("--lb-dump {}: there is no such folder; create it first", folder.display())]
    NoDumpFolder {
        /// The path given.
        folder: PathBuf,
    },
    /// `--ckpt-every` without `--ft`.
    #[error("--ckpt-every: checkpoints are for a job that survives the loss of nodes; add --ft double")]
    CheckpointsWithoutFt,
    /// `--ckpt-dir` without `--ft disk`.
    #[error("--ckpt-dir: only --ft disk keeps checkpoints in a folder; add that")]
    FolderWithoutDisk,
    /// `--restart` with `--simulate`.
    #[error("--restart: simulated nodes have no disks to go on from; leave --simulate out")]
    RestartSimulated,
    /// `--max-nodes` without `--ft`.
    #[error("--max-nodes: nodes are added at a checkpoint, of which there are none; add --ft double")]
    MostNodesWithoutFt,
    /// `--max-nodes` with `--simulate`.
    #[error("--max-nodes: no nodes are added to a simulated job; leave out --simulate")]
    MostNodesSimulated,
    /// `--max-nodes` with `--spares`.
    #[error(
        "--max-nodes and --spares do not go together; leave out --spares: nodes that are added start when they are asked for"
    )]
    MostNodesWithSpares,
    /// `--max-nodes` is less than `--nodes`.
    #[error("--max-nodes {most}: the job begins with more, --nodes {nodes}")]
    FewerThanNodes {
        /// What was asked for.
        most: u32,
        /// What it begins with.
        nodes: u32,
    },
    /// `--respawn` or `--spares` without `--ft`.
    #[error("{option}: without --ft a job ends when it loses a node; add --ft double")]
    ReplacementsWithoutFt {
        /// Which.
        option: &'static str,
    },
    /// The same with `--simulate`.
    #[error("{option}: simulated nodes are not replaced; leave one of {option} and --simulate out")]
    ReplacementsSimulated {
        /// Which.
        option: &'static str,
    },
    /// The same with one node.
    #[error(
        "{option}: after the loss of the only node nobody is left who has what it had; add --nodes 2 or more"
    )]
    NobodyToReplaceFrom {
        /// Which.
        option: &'static str,
    },
    /// More processes than [`PROCESSES_MAX`] with those that wait.
    #[error("--nodes {nodes} --spares {spares}: a job has at most {PROCESSES_MAX} processes")]
    TooManySpares {
        /// Nodes asked for.
        nodes: u32,
        /// Processes beside them.
        spares: u32,
    },
    /// `--mtbf 0s`.
    #[error(
        "--mtbf 0s: a job whose nodes are lost all the time gets nowhere; leave --mtbf out if it is not known"
    )]
    NoTimeBetweenFailures,
    /// `--report` names a folder.
    #[error("--report {}: this is a folder; name a file in it", file.display())]
    ReportIsNoFile {
        /// The path given.
        file: PathBuf,
    },
    /// `--report` names a file in a folder that does not exist.
    #[error("--report {}: there is no folder {}; create it first", file.display(), folder.display())]
    NoReportFolder {
        /// The path given.
        file: PathBuf,
        /// The folder that is missing.
        folder: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid_and_use_the_cores() {
        let args = RunArgs::default();
        assert_eq!(args.validate(), Ok(()));
        assert_eq!(args.pes_per_node(), available_cores());
        assert!(args.pes_per_node() >= 1);
    }

    #[test]
    fn given_pes_win_and_simulation_has_a_fixed_default() {
        assert_eq!(RunArgs { pes: Some(7), ..RunArgs::default() }.pes_per_node(), 7);
        assert_eq!(RunArgs { simulate: true, ..RunArgs::default() }.pes_per_node(), PES_SIMULATED);
    }

    #[test]
    fn impossible_pes_are_refused() {
        let with = |pes| RunArgs { pes: Some(pes), ..RunArgs::default() }.validate();
        assert_eq!(with(0), Err(OptionsError::NoPes));
        assert_eq!(with(PES_MAX), Ok(()));
        assert_eq!(with(PES_MAX + 1), Err(OptionsError::TooManyPes { pes: PES_MAX + 1 }));
    }

    #[test]
    fn there_are_limits_of_nodes_and_of_processes() {
        let with = |nodes, simulate| RunArgs { nodes, simulate, ..RunArgs::default() }.validate();
        assert_eq!(with(0, true), Err(OptionsError::NoNodes));
        assert_eq!(with(2, false), Ok(()));
        assert_eq!(
            with(PROCESSES_MAX + 1, false),
            Err(OptionsError::TooManyProcesses { nodes: PROCESSES_MAX + 1 })
        );
        assert_eq!(with(PROCESSES_MAX + 1, true), Ok(()));
        assert_eq!(with(NODES_MAX + 1, true), Err(OptionsError::TooManyNodes { nodes: NODES_MAX + 1 }));
    }

    #[test]
    fn hosts_tell_the_number_of_nodes_themselves() {
        let hosts = Some(PathBuf::from("hosts"));
        let with = |nodes, simulate| RunArgs { nodes, simulate, hosts: hosts.clone(), ..RunArgs::default() };
        assert_eq!(with(0, false).validate(), Ok(()));
        assert_eq!(with(0, true).validate(), Err(OptionsError::HostsSimulated));
        let listening = RunArgs { listen: Some("10.0.0.1".parse().unwrap()), ..with(2, false) };
        assert_eq!(listening.validate(), Err(OptionsError::ListenWithHosts));
    }

    #[test]
    fn faults_need_a_process_to_happen_to() {
        let with = |nodes, simulate, kill: &str| {
            let kill = vec![kill.parse().unwrap()];
            RunArgs { nodes, simulate, kill, ..RunArgs::default() }.validate()
        };
        assert_eq!(with(2, false, "1@2s"), Ok(()));
        assert_eq!(with(1, false, "0@2s"), Err(OptionsError::NobodyToKill));
        assert_eq!(with(1, true, "0@2s"), Err(OptionsError::NobodyToKill));
        assert_eq!(with(2, true, "1@2s"), Ok(()));
        let error = with(2, false, "2@step4").unwrap_err().to_string();
        assert_eq!(error, "--kill 2@step4: there are 2 nodes, the last one is 1");
    }

    #[test]
    fn silence_has_a_least_length() {
        let with = |silence| RunArgs { silence, ..RunArgs::default() }.validate();
        assert_eq!(with(SILENCE_MIN), Ok(()));
        let silence = SILENCE_MIN / 2;
        assert_eq!(with(silence), Err(OptionsError::SilenceTooShort { silence }));
    }

    #[test]
    fn encryption_is_refused_where_it_was_left_out() {
        let result = RunArgs { tls: true, ..RunArgs::default() }.validate();
        assert_eq!(result, if cfg!(feature = "tls") { Ok(()) } else { Err(OptionsError::NoTls) });
    }

    #[test]
    fn a_job_has_a_limit_of_pes_in_all() {
        let with =
            |nodes, pes| RunArgs { nodes, pes: Some(pes), simulate: true, ..RunArgs::default() }.validate();
        assert_eq!(with(1024, PES_MAX), Ok(()));
        assert_eq!(with(1025, PES_MAX), Err(OptionsError::TooManyPesInAll { nodes: 1025, pes: PES_MAX }));
        assert_eq!(with(NODES_MAX, 16), Ok(()));
    }

    #[test]
    fn checkpoints_are_for_jobs_that_survive() {
        let ckpt_every = Some(CkptEvery::Steps(10));
        let with = |ft, mtbf| RunArgs { ft, ckpt_every, mtbf, ..RunArgs::default() }.validate();
        assert_eq!(with(FaultTolerance::Off, None), Err(OptionsError::CheckpointsWithoutFt));
        assert_eq!(with(FaultTolerance::Double, None), Ok(()));
        let never = Some(Duration::ZERO);
        assert_eq!(with(FaultTolerance::Double, never), Err(OptionsError::NoTimeBetweenFailures));
    }

    #[test]
    fn replacements_are_for_jobs_of_several_processes_that_survive() {
        let (option, respawn) = ("--respawn", true);
        let with =
            |nodes, ft, simulate| RunArgs { nodes, ft, simulate, respawn, ..RunArgs::default() }.validate();
        let wrong = OptionsError::ReplacementsWithoutFt { option };
        assert_eq!(with(2, FaultTolerance::Off, false), Err(wrong));
        assert_eq!(with(2, FaultTolerance::Disk, false), Ok(()));
        let wrong = OptionsError::ReplacementsSimulated { option };
        assert_eq!(with(2, FaultTolerance::Double, true), Err(wrong));
        let wrong = OptionsError::NobodyToReplaceFrom { option };
        assert_eq!(with(1, FaultTolerance::Double, false), Err(wrong));
        let with = |ft, spares| RunArgs { nodes: 2, ft, spares, ..RunArgs::default() }.validate();
        let wrong = OptionsError::ReplacementsWithoutFt { option: "--spares" };
        assert_eq!(with(FaultTolerance::Off, 1), Err(wrong));
        assert_eq!(with(FaultTolerance::Double, 1), Ok(()));
        let spares = PROCESSES_MAX;
        let wrong = OptionsError::TooManySpares { nodes: 2, spares };
        assert_eq!(with(FaultTolerance::Double, spares), Err(wrong));
    }

    #[test]
    fn nodes_can_be_added_to_jobs_of_processes_that_survive() {
        let job = RunArgs { nodes: 2, ft: FaultTolerance::Double, max_nodes: Some(3), ..RunArgs::default() };
        assert_eq!((job.validate(), job.numbers()), (Ok(()), 3));
        assert!(RunArgs { nodes: 1, ..job.clone() }.has_processes());
        let wrong = |job: RunArgs| job.validate().expect_err("it is refused");
        let off = FaultTolerance::Off;
        assert_eq!(wrong(RunArgs { ft: off, ..job.clone() }), OptionsError::MostNodesWithoutFt);
        assert_eq!(wrong(RunArgs { simulate: true, ..job.clone() }), OptionsError::MostNodesSimulated);
        assert_eq!(wrong(RunArgs { spares: 1, ..job.clone() }), OptionsError::MostNodesWithSpares);
        let fewer = OptionsError::FewerThanNodes { most: 1, nodes: 2 };
        assert_eq!(wrong(RunArgs { max_nodes: Some(1), ..job.clone() }), fewer);
        let most = PROCESSES_MAX + 1;
        let too_many = OptionsError::TooManyProcesses { nodes: most };
        assert_eq!(wrong(RunArgs { max_nodes: Some(most), ..job }), too_many);
    }

    #[test]
    fn a_report_that_cannot_be_written_is_said_at_the_start() {
        let with = |file: PathBuf| RunArgs { report: Some(file), ..RunArgs::default() }.validate();
        let here = std::env::temp_dir();
        assert_eq!(with(PathBuf::from("report.json")), Ok(()));
        assert_eq!(with(here.join("report.json")), Ok(()));
        assert_eq!(with(here.clone()), Err(OptionsError::ReportIsNoFile { file: here.clone() }));
        let folder = here.join("talisman-no-such-folder");
        let file = folder.join("report.json");
        assert_eq!(with(file.clone()), Err(OptionsError::NoReportFolder { file, folder }));
    }
}
