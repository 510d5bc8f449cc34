//! Checkpoints: a consistent cut of the job while it runs, its copies, and going on from one.
//!
//! The cut is taken where nothing is on its way. PE 0's acting PE has all PEs *freeze*: entries no longer run, but everything that the
//! runtime itself has to say is still said, until nothing is left of that. So of all the runtime's conversations only
//! their results have to be kept: an object is somewhere and its home knows it, a contribution is at its root, a broadcast has
//! reached every element or is kept with it, a message is in the queue of its receiver's PE. Then every PE *takes* its
//! [`Part`](part::Part), and goes on; copies travel meanwhile.
//!
//! | file | is |
//! |---|---|
//! | [`message`] | what PEs say to each other about it |
//! | `root` | when one begins, and what follows from what all have said: at the first PE |
//! | `freeze` | what a frozen PE does with each kind of message |
//! | `drain` | carries out what the protocol wants ([`talisman_ft::coordinated`]) |
//! | `prepack` | what is packed meanwhile |
//! | [`part`] | what is kept of one PE |
//! | [`waiting`] | messages in it |
//! | `capture` | how that is taken |
//! | `slabs`, `slab`, `shared` | the memory that it goes into, which other processes of the host can map, and how new pages of it are filled |
//! | `pages` | memory of values that is kept in place of a copy |
//! | `contents` | how many objects of which collections each part has |
//! | `said` | lines and results of the program, until they cannot be taken back |
//! | `replication` | the other copy of each part |
//! | `durability` | when parts and copies outlive what they are to outlive |
//! | `pieces` | a part in pieces: how it travels there |
//! | `lent`, `mapped`, `image_fetch` | a part that its buddy, a process of the same host, has or reads where it is |
//! | `readable` | what simulated processes may read of each other |
//! | `restore` | how fresh PEs take parts back |
//! | [`joiners`] | how PEs begin that there were not |
//! | [`group_members`](crate::group_members) | what becomes of members of groups on lost PEs |
//! | [`reading`] | parts taken out of the store again |
//! | `on_demand` | versions that are on disk because somebody asked for them, while others are in memory |
//! | [`cut`] | PEs that are made anew from their own parts, in jobs that log |
//! | `difference` | what is not the same in two parts of a PE |
//! | `restart` | how PEs begin after a loss |
//! | [`image_transfer`] | parts that go to a process which has none of its own |

pub mod capture;
pub mod contents;
pub mod cut;
pub(crate) mod difference;
pub mod drain;
pub mod durability;
pub mod freeze;
pub mod image_fetch;
pub mod image_transfer;
pub mod joiners;
pub mod message;
pub mod on_demand;
pub mod part;
pub mod prepack;
pub mod reading;
pub mod recovery_message;
pub mod replication;
pub mod restart;
pub mod restore;
pub mod root;
#[cfg(test)]
mod tests;
pub mod waiting;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Arc;

use easy_ext::ext;

use crate::checkpoint::drain::DrainOnPe;
use crate::checkpoint::on_demand::OnDemandOnPe;
use crate::checkpoint::replication::ReplicationOnPe;
use crate::checkpoint::root::CheckpointRootOnPe;
use drain::Drain;
use durability::Parts;
use message::{Checkpoint, Why};
use on_demand::Writing;
use prepack::Ahead;
use replication::Copies;
use root::Root;
use talisman_base::ids::PeId;
use talisman_base::view::FIRST;
use talisman_ft::coordinated::Word;
use talisman_ft::double::Order;
use talisman_ft::event::Event;
use talisman_ft::{NodeId, Version};
use talisman_job::checkpoints::CkptSettings;
use talisman_kernel::message::envelope::Envelope;
use talisman_kernel::message::service::Service;
use talisman_kernel::node::Node;
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::states::ServiceState;
use talisman_kernel::route::Route;
use talisman_kernel::witness::{self, Seen};
use talisman_observe::event as observe;
use talisman_pup::Packed;

