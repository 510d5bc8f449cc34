//! Where a value goes when it is ready.

use crate::pe::Pe;
use talisman_base::ids::{CollectionId, ObjId, PeId, ReductionKey, SectionId, wire};
use talisman_pup::{Packed, Pup};

/// The receiver of a callback, a reduction's result or an entry's answer. Plain data, valid on every node.
#[derive(Clone, Debug, PartialEq, Pup)]
pub enum Route {
    /// Nobody.
    Ignore,
    /// The end of the job, with a status.
    Exit(i32),
    /// An entry of one object.
    Entry(ObjId, u16),
    /// An entry of every element of a collection or section.
    Broadcast(#[pup(with = wire::rooted)] CollectionId, Option<SectionId>, u16),
    /// An async entry of one object that waits with this number.
    Reply(ObjId, u64),
    /// An async entry of every element of a collection.
    ReplyAll(#[pup(with = wire::rooted)] CollectionId, u64),
    /// The reduction over the answers to a broadcast: its collection and number, or section and number.
    Collect(Collect),
    /// A named function on a PE.
    Function(#[pup(with = wire::pe)] PeId, u64),
    /// Another receiver, with the packed first arguments put in front.
    Prefixed(Box<Route>, Packed),
    /// Another receiver, after a balancing step.
    AtSync(Box<Route>),
    /// The end of a collection whose elements are gone.
    Destroyed(#[pup(with = wire::rooted)] CollectionId),
}

/// Which collective call an answer belongs to, and where it is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pup)]
pub struct Collect {
    #[pup(with = wire::rooted)]
    pub collection: CollectionId,
    pub section: Option<SectionId>,
    pub number: u32,
    /// The index of the element that answers, as bits: values are combined in index order.
    pub index: u128,
    /// The reducer's id.
    pub reducer: u64,
}

impl Collect {
    /// The reduction that the answer is for.
    pub fn key(&self) -> ReductionKey {
        match self.section {
            None => ReductionKey::Answers(self.number),
            Some(section) => ReductionKey::SectionAnswers(section, self.number),
        }
    }
}

impl Pe {
    /// Sends a packed value to its receiver.
    pub fn route(&self, to: &Route, value: Packed) {
        self.services.route(self, to, value);
    }
}
