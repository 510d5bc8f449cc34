//! When nothing is on its way any more, and all have taken their parts: waves down the tree of PEs and up again.
//!
//! A frozen PE answers a count when it has nothing left to do, with how many messages it has sent to other PEs and received from
//! them. From then on it is *still*: until it is asked again, or thaws, it says nothing, and what comes waits unread and is not
//! counted. So whatever was received was sent before its sender had answered, and is in both sums. If they are the same, nothing is
//! on its way. (Where who has answered goes on, it takes two waves to know that: Mattern 1987, the four-counter method.)
//!
//! A PE that freezes early is sent messages by those that freeze later, so the first wave hardly ever finds that, and a second one
//! follows. PEs have something else to do meanwhile: they pack what only entries could change ([`super::prepack`]).

use std::cell::{Cell, RefCell};

use easy_ext::ext;

use super::Checkpoints;
use super::message::{Checkpoint, Taken};
use crate::checkpoint::CheckpointsOnPe;
use crate::checkpoint::capture::CaptureOnPe;
use crate::checkpoint::contents::ContentsOnPe;
use crate::checkpoint::freeze::FreezeOnPe;
use crate::checkpoint::replication::ReplicationOnPe;
use crate::checkpoint::root::CheckpointRootOnPe;
use talisman_base::view::FIRST;
use talisman_ft::{NodeId, Version};
use talisman_kernel::pe::Pe;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_store::contents::Counts;

/// A PE's part in the waves of a checkpoint.
#[derive(Default)]
pub(super) struct Drain {
    state: Cell<State>,
    /// The nodes that are about to go when the next checkpoint begins, if it has begun before this one thawed.
    next_leaving: RefCell<Vec<NodeId>>,
    /// What is in the parts that this branch has taken.
    counts: RefCell<Counts>,
}

/// What a frozen PE is to do next.
#[derive(Clone, Copy, Default)]
enum State {
    /// Nothing but what is left to be done.
    #[default]
    Rests,
    /// Wait for the thaw: it has taken its part, and so have those below.
    HasTaken,
    /// Answer a count, when it has nothing left to do and those below have answered.
    Counts { wave: u32, missing: u32, sent: u64, received: u64 },
    /// Take its part, if it has not, and say so when those below have.
    Takes { missing: u32, taken: Taken, has_taken: bool },
    /// Let the program go on, and freeze again if the next checkpoint has begun by then.
    Thaws { next: Option<Version> },
}

impl Drain {
    /// A checkpoint begins, which is the first wave.
    pub(super) fn begin(&self, below: u32) {
        self.state.set(State::Counts { wave: 0, missing: below, sent: 0, received: 0 });
    }

    /// The next checkpoint begins before this PE has had its turn to thaw. Whoever has its part may have told that it is safe, so
    /// nobody waits for that.
    pub(super) fn put_off(&self, version: Version, leaving: Vec<NodeId>) {
        if let State::Thaws { .. } = self.state.get() {
            *self.next_leaving.borrow_mut() = leaving;
            sometimes("a checkpoint began before a PE had thawed after the one before");
            self.state.set(State::Thaws { next: Some(version) });
        }
    }

    /// A branch has counted.
    pub(super) fn add(&self, of: u32, more_sent: u64, more_received: u64) {
        if let State::Counts { wave, missing, sent, received } = self.state.get()
            && wave == of
            && missing > 0
        {
            let (sent, received) = (sent.wrapping_add(more_sent), received.wrapping_add(more_received));
            self.state.set(State::Counts { wave, missing: missing - 1, sent, received });
        }
    }

    /// Whether all have taken their parts, and this PE has only to thaw.
    #[cfg(test)]
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state.get(), State::Thaws { .. })
    }

    /// Whether this PE has taken its part.
    pub(super) fn has_taken(&self) -> bool {
        matches!(
            self.state.get(),
            State::HasTaken | State::Thaws { .. } | State::Takes { has_taken: true, .. }
        )
    }

    /// A branch has taken its part.
    pub(super) fn add_taken(&self, more: Taken, counts: Counts) {
        if let State::Takes { missing, mut taken, has_taken } = self.state.get()
            && missing > 0
        {
            taken.add(more);
            self.counts.borrow_mut().add(counts);
            self.state.set(State::Takes { missing: missing - 1, taken, has_taken });
        }
    }
}

