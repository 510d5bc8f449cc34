//! What there is to see.

use std::ops::Range;

use crate::message::control::ObjectMessage;
use crate::message::envelope::{Body, Envelope};
use crate::message::service::PeMessage;
use talisman_base::ids::ReductionKey;
use talisman_base::ids::{CollectionId, ObjId, PeId, SectionId};

/// Something that oracles look at. A message is named by its number, which it has from the first to the last.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Seen {
    /// A PE begins to work: it takes in what has come, and runs messages.
    Turn {
        /// Which.
        pe: PeId,
    },
    /// A message is made.
    Sent {
        /// Its number: each is larger than those before.
        message: u64,
        /// Where.
        pe: PeId,
        /// By the object whose entry runs; `None` if it is the runtime.
        sender: Option<ObjId>,
        /// For this object; `None` if it is for a PE.
        to: Option<ObjId>,
        /// What it is for.
        kind: Kind,
        /// Whether it waits for its turn among others: it has no priority.
        in_line: bool,
    },
    /// A message is put into a PE's queue.
    Queued {
        /// Which.
        message: u64,
        /// Where.
        pe: PeId,
    },
    /// A message leaves a PE for another.
    Left {
        /// Which.
        message: u64,
        /// From there.
        pe: PeId,
        /// To there.
        to: PeId,
    },
    /// A message has come from another PE.
    Taken {
        /// Which.
        message: u64,
        /// Where.
        pe: PeId,
    },
    /// A sender that may have waited for room on a link goes on.
    WentOn {
        /// Where.
        pe: PeId,
        /// Bytes that the link still has to bring to its peer.
        unsent: usize,
        /// With more than these it has to wait.
        most: usize,
    },
    /// A message is kept until something happens.
    Kept {
        /// Which.
        message: u64,
        /// Where.
        pe: PeId,
        /// Until when.
        until: Until,
    },
    /// A message reaches whom it is for: an entry runs, an object is made, the runtime does as it says.
    Delivered {
        /// Which.
        message: u64,
        /// Where.
        pe: PeId,
        /// To this object, unless it was for a PE, makes the object, or asks where it is, and it is nowhere.
        object: Option<ObjId>,
    },
    /// A message is given up.
    Dropped {
        /// Which.
        message: u64,
        /// Where.
        pe: PeId,
        /// For this reason.
        why: Why,
    },

    /// A collection is known on a PE from now on.
    Known {
        /// Which.
        collection: CollectionId,
        /// Where.
        pe: PeId,
        /// Whether it was declared `ordered`.
        ordered: bool,
    },
    /// An object is made.
    Born {
        /// Which.
        object: ObjId,
        /// Where.
        pe: PeId,
        /// Its home, as this PE has it.
        home: PeId,
        /// Moves of those before it that had its name.
        moves: u32,
        /// The first reduction that it takes part in.
        reduction: u32,
        /// The first broadcast that it receives.
        broadcast: u32,
        /// It is a member of a group on a PE that came later than the group.
        late: bool,
    },
    /// An object leaves a PE for another.
    Departed {
        /// Which.
        object: ObjId,
        /// From there.
        pe: PeId,
        /// To there.
        to: PeId,
        /// Its moves, this one included.
        moves: u32,
    },
    /// An object arrives.
    Arrived {
        /// Which.
        object: ObjId,
        /// Where.
        pe: PeId,
        /// Its home, as this PE has it.
        home: PeId,
        /// Its moves.
        moves: u32,
        /// Broadcasts that have passed here; what it has not received of them is sent after it.
        passed: u32,
    },
    /// An object is removed.
    Removed {
        /// Which.
        object: ObjId,
        /// Where.
        pe: PeId,
    },

    /// A broadcast gets its number at the root of its collection.
    Numbered {
        /// To all elements of this.
        collection: CollectionId,
        /// Which.
        number: u32,
    },
    /// An element receives a broadcast.
    Received {
        /// Who.
        object: ObjId,
        /// Where.
        pe: PeId,
        /// Which.
        number: u32,
    },
    /// A section is made.
    Sectioned {
        /// Which.
        section: SectionId,
    },
    /// A multicast sets out from the root of its section.
    Multicast {
        /// To the members of this.
        section: SectionId,
        /// Which.
        number: u32,
        /// How many those are.
        members: usize,
    },
    /// A multicast is delivered to a member, or sent after it as a message of its own.
    Reached {
        /// Who.
        object: ObjId,
        /// Where.
        pe: PeId,
        /// Of this section.
        section: SectionId,
        /// Which.
        number: u32,
    },

    /// An element contributes, or is counted although it has gone.
    Contributed {
        /// Who.
        object: ObjId,
        /// Where.
        pe: PeId,
        /// To which reduction of its collection.
        reduction: Reduction,
    },
    /// A reduction is complete.
    Reduced {
        /// Whose elements contributed.
        collection: CollectionId,
        /// Which.
        reduction: Reduction,
        /// How many contributed, as the runtime counted.
        contributions: u64,
    },

    /// A timer is set.
    TimerSet {
        /// Where.
        pe: PeId,
    },
    /// A timer's time has come.
    TimerDue {
        /// Where.
        pe: PeId,
    },
    /// Nothing is in flight, queued or timed, as the runtime has found.
    Quiet,

    /// Memory for an object is taken.
    Allocated {
        /// Its address.
        at: usize,
    },
    /// The memory of an object is given back.
    Freed {
        /// Its address.
        at: usize,
    },
    /// A PE has ended.
    Ended {
        /// Which.
        pe: PeId,
        /// Objects that it still had.
        objects: usize,
        /// Messages that it still had.
        messages: usize,
    },
    /// The envelopes of a node's PEs are freed: so many were there, and so many were free.
    Envelopes {
        /// All.
        all: usize,
        /// Those that held no message.
        free: usize,
    },

    /// A node dies with its PEs, and all that they have.
    NodeGone {
        /// Its PEs.
        pes: Range<PeId>,
    },
    /// The PEs of a node are about to be made anew. All that happened since the cut of the version has not happened, nor will
    /// anything that PEs of earlier epochs may still do.
    Begun {
        /// The epoch that they will live in.
        epoch: u32,
        /// The version that they go back to; none: the program begins anew.
        version: Option<u64>,
        /// Which.
        pes: Range<PeId>,
        /// Which of the node's processes they are in, counted from 0.
        life: u32,
    },
    /// The whole job was lost, and is started again from a version that was left on its disks, by other processes on other hosts perhaps.
    /// Epochs are counted anew.
    StartedAgain {
        /// The version.
        version: u64,
        /// The epoch in which that was taken: versions behind which a job goes back are taken again, with the same numbers.
        epoch: u32,
        /// The PEs that have a process.
        pes: Range<PeId>,
    },
    /// What a checkpoint has of an object is on its way to being made again: it waits for a shared value.
    Awaited {
        /// Which.
        object: ObjId,
        /// Where.
        pe: PeId,
    },
    /// An object is made again from what a checkpoint has of it.
    Restored {
        /// Which.
        object: ObjId,
        /// Where.
        pe: PeId,
        /// Its home, as this PE has it.
        home: PeId,
    },
    /// A PE has taken its part of a checkpoint. Nothing of the program happens between the first part of a version and the last.
    Captured {
        /// Which.
        pe: PeId,
        /// The version.
        version: u64,
    },
    /// A message that waits on a PE is in the part that it takes (`Captured`).
    Saved {
        /// Which.
        message: u64,
        /// Where.
        pe: PeId,
    },
    /// Every part of a version is held twice: earlier ones are not needed any more.
    Committed {
        /// The version.
        version: u64,
    },
    /// A PE goes back to where it was after so many messages that it had got (`Delivered`). What it did since has not
    /// happened.
    RolledBack {
        /// Which.
        pe: PeId,
        /// Messages that it keeps.
        to: u64,
    },
}

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Runs an entry.
    Entry,
    /// Makes an object.
    Birth,
    /// Brings the answer that an async entry waits for.
    Reply,
    /// Finds out where an object is.
    Marker,
    /// For a PE.
    Runtime {
        /// Whether quiescence waits for it.
        counted: bool,
    },
}

