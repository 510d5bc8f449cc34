//! Whether a job that gave up might have gone on, as only the world can tell: it knows what every process holds.

use std::collections::{BTreeMap, BTreeSet};

use talisman_ft::Version;
use talisman_ft::double::{Held, Order};
use talisman_ft::view::View;

use super::control_messages::Letter;
use super::disks::can_be_read;
use super::fault::What;
use super::process::{Process, Stage};
use super::world::World;
use talisman_control::event::Event;
use talisman_control::job_result::UNRECOVERABLE;
use talisman_control::protocol::{ToLauncher, ToNode};
use talisman_job::checkpoints::FaultTolerance;

/// A process that hangs for a year is not there any more.
const FOR_GOOD_NS: u64 = 365 * 24 * 3_600 * 1_000_000_000;

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
        let all_went = self.nodes.iter().all(|process| process.went.get() || process.is_late);
        let can_be_read = can_be_read(self.plan.disk) || self.plan.options.ft != FaultTolerance::Disk;
        if self.survives() && gave_up && all_went && can_be_read && self.lost_by_deaths_only() {
            let might = self.might_go_on();
            self.flaws.borrow_mut().extend(might.map(|how| format!("the job gave up, and might {how}")));
        }
    }

    /// Who was only late, or cut off, may have been taken for dead; who is dead is, and so is who hangs for good.
    fn lost_by_deaths_only(&self) -> bool {
        self.hurt.borrow().iter().all(|(_, what)| match what {
            What::LauncherLoss => self.plan.has_heirs() || self.plan.passes_on(),
            What::Stop { for_ns, .. } => *for_ns >= FOR_GOOD_NS,
            What::Slow { .. }
            | What::Cut { .. }
            | What::Terminate { .. }
            | What::ClockJump { .. }
            | What::ClockDrift { .. }
            | What::LauncherStop { .. } => false,
            _ => true,
        })
    }

    /// Nobody may go back behind this version any more, which no store that is left has to know, or to know later.
    pub(super) fn commit(&self, version: Option<Version>) {
        self.committed.set(self.committed.get().max(version));
    }

    /// All that are left go back to this, and give up what is newer, which none of them knows to be committed, as they have said when they
    /// halted. Who is dead may have known better, and nobody has seen anything of that.
    pub(super) fn forget(&self, order: &Order) {
        let is_given_up = |version: &Version| {
            Some(*version) > order.version.max(self.committed.get()) && *version < order.next_version
        };
        self.forgotten.borrow_mut().extend(self.ever_committed().filter(is_given_up));
    }

    /// The newest version that anybody knows, or knew, to be committed, and that was not given up since.
    pub(super) fn newest_committed(&self) -> Option<Version> {
        let forgotten = self.forgotten.borrow();
        let known = self.ever_committed().filter(|version| !forgotten.contains(version)).max();
        known.max(self.tasks[0].restart.as_ref().map(|restart| restart.version))
    }

    /// The newest version of each process that it knows, or knew when it died, to be committed. Nothing is read for that: disks draw what
    /// becomes of what is read.
    fn ever_committed(&self) -> impl Iterator<Item = Version> {
        self.nodes.ever().filter_map(|process| process.lives.store.committed())
    }

    /// The launcher hears this. What it prints of a period has been seen, so that the version that ended it cannot be taken back.
    pub(super) fn commit_printed(&self, letter: &Letter) {
        if let Letter::Happened(_, _, Event::Said(ToLauncher::Lines(lines))) = letter {
            self.commit(lines.version);
        }
    }

    /// The launcher is about to send this. Whoever it lets go was not needed then, and halts for nobody any more.
    pub(super) fn note_let_go(&self, letter: &Letter) {
        if let Letter::ToNode(number, ToNode::Leave) = letter {
            let process = &self.nodes[*number as usize];
            process.is_let_go.set(process.job.how_it_ended().is_none());
        }
    }

    /// How it might have gone on, if it might.
    fn might_go_on(&self) -> Option<String> {
        let has_anything = |process: &Process| !process.is_late || process.lives.has_begun.get();
        let is_there = |process: &Process| process.stage.get() == Stage::Up && !process.is_let_go.get();
        let is_left = |process: &&Process| is_there(process) && has_anything(process);
        let living: Vec<_> = self.nodes.iter().filter(is_left).collect();
        let committed = self.newest_committed().max(self.committed.get());
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

/// The newest version that a process knows, or knew, to be committed.
pub(super) fn committed(held: &[Held]) -> Option<Version> {
    held.iter().filter(|held| held.committed).map(|held| held.version).max()
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