/// What a PE keeps for checkpoints.
pub struct Checkpoints {
    settings: Arc<CkptSettings>,
    /// The last version that began here.
    version: Cell<Version>,
    /// The nodes that are about to go, when it began.
    leaving: RefCell<Vec<NodeId>>,
    /// It is not committed yet, as far as is known here.
    is_open: Cell<bool>,
    /// Messages that wait for the thaw, in the order in which they would have run.
    kept: RefCell<Vec<NonNull<Envelope>>>,
    /// Messages that came when this PE had been counted.
    late: RefCell<VecDeque<NonNull<Envelope>>>,
    drain: Drain,
    ahead: Ahead,
    copies: Copies,
    parts: Parts,
    writing: Writing,
    /// Used by the first PE.
    root: RefCell<Root>,
    /// The last step of the program for which a checkpoint was asked for here.
    step: Cell<u64>,
    /// Where a part is packed beside its large slices before it is known how much that is: memory that the one before used.
    scratch: Cell<Vec<u8>>,
    /// Something cannot be packed, so that this PE takes no part any more. The job has ended over it.
    refused: Cell<bool>,
    /// The last version for this PE's part of which there was no memory.
    lacks: Cell<Version>,
    /// The last version that was given up.
    given_up: Cell<Version>,
    /// Where PEs are made anew of their parts: what is made of that of this version.
    cut: RefCell<Option<(Version, Packed)>>,
}

/// On each PE: nothing where there are no checkpoints.
struct Checkpointing(Option<Box<Checkpoints>>);

impl Checkpoints {
    pub fn new(settings: Arc<CkptSettings>) -> Box<Self> {
        Box::new(Checkpoints {
            root: RefCell::new(Root::new(settings.mtbf)),
            settings,
            version: Cell::new(0),
            leaving: RefCell::default(),
            is_open: Cell::new(false),
            kept: RefCell::default(),
            late: RefCell::default(),
            drain: Drain::default(),
            ahead: Ahead::default(),
            copies: Copies::default(),
            parts: Parts::default(),
            writing: Writing::default(),
            step: Cell::new(0),
            scratch: Cell::default(),
            refused: Cell::new(false),
            lacks: Cell::new(0),
            given_up: Cell::new(0),
            cut: RefCell::default(),
        })
    }

    /// This PE takes no part any more: what it has cannot be packed.
    pub fn refuse(&self) {
        self.refused.set(true);
    }

    fn next_late(&self) -> Option<NonNull<Envelope>> {
        self.late.borrow_mut().pop_front()
    }

    /// Messages that wait, when their PE ends.
    pub fn take_waiting(&self) -> Vec<NonNull<Envelope>> {
        self.kept.take().into_iter().chain(self.late.take()).collect()
    }
}

impl ServiceState for Checkpointing {
    const SERVICE: Service = Service::Checkpoints;

    fn new(node: &Node) -> Self {
        Checkpointing(node.config.checkpoints.clone().map(Checkpoints::new))
    }
}

#[ext(CheckpointsOnPe)]
pub impl Pe {
    /// At its end: messages that waited for a checkpoint.
    fn take_kept_for_checkpoint(&self) -> Vec<NonNull<Envelope>> {
        self.checkpoints().into_iter().flat_map(Checkpoints::take_waiting).collect()
    }

    /// Checkpoints, if there are any.
    fn checkpoints(&self) -> Option<&Checkpoints> {
        self.state::<Checkpointing>().0.as_deref()
    }

    /// The job begins or has gone back: what its next checkpoint is, and when it comes.
    fn prepare_checkpoints(&self, order: &Order) {
        if let Some(checkpoints) = self.checkpoints() {
            checkpoints.version.set(order.next_version - 1);
            checkpoints.root.borrow_mut().period.failed(order.failures);
        }
    }

    /// The last version that was begun here, or might have been by those that are lost.
    fn last_checkpoint(&self) -> Option<Version> {
        self.checkpoints().map(|checkpoints| checkpoints.version.get())
    }

    /// The program asks for a checkpoint.
    fn checkpoint(&self, then: Route) {
        self.want_checkpoint(Why::Request, Some(then));
    }

    /// A checkpoint is wanted; the receiver is told once it is committed. Where there are none, it is told at once: the program may have
    /// asked for it in a former job, which had them.
    fn want_checkpoint(&self, why: Why, then: Option<Route>) {
        if self.checkpoints().is_none() {
            return then.iter().for_each(|then| self.route(then, Packed::default()));
        }
        let request = Checkpoint::Request { why, then };
        self.tell(self.view().first(), request);
    }

    /// Somebody outside asks for a checkpoint, from which the others are to go on without these nodes.
    fn want_checkpoint_without(&self, nodes: Vec<NodeId>, why: Why) {
        if !nodes.is_empty() && self.checkpoints().is_some() {
            self.tell(self.view().first(), Checkpoint::Leaving { nodes });
        }
        self.want_checkpoint(why, None);
    }

