//! The options every Talisman program has: each with its name, its variable and its help. What they mean together is in `derived_values`, how
//! they go together in `validity`.

pub mod dashboard;
mod defaults;
mod derived_values;
mod error;
mod idle;
pub mod numbers;
mod option_names;
mod paths;
#[cfg(test)]
mod tests;
mod trace_window;
mod transport;
mod validity;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::ArgPredicate;

use crate::Measures;
use crate::balancing::{Every, PeSpeed, size};
use crate::checkpoints::{CkptEvery, FaultTolerance};
use crate::diagnostics::readable;
use crate::faults::{Chaos, Kill, time};
use crate::strategies;
use dashboard::dashboard_address;
pub use derived_values::PES_SIMULATED;
pub use error::OptionsError;
use numbers::{address, switch, whole};
pub use option_names::IDS;
pub use paths::{RECORD_ENDING, TRACE_LOCK, TRACE_PART_ENDING, own_trace_parts, trace_parts};
use talisman_base::history::Few;
pub use talisman_base::transport::{Transport, TransportChoice};
pub use trace_window::{TraceEvery, TraceWindow, Traced};
pub use validity::{NODES_MAX, PES_IN_ALL_MAX, PES_MAX, PROCESSES_MAX, SILENCE_MIN};

/// The headings of the help, in their order.
const RUNNING: &str = "Running";
const HOSTS: &str = "Nodes and hosts";
const BALANCING: &str = "Load balancing";
const FAULTS: &str = "Fault tolerance";
const SIMULATION: &str = "Simulation";
const SEEING: &str = "Seeing what happens";

/// The variable that says `--ft-log`.
const FT_LOG: &str = "TALISMAN_FT_LOG";

// `clap` takes a doc comment on this struct for the help text of the program it is flattened into, so only
// rustdoc is shown one.
#[cfg_attr(
    doc,
    doc = "The options every Talisman program has, under headings of their own in its `--help`.

They are added to a program's own automatically; a program that wants to read them flattens this struct into
its own arguments with `#[command(flatten)]`, and they are not added twice. Every option also has an environment
variable, `--pes` for example `TALISMAN_PES`; the command line wins over it, and an empty one counts as not set.

In code, start from the defaults:

```
use talisman_job::RunArgs;

let run = RunArgs { pes: Some(2), ..RunArgs::default() };
assert_eq!((run.pes_per_node(), run.seed), (2, 0));
assert!(RunArgs { pes: Some(0), ..RunArgs::default() }.validate().is_err());
```"
)]
#[allow(missing_docs, reason = "a doc comment would become the program's help text, see above")]
#[derive(clap::Args, Clone, Debug, PartialEq, Eq)]
#[group(skip)]
pub struct RunArgs {
    /// Number of nodes
    ///
    /// With more than one, each node is a process, which this process starts.
    #[arg(id = "talisman-nodes", long = "nodes", env = "TALISMAN_NODES", hide_env_values = true)]
    #[arg(help_heading = RUNNING)]
    #[arg(value_name = "N", default_value_t = 1, value_parser = whole::<u32>("how many nodes, from 1 to 65536"))]
    #[arg(default_value_if("talisman-hosts", ArgPredicate::IsPresent, "0"))]
    pub nodes: u32,

    /// PEs (scheduler threads) per node [default: from the cores]
    ///
    /// [default: one per core this process may use, divided by the nodes of this host; 2 with --simulate]. A program
    /// with MPI ranks has one per node
    #[arg(id = "talisman-pes", long = "pes", env = "TALISMAN_PES", hide_env_values = true)]
    #[arg(help_heading = RUNNING)]
    #[arg(value_name = "P", value_parser = whole::<u32>("how many PEs each node has, from 1 to 1024"))]
    pub pes: Option<u32>,

    /// Seed of all random numbers
    ///
    /// Equal seeds give objects equal random numbers in every run.
    #[arg(id = "talisman-seed", long = "seed", env = "TALISMAN_SEED", hide_env_values = true)]
    #[arg(help_heading = RUNNING)]
    #[arg(value_name = "S", default_value_t = 0, value_parser = whole::<u64>("a number from 0 to 18446744073709551615"))]
    pub seed: u64,

