//! Messages that the runtime itself writes: packed ones for objects, and those from PE to PE.

use crate::balance::message::Balance;
use crate::checkpoint::message::Checkpoint;
use crate::checkpoint::part::{Newborn, SavedObject};
use crate::collection::description::Description;
use crate::migrate::Luggage;
use crate::object::Travel;
use crate::order::Order;
use crate::order::reconcile::{Reconcile, Reconciled};
use crate::pe::execute::Restored;
use crate::quiescence::Wave;
use crate::reduction::{BirthId, Contribution, ReductionKey};
use crate::route::Route;
use talisman_base::ids::{CollectionId, ObjId, PeId, SectionId, wire};
use talisman_pup::{Packed, Pup};

/// A packed message for an object; it finds its receiver like any other.
#[derive(Debug, Pup)]
pub(crate) enum ObjectMessage {
    /// An entry, by number, with its packed arguments.
    Invoke { entry: u16, args: Packed },
    /// An element to be made by an `#[init]`, by number.
    Create { init: u16, args: Packed },
    /// The answer that an async entry waits for.
    Reply { wait: u64, value: Packed },
    /// To a member of a section: forget that.
    Forget { section: SectionId },
    /// Finds out where the object is now, along the old way: what was sent before has then arrived.
    Marker {
        #[pup(with = wire::pe)]
        asker: PeId,
        /// The asker's number for it.
        asked: u32,
    },
    /// To a member of a group: the state of one that was lost, for which it stands in.
    Lost { state: Packed },
    /// From the home of one that is gone, and that it had ordered messages of or for: do the counts agree?
    Reconcile(Reconcile),
    /// To whoever had ordered messages of one that is gone with its whole collection: so many in all.
    SenderGone { sender: ObjId, sent: u32 },
}

impl ObjectMessage {
    /// What only its receiver can read.
    pub(crate) fn packed(&self) -> Option<&Packed> {
        match self {
            ObjectMessage::Invoke { args, .. } | ObjectMessage::Create { args, .. } => Some(args),
            ObjectMessage::Reply { value, .. } => Some(value),
            ObjectMessage::Lost { state } => Some(state),
            ObjectMessage::Marker { .. }
            | ObjectMessage::Forget { .. }
            | ObjectMessage::Reconcile(_)
            | ObjectMessage::SenderGone { .. } => None,
        }
    }

    /// An answer that nobody waits for: waits are counted from 1.
    pub(crate) fn to_nobody() -> Self {
        ObjectMessage::Reply { wait: 0, value: Packed::default() }
    }
}

/// What a broadcast brings to each element.
#[derive(Clone, Debug, Pup)]
pub(crate) struct Cast {
    pub(crate) call: CastCall,
    pub(crate) args: Packed,
    /// The reduction of the answers: the reducer's id, and who gets the result.
    pub(crate) collect: Option<(u64, Route)>,
}

/// The call in a broadcast.
#[derive(Clone, Copy, Debug, Pup)]
pub(crate) enum CastCall {
    /// An entry, by number.
    Entry(u16),
    /// The answer that async entries wait for, by their wait.
    Reply(u64),
    /// The end of the collection.
    Destroy,
    /// The end of a section: its members forget it.
    Forget(SectionId),
}