    /// The same where nobody may have asked who waits for an answer.
    fn want_checkpoint_from_outside(&self, asked: Option<bool>, nodes: Vec<NodeId>) {
        let why = asked.map_or(Why::Request, |on_disk| Why::Asked { on_disk });
        self.want_checkpoint_without(nodes, why);
    }

    /// The program has done a step.
    fn note_step(&self, step: u64) {
        let Some(checkpoints) = self.checkpoints() else { return };
        if checkpoints.settings.is_due_at(checkpoints.step.get(), step) {
            checkpoints.step.set(step);
            self.want_checkpoint(Why::Step(step), None);
        }
    }

    /// A message about a checkpoint. It may come in the midst of an entry, so what runs code of the program is a chore.
    fn on_checkpoint(&self, from: PeId, message: Checkpoint) {
        let Some(checkpoints) = self.checkpoints() else { return };
        match message {
            Checkpoint::Request { why, then } => self.on_checkpoint_request(checkpoints, why, then),
            Checkpoint::Leaving { nodes } => checkpoints.root.borrow_mut().on_leaving(nodes),
            Checkpoint::Freeze { version, leaving } => self.on_freeze(checkpoints, version, leaving),
            Checkpoint::Ask { wave } => self.drive(checkpoints, Event::Heard(Word::Ask(wave))),
            Checkpoint::Count { wave, sent, received } => {
                self.drive(checkpoints, Event::Heard(Word::Counted { wave, sent, received }));
            }
            Checkpoint::Take => self.drive(checkpoints, Event::Heard(Word::Take)),
            Checkpoint::Taken(taken, counts) => self.on_taken(checkpoints, taken, counts),
            Checkpoint::Thaw(counts) => self.on_thaw(checkpoints, counts),
            Checkpoint::Safe { version } => {
                self.drive(checkpoints, Event::Heard(Word::Safe(version, Ok(()))));
            }
            Checkpoint::Commit { version } => self.drive(checkpoints, Event::Heard(Word::Commit(version))),
            Checkpoint::Copy { version, manifest, lent } => {
                self.on_copy(checkpoints, (version, from), manifest, lent)
            }
            Checkpoint::Bring { version } => self.on_bring(checkpoints, version, from),
            Checkpoint::Piece { version, piece, sum, slices } => {
                self.on_piece(checkpoints, from, (version, piece, sum), slices)
            }
            Checkpoint::Got { version } => self.on_got(checkpoints, version, from),
            Checkpoint::Stored { version } => self.on_stored(checkpoints, version, from, Ok(())),
            Checkpoint::NotStored { version, why } => self.on_stored(checkpoints, version, from, Err(why)),
            Checkpoint::NotSafe { version, why } => {
                self.drive(checkpoints, Event::Heard(Word::Safe(version, Err(why))));
                self.thaw_if_refused(checkpoints);
            }
            Checkpoint::GiveUp { version } => self.drive(checkpoints, Event::Heard(Word::Abort(version))),
            Checkpoint::Write { version } => self.on_write(checkpoints, version),
            Checkpoint::Written { version } => self.on_written(checkpoints, version, None),
            Checkpoint::NotWritten { version, why } => self.on_written(checkpoints, version, Some(why)),
            Checkpoint::AllWritten { version, is_whole } => self.on_all_written(version, is_whole),
        }
    }

    /// To the PEs below in the tree.
    fn tell_below_of_checkpoint(&self, message: impl Fn() -> Checkpoint) {
        self.view().children(self.id, FIRST).for_each(|child| self.tell(child, message()));
    }

    /// A version will never be complete.
    fn give_up(&self, checkpoints: &Checkpoints, version: Version) {
        checkpoints.is_open.set(false);
        checkpoints.given_up.set(version);
        checkpoints.cut.take();
        self.node.store.give_up(version);
    }

    /// Everybody's part is held twice.
    fn commit(&self, checkpoints: &Checkpoints, version: Version) {
        checkpoints.is_open.set(false);
        if self.is_first() {
            witness::see(|| Seen::Committed { version });
            self.observe(|| observe::Event::CheckpointCommitted { version });
        }
        self.node.store.commit(version);
        if self.id == self.first_pe {
            self.node.job.settle(version);
        }
    }
}