    /// Start the nodes on the hosts of this file or allocation
    ///
    /// Lines are `name [slots=N] [address=A] [user=U] [port=P]`. "slurm": the hosts of the Slurm allocation, by srun. "list:"
    /// and such lines, with commas between: these hosts. Each slot has a node, unless --nodes says less.
    #[arg(id = "talisman-hosts", long = "hosts", env = "TALISMAN_HOSTS", hide_env_values = true)]
    #[arg(help_heading = HOSTS)]
    #[arg(value_name = "FILE")]
    pub hosts: Option<PathBuf>,

    // Its help is made of the table of transports.
    #[arg(id = "talisman-transport", long = "transport", env = "TALISMAN_TRANSPORT", hide_env_values = true)]
    #[arg(help_heading = HOSTS, help = transport::help(), value_parser = transport::parser())]
    #[arg(value_name = "NAME", default_value = Transport::WITHIN_HOST.row().name)]
    pub transport: TransportChoice,

    /// Encrypt TCP connections between nodes
    ///
    /// TLS 1.3, with a key of this job. Shared memory is not encrypted.
    #[arg(id = "talisman-tls", long = "tls", env = "TALISMAN_TLS", hide_env_values = true)]
    #[arg(help_heading = HOSTS, value_parser = switch)]
    pub tls: bool,

    /// Address at which the nodes of this host listen [default: loopback]
    ///
    /// With --hosts, that file has an address for each host.
    #[arg(id = "talisman-listen", long = "listen", env = "TALISMAN_LISTEN", hide_env_values = true)]
    #[arg(help_heading = HOSTS)]
    #[arg(value_name = "ADDR", value_parser = address)]
    pub listen: Option<IpAddr>,

    /// Time without any message after which a node counts as lost
    #[arg(id = "talisman-silence", long = "silence", env = "TALISMAN_SILENCE", hide_env_values = true)]
    #[arg(help_heading = HOSTS)]
    #[arg(value_name = "TIME", value_parser = time, default_value = "10s")]
    pub silence: Duration,

    /// Load balancing strategy
    #[arg(id = "talisman-balancer", long = "balancer", env = "TALISMAN_BALANCER", hide_env_values = true)]
    #[arg(help_heading = BALANCING)]
    #[arg(value_name = "NAME[+NAME]", default_value = "off")]
    #[arg(long_help = strategies::help())]
    pub balancer: String,

    /// When to balance: sync, a time, or auto
    ///
    /// "sync": at `cx.at_sync()`; a time: the period; "auto": when a step is worth its cost.
    #[arg(id = "talisman-lb-every", long = "lb-every", env = "TALISMAN_LB_EVERY", hide_env_values = true)]
    #[arg(help_heading = BALANCING)]
    #[arg(value_name = "WHEN", default_value = "sync")]
    pub lb_every: Every,

