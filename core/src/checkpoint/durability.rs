//! When a part is safe: it outlives what it is to outlive, and so does its copy.
//!
//! In memory it does at once. On disk that takes a while, in a thread of its own (`files/keeper.rs`), which the PE looks at now and
//! then. A disk that does not do what it should costs a version, and nothing else: the version before it stays whole.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use easy_ext::ext;

use super::Checkpoints;
use super::message::Checkpoint;
use crate::checkpoint::CheckpointsOnPe;
use crate::checkpoint::on_demand::OnDemandOnPe;
use talisman_base::ids::PeId;
use talisman_ft::Version;
use talisman_kernel::pe::Pe;
use talisman_observe::sometimes::sometimes;
use talisman_store::versions::Fate;

/// How often a PE looks whether parts have been written: that of a disk takes longer.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// What a PE knows of its part and of those that it keeps for others.
#[derive(Default)]
pub(super) struct Safety {
    /// The last version.
    version: Cell<Version>,
    /// What has become of this PE's own part of it, here and at its buddy.
    own: RefCell<[Option<Kept>; 2]>,
    /// Parts that are to be kept for good: the version, and whose.
    open: RefCell<Vec<(Version, PeId)>>,
}

/// Whether a part is kept, or why not.
type Kept = Result<(), String>;

/// Where a PE's part is.
#[derive(Clone, Copy)]
pub enum At {
    Here,
    Buddy,
}

#[ext(DurabilityOnPe)]
pub impl Pe {
    /// This PE's part is here, whole: it is told where the checkpoint is led once it and its copy are safe. In memory it is safe at
    /// once, and whoever has the copy tells that.
    fn keep_own(&self, checkpoints: &Checkpoints, version: Version) {
        checkpoints.safety.version.set(version);
        checkpoints.safety.own.take();
        self.keep_for_good(checkpoints, version, self.id);
    }

    /// A part is here, whole: whose it is is told once it is safe.
    fn keep_for_good(&self, checkpoints: &Checkpoints, version: Version, of: PeId) {
        self.node.store.keep_for_good(version, of);
        checkpoints.safety.open.borrow_mut().push((version, of));
        self.look_at_parts(checkpoints);
    }

    /// The copy of this PE's part is safe, or nobody is there to have one; or why it is not.
    fn on_copy_kept(&self, checkpoints: &Checkpoints, version: Version, kept: Kept) {
        self.on_kept(checkpoints, version, At::Buddy, kept);
    }

    /// It is time to.
    fn look_at_disk(&self) {
        if let Some(checkpoints) = self.checkpoints() {
            self.look_at_parts(checkpoints);
            self.look_at_written(checkpoints);
        }
    }

    /// Looks again after a while, if there is anything to look at.
    fn set_disk_timer(&self, checkpoints: &Checkpoints) {
        let any = !checkpoints.safety.open.borrow().is_empty() || checkpoints.writing.is_under_way();
        self.timers.disk.set(any.then(|| self.clock.now() + LOOK_EVERY));
    }

    /// Looks what has become of the parts that are to be kept for good.
    fn look_at_parts(&self, checkpoints: &Checkpoints) {
        for (version, of) in checkpoints.safety.open.take() {
            match self.node.store.fate(version, of) {
                Fate::Open => checkpoints.safety.open.borrow_mut().push((version, of)),
                Fate::Safe => self.tell_kept(checkpoints, version, of, Ok(())),
                Fate::NotSafe(why) => {
                    sometimes("a part of a checkpoint could not be kept");
                    let why = format!("node {}: {why}", self.node.number);
                    self.tell_kept(checkpoints, version, of, Err(why));
                }
            }
        }
        self.set_disk_timer(checkpoints);
    }

    fn tell_kept(&self, checkpoints: &Checkpoints, version: Version, of: PeId, kept: Kept) {
        if of == self.id {
            return self.on_kept(checkpoints, version, At::Here, kept);
        }
        if kept.is_ok() && self.node.store.is_in_memory() {
            // So is the part itself, whose owner needs not have its turn for that.
            self.tell(self.view().first(), Checkpoint::Safe { version });
        }
        let answer = match kept {
            Ok(()) => Checkpoint::Stored { version },
            Err(why) => Checkpoint::NotStored { version, why },
        };
        self.tell(of, answer);
    }

    /// Each PE says once of each version what has become of its part.
    fn on_kept(&self, checkpoints: &Checkpoints, version: Version, at: At, kept: Kept) {
        if checkpoints.safety.version.get() != version {
            return;
        }
        let both = {
            let mut own = checkpoints.safety.own.borrow_mut();
            own[at as usize] = Some(kept);
            let [Some(here), Some(there)] = &*own else { return };
            here.clone().and(there.clone())
        };
        let word = match both {
            Ok(()) => Checkpoint::Safe { version },
            Err(why) => Checkpoint::NotSafe { version, why },
        };
        self.tell(self.view().first(), word);
    }
}