/// A message from PE to PE.
#[derive(Debug, Pup)]
pub(crate) enum PeMessage {
    /// A collection exists. Travels down the tree of its creator.
    NewCollection(Box<Description>),
    /// The same, when it has travelled on: for this PE alone.
    Adopt(Box<Description>),
    /// To the root of a collection: a broadcast to be numbered.
    CastRequest {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        cast: Cast,
    },
    /// A numbered broadcast, down the tree.
    Cast {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        number: u32,
        cast: Cast,
    },
    /// To the root of a section: a multicast.
    SectionRequest {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        section: SectionId,
        cast: Cast,
    },
    /// A multicast to the members that the root believes on this PE.
    SectionCast {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        section: SectionId,
        number: u32,
        members: Vec<u128>,
        cast: Cast,
    },
    /// A part of a reduction, up the tree.
    Contribution(Box<Contribution>),
    /// The same from another node, not read yet.
    Part {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        part: Packed,
    },
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
    /// An element that moves here.
    Arrive { id: ObjId, travel: Box<Travel>, luggage: Luggage },
    /// To where it came from: it is here after so many moves, and broadcasts up to this number have passed.
    Arrived { id: ObjId, moves: u32, broadcasts: u32 },
    /// To where an element went with its so manyth move: a broadcast that it may have missed.
    Missed { id: ObjId, moves: u32, number: u32, cast: Cast },
    /// To where an element was sent off from that is to be made: it has come, and broadcasts up to this number have passed.
    Settled { id: ObjId, birth: BirthId, broadcasts: u32 },
    /// To where an element was sent off to that is to be made: a broadcast that it may have missed.
    MissedUnborn { id: ObjId, birth: BirthId, number: u32, cast: Cast },
    /// To a PE that used an old place.
    Moved {
        id: ObjId,
        #[pup(with = wire::pe)]
        pe: PeId,
        moves: u32,
    },
    /// The answer to a marker.
    Found {
        id: ObjId,
        #[pup(with = wire::pe)]
        pe: PeId,
        asked: u32,
        moves: u32,
    },
    /// To the home: the element is gone, which counts as a move, and left its order to the next of its name.
    Gone { id: ObjId, moves: u32, order: Option<Box<Order>> },
    /// To the root of a section: it is to end.
    DropSection {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        section: SectionId,
    },
    /// No element of a collection is left: everybody drops it. Down the tree of its root.
    DropCollection(#[pup(with = wire::rooted)] CollectionId),
    /// A read-only value, down the tree of its creator.
    Share { id: u64, value: Packed },
    /// The same, when it has travelled on: for this node alone.
    KeepShared { id: u64, value: Packed },
    /// To the other PEs of a node: it has this read-only value now.
    Shared { id: u64 },
    /// A read-only value is to end: to its creator, down the creator's tree, and to the other PEs of each node.
    DropShared { id: u64 },
    /// Ask for, and answer with, the counts that show quiescence.
    Quiescence(Wave),
    /// To PE 0: tell this receiver when nothing is in flight.
    WhenQuiet(Route),
    /// Call a registered function.
    Function { id: u64, value: Packed },
    /// The job ends.
    Exit(i32),
    /// Of load balancing.
    Balance(Balance),
    /// Of checkpoints.
    Checkpoint(Checkpoint),
    /// To homes, after going back to a checkpoint: these objects are here, or were before they moved on, after so many moves.
    Places { objects: Vec<(ObjId, u32)> },
    /// To the PE itself: an object of a checkpoint, which has to wait for a shared value.
    Restore { object: Box<SavedObject>, why: Restored },
    /// To the PE itself, which is new: a member of a group is to be made on it.
    Newborn(Box<Newborn>),
    /// To the PE itself, at a root: what had come of a reduction, a packed `Pending`.
    Reopen {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        key: ReductionKey,
        pending: Packed,
    },
    /// From the root of a section to the seat of a lost member: to how many of its reductions did that contribute?
    WasContributing { member: ObjId, section: SectionId },
    /// Back, once it will not contribute to any other.
    HasContributed { member: ObjId, section: SectionId, reductions: u32 },
    /// To the PE itself: everything is back.
    GoOn,
    /// From the root of a group to a member that was made late: it takes part from this reduction on, with its contribution of this number.
    TakesPart { member: ObjId, first: u32, nth: u32 },
    /// The same when nothing is left to do in the job: this reduction may wait for it.
    IsWaitedFor { member: ObjId, reduction: u32 },
    /// Back: it does, and in vain; whether the member had never contributed to any.
    PutOff { member: ObjId, reduction: u32, is_first: bool },
    /// To the home of one that is gone: what a partner has forgotten of the order between the two, and how many messages
    /// that one had sent, as it was asked.
    Reconciled { gone: ObjId, partner: ObjId, answer: Reconciled, said: Option<u32> },
}

impl PeMessage {
    /// The part of a reduction that it has.
    pub(crate) fn part(&self) -> Option<&Contribution> {
        match self {
            PeMessage::Contribution(part) => Some(part),
            _ => None,
        }
    }