    /// Memory limit for the objects of a node
    ///
    /// Load balancing places no more objects on a node than fit into it when packed.
    #[arg(
        id = "talisman-node-memory",
        long = "node-memory",
        env = "TALISMAN_NODE_MEMORY",
        hide_env_values = true
    )]
    #[arg(help_heading = BALANCING)]
    #[arg(value_name = "SIZE", value_parser = size)]
    pub node_memory: Option<u64>,

    /// Relative speeds of the PEs; 1 is normal
    ///
    /// From PE 0 on; the list repeats.
    #[arg(id = "talisman-pe-speeds", long = "pe-speeds", env = "TALISMAN_PE_SPEEDS", hide_env_values = true)]
    #[arg(help_heading = BALANCING)]
    #[arg(value_name = "SPEED", value_delimiter = ',')]
    pub pe_speeds: Vec<PeSpeed>,

    /// Write the input of each step to a file in this folder
    ///
    /// For `talisman lb-replay`.
    #[arg(id = "talisman-lb-dump", long = "lb-dump", env = "TALISMAN_LB_DUMP", hide_env_values = true)]
    #[arg(help_heading = BALANCING)]
    #[arg(value_name = "FOLDER")]
    pub lb_dump: Option<PathBuf>,

    /// Log each balancing step to standard error
    ///
    /// --progress turns it on as well.
    #[arg(id = "talisman-lb-log", long = "lb-log", env = "TALISMAN_LB_LOG", hide_env_values = true)]
    #[arg(help_heading = BALANCING, value_parser = switch)]
    pub lb_log: bool,

    /// Fault tolerance: off, double, disk or logging
    #[arg(id = "talisman-ft", long = "ft", env = "TALISMAN_FT", hide_env_values = true)]
    #[arg(help_heading = FAULTS)]
    #[arg(value_name = "HOW", value_enum, default_value_t)]
    pub ft: FaultTolerance,

    /// When to take checkpoints: a time, 100steps, or auto
    ///
    /// A time: the period; 100steps: after each 100 steps of the program; "auto": the period that costs least, by the measured
    /// cost of a checkpoint and --mtbf [default with --ft: auto]
    #[arg(
        id = "talisman-ckpt-every",
        long = "ckpt-every",
        env = "TALISMAN_CKPT_EVERY",
        hide_env_values = true
    )]
    #[arg(help_heading = FAULTS)]
    #[arg(value_name = "WHEN")]
    pub ckpt_every: Option<CkptEvery>,

    /// Mean time between losses of nodes
    ///
    /// Of the whole job, for --ckpt-every auto.
    #[arg(id = "talisman-mtbf", long = "mtbf", env = "TALISMAN_MTBF", hide_env_values = true)]
    #[arg(help_heading = FAULTS)]
    #[arg(value_name = "TIME", value_parser = time)]
    pub mtbf: Option<Duration>,

    /// With --ft logging: memory for messages and logs
    ///
    /// Of each node. At three quarters of it a checkpoint is asked for; when it is full, entries wait for that. At least 1MiB for
    /// each other node [default: no limit]
    #[arg(
        id = "talisman-log-budget",
        long = "log-budget",
        env = "TALISMAN_LOG_BUDGET",
        hide_env_values = true
    )]
    #[arg(help_heading = FAULTS)]
    #[arg(value_name = "SIZE", value_parser = size)]
    pub log_budget: Option<u64>,

    /// With --ft logging: check that logs are enough
    ///
    /// At each checkpoint each node does again what it has done since the last one, on PEs of its own that are given the same, and the
    /// job ends if these come to another checkpoint. What entries do outside of the job is done twice
    #[arg(id = "talisman-ft-check", long = "ft-check", env = "TALISMAN_FT_CHECK", hide_env_values = true)]
    #[arg(help_heading = FAULTS, value_parser = switch)]
    pub ft_check: bool,

    /// Folder of the checkpoints on disk
    ///
    /// Each node writes to a folder of its own in it, on its host: all checkpoints with --ft disk, those that are asked for
    /// (`talisman checkpoint`) with --ft double [default: that of --restart, else a new temporary one]
    #[arg(id = "talisman-ckpt-dir", long = "ckpt-dir", env = "TALISMAN_CKPT_DIR", hide_env_values = true)]
    #[arg(help_heading = FAULTS)]
    #[arg(value_name = "FOLDER")]
    pub ckpt_dir: Option<PathBuf>,

    /// Key file that authenticates checkpoint files
    ///
    /// 16 bytes or more that only its owner can read, on each host. --restart refuses files that were written without it
    /// [default: none; then the owner of the files counts]
    #[arg(id = "talisman-ckpt-key", long = "ckpt-key", env = "TALISMAN_CKPT_KEY", hide_env_values = true)]
    #[arg(help_heading = FAULTS)]
    #[arg(value_name = "FILE")]
    pub ckpt_key: Option<PathBuf>,

    /// Restart from the newest checkpoint in this folder
    ///
    /// A job with --ft has left it (--ckpt-dir). Any number of nodes and PEs will do. The program has the options that it began
    /// with; those of this command line are not read. On several hosts each may have a part of the folder.
    #[arg(id = "talisman-restart", long = "restart", env = "TALISMAN_RESTART", hide_env_values = true)]
    #[arg(help_heading = FAULTS)]
    #[arg(value_name = "FOLDER")]
    pub restart: Option<PathBuf>,

    /// With --ft: start a new process for each lost node
    ///
    /// On the same host if that is alive. It restores the objects that were lost; the number of nodes stays.
    #[arg(id = "talisman-respawn", long = "respawn", env = "TALISMAN_RESPAWN", hide_env_values = true)]
    #[arg(help_heading = FAULTS, value_parser = switch)]
    pub respawn: bool,

    /// With --ft: number of processes that replace lost nodes
    ///
    /// With --hosts they need slots of their own.
    #[arg(id = "talisman-spares", long = "spares", env = "TALISMAN_SPARES", hide_env_values = true)]
    #[arg(help_heading = FAULTS)]
    #[arg(value_name = "K", default_value_t = 0, value_parser = whole::<u32>("how many processes wait, from 0 to 1023"))]
    pub spares: u32,

    /// With --ft: maximum number of nodes
    ///
    /// The job starts with --nodes; `talisman grow` adds others. The program counts all of them from the start, as it counts
    /// lost nodes.
    #[arg(id = "talisman-max-nodes", long = "max-nodes", env = "TALISMAN_MAX_NODES", hide_env_values = true)]
    #[arg(help_heading = FAULTS)]
    #[arg(value_name = "M", value_parser = whole::<u32>("the most nodes there may be, from --nodes to 1024"))]
    pub max_nodes: Option<u32>,

    /// Kill a node, to test recovery: 1@2s, 1@step40
    ///
    /// 1@2s: after two seconds; 1@step40: after step 40 of the program. With --simulate in simulated time, alike for equal
    /// seeds. A kill that did not happen is reported at the end.
    #[arg(id = "talisman-kill", long = "kill", env = "TALISMAN_KILL", hide_env_values = true)]
    #[arg(help_heading = FAULTS)]
    #[arg(value_name = "NODE@WHEN", value_delimiter = ',')]
    pub kill: Vec<Kill>,

    /// Kill random nodes, one per mtbf on average
    #[arg(id = "talisman-chaos", long = "chaos", env = "TALISMAN_CHAOS", hide_env_values = true)]
    #[arg(help_heading = FAULTS)]
    #[arg(value_name = "mtbf=T,seed=S")]
    pub chaos: Option<Chaos>,

    /// Log each checkpoint and loss to standard error
    ///
    /// --progress turns it on as well [default: on a terminal, unless TALISMAN_FT_LOG is 0]
    #[arg(id = "talisman-ft-log", long = "ft-log", env = FT_LOG, hide_env_values = true)]
    #[arg(help_heading = FAULTS, value_parser = switch)]
    pub ft_log: bool,

    /// Run the whole job in one thread on a simulated network
    ///
    /// All nodes and PEs, on a simulated clock. --seed decides every choice. A hash of all events is printed at the end: equal
    /// seeds give equal hashes.
    #[arg(id = "talisman-simulate", long = "simulate", env = "TALISMAN_SIMULATE", hide_env_values = true)]
    #[arg(help_heading = SIMULATION, value_parser = switch)]
    pub simulate: bool,

    /// For testing: pack every message, also those that stay within a node
    #[arg(id = "talisman-pack-all", long = "pack-all", env = "TALISMAN_PACK_ALL", hide_env_values = true)]
    #[arg(help_heading = SIMULATION, value_parser = switch, hide = true)]
    pub pack_all: bool,

    /// For testing: pack and unpack each object after every message
    #[arg(id = "talisman-repack", long = "repack", env = "TALISMAN_REPACK", hide_env_values = true)]
    #[arg(help_heading = SIMULATION, value_parser = switch, hide = true)]
    pub repack: bool,

    /// For testing, with --simulate: run every PE again from what it was given, and compare what it sends
    #[arg(
        id = "talisman-verify-replay",
        long = "verify-replay",
        env = "TALISMAN_VERIFY_REPLAY",
        hide_env_values = true
    )]
    #[arg(help_heading = SIMULATION, value_parser = switch, hide = true)]
    pub verify_replay: bool,

    /// What is measured for load balancing
    #[arg(skip)]
    pub measures: Measures,

    /// For testing: of how much of what has been tables make nothing
    #[arg(skip)]
    #[doc(hidden)]
    pub few: Few,

    /// Record what each PE is given, in this folder
    ///
    /// `talisman replay` runs any of the PEs again from it, alone, also under a debugger. With --ft off or logging.
    /// With --hosts, the nodes of each host write to a folder there.
    #[arg(id = "talisman-record", long = "record", env = "TALISMAN_RECORD", hide_env_values = true)]
    #[arg(help_heading = SEEING)]
    #[arg(value_name = "FOLDER")]
    pub record: Option<PathBuf>,

    /// What `talisman replay` says to a program: run the PE of this record again, and nothing else
    #[arg(id = "talisman-run-again", long = "run-again", env = "TALISMAN_RUN_AGAIN", hide_env_values = true)]
    #[arg(help_heading = SEEING, hide = true)]
    #[arg(value_name = "FILE")]
    pub run_again: Option<PathBuf>,

    /// With it: stop after so many messages
    #[arg(
        id = "talisman-run-again-until",
        long = "run-again-until",
        env = "TALISMAN_RUN_AGAIN_UNTIL",
        hide_env_values = true
    )]
    #[arg(help_heading = SEEING, hide = true)]
    #[arg(value_name = "STEP", value_parser = whole::<u64>("after how many messages"))]
    pub run_again_until: Option<u64>,

    /// Write a report to this file, as JSON
    ///
    /// Results, times, message counts. With /dev/stdout it follows the output.
    #[arg(id = "talisman-report", long = "report", env = "TALISMAN_REPORT", hide_env_values = true)]
    #[arg(help_heading = SEEING)]
    #[arg(value_name = "FILE.json")]
    pub report: Option<PathBuf>,

    /// Write what each PE did to this file, for Perfetto's viewer
    ///
    /// Entries, messages, idle times, checkpoints, balancing steps, moves, recoveries. `talisman trace` sums it up. Nodes write parts
    /// beside it, in FILE.pftrace.parts, which are put together at the end; of a job that died, `talisman trace` does so.
    #[arg(id = "talisman-trace", long = "trace", env = "TALISMAN_TRACE", hide_env_values = true)]
    #[arg(help_heading = SEEING)]
    #[arg(value_name = "FILE.pftrace")]
    pub trace: Option<PathBuf>,

    /// With --trace: from when to when, as 10s..20s
    ///
    /// Since the program's start.
    #[arg(
        id = "talisman-trace-window",
        long = "trace-window",
        env = "TALISMAN_TRACE_WINDOW",
        hide_env_values = true
    )]
    #[arg(help_heading = SEEING)]
    #[arg(value_name = "FROM..UNTIL")]
    pub trace_window: Option<TraceWindow>,

    /// With --trace: so much of each period, as 200ms/10s
    ///
    /// Periods begin with the program, or with the window.
    #[arg(
        id = "talisman-trace-every",
        long = "trace-every",
        env = "TALISMAN_TRACE_EVERY",
        hide_env_values = true
    )]
    #[arg(help_heading = SEEING)]
    #[arg(value_name = "PART/PERIOD")]
    pub trace_every: Option<TraceEvery>,

    /// With --trace: disk space for its parts
    ///
    /// Each node has its share of it. What comes later is not kept.
    #[arg(
        id = "talisman-trace-size",
        long = "trace-size",
        env = "TALISMAN_TRACE_SIZE",
        hide_env_values = true
    )]
    #[arg(help_heading = SEEING)]
    #[arg(value_name = "SIZE", value_parser = size, default_value = "1GiB")]
    pub trace_size: u64,

    /// Serve a page about the running job, and /metrics
    ///
    /// At this address, of which a port alone will do: of this machine unless another is said, at a free port with 0. The link is printed;
    /// nobody gets anything without what it has behind `token=`. The job has processes of its own then, also with one node.
    #[arg(id = "talisman-dashboard", long = "dashboard", env = "TALISMAN_DASHBOARD", hide_env_values = true)]
    #[arg(help_heading = SEEING)]
    #[arg(value_name = "ADDRESS", value_parser = dashboard_address)]
    pub dashboard: Option<SocketAddr>,

    /// Show the number of finished steps on standard error
    ///
    /// With their rate.
    #[arg(id = "talisman-progress", long = "progress", env = "TALISMAN_PROGRESS", hide_env_values = true)]
    #[arg(help_heading = SEEING, value_parser = switch)]
    pub progress: bool,

    /// Label each line of output with its node
    #[arg(
        id = "talisman-label-output",
        long = "label-output",
        env = "TALISMAN_LABEL_OUTPUT",
        hide_env_values = true
    )]
    #[arg(help_heading = SEEING, value_parser = switch)]
    pub label_output: bool,

    /// Do not say at the end which options would help
    ///
    /// The report has it nevertheless.
    #[arg(id = "talisman-no-advice", long = "no-advice", env = "TALISMAN_NO_ADVICE", hide_env_values = true)]
    #[arg(help_heading = SEEING, value_parser = switch)]
    pub no_advice: bool,

    /// Log filter for standard error: a level, target=level
    ///
    /// Several are separated by commas: "warn,talisman::balance=debug". Levels are off, error, warn, info, debug and trace; targets
    /// talisman::launch, control, transport, checkpoint, recovery, balance and collection. Each line has its time, level and target
    /// then. Not for a program that installs a `tracing` subscriber of its own [default: RUST_LOG, else info without these]
    #[arg(id = "talisman-log", long = "log", env = "TALISMAN_LOG", hide_env_values = true)]
    #[arg(help_heading = SEEING)]
    #[arg(value_name = "FILTER", value_parser = readable)]
    pub log: Option<String>,
}
