//! What is said of a case instead of what its seed has.

use std::fmt::{self, Display};
use std::str::FromStr;

use talisman::simulation::DiskRates;

use super::classes::{BORNE, HARMFUL, NEWER};
use super::{Again, Drawn, Strikes, Survival};

/// Said on the command line, or found by shrinking.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct Overrides {
    /// The program
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// How large the program is; 1 is smallest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub size: Option<u32>,
    /// Nodes of each host (1,2,2)
    #[arg(long, value_name = "NUMBERS")]
    pub hosts: Option<HostSizes>,
    /// Nodes; if there are hosts for fewer, the others are on hosts of their own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub nodes: Option<u32>,
    /// PEs of each node
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub pes: Option<u32>,
    /// How the job survives losses: off, asked (checkpoints when the program wants them), 200us, 5steps; disk:200us, and the like,
    /// with checkpoints on disk
    #[arg(long, value_name = "WHEN")]
    pub ft: Option<Survival>,
    /// Whether a job that survives losses survives that of its launcher, on one host
    #[arg(long, value_name = "BOOL")]
    pub heirs: Option<bool>,
    /// Whether nodes that are lost get other processes, in a job that survives losses
    #[arg(long, value_name = "BOOL")]
    pub respawn: Option<bool>,
    /// Whether somebody asks such a job for checkpoints, to let nodes go, and to take them up again
    #[arg(long, value_name = "BOOL")]
    pub requests: Option<bool>,
    /// Processes that wait to take a lost node's place, in such a job
    #[arg(long, value_name = "N")]
    pub spares: Option<u32>,
    /// Nodes that may be added to such a job, and are asked for
    #[arg(long, value_name = "N")]
    pub more: Option<u32>,
    /// Whether a job that survives losses survives that of its launcher, or of that one's host, on several hosts
    #[arg(long, value_name = "BOOL")]
    pub succession: Option<bool>,
    /// Whether PEs that have halted read their links on until their node is told how to go on, in a job that survives losses
    #[arg(long, value_name = "BOOL")]
    pub lingers: Option<bool>,
    /// The classes of faults that the seed has, instead of those that it draws
    #[arg(long, value_name = "CLASSES", value_delimiter = ',', value_parser = class)]
    pub only: Vec<String>,
    /// The numbers of the faults that happen, of those that the seed has (0,3), or `none`
    #[arg(long, value_name = "NUMBERS")]
    pub faults: Option<Kept>,
    /// What does not happen by itself: lost, doubled, altered, truncated, reset, late, pause, disk (all of that), disk-lies,
    /// disk-misdirects; nor at its own moment: disk-hangs, crowd; `limits`: queues are as large as on real nodes
    #[arg(long, value_name = "CLASSES", value_delimiter = ',', value_parser = CALM)]
    pub calm: Vec<String>,
    /// What happens at a step instead of all that the seed has: kills a node (2@17), the launcher (launcher@17) or a host
    /// (host1@17), stops a node for milliseconds (stop2:500@17), resets all connections (resets@17); or several (2@17,1@40)
    #[arg(long, value_name = "WHAT@STEP", alias = "crash")]
    pub strikes: Option<Strikes>,
}

/// What comes by rates, and can be left out.
pub const CALM: [&str; 13] = [
    "lost",
    "doubled",
    "altered",
    "truncated",
    "reset",
    "late",
    "pause",
    "limits",
    "disk",
    "disk-lies",
    "disk-misdirects",
    "disk-hangs",
    "crowd",
];

/// How many nodes there are on each host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSizes(pub Vec<u32>);

/// Numbers of faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept(pub Vec<usize>);

impl Overrides {
    /// Whether something that comes by itself was left out.
    pub fn is_calm(&self, class: &str) -> bool {
        let is_instead = self.strikes.is_some() && class != "limits";
        is_instead || self.calm.iter().any(|calm| calm == class)
    }

