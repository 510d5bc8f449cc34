//! A frozen PE: no entry runs, and the runtime goes on.
//!
//! What the program would notice waits, in the order in which it came: messages for objects, objects to be made, and what
//! the program has asked of PEs. Everything else is done as ever: objects arrive, markers are answered, contributions go up to
//! their roots, broadcasts down to all elements, with which they wait. So what is said ends, and nothing is said anew.

use std::ptr::NonNull;

use easy_ext::ext;

use super::Checkpoints;
use crate::broadcast::BroadcastsOnPe;
use crate::checkpoint::CheckpointsOnPe;
use crate::checkpoint::drain::DrainOnPe;
use crate::checkpoint::prepack::PrepackOnPe;
use crate::reduction::gathering::GatheringOnPe;
use talisman_ft::Version;
use talisman_kernel::message::control::ObjectMessage;
use talisman_kernel::message::envelope::{Body, Envelope};
use talisman_kernel::message::service::WhenFrozen;
use talisman_kernel::pe::Pe;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_observe::trace::Kind;

#[ext(FreezeOnPe)]
pub impl Pe {
    /// A checkpoint begins: no entry runs here any more.
    fn freeze(&self, checkpoints: &Checkpoints, version: Version) {
        checkpoints.version.set(version);
        checkpoints.is_open.set(true);
        checkpoints.ahead.begin();
        self.trace_kind(Kind::Frozen);
        self.frozen.set(true);
        self.stopped.set(true);
        self.timers.stop(true);
        self.chores.set(true);
    }

    /// What a frozen PE does when it has its turn; whether that was anything.
    fn do_frozen_chores(&self) -> bool {
        let Some(checkpoints) = self.checkpoints() else { return false };
        let mut any = false;
        while !self.node.job.is_over()
            && let Some(envelope) = self.next_message()
        {
            self.take_frozen(checkpoints, envelope);
            any = true;
        }
        any |= self.flush_reductions();
        any || self.go_on_with_drain(checkpoints) || self.pack_ahead(checkpoints)
    }

    fn take_frozen(&self, checkpoints: &Checkpoints, envelope: NonNull<Envelope>) {
        // SAFETY: the queue gave the envelope away.
        let message = unsafe { envelope.as_ref() };
        let waits = match message.body {
            _ if message.is_creation() => true,
            Body::Invoke(_) | Body::Object => match self.slots.get(message.slot, message.generation) {
                // What makes its object is put off as well, and is before it.
                None if self.slots.is_kept(message.slot, message.generation) => true,
                None => return self.send_on(envelope),
                Some(_) => !matches!(
                    message.object_message(),
                    Some(ObjectMessage::Marker { .. } | ObjectMessage::SenderGone { .. })
                ),
            },
            Body::Pe => message.pe_message().is_some_and(|said| said.when_frozen() != WhenFrozen::Runs),
            Body::Create(_) | Body::Empty => false,
        };
        if waits {
            checkpoints.kept.borrow_mut().push(envelope);
        } else {
            self.run_message(envelope);
        }
    }

    /// Everybody has taken its part: on to the PEs below, and the program goes on.
    fn thaw(&self, checkpoints: &Checkpoints) {
        self.frozen.set(false);
        self.trace_kind(Kind::Thawed);
        self.stopped.set(self.node.job.is_over());
        self.timers.stop(false);
        let mut kept = checkpoints.kept.take();
        if mutated("kept-messages-backwards") {
            kept.reverse();
        }
        kept.into_iter().for_each(|envelope| self.put_back(envelope));
        if self.take_late(checkpoints) {
            sometimes("messages came to a frozen PE from others that were not any more");
        }
        self.receive_kept();
    }

    /// A message comes to a PE that is still.
    fn keep_late(&self, envelope: NonNull<Envelope>) {
        match self.checkpoints() {
            Some(checkpoints) => checkpoints.late.borrow_mut().push_back(envelope),
            None => unreachable!("a PE is still for a checkpoint only"),
        }
    }

    /// Takes in what has come while this PE was still, which it is no more; whether that was anything.
    fn take_late(&self, checkpoints: &Checkpoints) -> bool {
        self.still.set(false);
        let mut any = false;
        // One by one: some are sent on, which may have to wait for room, and whoever ends meanwhile has the rest to drop.
        while let Some(envelope) = checkpoints.next_late() {
            self.accept(envelope);
            any = true;
        }
        any
    }
}
