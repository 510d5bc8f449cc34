//! Whether a job that gave up might have gone on, as only the world can tell: it knows what every process holds.

use std::collections::{BTreeMap, BTreeSet};

use talisman_ft::Version;
use talisman_ft::view::View;

use super::fault::What;
use super::process::{Process, Stage};
use super::shelves::can_be_read;
use super::world::World;
use crate::cluster::verdict::UNRECOVERABLE;
use crate::launch::checkpoints::FaultTolerance;

/// What is left of a version.
struct Rest {
    view: View,
    held: BTreeSet<u32>,
}

impl World {
    /// The launcher knows perhaps how the job ends; before, it knew of this status.
    pub(super) fn judge_end(&self, before: Option<i32>) {
        let status = self.launcher.borrow().status();
        let gave_up = status != before && status == Some(UNRECOVERABLE);
        let all_went = self.nodes.iter().all(|process| process.went.get());
        let can_be_read = can_be_read(self.plan.disk) || self.plan.options.ft != FaultTolerance::Disk;
        if self.survives() && gave_up && all_went && can_be_read && self.lost_by_deaths_only() {
            let might = self.might_go_on();
            self.flaws.borrow_mut().extend(might.map(|how| format!("the job gave up, and might {how}")));
        }
    }

    /// Who was only late, or cut off, may have been taken for dead; who is dead is.
    fn lost_by_deaths_only(&self) -> bool {
        self.hurt.borrow().iter().all(|(_, what)| match what {
            What::LauncherLoss => self.plan.has_heirs(),
            What::Stop { .. }
            | What::Slow { .. }
            | What::Cut { .. }
            | What::Terminate { .. }
            | What::ClockJump { .. }
            | What::ClockDrift { .. }
            | What::LauncherStop { .. } => false,
            _ => true,
        })
    }

    /// How it might have gone on, if it might.
    fn might_go_on(&self) -> Option<String> {
        let living: Vec<_> = self.nodes.iter().filter(|process| process.stage.get() == Stage::Up).collect();
        let committed = self.nodes.iter().flat_map(committed).max();
        match (living.len(), committed, newest_whole(&living)) {
            (0, ..) => None,
            (_, None, _) => Some("have begun anew, since nothing was ever committed".into()),
            (_, Some(committed), Some(whole)) if whole >= committed => {
                Some(format!("have gone back to version {whole}, which is whole"))
            }
            _ => None,
        }
    }
}

/// Versions that a process knows, or knew, to be committed.
fn committed(process: &Process) -> Vec<Version> {
    let held = process.lives.store.held();
    held.iter().filter(|held| held.committed).map(|held| held.version).collect()
}

/// The newest version of which these hold every part.
fn newest_whole(living: &[&Process]) -> Option<Version> {
    let mut rests: BTreeMap<Version, Rest> = BTreeMap::new();
    for held in living.iter().flat_map(|process| process.lives.store.held()) {
        let rest = rests.entry(held.version);
        rest.or_insert_with(|| Rest { view: held.view, held: BTreeSet::new() }).held.extend(held.held);
    }
    let is_whole = |rest: &Rest| rest.view.there().all(|node| rest.held.contains(&node));
    rests.into_iter().rev().find(|(_, rest)| is_whole(rest)).map(|(version, _)| version)
}
