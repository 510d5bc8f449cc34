//! Options that cannot be.

use std::path::PathBuf;
use std::time::Duration;

use super::{NODES_MAX, PES_IN_ALL_MAX, PES_MAX, PROCESSES_MAX, SILENCE_MIN};
use crate::faults::Kill;

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
    /// More than one PE per node, where something needs the same addresses on all nodes.
    #[error(
        "--pes {pes}: {by} need nodes of one PE each; take more nodes instead (--nodes {nodes}), without --pes"
    )]
    OnePePerNode {
        /// What was asked for.
        pes: u32,
        /// What needs it.
        by: &'static str,
        /// So many nodes have as many PEs.
        nodes: u64,
    },
    /// `--record` with `--simulate`.
    #[error("--record --simulate: a simulated job runs again by its --seed; leave one of them out")]
    RecordSimulated,
    /// `--record` with an option that has PEs do what is not recorded.
    #[error("--record {option}: what a PE is given then is not all recorded; leave one of them out")]
    NotWithRecord {
        /// Which.
        option: &'static str,
    },
    /// `--record` names a folder that has a record.
    #[error(
        "--record {}: there is a record in it already ({file}); give another folder, or remove that one",
        folder.display()
    )]
    HasRecord {
        /// The path given.
        folder: PathBuf,
        /// One of its files.
        file: String,
    },
    /// `--record` names a folder that cannot be made, or in which no file can.
    #[error("--record {}: no file can be written there: {why}", folder.display())]
    RecordRefused {
        /// The path given.
        folder: PathBuf,
        /// What the system says.
        why: String,
    },
    /// `--trace` names a file that cannot be written, or beside which its parts cannot.
    #[error("--trace {}: it cannot be written: {why}", file.display())]
    TraceRefused {
        /// The path given.
        file: PathBuf,
        /// What the system says.
        why: String,
    },
    /// `--trace` with an option whose PEs cannot be traced.
    #[error("--trace {option}: {why}; leave one of them out")]
    NotWithTrace {
        /// Which.
        option: &'static str,
        /// What is in the way.
        why: &'static str,
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
    #[error("--kill and --chaos kill nodes that are processes; add --nodes 2 or more")]
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
    /// `--lb-dump` names a folder in which no file can be made.
    #[error("--lb-dump {}: no file can be written there: {why}", folder.display())]
    DumpRefused {
        /// The path given.
        folder: PathBuf,
        /// What the system says.
        why: String,
    },
    /// `--ckpt-every` without `--ft`.
    #[error("--ckpt-every: checkpoints are for a job that survives the loss of nodes; add --ft double")]
    CheckpointsWithoutFt,
    /// `--ckpt-dir` without `--ft`.
    #[error(
        "--ckpt-dir: without --ft there are no checkpoints to keep in a folder; add --ft disk, or --ft double for those that are asked for"
    )]
    FolderWithoutFt,
    /// `--ckpt-key` without `--ft` and `--restart`.
    #[error(
        "--ckpt-key: there are no files of checkpoints to write or to read with it; add --ft disk, or --restart FOLDER"
    )]
    KeyWithoutFiles,
    /// `--restart` with `--simulate`.
    #[error("--restart: simulated nodes have no disks to go on from; leave --simulate out")]
    RestartSimulated,
    /// `--max-nodes` without `--ft`.
    #[error("--max-nodes: nodes are added at a checkpoint, of which there are none; add --ft double")]
    MostNodesWithoutFt,
    /// `--max-nodes` with `--simulate`.
    #[error("--max-nodes: no nodes are added to a simulated job; leave out --simulate")]
    MostNodesSimulated,
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
    /// `--ft logging` with one node.
    #[error(
        "--ft logging needs two nodes: a lost node goes on from what others keep of it; add --nodes 2 or more"
    )]
    LoggingAlone,
    /// `--ft logging` with `--simulate`.
    #[error("--ft logging: simulated nodes log nothing; leave --simulate out")]
    LoggingSimulated,
    /// `--log-budget` without `--ft logging`.
    #[error("--log-budget: only a job that logs keeps messages; add --ft logging, or leave it out")]
    BudgetWithoutLogging,
    /// `--ft-check` without `--ft logging`.
    #[error(
        "--ft-check: only a job that logs can be checked against its logs; add --ft logging, or leave it out"
    )]
    CheckWithoutLogging,
    /// `--log-budget` is too little.
    #[error("--log-budget {bytes}: at least {least} bytes, 1MiB for each of the other nodes")]
    BudgetTooSmall {
        /// What was asked for.
        bytes: u64,
        /// What is needed.
        least: u64,
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
    /// `--report` names a file that cannot be written.
    #[error("--report {}: it cannot be written: {why}; name a file in a folder that you may write to", file.display())]
    ReportRefused {
        /// The path given.
        file: PathBuf,
        /// What the system says.
        why: String,
    },
}
