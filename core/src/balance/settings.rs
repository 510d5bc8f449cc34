//! How load balancing is to be done, as the options say.

use std::path::PathBuf;

use talisman_lb::member::Member;
use talisman_lb::member::central::Central;
use talisman_lb::strategies::{Choice, KNOWN, UnknownStrategy, by_name_among};
use talisman_lb::strategy::Wants;

use super::message::Why;
use super::record::{Recorded, Recorder};
use super::registered;
use crate::launch::RunArgs;
use crate::launch::balancing::{Every, PeSpeed};
use crate::measure::Measures;
use crate::pe::Pe;
use talisman_base::ids::PeId;

/// `--balancer off`.
pub(crate) const OFF: &str = "off";

/// What the options say of load balancing, if it is on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    /// The name of the strategy, or several with `+` between them.
    pub(crate) balancer: String,
    pub(crate) every: Every,
    /// Where to write what each step knew.
    pub(crate) dump: Option<PathBuf>,
    /// Whether to write a line about each step.
    pub(crate) logs: bool,
    /// Bytes that the objects of a node may take.
    pub(crate) node_memory: Option<u64>,
    speeds: Vec<PeSpeed>,
}

impl Settings {
    /// None if objects stay where they are.
    pub(crate) fn of(options: &RunArgs) -> Option<Self> {
        (options.balancer != OFF).then(|| Settings {
            balancer: options.balancer.clone(),
            every: options.lb_every,
            dump: options.lb_dump.clone(),
            logs: options.lb_log || options.progress,
            node_memory: options.node_memory,
            speeds: options.pe_speeds.clone(),
        })
    }

    /// What a trigger is called in the log and the report.
    pub(crate) fn name_of(&self, why: Why) -> &'static str {
        match why {
            Why::Period | Why::Sync if self.every == Every::Auto => "auto",
            Why::Period => "period",
            Why::Sync => "sync",
            Why::Request => "request",
            Why::Membership => "membership",
        }
    }

    /// What has to be measured.
    pub(crate) fn measures(&self) -> Measures {
        Measures { loads: true, edges: self.wants().edges, sizes: true }
    }

    /// What the strategies want to know; who replays a file may want to know everything.
    pub(crate) fn wants(&self) -> Wants {
        let wants = choice(&self.balancer).map_or_else(|_| Wants::default(), |choice| choice.wants());
        Wants { edges: wants.edges || self.dump.is_some() }
    }

    /// How fast a PE is.
    pub(crate) fn speed(&self, pe: PeId) -> f64 {
        match self.speeds.len() {
            0 => 1.0,
            given => self.speeds[pe as usize % given].factor(),
        }
    }

    /// Whether a step belongs to `cx.at_sync()`.
    pub(crate) fn balances_at_sync(&self) -> bool {
        !matches!(self.every, Every::Time(_))
    }

    /// Whether it is found out first what a step is worth.
    pub(crate) fn looks_first(&self, why: Why) -> bool {
        match why {
            Why::Period => true,
            Why::Sync => self.every == Every::Auto,
            Why::Request | Why::Membership => false,
        }
    }

    /// What decides on a PE in a step.
    pub(crate) fn member(&self, pe: &Pe, step: u32, why: Option<Why>) -> Box<dyn Member> {
        let (number, pes) = (pe.view().rank(pe.id), pe.view().pes());
        let member = self.deciding(number, pes);
        let Some(folder) = self.dump.clone() else { return member };
        let recorder = Recorder {
            folder,
            step,
            trigger: why.map_or("", |why| self.name_of(why)).into(),
            strategy: self.balancer.clone(),
            job: pe.node.job.clone(),
        };
        Box::new(Recorded::new(member, Central::new(Box::new(recorder), number, pes)))
    }

    fn deciding(&self, pe: PeId, pes: u32) -> Box<dyn Member> {
        match choice(&self.balancer).expect("its name was checked with the options") {
            Choice::Central(strategy) => Box::new(Central::new(strategy, pe, pes)),
            Choice::Distributed(strategy) => strategy.member(pe, pes),
        }
    }
}

/// Whether there is such a strategy; if not, which there are.
///
/// # Errors
/// A message that names the unknown one and those that there are.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    if name == OFF { Ok(()) } else { choice(name).map(drop).map_err(|error| format!("{name}: {error}")) }
}

/// What `--balancer` is, with the names that it takes: the program's own first.
pub(crate) fn help() -> String {
    let own = registered::all();
    let names: Vec<&str> = own.iter().chain(KNOWN).map(|known| known.name).collect();
    format!(
        "Move objects between PEs so that all have equally much to do, as this strategy decides; several with + between them go one \
         after the other. \"off\": objects stay where they are.\n\nStrategies: {}",
        names.join(", ")
    )
}

/// The strategies of this name, the program's own among them.
fn choice(name: &str) -> Result<Choice, UnknownStrategy> {
    by_name_among(name, &registered::all())
}