#[ext(DrainOnPe)]
pub impl Pe {
    /// The next wave.
    fn on_ask_for_count(&self, checkpoints: &Checkpoints, wave: u32) {
        if self.frozen.get() {
            let missing = self.tell_below_of_checkpoint(|| Checkpoint::Ask { wave });
            checkpoints.drain.state.set(State::Counts { wave, missing, sent: 0, received: 0 });
            self.take_late(checkpoints);
        }
    }

    /// Nothing is on its way.
    fn on_take(&self, checkpoints: &Checkpoints) {
        if self.frozen.get() {
            let missing = self.tell_below_of_checkpoint(|| Checkpoint::Take);
            checkpoints.drain.counts.take();
            checkpoints.drain.state.set(State::Takes { missing, taken: Taken::default(), has_taken: false });
        }
    }

    /// All have taken their parts, in which there are these objects.
    fn on_thaw(&self, checkpoints: &Checkpoints, counts: &Counts) {
        if self.frozen.get() {
            self.tell_below_of_checkpoint(|| Checkpoint::Thaw(counts.clone()));
            self.note_contents(checkpoints.version.get(), counts);
            checkpoints.drain.state.set(State::Thaws { next: None });
        }
    }

    /// Does what is next here, if it can be done: this PE has nothing else to do. Whether anything was done.
    fn go_on_with_drain(&self, checkpoints: &Checkpoints) -> bool {
        if checkpoints.refused.get() {
            // Nobody hears that this PE has taken its part, so that the version is never committed.
            return false;
        }
        match checkpoints.drain.state.get() {
            State::Counts { wave, missing: 0, sent, received } if !self.port.has_unsent() => {
                checkpoints.drain.state.set(State::Rests);
                let sent = sent.wrapping_add(self.stats.sent.get());
                let received = received.wrapping_add(self.stats.received.get());
                self.still.set(!mutated("counted-pe-goes-on"));
                self.report_count(checkpoints, wave, sent, received);
            }
            State::Takes { missing, taken, has_taken: false } => {
                let (mut taken, (own, counts)) = (taken, self.take_part(checkpoints));
                taken.add(own);
                checkpoints.drain.counts.borrow_mut().add(counts);
                checkpoints.drain.state.set(State::Takes { missing, taken, has_taken: true });
                if !checkpoints.refused.get() {
                    self.lend_part(checkpoints);
                }
            }
            State::Takes { missing: 0, taken, has_taken: true } => {
                checkpoints.drain.state.set(State::HasTaken);
                self.report_taken(checkpoints, taken);
            }
            State::Thaws { next } => {
                checkpoints.drain.state.set(State::Rests);
                self.thaw(checkpoints);
                self.after_thaw(checkpoints);
                let leaving = || checkpoints.drain.next_leaving.take();
                next.into_iter().for_each(|version| self.on_freeze(checkpoints, version, leaving()));
            }
            State::Rests | State::HasTaken | State::Counts { .. } | State::Takes { .. } => return false,
        }
        true
    }

    fn report_count(&self, checkpoints: &Checkpoints, wave: u32, sent: u64, received: u64) {
        match self.view().parent(self.id, FIRST) {
            Some(parent) => self.tell(parent, Checkpoint::Count { wave, sent, received }),
            None => self.on_counted(checkpoints, wave, sent, received),
        }
    }

    /// At the root: all have counted.
    fn on_counted(&self, checkpoints: &Checkpoints, wave: u32, sent: u64, received: u64) {
        if sent == received || mutated("taken-before-drained") {
            self.on_take(checkpoints);
        } else {
            sometimes("messages were on their way when every frozen PE had been at rest");
            self.on_ask_for_count(checkpoints, wave + 1);
        }
    }

    fn report_taken(&self, checkpoints: &Checkpoints, taken: Taken) {
        let counts = checkpoints.drain.counts.take();
        match self.view().parent(self.id, FIRST) {
            Some(parent) => self.tell(parent, Checkpoint::Taken(taken, counts)),
            None => self.on_all_taken(checkpoints, taken, &counts),
        }
    }
}
