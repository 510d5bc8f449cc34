//! What PEs say to each other of elements that are inserted.

use crate::lifecycle::admission::AdmissionsOnPe;
use crate::lifecycle::census::CensusOnPe;
use crate::lifecycle::insert::InsertionsOnPe;
use talisman_base::ids::{CollectionId, ObjId, PeId, wire};
use talisman_base::limits::INSERTIONS;
use talisman_kernel::message::service::{About, Queueing, Service, ServiceMessage, WhenFrozen, service};
use talisman_kernel::pe::Pe;
use talisman_kernel::wire::check::{Checked, check_root, require};
use talisman_pup::{Packed, Pup};

/// A message about insertions.
#[derive(Debug, Pup)]
pub enum InsertionMessage {
    /// To the root of a collection: an element to insert, from outside, after `done_inserting`.
    Insert {
        to: ObjId,
        #[pup(with = wire::any_pe)]
        pe: Option<PeId>,
        init: u16,
        args: Packed,
        /// Counted by its sender, from 1; 0 if nobody has to wait for it.
        number: u32,
    },
    /// Before a message of a chare that may know of them: a PE's insertions from outside, up to this one, may not have come to their root.
    Unadmitted {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        #[pup(with = wire::pe)]
        inserter: PeId,
        number: u32,
    },
    /// To that root: have they?
    AskAdmitted {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        #[pup(with = wire::pe)]
        inserter: PeId,
        number: u32,
    },
    /// The answer, when they have.
    Admitted {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        #[pup(with = wire::pe)]
        inserter: PeId,
        number: u32,
    },
    /// To the root of a collection: all first elements are on their way.
    DoneInserting(#[pup(with = wire::rooted)] CollectionId),
    /// From the root: how many first elements were sent off, how many were made? Down the tree of the root.
    CountInserted {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        wave: u32,
    },
    /// The answer, straight to the root.
    Inserted {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        wave: u32,
        sent: u64,
        made: u64,
    },
}

service!(InsertionMessage);

impl ServiceMessage for InsertionMessage {
    const SERVICE: Service = Service::Insertions;

    fn run(self, pe: &Pe, from: PeId) {
        match self {
            InsertionMessage::Insert { to, pe: on, init, args, number } => {
                pe.on_insert(to, on, init, args);
                if number > 0 {
                    pe.admit(to.collection, from, number);
                }
            }
            InsertionMessage::Unadmitted { collection, inserter, number } => {
                pe.on_unadmitted(collection, inserter, number);
            }
            InsertionMessage::AskAdmitted { collection, inserter, number } => {
                pe.on_ask_admitted(from, collection, inserter, number);
            }
            InsertionMessage::Admitted { collection, inserter, number } => {
                pe.on_admitted(collection, inserter, number);
            }
            InsertionMessage::DoneInserting(collection) => pe.on_done_inserting(collection),
            InsertionMessage::CountInserted { collection, wave } => pe.on_count_inserted(collection, wave),
            InsertionMessage::Inserted { collection, wave, sent, made } => {
                pe.on_inserted(collection, wave, sent, made);
            }
        }
    }

    fn check(&self, pe: &Pe) -> Checked {
        match self {
            InsertionMessage::Insert { to, .. } => {
                require(!to.collection.is_singles(), "an element is inserted among singletons")
            }
            InsertionMessage::AskAdmitted { collection, number, .. } => {
                INSERTIONS.check(*number)?;
                check_root(pe, *collection)
            }
            InsertionMessage::Unadmitted { number, .. } | InsertionMessage::Admitted { number, .. } => {
                INSERTIONS.check(*number)
            }
            InsertionMessage::DoneInserting(id) | InsertionMessage::Inserted { collection: id, .. } => {
                check_root(pe, *id)
            }
            InsertionMessage::CountInserted { .. } => Ok(()),
        }
    }

    fn collection(&self) -> Option<CollectionId> {
        match self {
            InsertionMessage::Insert { to, .. } => Some(to.collection),
            InsertionMessage::CountInserted { collection, .. }
            | InsertionMessage::Inserted { collection, .. }
            | InsertionMessage::DoneInserting(collection) => Some(*collection),
            // May be told of before the collection is known.
            InsertionMessage::Unadmitted { .. }
            | InsertionMessage::AskAdmitted { .. }
            | InsertionMessage::Admitted { .. } => None,
        }
    }

    fn queueing(&self) -> Queueing {
        match self {
            // It says what may overtake others in the queue.
            InsertionMessage::Unadmitted { .. } => Queueing::AtOnce,
            _ => Queueing::InTurn,
        }
    }

    fn when_frozen(&self) -> WhenFrozen {
        match self {
            InsertionMessage::Insert { .. } | InsertionMessage::DoneInserting(_) => WhenFrozen::Waits,
            InsertionMessage::CountInserted { .. } | InsertionMessage::Inserted { .. } => {
                WhenFrozen::IsPutOff
            }
            InsertionMessage::Unadmitted { .. }
            | InsertionMessage::AskAdmitted { .. }
            | InsertionMessage::Admitted { .. } => WhenFrozen::Runs,
        }
    }

    fn about(&self) -> About {
        match self {
            InsertionMessage::Insert { to, .. } => About::of_object("the arguments of the new", *to),
            _ => About::RUNTIME,
        }
    }

    fn missed(&self) -> Option<&'static str> {
        matches!(self, InsertionMessage::Insert { .. }).then_some("an insertion into a destroyed array")
    }

    fn request_again(self, pe: &Pe) {
        match self {
            InsertionMessage::Insert { to, pe: on, init, args, .. } => {
                let again = InsertionMessage::Insert { to, pe: on, init, args, number: 0 };
                pe.tell(pe.view().acting_for(to.collection.creator), again);
            }
            InsertionMessage::DoneInserting(collection) => pe.done_inserting(collection),
            other => pe.tell(pe.id, other),
        }
    }
}
