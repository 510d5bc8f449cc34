//! A case's runs: the calm one, the one with faults, perhaps that one again; and what is wrong with them.

use crate::case::{Case, Length};
use crate::played::{Played, Stage};
use crate::verdict::{self, Failure, Kind};
use talisman::simulation::Plan;

/// What became of a case.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The world with faults, if it came to that.
    pub plan: Option<Plan>,
    /// The runs there were: the calm one, the one with faults, and that one again.
    pub played: Vec<Played>,
    /// What was wrong.
    pub failures: Vec<Failure>,
}

/// Runs a case and judges it. `again`: whether it has to be the same again.
pub fn judged(stage: &dyn Stage, case: &Case, again: bool, logging: bool) -> Judged {
    let calm = stage.play(case, &case.calm_plan(), false);
    let failures = verdict::failures_of_calm(&calm);
    if !failures.is_empty() {
        return Judged { plan: None, played: vec![calm], failures };
    }
    judged_beside(stage, case, calm, again, logging)
}

/// The same, when the calm run is known.
pub fn judged_beside(stage: &dyn Stage, case: &Case, calm: Played, again: bool, logging: bool) -> Judged {
    let plan = case.plan(calm.length());
    let once = stage.play(case, &plan, logging);
    let mut failures = verdict::failures(&plan, &calm, &once);
    let mut played = vec![calm, once];
    if again {
        let twin = stage.play(case, &plan, false);
        failures.extend(verdict::unequal(&played[1], &twin));
        played.push(twin);
    }
    Judged { plan: Some(plan), played, failures }
}

impl Played {
    /// How long it was.
    pub fn length(&self) -> Length {
        Length { ns: self.lasted_ns, events: self.events }
    }
}

impl Judged {
    /// The run that shows the most: the one with faults, if there was one.
    pub fn main(&self) -> &Played {
        self.played.get(1).unwrap_or(&self.played[0])
    }

    /// Whether it failed as it once did.
    pub fn fails_like(&self, failure: &Failure) -> bool {
        self.failures.iter().any(|other| other.is_like(failure))
    }

    /// Whether any of this kind is among the failures.
    pub fn has(&self, kind: Kind) -> bool {
        self.failures.iter().any(|failure| failure.kind == kind)
    }
}
