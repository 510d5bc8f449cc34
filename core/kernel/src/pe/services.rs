//! What a PE asks of the services above it: broadcasts, reductions, quiescence, balancing, checkpoints.
//!
//! The kernel knows none of them. It says when something happens that they follow: an object is made, moves or goes, no message waits, a
//! timer is due. Their messages come by [`ServiceMessage`](crate::message::service::ServiceMessage), and what they keep is in
//! [`ServiceState`](super::states::ServiceState) and [`CollectionState`](crate::collection::states::CollectionState).

use std::ptr::NonNull;

use super::Pe;
use super::turn::Command;
use crate::collection::Collection;
use crate::message::envelope::Envelope;
use crate::object::Head;
use crate::route::Route;
use talisman_base::birth::BirthId;
use talisman_base::ids::{ObjId, PeId};
use talisman_pup::Packed;

/// What services did when no message waited.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// Anything.
    pub done: bool,
    /// They are to be asked again when no message waits.
    pub again: bool,
}

/// The timers that services have beside those of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceTimer {
    /// The next balancing step.
    Balance,
    /// The next checkpoint.
    Checkpoint,
    /// A look at what is being written.
    Disk,
}

/// All services of a PE. There is one implementation, and it keeps nothing.
pub trait Services: Sync {
    /// A PE begins: it knows the collections of singletons.
    fn on_begin(&self, pe: &Pe);

    /// No message waits.
    fn on_idle(&self, pe: &Pe) -> Idle;

    /// The same on a PE that is frozen for a checkpoint. Whether anything was done.
    fn on_frozen_idle(&self, pe: &Pe) -> bool;

    /// A timer is due, and is no more set.
    fn on_timer(&self, pe: &Pe, timer: ServiceTimer);

    /// Somebody beside the PEs asks for something.
    fn on_command(&self, pe: &Pe, command: Command);

    /// Sends a packed value to its receiver.
    fn route(&self, pe: &Pe, to: &Route, value: Packed);

    /// A counted message is about to leave for another PE, and [`Pe::admissions_open`] is set.
    fn before_message(&self, pe: &Pe, to: PeId);

    /// A message that makes an element has come.
    fn expect_birth(&self, pe: &Pe, collection: &Collection, creation: NonNull<Envelope>);

    /// Whether that message can have its turn; if not, it is kept.
    fn may_be_born(&self, pe: &Pe, collection: &Collection, creation: NonNull<Envelope>) -> bool;

    /// Sends off a message that makes an element: to its home, or from there to where it is to be.
    fn send_birth(&self, pe: &Pe, collection: &Collection, to: PeId, creation: NonNull<Envelope>);

    /// An element is made here, and has no state yet. Whether [`Services::after_birth`] is to follow.
    fn on_birth(&self, pe: &Pe, collection: &Collection, object: &Head, birth: BirthId) -> bool;

    /// Its `#[init]` has run.
    fn after_birth(&self, pe: &Pe, id: ObjId);

    /// An object has run its last entry.
    fn on_death(&self, pe: &Pe, object: &Head);

    /// An object leaves; the move is counted already.
    fn on_depart(&self, collection: &Collection, object: &Head, to: PeId);

    /// A message with an object has come that cannot be read yet.
    fn expect_arrival(&self, collection: &Collection, index: u128, moves: u32);

    /// An object has come and has no slot yet.
    fn on_arrive(&self, pe: &Pe, collection: &Collection, object: &Head, from: PeId);

    /// It has its slot, and was told. (It may have gone on.)
    fn after_arrival(&self, pe: &Pe, id: ObjId, moves: u32);

    /// A message comes to a PE that is still.
    fn keep_late(&self, pe: &Pe, envelope: NonNull<Envelope>);

    /// A message whose answer is reduced was for the member of a group on a lost PE: nobody answers.
    fn answer_for_lost(&self, pe: &Pe, collection: &Collection, message: &Envelope);

    /// Whether somebody waits for a checkpoint: the job is not stuck then.
    fn is_checkpoint_awaited(&self, pe: &Pe) -> bool;

    /// At the root: a balancing step is over. What has waited for that begins.
    fn after_balancing(&self, pe: &Pe);

    /// The state of this PE cannot be kept: the checkpoint that is being taken is not to be.
    fn refuse_checkpoint(&self, pe: &Pe);

    /// All messages that services keep on a PE, which ends.
    fn take_kept(&self, pe: &Pe) -> Vec<NonNull<Envelope>>;
}
