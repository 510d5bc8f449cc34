//! Versions that are on disk because somebody asked for them (`talisman checkpoint`), while all others are in memory only (`--ft double`).
//!
//! Such a version is committed like any other. Then every node writes what it holds of it, its own parts and its copies of others', and
//! says so to the first PE; who asked is answered when all have. Nothing depends on the disks but that answer: what is in memory stays
//! there, and is what the job goes back to. Until all have said how it went no other checkpoint begins, whose parts would take
//! the memory of those that are written.
//!
//! The files of the version that was written before stay until all of this one are there.

use std::cell::{Cell, RefCell};

use easy_ext::ext;

use super::Checkpoints;
use super::message::Checkpoint;
use crate::checkpoint::CheckpointsOnPe;
use crate::checkpoint::durability::DurabilityOnPe;
use crate::checkpoint::root::CheckpointRootOnPe;
use talisman_base::ids::PeId;
use talisman_ft::Version;
use talisman_kernel::pe::Pe;
use talisman_store::versions::Fate;

/// What a PE knows of a version that is written.
#[derive(Default)]
pub(super) struct Writing {
    version: Cell<Version>,
    /// The parts that this PE looks after, and that are not there yet.
    open: RefCell<Vec<PeId>>,
    /// Why one cannot be written.
    wrong: RefCell<Option<String>>,
    /// Used by the first PE.
    all: RefCell<Option<All>>,
}

/// What the first PE knows of it.
struct All {
    version: Version,
    /// How many have asked for it.
    asked: u32,
    /// PEs that have not said how it went.
    missing: u32,
    /// Why some part cannot be written.
    wrong: Option<String>,
}

impl Writing {
    /// Whether this PE waits for its disk.
    pub(super) fn is_under_way(&self) -> bool {
        !self.open.borrow().is_empty()
    }

    /// Whether anybody does, as the first PE knows.
    pub(super) fn is_waited_for(&self) -> bool {
        self.all.borrow().is_some()
    }
}

#[ext(OnDemandOnPe)]
pub impl Pe {
    /// A version is committed that so many have asked for, and is to be on disk before they are answered.
    fn write(&self, checkpoints: &Checkpoints, version: Version, asked: u32) {
        let all = All { version, asked, missing: self.view().pes(), wrong: None };
        *checkpoints.writing.all.borrow_mut() = Some(all);
        self.on_write(checkpoints, version);
    }

    /// Begins to write what this PE has of a version.
    fn on_write(&self, checkpoints: &Checkpoints, version: Version) {
        self.tell_below_of_checkpoint(|| Checkpoint::Write { version });
        let (shape, lane) = (self.node.shape, self.id - self.first_pe);
        let parts = self.node.store.write(version, |of| of % shape.pes_per_node == lane);
        if parts.is_empty() {
            let why = format!("node {} has nothing of version {version}", self.node.number);
            let word = Checkpoint::NotWritten { version, why };
            return self.tell(self.view().first(), word);
        }
        checkpoints.writing.version.set(version);
        checkpoints.writing.wrong.take();
        *checkpoints.writing.open.borrow_mut() = parts;
        self.look_at_written(checkpoints);
    }

    /// Looks what has become of what is written, and says so once that is known of all.
    fn look_at_written(&self, checkpoints: &Checkpoints) {
        let writing = &checkpoints.writing;
        if !writing.is_under_way() {
            return;
        }
        let version = writing.version.get();
        writing.open.borrow_mut().retain(|of| match self.node.store.fate_on_disk(version, *of) {
            Fate::Open => true,
            Fate::Safe => false,
            Fate::NotSafe(why) => {
                writing.wrong.borrow_mut().get_or_insert(format!("node {}: {why}", self.node.number));
                false
            }
        });
        self.set_disk_timer(checkpoints);
        if !writing.is_under_way() {
            let word = match writing.wrong.take() {
                None => Checkpoint::Written { version },
                Some(why) => Checkpoint::NotWritten { version, why },
            };
            self.tell(self.view().first(), word);
        }
    }

    /// A PE has written its parts, or cannot.
    fn on_written(&self, checkpoints: &Checkpoints, version: Version, wrong: Option<String>) {
        let done = {
            let mut all = checkpoints.writing.all.borrow_mut();
            let Some(of_this) = all.as_mut().filter(|all| all.version == version) else { return };
            of_this.missing = of_this.missing.saturating_sub(1);
            of_this.wrong = of_this.wrong.take().or(wrong);
            all.take_if(|all| all.missing == 0)
        };
        if let Some(All { asked, wrong, .. }) = done {
            self.on_all_written(version, wrong.is_none());
            self.node.job.answer(asked, Ok(version), wrong);
            self.checkpoint_if_wanted();
        }
    }

    /// All have said how it went.
    fn on_all_written(&self, version: Version, is_whole: bool) {
        self.tell_below_of_checkpoint(|| Checkpoint::AllWritten { version, is_whole });
        if self.id == self.first_pe {
            self.node.store.all_written(version, is_whole);
        }
    }
}
