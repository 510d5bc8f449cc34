//! What processes have to hold of what was committed, in memory: nobody but the world can look into all of them.
//!
//! It is looked at when it counts, and not only when it is needed: what was dropped too early, or was never held twice, is missed only if
//! just those are lost who have the rest, and then to give up is legal.

use std::collections::BTreeSet;

use super::process::{Process, Running, Stage};
use super::world::World;
use talisman_core::checkpoint::CheckpointsOnPe;
use talisman_ft::Version;
use talisman_ft::double::{Held, Order};
use talisman_job::checkpoints::FaultTolerance;

/// Entries that may have begun before the word that a checkpoint is wanted, beside those that waited when the job went back.
const ENTRIES_BEFORE: u64 = 100;

/// What the first PE of a job that went back owes: a checkpoint, since some of what all went back to is held once.
#[derive(Clone, Copy)]
pub(super) struct Owed {
    /// The first version that there may be.
    version: Version,
    /// It has begun before so many entries have run on that PE.
    before: u64,
}

impl Owed {
    /// If this is the node of the first PE, and has begun as the order says. Who begins anew has nothing yet.
    pub(super) fn after(order: &Order, running: &Running) -> Option<Owed> {
        let pe = &running.pes.first()?.pe;
        order.version.filter(|_| pe.is_first())?;
        let waiting = pe.waiting_messages() as u64;
        Some(Owed { version: order.next_version, before: pe.stats.run.get() + waiting + ENTRIES_BEFORE })
    }
}

impl World {
    /// A node has done something: if its first PE has done so much that it would have begun to make again what is held once, it has.
    pub(super) fn judge_owed(&self, process: &Process) {
        let (Some(owed), Some(running)) = (process.lives.owed.get(), process.running()) else { return };
        let pe = &running.pes[0].pe;
        let has_begun = pe.last_checkpoint() >= Some(owed.version);
        let is_late = pe.stats.run.get() > owed.before;
        if !has_begun && is_late {
            self.flaw(format!("PE {} goes on, and what is held once is not made again", pe.id));
        }
        if has_begun || is_late {
            process.lives.owed.set(None);
        }
    }

    /// A node has done something, after which it may know that a version is committed that nobody knew to be. If all are there who were when it
    /// was taken, each part is held by two nodes then, on different hosts if there are several.
    pub(super) fn judge_commit(&self, process: &Process) {
        let version = process.lives.store.committed();
        if !self.holds_in_memory() || version <= self.known.get() {
            return;
        }
        self.known.set(version);
        version.and_then(|version| self.not_held_twice(version)).into_iter().for_each(|flaw| self.flaw(flaw));
    }

    /// A node has halted, and says what it holds: its own part of the newest version that it knows to be committed is among that, if it took
    /// part in that: what a process that came later was sent may not have come, or have been of a newer one.
    pub(super) fn judge_held(&self, process: &Process, held: &[Held]) {
        let number = process.number;
        let is_own = |held: &Held, version| held.version == version && held.held.contains(&number);
        let known = process.lives.store.committed().filter(|_| self.holds_in_memory());
        let known = known.filter(|version| !process.is_late || Some(*version) > process.lives.fetched.get());
        let dropped = known.filter(|version| !held.iter().any(|held| is_own(held, *version)));
        if let Some(version) = dropped {
            self.flaw(format!(
                "node {number} knows that version {version} is committed, and has not kept its part"
            ));
        }
    }

    /// On disk a part is held when it is written, and may not be read again.
    fn holds_in_memory(&self) -> bool {
        self.plan.options.ft == FaultTolerance::Double
    }

    fn not_held_twice(&self, version: Version) -> Option<String> {
        let of_one = |process: &Process| {
            let held = process.lives.store.held().into_iter().find(|held| held.version == version)?;
            (process.stage.get() == Stage::Up).then_some((process.number, held))
        };
        let all: Vec<(u32, Held)> = self.nodes.iter().filter_map(of_one).collect();
        // Who was let go may hold another one of the same number, of an epoch before.
        let newest = all.iter().map(|(_, held)| held.view.epoch).max()?;
        let all: Vec<_> = all.into_iter().filter(|(_, held)| held.view.epoch == newest).collect();
        let view = &all.first()?.1.view;
        if !view.there().eq(all.iter().map(|(node, _)| *node)) {
            return None;
        }
        let hosts = |nodes: &[u32]| -> BTreeSet<u32> {
            nodes.iter().map(|node| self.nodes[*node as usize].host).collect()
        };
        let there: Vec<u32> = view.there().collect();
        // Of the nodes that stay when these go: who goes need not have its two copies on different hosts.
        let lacking = |leaving: &[u32]| -> Vec<u32> {
            let stays = |node: &u32| !leaving.contains(node);
            let staying: Vec<u32> = there.iter().copied().filter(stays).collect();
            let is_lacking = |part: &u32| {
                let holds = |(node, held): &(u32, Held)| held.held.contains(part).then_some(*node);
                let holders: Vec<u32> = all.iter().filter_map(holds).filter(stays).collect();
                holders.len() < staying.len().min(2)
                    || (stays(part) && hosts(&holders).len() < hosts(&staying).len().min(2))
            };
            there.iter().copied().filter(is_lacking).collect()
        };
        let wrong = lacking(&[]);
        let is_for_a_release =
            || self.may_be_leaving(&there).iter().any(|leaving| lacking(leaving).is_empty());
        let flaw =
            || format!("version {version} is committed, and the parts of nodes {wrong:?} are not held twice");
        (!wrong.is_empty() && !is_for_a_release()).then(flaw)
    }

    /// Who may be about to go when a version is committed, of those that are there: any of those whom somebody has asked to, but not all.
    fn may_be_leaving(&self, there: &[u32]) -> Vec<Vec<u32>> {
        let asked: BTreeSet<u32> = self.to_leave.borrow().iter().copied().collect();
        let mut all = vec![Vec::new()];
        for node in asked.into_iter().filter(|node| there.contains(node)) {
            let with: Vec<Vec<u32>> = all.iter().map(|some| [some.as_slice(), &[node]].concat()).collect();
            all.extend(with);
        }
        all.retain(|leaving| (1..there.len()).contains(&leaving.len()));
        all
    }
}
