//! How load balancing is to be done, as the options say.

use std::path::PathBuf;

use talisman_job::strategies::{OFF, choice};
use talisman_lb::member::Member;
use talisman_lb::member::central::Central;
use talisman_lb::strategies::Choice;
use talisman_lb::strategy::Wants;

use super::message::Why;
use super::record::{Recorded, Recorder};
use crate::pe::Pe;
use talisman_base::ids::PeId;
use talisman_job::Measures;
use talisman_job::RunArgs;
use talisman_job::balancing::{Every, PeSpeed};

/// What the options say of load balancing, if it is on.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The name of the strategy, or several with `+` between them.
    pub balancer: String,
    pub every: Every,
    /// Where to write what each step knew.
    pub dump: Option<PathBuf>,
    /// Whether to write a line about each step.
    pub logs: bool,
    /// Bytes that the objects of a node may take.
    pub node_memory: Option<u64>,
    speeds: Vec<PeSpeed>,
}

impl Settings {
    /// None if objects stay where they are.
    pub fn of(options: &RunArgs) -> Option<Self> {
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
    pub fn name_of(&self, why: Why) -> &'static str {
        match why {
            Why::Period | Why::Sync if self.every == Every::Auto => "auto",
            Why::Period => "period",
            Why::Sync => "sync",
            Why::Request => "request",
            Why::Membership => "membership",
        }
    }

    /// What has to be measured.
    pub fn measures(&self) -> Measures {
        Measures { loads: true, edges: self.wants().edges, sizes: true }
    }

    /// What the strategies want to know; who replays a file may want to know everything.
    pub fn wants(&self) -> Wants {
        let wants = choice(&self.balancer).map_or_else(|_| Wants::default(), |choice| choice.wants());
        Wants { edges: wants.edges || self.dump.is_some() }
    }

    /// How fast a PE is.
    pub fn speed(&self, pe: PeId) -> f64 {
        match self.speeds.len() {
            0 => 1.0,
            given => self.speeds[pe as usize % given].factor(),
        }
    }

    /// Whether a step belongs to `cx.at_sync()`.
    pub fn balances_at_sync(&self) -> bool {
        !matches!(self.every, Every::Time(_))
    }

    /// Whether it is found out first what a step is worth.
    pub fn looks_first(&self, why: Why) -> bool {
        match why {
            Why::Period => true,
            Why::Sync => self.every == Every::Auto,
            Why::Request | Why::Membership => false,
        }
    }

    /// What decides on a PE in a step.
    pub fn member(&self, pe: &Pe, step: u32, why: Option<Why>) -> Box<dyn Member> {
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
