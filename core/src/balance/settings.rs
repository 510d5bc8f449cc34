//! What the options say of load balancing, as a PE's part in a step follows from it.

use super::message::Why;
use super::record::{Recorded, Recorder};
use talisman_base::ids::PeId;
use talisman_job::balancing::{Every, LbSettings};
use talisman_job::strategies::choice;
use talisman_kernel::pe::Pe;
use talisman_lb::member::Member;
use talisman_lb::member::central::Central;
use talisman_lb::strategies::Choice;

impl Why {
    /// What a trigger is called in the log and the report.
    pub fn name(self, settings: &LbSettings) -> &'static str {
        match self {
            Why::Period | Why::Sync if settings.every == Every::Auto => "auto",
            Why::Period => "period",
            Why::Sync => "sync",
            Why::Request | Why::Asked => "request",
            Why::Membership => "membership",
        }
    }

    /// Whether it is found out first what a step is worth.
    pub fn looks_first(self, settings: &LbSettings) -> bool {
        match self {
            Why::Period => true,
            Why::Sync => settings.every == Every::Auto,
            Why::Request | Why::Membership | Why::Asked => false,
        }
    }
}

/// What decides on a PE in a step.
pub fn member(settings: &LbSettings, pe: &Pe, step: u32, why: Option<Why>) -> Box<dyn Member> {
    let (number, pes) = (pe.view().rank(pe.id), pe.view().pes());
    let member = deciding(settings, number, pes);
    let Some(folder) = settings.dump.clone() else { return member };
    let recorder = Recorder {
        folder,
        step,
        trigger: why.map_or("", |why| why.name(settings)).into(),
        strategy: settings.balancer.clone(),
        job: pe.node.job.clone(),
    };
    Box::new(Recorded::new(member, Central::new(Box::new(recorder), number, pes)))
}

fn deciding(settings: &LbSettings, pe: PeId, pes: u32) -> Box<dyn Member> {
    match choice(&settings.balancer).expect("its name was checked with the options") {
        Choice::Central(strategy) => Box::new(Central::new(strategy, pe, pes)),
        Choice::Distributed(strategy) => strategy.member(pe, pes),
    }
}