    /// What is left of how often things go wrong on disks.
    pub(super) fn calmed(&self, disk: DiskRates) -> DiskRates {
        let left = |class: &str, ppm: u32| if self.is_calm(class) { 0 } else { ppm };
        match self.is_calm("disk") {
            true => DiskRates::default(),
            false => DiskRates {
                lying_ppm: left("disk-lies", disk.lying_ppm),
                misdirected_ppm: left("disk-misdirects", disk.misdirected_ppm),
                ..disk
            },
        }
    }

    /// Sees that all faults that are to be left are among those that the seed has.
    pub(super) fn check_kept<'a>(&self, drawn: impl Iterator<Item = &'a Drawn>) -> Result<(), String> {
        let known: Vec<usize> = drawn.map(|drawn| drawn.number).collect();
        let asked = self.faults.iter().flat_map(|Kept(numbers)| numbers);
        match asked.into_iter().find(|number| !known.contains(number)) {
            Some(number) => Err(format!("this seed has no fault {number}; see it without --faults")),
            None => Ok(()),
        }
    }

    /// The faults that are left.
    pub(super) fn kept(&self, mut drawn: Vec<Drawn>) -> Vec<Drawn> {
        if let Some(Kept(numbers)) = &self.faults {
            drawn.retain(|drawn| numbers.contains(&drawn.number));
        }
        drawn
    }

    /// The same in jobs that are started again.
    pub(super) fn kept_again(&self, again: Vec<Again>) -> Vec<Again> {
        again.into_iter().map(|again| Again { faults: self.kept(again.faults), ..again }).collect()
    }
}

impl Display for Overrides {
    /// As on a command line, each with a space before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut option = |name: &str, value: Option<&dyn Display>| match value {
            Some(value) => write!(f, " --{name} {value}"),
            None => Ok(()),
        };
        option("workload", self.workload.as_ref().map(|it| it as _))?;
        option("size", self.size.as_ref().map(|it| it as _))?;
        option("hosts", self.hosts.as_ref().map(|it| it as _))?;
        option("nodes", self.nodes.as_ref().map(|it| it as _))?;
        option("pes", self.pes.as_ref().map(|it| it as _))?;
        option("ft", self.ft.as_ref().map(|it| it as _))?;
        option("heirs", self.heirs.as_ref().map(|it| it as _))?;
        option("respawn", self.respawn.as_ref().map(|it| it as _))?;
        option("requests", self.requests.as_ref().map(|it| it as _))?;
        option("spares", self.spares.as_ref().map(|it| it as _))?;
        option("more", self.more.as_ref().map(|it| it as _))?;
        option("succession", self.succession.as_ref().map(|it| it as _))?;
        option("lingers", self.lingers.as_ref().map(|it| it as _))?;
        let only = self.only.join(",");
        option("only", (!only.is_empty()).then_some(&only as _))?;
        option("faults", self.faults.as_ref().map(|it| it as _))?;
        let calm = self.calm.join(",");
        option("calm", (!calm.is_empty()).then_some(&calm as _))?;
        option("strikes", self.strikes.as_ref().map(|it| it as _))
    }
}

impl Display for HostSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<_> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&sizes.join(","))
    }
}

impl FromStr for HostSizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = |text: &str| text.parse().ok().filter(|nodes| *nodes > 0);
        let sizes: Option<Vec<u32>> = text.split(',').map(size).collect();
        sizes
            .map(HostSizes)
            .ok_or_else(|| format!("`{text}` does not say how many nodes each host has, as 1,2,2"))
    }
}

impl Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<_> = self.0.iter().map(usize::to_string).collect();
        f.write_str(if numbers.is_empty() { "none" } else { "" })?;
        f.write_str(&numbers.join(","))
    }
}

impl FromStr for Kept {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is no number of a fault"));
        match text {
            "none" => Ok(Kept::default()),
            text => text.split(',').map(number).collect::<Result<_, _>>().map(Kept),
        }
    }
}

fn class(text: &str) -> Result<String, String> {
    let all = || BORNE.iter().chain(HARMFUL).chain(NEWER);
    match all().any(|class| *class == text) {
        true => Ok(text.into()),
        false => {
            let all: Vec<_> = all().copied().collect();
            Err(format!("there is no class `{text}` of faults; there are {}", all.join(", ")))
        }
    }
}
