//! What the agents of a job are told beforehand, for the case that its launcher is lost, and what they say then.

use std::ops::Range;
use std::os::fd::RawFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use talisman_base::auth::Secret;
use talisman_control::heritage::Numbers;
use talisman_control::succession::quorum::Roll;
use talisman_job::Results;
use talisman_store::restart::{CheckpointDirs, Restart};

/// What a process has to know of a job to lead it, beside its command line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estate {
    pub job: u64,
    /// What proves to others that one is of this job.
    pub secret: Secret,
    /// Whether connections are encrypted, as those of nodes are.
    pub tls: bool,
    /// How many nodes have a number.
    pub nodes: u32,
    /// The nodes of each host at the start, and what it is called unless it is the launcher's own, as in the plan of the job.
    pub hosts: Vec<Vec<u32>>,
    pub names: Vec<Option<String>>,
    pub checkpoint_dirs: Option<CheckpointDirs>,
    pub restart: Option<Restart>,
    pub silence: Duration,
    /// The hosts in the order in which they take the launcher's place: its own first.
    pub sites: Vec<Site>,
    /// Which of them this is.
    pub rank: u32,
    /// What only the launcher's own host has.
    pub legacy: Option<Legacy>,
}

/// A host of the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// Among those of the plan; behind them, if it is only there for the launcher's sake.
    pub number: u32,
    pub name: String,
    /// Nodes that it takes.
    pub slots: u32,
    /// The nodes it had at the start.
    pub nodes: Range<u32>,
}

/// What an agent inherits that was started by the launcher itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Legacy {
    /// People call the job by this process id.
    pub launcher: u32,
    /// The number of the descriptor at which the agent listens. The launcher has it too: who is refused there knows that both are dead.
    pub door: RawFd,
    /// Those that the launcher prints to.
    pub streams: [RawFd; 2],
    /// What its output goes through.
    pub spool: Numbers,
    /// What is to be said when it is known whether the program has begun, if somebody stands by for the launcher.
    pub pledge: Option<RawFd>,
}

/// What an agent says that has lost its launcher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Orphan {
    pub rank: u32,
    /// The last one it knows.
    pub roll: Roll,
    /// Nodes whose processes are there.
    pub nodes: Vec<u32>,
    /// Whether the program has begun there, ever.
    pub has_begun: bool,
    /// The results of the job, if nobody goes back any more.
    pub settled: Option<Results>,
    /// For how long at most the launcher had said nothing to it.
    pub unheard: Duration,
}

/// What a process that takes the launcher's place is started with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Will {
    pub estate: Estate,
    pub roll: Roll,
}

impl Estate {
    /// The host of this process, in words, unless it is that of the first launcher.
    pub fn own_name(&self) -> Option<&str> {
        let site = self.sites.get(self.rank as usize).filter(|_| self.legacy.is_none());
        site.map(|site| site.name.as_str())
    }
}
