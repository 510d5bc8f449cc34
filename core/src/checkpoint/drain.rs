//! A PE's part in a coordinated checkpoint: what the protocol wants is carried out ([`talisman_ft::coordinated`]).
//!
//! What happens is an event for the protocol's machine, which answers with actions. Those that run code of the program, or pack its
//! objects, wait until the PE has its turn, since a message about a checkpoint may come in the midst of an entry.
//!
//! A PE that freezes early is sent messages by those that freeze later, so the first wave hardly ever finds that nothing is on its way,
//! and a second one follows. PEs have something else to do meanwhile: they pack what only entries could change ([`super::prepack`]).

use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::collections::VecDeque;

use easy_ext::ext;

use super::Checkpoints;
use super::message::{Checkpoint, Taken};
use crate::balance::root::BalancingRootOnPe;
use crate::checkpoint::CheckpointsOnPe;
use crate::checkpoint::capture::{CaptureOnPe, NO_MEMORY_FOR_COPY};
use crate::checkpoint::contents::ContentsOnPe;
use crate::checkpoint::freeze::FreezeOnPe;
use crate::checkpoint::replication::ReplicationOnPe;
use crate::checkpoint::root::CheckpointRootOnPe;
use talisman_base::view::FIRST;
use talisman_ft::action::Action;
use talisman_ft::coordinated::{Coordinated, Place, Word};
use talisman_ft::event::Event;
use talisman_ft::protocol::Protocol;
use talisman_ft::{NodeId, Version};
use talisman_kernel::pe::Pe;
use talisman_observe::mutations::mutated;
use talisman_store::contents::Counts;

/// The protocol's machine of a PE, and what it has yet to carry out.
#[derive(Default)]
pub(super) struct Drain {
    machine: OnceCell<RefCell<Coordinated>>,
    due: RefCell<VecDeque<Due>>,
    /// The nodes that are about to go when the checkpoint begins that is about to.
    leaving: RefCell<Vec<NodeId>>,
    /// What this branch has taken.
    taken: Cell<Taken>,
    /// What is in its parts; of all PEs once that is known.
    counts: RefCell<Counts>,
}

/// What is done when the PE has its turn.
enum Due {
    Capture,
    Thaw,
    Others(Vec<Action>),
}

impl Drain {
    /// Whether all have taken their parts, and this PE has only to thaw.
    #[cfg(test)]
    pub(super) fn is_over(&self) -> bool {
        self.machine.get().is_some_and(|machine| machine.borrow().is_about_to_thaw())
    }

    /// Whether this PE has taken its part, and whoever is to know that has been told.
    pub(super) fn has_reported(&self) -> bool {
        let has_reported = self.machine.get().is_some_and(|machine| machine.borrow().has_reported());
        has_reported && self.due.borrow().is_empty()
    }

    /// Whether this PE has taken its part.
    pub(super) fn has_taken(&self) -> bool {
        self.machine.get().is_some_and(|machine| machine.borrow().has_taken())
    }

    /// A branch has taken its part.
    fn add(&self, more: Taken, counts: Counts) {
        let mut taken = self.taken.get();
        taken.add(more);
        self.taken.set(taken);
        self.counts.borrow_mut().add(counts);
    }
}

#[ext(DrainOnPe)]
pub impl Pe {
    /// Tells the protocol what has happened, and does what it wants.
    fn drive(&self, checkpoints: &Checkpoints, event: Event) {
        let actions = self.machine(checkpoints).on_event(event);
        actions.into_iter().for_each(|action| self.carry_out(checkpoints, action));
    }

