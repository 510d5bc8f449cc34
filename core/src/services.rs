//! The services of a PE: what each does when something happens below.

use std::ptr::NonNull;

use crate::balance::root::BalancingRootOnPe;
use crate::broadcast::BroadcastsOfCollection;
use crate::broadcast::BroadcastsOnPe;
use crate::broadcast::births::BirthsOnPe;
use crate::checkpoint::Checkpoints;
use crate::checkpoint::CheckpointsOnPe;
use crate::checkpoint::drain::DrainOnPe;
use crate::checkpoint::durability::DurabilityOnPe;
use crate::checkpoint::freeze::FreezeOnPe;
use crate::checkpoint::restore::RestoreOnPe;
use crate::checkpoint::root::CheckpointRootOnPe;
use crate::group_members::GroupMembersOnPe;
use crate::lifecycle::admission::AdmissionsOnPe;
use crate::quiescence::QuiescenceOnPe;
use crate::reduction::ReductionsOfCollection;
use crate::reduction::contributing::ContributionsOnPe;
use crate::reduction::gathering::GatheringOnPe;
use crate::routing::RoutingOnPe;
use talisman_base::birth::BirthId;
use talisman_base::ids::{ObjId, PeId};
use talisman_kernel::collection::Collection;
use talisman_kernel::message::envelope::Envelope;
use talisman_kernel::object::Head;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::services::{Idle, ServiceTimer, Services};
use talisman_kernel::pe::turn::Command;
use talisman_kernel::route::Route;
use talisman_kernel::witness::{self, Seen};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::Packed;

/// All of them.
pub const SERVICES: &dyn Services = &All;

struct All;

impl Services for All {
    fn on_begin(&self, pe: &Pe) {
        pe.begin_balancing();
        pe.begin_checkpoints();
    }

    fn on_idle(&self, pe: &Pe) -> Idle {
        let done = pe.flush_reductions() || pe.run_idle_work() || pe.detect_quiescence();
        // A wave stays a chore until this PE has answered it.
        Idle { done, again: done || pe.detector().is_counting() }
    }

    fn on_frozen_idle(&self, pe: &Pe) -> bool {
        pe.do_frozen_chores()
    }

    fn on_timer(&self, pe: &Pe, timer: ServiceTimer) {
        match timer {
            ServiceTimer::Balance => pe.on_balance_timer(),
            ServiceTimer::Checkpoint => pe.on_checkpoint_timer(),
            ServiceTimer::Disk => pe.look_at_disk(),
        }
    }

    fn on_command(&self, pe: &Pe, command: Command) {
        match command {
            Command::Suspect => pe.suspect_stuck(),
            Command::Checkpoint { asked, leaving } => pe.want_checkpoint_from_outside(asked, leaving),
            Command::Balance => pe.want_balance_from_outside(),
            Command::CannotKeep(version) => pe.on_cannot_keep(version),
        }
    }

    fn route(&self, pe: &Pe, to: &Route, value: Packed) {
        pe.deliver_value(to, value);
    }

    fn before_message(&self, pe: &Pe, to: PeId) {
        pe.pass_on_insertions(to);
    }

    fn expect_birth(&self, pe: &Pe, collection: &Collection, creation: NonNull<Envelope>) {
        pe.expect_birth(collection, creation);
    }

    fn may_be_born(&self, pe: &Pe, collection: &Collection, creation: NonNull<Envelope>) -> bool {
        pe.can_be_born(collection, creation)
    }

    fn send_birth(&self, pe: &Pe, collection: &Collection, to: PeId, creation: NonNull<Envelope>) {
        pe.send_birth(collection, to, creation);
    }

    fn on_birth(&self, pe: &Pe, collection: &Collection, object: &Head, birth: BirthId) -> bool {
        let (first, given) = collection.casts().births.take(birth, collection.casts().passed());
        object.broadcasts.set(first);
        let is_given = !given.is_empty();
        pe.put_off(object, false, None, given);
        is_given
    }

    fn after_birth(&self, pe: &Pe, id: ObjId) {
        sometimes("an element received broadcasts that had passed before it was made");
        pe.receive_given(id);
    }

    fn on_death(&self, pe: &Pe, object: &Head) {
        pe.bury(object);
        pe.report_death(object);
    }

    fn on_depart(&self, collection: &Collection, object: &Head, to: PeId) {
        if !collection.pending().borrow().is_empty() {
            sometimes("an object moved while a reduction was open");
        }
        if !collection.id.is_singles() {
            collection.casts().depart(object, to);
        }
    }

    fn expect_arrival(&self, collection: &Collection, index: u128, moves: u32) {
        collection.casts().expect(index, moves);
    }

    fn on_arrive(&self, pe: &Pe, collection: &Collection, object: &Head, from: PeId) {
        let (id, moves, passed) = (object.id(), object.moves.get(), collection.casts().passed());
        let (here, home) = (pe.id, collection.home(object.index()));
        witness::see(|| Seen::Arrived { object: id, pe: here, home, moves, passed });
        if collection.id.is_singles() {
            return;
        }
        pe.catch_up(collection, object);
        if !mutated("arrival-not-told") {
            pe.tell_arrived(from, id, moves, passed);
        }
    }

    fn after_arrival(&self, pe: &Pe, id: ObjId, moves: u32) {
        let Some(collection) = pe.collections.get(id.collection) else { return };
        for (number, cast) in collection.casts().take_expected(id.index, moves) {
            sometimes("a broadcast waited for an element that could not be read");
            pe.on_missed(id, moves, number, cast);
        }
    }

    fn keep_late(&self, pe: &Pe, envelope: NonNull<Envelope>) {
        pe.keep_late(envelope);
    }

    fn answer_for_lost(&self, pe: &Pe, collection: &Collection, message: &Envelope) {
        pe.answer_for_lost(collection, message);
    }

    fn is_checkpoint_awaited(&self, pe: &Pe) -> bool {
        pe.is_checkpoint_waited_for()
    }

    fn after_balancing(&self, pe: &Pe) {
        pe.checkpoint_if_wanted();
    }

    fn refuse_checkpoint(&self, pe: &Pe) {
        pe.checkpoints().into_iter().for_each(Checkpoints::refuse);
    }

    fn take_kept(&self, pe: &Pe) -> Vec<NonNull<Envelope>> {
        let mut kept = pe.take_kept_for_checkpoint();
        for collection in pe.collections.iter() {
            kept.extend(collection.casts().births.take_kept());
        }
        kept
    }
}