    /// The collection that has to be known for it to mean anything.
    pub(crate) fn collection(&self) -> Option<CollectionId> {
        match self {
            PeMessage::CastRequest { collection, .. }
            | PeMessage::Cast { collection, .. }
            | PeMessage::SectionRequest { collection, .. }
            | PeMessage::SectionCast { collection, .. }
            | PeMessage::DropSection { collection, .. }
            | PeMessage::CountInserted { collection, .. }
            | PeMessage::Inserted { collection, .. }
            | PeMessage::DoneInserting(collection) => Some(*collection),
            PeMessage::Contribution(part) => Some(part.collection),
            PeMessage::Restore { object, .. } => Some(object.id.collection),
            PeMessage::Newborn(newborn) => Some(newborn.id.collection),
            PeMessage::Reopen { collection, .. } => Some(*collection),
            PeMessage::Part { collection, .. } => Some(*collection),
            PeMessage::Insert { to: id, .. }
            | PeMessage::Arrive { id, .. }
            | PeMessage::Arrived { id, .. }
            | PeMessage::Missed { id, .. }
            | PeMessage::Settled { id, .. }
            | PeMessage::MissedUnborn { id, .. }
            | PeMessage::Moved { id, .. }
            | PeMessage::Found { id, .. }
            | PeMessage::Gone { id, .. }
            | PeMessage::WasContributing { member: id, .. }
            | PeMessage::HasContributed { member: id, .. }
            | PeMessage::TakesPart { member: id, .. }
            | PeMessage::IsWaitedFor { member: id, .. }
            | PeMessage::Reconciled { gone: id, .. }
            | PeMessage::PutOff { member: id, .. } => Some(id.collection),
            PeMessage::NewCollection(_)
            | PeMessage::Adopt(_)
            | PeMessage::DropCollection(_)
            | PeMessage::DropShared { .. }
            | PeMessage::Share { .. }
            | PeMessage::KeepShared { .. }
            | PeMessage::Shared { .. }
            | PeMessage::Quiescence(_)
            | PeMessage::WhenQuiet(_)
            | PeMessage::Function { .. }
            | PeMessage::Exit(_)
            | PeMessage::Balance(_)
            | PeMessage::Checkpoint(_)
            | PeMessage::Places { .. }
            | PeMessage::Unadmitted { .. }
            | PeMessage::AskAdmitted { .. }
            | PeMessage::Admitted { .. }
            | PeMessage::GoOn => None,
        }
    }

    /// What this PE itself will read of it, rather than pass on.
    pub(crate) fn packed(&self) -> Option<&Packed> {
        match self {
            PeMessage::Adopt(of) => of.fill.as_ref().map(|fill| &fill.args),
            PeMessage::Arrive { luggage: Luggage::Packed(object), .. } => Some(object),
            PeMessage::Part { part, .. } => Some(part),
            PeMessage::Restore { object, .. } => Some(&object.state),
            PeMessage::Newborn(newborn) => Some(&newborn.args),
            PeMessage::Reopen { pending, .. } => Some(pending),
            PeMessage::KeepShared { value, .. } | PeMessage::Function { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Whether quiescence waits for it.
    pub(crate) fn is_counted(&self) -> bool {
        match self {
            PeMessage::Quiescence(_) | PeMessage::Exit(_) => false,
            PeMessage::Balance(message) => message.is_counted(),
            PeMessage::Checkpoint(message) => message.is_counted(),
            _ => true,
        }
    }
}
