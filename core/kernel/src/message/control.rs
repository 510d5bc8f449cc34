//! Messages that the runtime itself writes for objects, and what broadcasts bring.

use crate::order::reconcile::Reconcile;
use crate::route::Route;
use talisman_base::ids::{ObjId, PeId, SectionId, wire};
use talisman_pup::{Packed, Pup};

/// A packed message for an object; it finds its receiver like any other.
#[derive(Debug, Pup)]
pub enum ObjectMessage {
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
    /// To a member of a group: the state of one that was lost, for which it acts.
    Lost { state: Packed },
    /// From the home of one that is gone, and that it had ordered messages of or for: do the counts agree?
    Reconcile(Reconcile),
    /// To whoever had ordered messages of one that is gone with its whole collection: so many in all.
    SenderGone { sender: ObjId, sent: u32 },
}

impl ObjectMessage {
    /// What only its receiver can read.
    pub fn packed(&self) -> Option<&Packed> {
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
    pub fn to_nobody() -> Self {
        ObjectMessage::Reply { wait: 0, value: Packed::default() }
    }
}

/// What a broadcast brings to each element.
#[derive(Clone, Debug, Pup)]
pub struct Cast {
    pub call: CastCall,
    pub args: Packed,
    /// The reduction of the answers: the reducer's id, and who gets the result.
    pub collect: Option<(u64, Route)>,
}

/// The call in a broadcast.
#[derive(Clone, Copy, Debug, Pup)]
pub enum CastCall {
    /// An entry, by number.
    Entry(u16),
    /// The answer that async entries wait for, by their wait.
    Reply(u64),
    /// The end of the collection.
    Destroy,
    /// The end of a section: its members forget it.
    Forget(SectionId),
}
