//! When a part is safe: it outlives what it is to outlive, and so does its copy.
//!
//! In memory it does at once. On disk that takes a while, in a thread of its own (`files/keeper.rs`), which the PE looks at now and
//! then. A disk that does not do what it should costs a version, and nothing else: the version before it stays whole.

use std::cell::RefCell;
use std::time::Duration;

use easy_ext::ext;

use super::Checkpoints;
use super::message::Checkpoint;
use crate::checkpoint::CheckpointsOnPe;
use crate::checkpoint::drain::DrainOnPe;
use crate::checkpoint::on_demand::OnDemandOnPe;
use talisman_base::ids::PeId;
use talisman_ft::Version;
use talisman_ft::coordinated::At;
use talisman_ft::event::Event;
use talisman_kernel::pe::Pe;
use talisman_observe::sometimes::sometimes;
use talisman_store::versions::Fate;

/// How often a PE looks whether parts have been written: that of a disk takes longer.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// What a PE knows of its part and of those that it keeps for others.
#[derive(Default)]
pub(super) struct Parts {
    /// Those that are to be kept for good: the version, and whose.
    open: RefCell<Vec<(Version, PeId)>>,
}

/// Whether a part is kept, or why not.
type Kept = Result<(), String>;

#[ext(DurabilityOnPe)]
pub impl Pe {
    /// This PE's part is here, whole: it is told where the checkpoint is led once it and its copy are safe. In memory it is safe at
    /// once, and whoever has the copy tells that.
    fn keep_own(&self, checkpoints: &Checkpoints, version: Version) {
        self.keep_for_good(checkpoints, version, self.id);
    }

    /// A part is here, whole: whose it is is told once it is safe.
    fn keep_for_good(&self, checkpoints: &Checkpoints, version: Version, of: PeId) {
        self.node.store.keep_for_good(version, of);
        checkpoints.parts.open.borrow_mut().push((version, of));
        self.look_at_parts(checkpoints);
    }

    /// The copy of this PE's part is safe, or nobody is there to have one; or why it is not.
    fn on_copy_kept(&self, checkpoints: &Checkpoints, version: Version, kept: Kept) {
        self.drive(checkpoints, Event::Kept { version, at: At::Keepers, kept });
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
        let any = !checkpoints.parts.open.borrow().is_empty() || checkpoints.writing.is_under_way();
        self.timers.disk.set(any.then(|| self.clock.now() + LOOK_EVERY));
    }

    /// Looks what has become of the parts that are to be kept for good.
    fn look_at_parts(&self, checkpoints: &Checkpoints) {
        for (version, of) in checkpoints.parts.open.take() {
            match self.node.store.fate(version, of) {
                Fate::Open => checkpoints.parts.open.borrow_mut().push((version, of)),
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
            return self.drive(checkpoints, Event::Kept { version, at: At::Here, kept });
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
}