impl Kind {
    pub(super) fn of(message: &Envelope) -> Self {
        if message.is_creation() {
            return Kind::Birth;
        }
        match message.body {
            Body::Pe => {
                Kind::Runtime { counted: message.pe_message().is_none_or(<dyn PeMessage>::is_counted) }
            }
            _ => match message.object_message() {
                Some(ObjectMessage::Reply { .. }) => Kind::Reply,
                Some(
                    ObjectMessage::Marker { .. }
                    | ObjectMessage::Reconcile(_)
                    | ObjectMessage::SenderGone { .. },
                ) => Kind::Marker,
                _ => Kind::Entry,
            },
        }
    }
}

/// What a message is kept for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Its collection is known there.
    Collection,
    /// A shared value has come.
    Shared,
    /// It is known where its object is.
    Place,
    /// At the home: its object is made.
    Element,
    /// At the home: the former element of its name is gone.
    End,
    /// The broadcasts have come that its object, which is to be made, had missed.
    Broadcasts,
    /// Its turn in an ordered collection. Until then it is with its object.
    Turn,
}

/// Why a message is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The job is over.
    Over,
    /// Who waited for this answer is gone.
    NobodyWaits,
    /// It was for a member of a group whose PE is lost.
    OfLost,
    /// It cannot be one of this job, which ends for that.
    Refused,
    /// It was for a collection that was destroyed.
    Destroyed,
}

/// Which reduction of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reduction {
    /// The `n`th to which all elements contribute.
    All(u32),
    /// Of the answers to the `n`th broadcast.
    Answers(u32),
    /// The `n`th of a section.
    Section(SectionId, u32),
    /// Of the answers to a section's `n`th multicast.
    SectionAnswers(SectionId, u32),
    /// One to which a late member of a group contributes for the `n`th time, and of which its PE does not know which it is.
    Late(u32, u32),
}

impl From<ReductionKey> for Reduction {
    fn from(key: ReductionKey) -> Self {
        match key {
            ReductionKey::All(number) => Reduction::All(number),
            ReductionKey::Answers(number) => Reduction::Answers(number),
            ReductionKey::Section(section, number) => Reduction::Section(section, number),
            ReductionKey::SectionAnswers(section, number) => Reduction::SectionAnswers(section, number),
            ReductionKey::Late { member, nth } => Reduction::Late(member, nth),
        }
    }
}

/// The name of a collection, for tests of oracles.
pub fn collection(creator: PeId, serial: u32) -> CollectionId {
    CollectionId { creator, serial }
}

/// The name of a section, for tests of oracles.
pub fn section(creator: PeId, serial: u32) -> SectionId {
    SectionId { creator, serial }
}
