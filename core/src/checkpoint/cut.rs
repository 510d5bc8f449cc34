//! A cut at which all PEs are made anew from their own parts, in a job that logs (`--ft logging`).
//!
//! The coordinated checkpoint comes as far as all having taken their parts. Then nobody thaws: who drives the PEs has each part kept twice,
//! drops the PEs once all are, and makes others from the parts. So what a lost PE is restored to is what the others were made of, by the
//! same function, and it does the same again: nothing of the runtime's own tables has to be in a part.

use std::time::Duration;

use easy_ext::ext;

use super::contents::ContentsOnPe;
use super::part::Part;
use super::root::Root;
use crate::balance::root::BalancingRootOnPe;
use crate::checkpoint::CheckpointsOnPe;
use crate::checkpoint::root::CheckpointRootOnPe;
use talisman_ft::Version;
use talisman_ft::double::Contents;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::turn::world;
use talisman_kernel::route::Route;
use talisman_observe::event::Event;
use talisman_pup::Packed;
use talisman_store::versions::StoreError;

#[ext(CutOnPe)]
pub impl Pe {
    /// The version of which this PE has taken its part, and has said so: it does nothing more. None where PEs go on by themselves, and where
    /// there was no memory for the part.
    fn has_cut(&self) -> Option<Version> {
        let checkpoints = self.checkpoints().filter(|checkpoints| checkpoints.settings.renews)?;
        let version = checkpoints.version.get();
        let is_over = !checkpoints.refused.get() && checkpoints.drain.has_reported();
        (is_over && checkpoints.lacks.get() != version).then_some(version)
    }

    /// The last version that will never be complete, as this PE knows, and whether there was no memory for its own part of that: all go on
    /// without it. 0 before there is any.
    fn given_up_cut(&self) -> (Version, bool) {
        let checkpoints = self.checkpoints().filter(|checkpoints| checkpoints.settings.renews);
        let given_up = |checkpoints: &super::Checkpoints| {
            let version = checkpoints.given_up.get();
            (version, checkpoints.lacks.get() == version)
        };
        checkpoints.map_or((0, false), given_up)
    }

    /// What a PE begins with that is made in the place of this one: its part of a version, packed as one of a list. Once those of all PEs of
    /// the node have been asked for, the store need not have them any more ([`drop_cut`](CutOnPe::drop_cut)).
    ///
    /// # Errors
    /// It is not there.
    fn part_of_cut(&self, version: Version) -> Result<Packed, StoreError> {
        let cut = self.checkpoints().and_then(|checkpoints| checkpoints.cut.borrow().clone());
        let cut = cut.filter(|(of, _)| *of == version).map(|(_, part)| part);
        cut.ok_or(StoreError::Missing { pe: self.id, version })
    }

    /// How many objects of which collections are in the parts of this node.
    ///
    /// # Errors
    /// One is not there, or is not what it was.
    fn contents_of_cut(&self, version: Version) -> Result<Contents, StoreError> {
        let first = self.first_pe;
        let pes = first..first + self.node.shape.pes_per_node;
        let parts = pes.map(|pe| self.node.store.part(version, pe)).collect::<Result<Vec<Part>, _>>()?;
        Ok(self.contents_of_node(&parts))
    }

    /// The parts of this node are elsewhere.
    fn drop_cut(&self, version: Version) {
        self.node.store.give_up(version);
    }

    /// Before this fresh PE takes back its parts of the cut of this version: when the next one comes. Nothing where there are no such cuts.
    fn go_on_from_cut(&self, version: Version, parts: &[Part]) {
        let renews = |checkpoints: &&super::Checkpoints| checkpoints.settings.renews;
        let Some(checkpoints) = self.checkpoints().filter(renews) else { return };
        let step = parts.iter().map(|part| part.steps).max().unwrap_or(0);
        checkpoints.version.set(version);
        checkpoints.step.set(step);
        if !self.is_first() {
            return;
        }
        // Another process than the one that took it may not know what it cost.
        let cost = world(|| self.node.job.checkpoints().last().map(|taken| taken.commit_s));
        let cost = cost.and_then(|cost| Duration::try_from_secs_f64(cost).ok());
        checkpoints.root.borrow_mut().go_on(step, cost);
        // Its clock says when its part was taken: the period begins when it goes on.
        self.timers.checkpoint.set(None);
        self.timers.balance.set(None);
    }

    /// The first turn after a cut: periods begin, of checkpoints and of balancing.
    fn begin_periods_after_cut(&self) {
        let renews = |checkpoints: &&super::Checkpoints| checkpoints.settings.renews;
        if let Some(checkpoints) = self.checkpoints().filter(|_| self.is_first()).filter(renews) {
            self.set_checkpoint_timer(checkpoints);
            self.begin_balancing();
        }
    }

    /// Before this PE is dropped, as the cut of which it has taken its part is committed. The first PE tells of it.
    fn end_cut(&self) {
        let Some(checkpoints) = self.checkpoints().filter(|_| self.is_first()) else { return };
        let Some(done) = checkpoints.root.borrow_mut().take_running() else { return };
        let version = checkpoints.version.get();
        self.observe(|| Event::CheckpointCommitted { version });
        let taken = done.blocked.unwrap_or_default().1;
        // Until now: no entry has run since it began.
        let blocked = self.clock.now().saturating_sub(done.begun);
        self.account_for_checkpoint(checkpoints, &done, blocked, taken);
    }
}

impl Root {
    /// Whoever waits for the cut that is under way: told by who is made anew from it.
    pub(super) fn waiting_for_cut(&self) -> Vec<Route> {
        self.running.iter().flat_map(|running| running.then.iter().map(|(_, then)| then.clone())).collect()
    }
}