    /// The protocol's machine. It is made when it is first needed: a PE has one place among the others for as long as it is there.
    fn machine<'a>(&self, checkpoints: &'a Checkpoints) -> RefMut<'a, Coordinated> {
        let machine = checkpoints.drain.machine.get_or_init(|| {
            let view = self.view();
            let below = view.children(self.id, FIRST).collect();
            let place = Place { root: view.first(), above: view.parent(self.id, FIRST), below };
            RefCell::new(Coordinated::new(place, checkpoints.version.get()))
        });
        machine.borrow_mut()
    }

    fn carry_out(&self, checkpoints: &Checkpoints, action: Action) {
        let drain = &checkpoints.drain;
        match action {
            Action::Freeze(version) => {
                *checkpoints.leaving.borrow_mut() = drain.leaving.take();
                self.freeze(checkpoints, version);
            }
            Action::HoldStill => self.still.set(true),
            Action::GoOnFrozen => drop(self.take_late(checkpoints)),
            Action::Capture(_) => {
                drain.counts.take();
                drain.taken.take();
                drain.due.borrow_mut().push_back(Due::Capture);
            }
            Action::Thaw => {
                self.note_blocked(checkpoints, drain.taken.get());
                self.note_contents(checkpoints.version.get(), &drain.counts.borrow());
                match checkpoints.settings.renews {
                    true => self.thaw_if_refused(checkpoints),
                    false => drain.due.borrow_mut().push_back(Due::Thaw),
                }
            }
            Action::Copy(version) => {
                // Who has no part has said so.
                if !checkpoints.settings.renews && checkpoints.lacks.get() != version {
                    self.begin_copy(checkpoints);
                }
                if self.is_first() {
                    self.balance_if_waiting();
                }
            }
            Action::Commit(version) => self.commit(checkpoints, version),
            Action::Abort(version) => {
                self.give_up(checkpoints, version);
                let is_frozen = self.machine(checkpoints).is_about_to_thaw();
                let stays = checkpoints.settings.renews && mutated("refused-cut-not-thawed");
                if is_frozen && checkpoints.settings.renews && !stays {
                    drain.due.borrow_mut().push_back(Due::Thaw);
                }
            }
            Action::Answer(end) => self.end_checkpoint(checkpoints, end),
            Action::Tell { to, word } => self.tell(to, self.message_of(checkpoints, word)),
            Action::Order(_) => {}
        }
    }

    /// What a member says, with what goes along.
    fn message_of(&self, checkpoints: &Checkpoints, word: Word) -> Checkpoint {
        let drain = &checkpoints.drain;
        match word {
            Word::Freeze(version) => Checkpoint::Freeze { version, leaving: drain.leaving.borrow().clone() },
            Word::Ask(wave) => Checkpoint::Ask { wave },
            Word::Counted { wave, sent, received } => Checkpoint::Count { wave, sent, received },
            Word::Take => Checkpoint::Take,
            Word::Taken => Checkpoint::Taken(drain.taken.get(), drain.counts.take()),
            Word::Thaw => Checkpoint::Thaw(drain.counts.borrow().clone()),
            Word::Safe(version, Ok(())) => Checkpoint::Safe { version },
            Word::Safe(version, Err(why)) => Checkpoint::NotSafe { version, why },
            Word::Commit(version) => Checkpoint::Commit { version },
            Word::Abort(version) => Checkpoint::GiveUp { version },
        }
    }

    /// A checkpoint begins, from which the others are to go on without these nodes.
    fn on_freeze(&self, checkpoints: &Checkpoints, version: Version, leaving: Vec<NodeId>) {
        let may_begin = {
            let machine = self.machine(checkpoints);
            !machine.is_frozen() || machine.is_about_to_thaw()
        };
        if may_begin && version > checkpoints.version.get() {
            *checkpoints.drain.leaving.borrow_mut() = leaving;
        }
        self.drive(checkpoints, Event::Heard(Word::Freeze(version)));
    }

    /// At the root: a checkpoint begins. So many words are to be heard before it is safe.
    fn begin_checkpoint(&self, checkpoints: &Checkpoints, words: u32, leaving: Vec<NodeId>) {
        *checkpoints.drain.leaving.borrow_mut() = leaving;
        self.drive(checkpoints, Event::Wanted { words });
    }

    /// At the root, where PEs are to be made anew of their parts: if one has none, nobody is, and all go on after all.
    fn thaw_if_refused(&self, checkpoints: &Checkpoints) {
        let is_refused = {
            let machine = self.machine(checkpoints);
            machine.is_about_to_thaw() && machine.is_refused()
        };
        let mut due = checkpoints.drain.due.borrow_mut();
        let thaws = due.iter().any(|due| matches!(due, Due::Thaw));
        if checkpoints.settings.renews && is_refused && !thaws {
            due.push_back(Due::Thaw);
        }
    }

    /// Whoever was to have a copy of this node's parts of a cut has no memory for it: it does not take place, unless it has been given up
    /// already.
    fn on_cannot_keep(&self, version: Version) {
        let renews = |checkpoints: &&Checkpoints| checkpoints.settings.renews;
        let Some(checkpoints) = self.checkpoints().filter(renews) else { return };
        let is_open = checkpoints.version.get() == version && checkpoints.given_up.get() < version;
        if is_open && checkpoints.lacks.get() != version {
            self.refuse_part_of_cut(checkpoints, version, NO_MEMORY_FOR_COPY);
        }
    }

    /// This PE has no part of a version, or no copy of it can be held: whoever leads it is told.
    fn refuse_part_of_cut(&self, checkpoints: &Checkpoints, version: Version, why: &str) {
        checkpoints.lacks.set(version);
        let why = format!("node {}: {why}", self.node.number);
        let words = if mutated("refused-part-not-told") { 0 } else { self.words_of_own_copies(checkpoints) };
        (0..words).for_each(|_| {
            self.tell(self.view().first(), Checkpoint::NotSafe { version, why: why.clone() });
        });
    }

    /// A branch has taken its part.
    fn on_taken(&self, checkpoints: &Checkpoints, taken: Taken, counts: Counts) {
        if self.machine(checkpoints).awaits_branches() {
            checkpoints.drain.add(taken, counts);
            self.drive_later(checkpoints, Event::Heard(Word::Taken));
        }
    }

    /// All have taken their parts, in which there are these objects.
    fn on_thaw(&self, checkpoints: &Checkpoints, counts: Counts) {
        if self.machine(checkpoints).is_frozen() {
            *checkpoints.drain.counts.borrow_mut() = counts;
            self.drive(checkpoints, Event::Heard(Word::Thaw));
        }
    }

    /// The same as [`drive`](DrainOnPe::drive), but what it wants is done when the PE has its turn.
    fn drive_later(&self, checkpoints: &Checkpoints, event: Event) {
        let actions = self.machine(checkpoints).on_event(event);
        if !actions.is_empty() {
            checkpoints.drain.due.borrow_mut().push_back(Due::Others(actions));
        }
    }

    /// Does what is next here, if it can be done: this PE has nothing else to do. Whether anything was done.
    fn go_on_with_drain(&self, checkpoints: &Checkpoints) -> bool {
        if checkpoints.refused.get() {
            // Nobody hears that this PE has taken its part, so that the version is never committed.
            return false;
        }
        let due = checkpoints.drain.due.borrow_mut().pop_front();
        match due {
            Some(Due::Capture) => self.capture_part(checkpoints),
            Some(Due::Thaw) => {
                self.thaw(checkpoints);
                self.drive(checkpoints, Event::Thawed);
            }
            Some(Due::Others(actions)) => {
                actions.into_iter().for_each(|action| self.carry_out(checkpoints, action));
            }
            None => return self.count_if_at_rest(checkpoints),
        }
        true
    }

    fn count_if_at_rest(&self, checkpoints: &Checkpoints) -> bool {
        let is_at_rest = self.machine(checkpoints).is_counted_at_rest() && !self.has_unsent();
        if is_at_rest {
            let (sent, received) = (self.stats.sent.get(), self.stats.received.get());
            self.drive(checkpoints, Event::AtRest { sent, received });
        }
        is_at_rest
    }

    fn capture_part(&self, checkpoints: &Checkpoints) {
        let (own, counts) = self.take_part(checkpoints);
        checkpoints.drain.add(own, counts);
        if !checkpoints.refused.get() {
            if !checkpoints.settings.renews {
                self.lend_part(checkpoints);
            }
            self.drive_later(checkpoints, Event::Captured(checkpoints.version.get()));
        }
    }
}
