//! What PEs say to each other of reductions.

use super::Contribution;
use crate::reduction::gathering::GatheringOnPe;
use crate::reduction::late::LateElementsOnPe;
use talisman_base::ids::ReductionKey;
use talisman_base::ids::{CollectionId, ObjId, PeId, wire};
use talisman_base::limits::REDUCTIONS;
use talisman_kernel::message::service::{About, Service, ServiceMessage, ShortWords, service};
use talisman_kernel::pe::Pe;
use talisman_kernel::wire::check::{Checked, check_collection, check_root, stays_in_node};
use talisman_pup::{Packed, Pup};

/// A message about a reduction.
#[derive(Debug, Pup)]
pub enum ReductionMessage {
    /// A part of a reduction, up the tree.
    Contribution(Box<Contribution>),
    /// The same from another node, not read yet.
    Part {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        part: Packed,
    },
    /// From the root of a group to a member that was made late: it takes part from this reduction on, with its contribution of this number.
    TakesPart { member: ObjId, first: u32, nth: u32 },
    /// The same when nothing is left to do in the job: this reduction may wait for it.
    IsWaitedFor { member: ObjId, reduction: u32 },
    /// Back: it does, and in vain; whether the member had never contributed to any.
    PutOff { member: ObjId, reduction: u32, is_first: bool },
    /// To the PE itself, at a root: what had come of a reduction, a packed `Pending`.
    Reopen {
        #[pup(with = wire::rooted)]
        collection: CollectionId,
        key: ReductionKey,
        pending: Packed,
    },
}

service!(ReductionMessage);

impl ServiceMessage for ReductionMessage {
    const SERVICE: Service = Service::Reductions;

    fn run(self, pe: &Pe, from: PeId) {
        match self {
            ReductionMessage::Contribution(part) => pe.on_contribution(from, *part),
            ReductionMessage::Part { collection, part } => pe.on_part(from, collection, part),
            ReductionMessage::TakesPart { member, first, nth } => pe.on_takes_part(member, first, nth),
            ReductionMessage::IsWaitedFor { member, reduction } => pe.on_is_waited_for(member, reduction),
            ReductionMessage::PutOff { member, reduction, is_first } => {
                pe.on_put_off(member, reduction, is_first);
            }
            ReductionMessage::Reopen { collection, key, pending } => pe.on_reopen(collection, key, pending),
        }
    }

    fn check(&self, pe: &Pe) -> Checked {
        match self {
            ReductionMessage::Part { .. } => Ok(()),
            ReductionMessage::TakesPart { member, first: reduction, .. }
            | ReductionMessage::IsWaitedFor { member, reduction } => {
                check_collection(pe, member.collection)?;
                REDUCTIONS.check(*reduction)
            }
            ReductionMessage::PutOff { member, reduction, .. } => {
                check_root(pe, member.collection)?;
                REDUCTIONS.check(*reduction)
            }
            ReductionMessage::Contribution(_) | ReductionMessage::Reopen { .. } => stays_in_node(),
        }
    }

    fn collection(&self) -> Option<CollectionId> {
        match self {
            ReductionMessage::Contribution(part) => Some(part.collection),
            ReductionMessage::Part { collection, .. } | ReductionMessage::Reopen { collection, .. } => {
                Some(*collection)
            }
            ReductionMessage::TakesPart { member, .. }
            | ReductionMessage::IsWaitedFor { member, .. }
            | ReductionMessage::PutOff { member, .. } => Some(member.collection),
        }
    }

    fn packed(&self) -> Option<&Packed> {
        match self {
            ReductionMessage::Part { part, .. } => Some(part),
            ReductionMessage::Reopen { pending, .. } => Some(pending),
            _ => None,
        }
    }

    fn about(&self) -> About {
        match self {
            ReductionMessage::Contribution(part) => part.about(),
            ReductionMessage::Part { collection, .. } => {
                About::of_collection("a contribution to a reduction", Some(*collection))
            }
            _ => About::RUNTIME,
        }
    }

    fn missed(&self) -> Option<&'static str> {
        match self {
            ReductionMessage::Contribution(part) if part.is_wanted() => {
                Some("a contribution to a reduction over a destroyed collection")
            }
            _ => None,
        }
    }

    fn to_words(&self) -> Option<ShortWords> {
        match self {
            ReductionMessage::Contribution(part) => part.to_words(),
            _ => None,
        }
    }

    fn of_words(words: &ShortWords) -> Option<Self> {
        Some(ReductionMessage::Contribution(Box::new(Contribution::of_words(words)?)))
    }

    fn runs_as_it_comes(&self) -> bool {
        matches!(self, ReductionMessage::Contribution(_))
    }

    /// A part has values of the program in it, which the receiver may not be able to read at once.
    fn into_travelling(self) -> Self {
        match self {
            ReductionMessage::Contribution(part) => {
                ReductionMessage::Part { collection: part.collection, part: Packed::away(part) }
            }
            other => other,
        }
    }
}
