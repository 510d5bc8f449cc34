//! What the agents of a job are told beforehand, for the case that its launcher is lost, and what they say then.

use std::ops::Range;
use std::os::fd::RawFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use talisman_base::auth::Secret;
use talisman_control::heritage::Numbers;
use talisman_control::succession::quorum::Roll;
use talisman_job::Results;
use talisman_store::restart::{Restart, Shelves};

/// What a process has to know of a job to lead it, beside its command line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Estate {
    pub(crate) job: u64,
    /// What proves to others that one is of this job.
    pub(crate) secret: Secret,
    /// Whether connections are encrypted, as those of nodes are.
    pub(crate) tls: bool,
    /// How many nodes have a number.
    pub(crate) nodes: u32,
    /// The nodes of each host at the start, and what it is called unless it is the launcher's own, as in the plan of the job.
    pub(crate) hosts: Vec<Vec<u32>>,
    pub(crate) names: Vec<Option<String>>,
    pub(crate) shelves: Option<Shelves>,
    pub(crate) restart: Option<Restart>,
    pub(crate) silence: Duration,
    /// The hosts in the order in which they take the launcher's place: its own first.
    pub(crate) sites: Vec<Site>,
    /// Which of them this is.
    pub(crate) rank: u32,
    /// What only the launcher's own host has.
    pub(crate) legacy: Option<Legacy>,
}

/// A host of the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Site {
    /// Among those of the plan; behind them, if it is only there for the launcher's sake.
    pub(crate) number: u32,
    pub(crate) name: String,
    /// Nodes that it takes.
    pub(crate) slots: u32,
    /// The nodes it had at the start.
    pub(crate) nodes: Range<u32>,
}

/// What an agent inherits that was started by the launcher itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Legacy {
    /// People call the job by this process id.
    pub(crate) launcher: u32,
    /// The number of the descriptor at which the agent listens. The launcher has it too: who is refused there knows that both are dead.
    pub(crate) door: RawFd,
    /// Those that the launcher prints to.
    pub(crate) streams: [RawFd; 2],
    /// What its output goes through.
    pub(crate) spool: Numbers,
    /// What is to be said when it is known whether the program has begun, if somebody stands by for the launcher.
    pub(crate) pledge: Option<RawFd>,
}

/// What an agent says that has lost its launcher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Orphan {
    pub(crate) rank: u32,
    /// The last one it knows.
    pub(crate) roll: Roll,
    /// Nodes whose processes are there.
    pub(crate) nodes: Vec<u32>,
    /// Whether the program has begun there, ever.
    pub(crate) has_begun: bool,
    /// The results of the job, if nobody goes back any more.
    pub(crate) settled: Option<Results>,
    /// For how long at most the launcher had said nothing to it.
    pub(crate) unheard: Duration,
}

/// What a process that takes the launcher's place is started with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Will {
    pub(crate) estate: Estate,
    pub(crate) roll: Roll,
}

impl Estate {
    /// The host of this process, in words, unless it is that of the first launcher.
    pub(crate) fn own_name(&self) -> Option<&str> {
        let site = self.sites.get(self.rank as usize).filter(|_| self.legacy.is_none());
        site.map(|site| site.name.as_str())
    }
}
