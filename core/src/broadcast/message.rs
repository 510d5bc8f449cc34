//! What PEs say to each other of broadcasts.

use crate::broadcast::BroadcastsOnPe;
use crate::broadcast::births::BirthsOnPe;
use crate::broadcast::short_words;
use talisman_base::birth::BirthId;
use talisman_base::ids::{CollectionId, ObjId, PeId, wire};
use talisman_base::limits::BROADCASTS;
use talisman_kernel::message::control::{Cast, CastCall};
use talisman_kernel::message::service::{About, Service, ServiceMessage, ShortWords, WhenFrozen, service};
use talisman_kernel::pe::Pe;
use talisman_kernel::wire::check::{Checked, check_collection, check_moves, check_root};
use talisman_pup::Pup;

/// A message about a broadcast.
#[derive(Debug, Pup)]
pub enum BroadcastMessage {
    /// To the root of a collection: a broadcast to be numbered.
    Request {
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
    /// To where it came from: it is here after so many moves, and broadcasts up to this number have passed.
    Arrived { id: ObjId, moves: u32, broadcasts: u32 },
    /// To where an element went with its so manyth move: a broadcast that it may have missed.
    Missed { id: ObjId, moves: u32, number: u32, cast: Cast },
    /// To where an element was sent off from that is to be made: it has come, and broadcasts up to this number have passed.
    Settled { id: ObjId, birth: BirthId, broadcasts: u32 },
    /// To where an element was sent off to that is to be made: a broadcast that it may have missed.
    MissedUnborn { id: ObjId, birth: BirthId, number: u32, cast: Cast },
}

service!(BroadcastMessage);

impl ServiceMessage for BroadcastMessage {
    const SERVICE: Service = Service::Broadcasts;

    fn run(self, pe: &Pe, _: PeId) {
        match self {
            BroadcastMessage::Request { collection, cast } => pe.on_cast_request(collection, cast),
            BroadcastMessage::Cast { collection, number, cast } => pe.on_cast(collection, number, cast),
            BroadcastMessage::Arrived { id, moves, broadcasts } => pe.on_arrived(id, moves, broadcasts),
            BroadcastMessage::Missed { id, moves, number, cast } => pe.on_missed(id, moves, number, cast),
            BroadcastMessage::Settled { id, birth, broadcasts } => pe.on_settled(id, birth, broadcasts),
            BroadcastMessage::MissedUnborn { id, birth, number, cast } => {
                pe.on_missed_unborn(id, birth, number, cast);
            }
        }
    }

    fn check(&self, pe: &Pe) -> Checked {
        match self {
            BroadcastMessage::Request { collection, .. } => check_root(pe, *collection),
            BroadcastMessage::Cast { number, .. } => BROADCASTS.check(*number),
            BroadcastMessage::Arrived { id, moves, broadcasts: number }
            | BroadcastMessage::Missed { id, moves, number, .. } => {
                BROADCASTS.check(*number)?;
                check_moves(pe, id.collection, *moves)
            }
            BroadcastMessage::Settled { id, broadcasts: number, .. }
            | BroadcastMessage::MissedUnborn { id, number, .. } => {
                BROADCASTS.check(*number)?;
                check_collection(pe, id.collection)
            }
        }
    }

    fn collection(&self) -> Option<CollectionId> {
        match self {
            BroadcastMessage::Request { collection, .. } | BroadcastMessage::Cast { collection, .. } => {
                Some(*collection)
            }
            BroadcastMessage::Arrived { id, .. }
            | BroadcastMessage::Missed { id, .. }
            | BroadcastMessage::Settled { id, .. }
            | BroadcastMessage::MissedUnborn { id, .. } => Some(id.collection),
        }
    }

    fn when_frozen(&self) -> WhenFrozen {
        match self {
            BroadcastMessage::Request { .. } => WhenFrozen::Waits,
            _ => WhenFrozen::Runs,
        }
    }

    fn about(&self) -> About {
        match self {
            BroadcastMessage::Missed { id, .. } => About::of_object("a broadcast to", *id),
            BroadcastMessage::Request { collection, .. } | BroadcastMessage::Cast { collection, .. } => {
                About::of_collection("a broadcast to the elements", Some(*collection))
            }
            _ => About::RUNTIME,
        }
    }

    fn missed(&self) -> Option<&'static str> {
        match self {
            BroadcastMessage::Request { cast: Cast { call: CastCall::Destroy, .. }, .. } => None,
            BroadcastMessage::Request { .. } => Some("a broadcast to a destroyed collection"),
            _ => None,
        }
    }

    fn to_words(&self) -> Option<ShortWords> {
        match self {
            BroadcastMessage::Cast { collection, number, cast } => {
                short_words::to_words(*collection, *number, cast)
            }
            _ => None,
        }
    }

    fn of_words(words: &ShortWords) -> Option<Self> {
        let (collection, number, cast) = short_words::of_words(words);
        Some(BroadcastMessage::Cast { collection, number, cast })
    }

    fn request_again(self, pe: &Pe) {
        match self {
            BroadcastMessage::Request { collection, cast } => pe.broadcast(collection, cast),
            other => pe.tell(pe.id, other),
        }
    }
}
