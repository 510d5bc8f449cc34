//! What is said of a case instead of what its seed has.

use std::fmt::{self, Display};
use std::str::FromStr;

use talisman::simulation::What;

use super::{Drawn, Moment};

/// Said on the command line, or found by shrinking.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct Overrides {
    /// The program
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// How large the program is; 1 is smallest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub size: Option<u32>,
    /// Nodes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub nodes: Option<u32>,
    /// PEs of each node
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub pes: Option<u32>,
    /// The numbers of the faults that happen, of those that the seed has (0,3), or `none`
    #[arg(long, value_name = "NUMBERS")]
    pub faults: Option<Kept>,
    /// What does not happen by itself: lost, doubled, altered, truncated, reset, late, pause, disk; `limits`: queues are as large as
    /// on real nodes
    #[arg(long, value_name = "CLASSES", value_delimiter = ',', value_parser = CALM)]
    pub calm: Vec<String>,
    /// Kills a node, or the `launcher`, at an event, instead of all that the seed has
    #[arg(long, value_name = "NODE@EVENT")]
    pub crash: Option<Victim>,
}

/// What comes by rates, and can be left out.
pub const CALM: [&str; 9] =
    ["lost", "doubled", "altered", "truncated", "reset", "late", "pause", "limits", "disk"];

/// Numbers of faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept(pub Vec<usize>);

/// Who is killed, and at which event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Victim {
    /// A node; the launcher, if none.
    pub node: Option<u32>,
    /// Just before this event.
    pub event: u64,
}

impl Overrides {
    /// Whether something that comes by itself was left out.
    pub fn is_calm(&self, class: &str) -> bool {
        let is_instead = self.crash.is_some() && class != "limits";
        is_instead || self.calm.iter().any(|calm| calm == class)
    }

    /// The faults that are left.
    pub(super) fn kept(&self, drawn: Vec<Drawn>, nodes: u32) -> Result<Vec<Drawn>, String> {
        match (self.crash, &self.faults) {
            (Some(Victim { node: Some(node), .. }), _) if node >= nodes => {
                Err(format!("there is no node {node} to crash: there are {nodes}"))
            }
            (Some(victim), _) => Ok(vec![victim.fault()]),
            (None, None) => Ok(drawn),
            (None, Some(Kept(numbers))) => {
                let known = |number: &&usize| drawn.iter().any(|drawn| drawn.number == **number);
                if let Some(number) = numbers.iter().find(|number| !known(number)) {
                    return Err(format!("this seed has no fault {number}; see it without --faults"));
                }
                Ok(drawn.into_iter().filter(|drawn| numbers.contains(&drawn.number)).collect())
            }
        }
    }
}

impl Victim {
    fn fault(self) -> Drawn {
        let what = self.node.map_or(What::LauncherLoss, |node| What::Crash { node });
        Drawn { number: 0, moment: Moment::Event(self.event), what }
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
        option("nodes", self.nodes.as_ref().map(|it| it as _))?;
        option("pes", self.pes.as_ref().map(|it| it as _))?;
        option("faults", self.faults.as_ref().map(|it| it as _))?;
        let calm = self.calm.join(",");
        option("calm", (!calm.is_empty()).then_some(&calm as _))?;
        option("crash", self.crash.as_ref().map(|it| it as _))
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

impl Display for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node {
            Some(node) => write!(f, "{node}@{}", self.event),
            None => write!(f, "launcher@{}", self.event),
        }
    }
}

impl FromStr for Victim {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("`{text}` is not of the form 2@17 or launcher@17");
        let (who, event) = text.split_once('@').ok_or_else(form)?;
        let node = match who {
            "launcher" => None,
            node => Some(node.parse().map_err(|_| form())?),
        };
        Ok(Victim { node, event: event.parse().map_err(|_| form())? })
    }
}
