//! What PEs say to each other of where objects are.

use crate::collection::Collection;
use crate::message::control::ObjectMessage;
use crate::message::service::{About, Service, ServiceMessage, service};
use crate::migrate::Payload;
use crate::object::ObjectHeader;
use crate::order::Order;
use crate::order::reconcile::Reconciled;
use crate::pe::Pe;
use crate::wire::check::{Checked, check_collection, check_header, check_moves, check_order};
use talisman_base::ids::{CollectionId, ObjId, PeId, wire};
use talisman_observe::mutations::mutated;
use talisman_pup::{Packed, Pup};

/// A message about an object's place.
#[derive(Debug, Pup)]
pub enum LocationMessage {
    /// An element that moves here.
    Arrive { id: ObjId, header: Box<ObjectHeader>, payload: Payload },
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
    /// To the home of one that is gone: what a partner has forgotten of the order between the two, and how many messages
    /// that one had sent, as it was asked.
    Reconciled { gone: ObjId, partner: ObjId, answer: Reconciled, said: Option<u32> },
}

service!(LocationMessage);

impl ServiceMessage for LocationMessage {
    const SERVICE: Service = Service::Location;

    fn run(self, pe: &Pe, from: PeId) {
        match self {
            LocationMessage::Arrive { id, header, payload } => pe.on_arrive(from, id, *header, payload),
            LocationMessage::Moved { id, pe: at, moves } => pe.on_moved(id, at, moves),
            LocationMessage::Found { id, pe: at, asked, moves } => pe.on_found(id, at, asked, moves),
            LocationMessage::Gone { id, moves, order } => pe.on_gone(id, moves, order),
            LocationMessage::Reconciled { gone, partner, answer, .. } => {
                pe.on_reconciled(gone, partner, answer)
            }
        }
    }

    fn check(&self, pe: &Pe) -> Checked {
        match self {
            LocationMessage::Arrive { id, header, .. } => {
                check_collection(pe, id.collection).and(check_header(header))
            }
            LocationMessage::Moved { id, moves, .. } | LocationMessage::Found { id, moves, .. } => {
                check_moves(pe, id.collection, *moves)
            }
            LocationMessage::Gone { id, moves, order } => {
                check_moves(pe, id.collection, *moves)?;
                order.as_deref().map_or(Ok(()), check_order)
            }
            LocationMessage::Reconciled { gone, .. } => check_collection(pe, gone.collection),
        }
    }

    fn collection(&self) -> Option<CollectionId> {
        match self {
            LocationMessage::Arrive { id, .. }
            | LocationMessage::Moved { id, .. }
            | LocationMessage::Found { id, .. }
            | LocationMessage::Gone { id, .. }
            | LocationMessage::Reconciled { gone: id, .. } => Some(id.collection),
        }
    }

    fn packed(&self) -> Option<&Packed> {
        match self {
            LocationMessage::Arrive { payload: Payload::Packed(object), .. } => Some(object),
            _ => None,
        }
    }

    fn accepted(&self, pe: &Pe, collection: &Collection) {
        match self {
            LocationMessage::Arrive { id, header, .. } => {
                if !mutated("arrival-not-expected") {
                    pe.expect_object(collection, id.index);
                }
                if pe.lacks(self.packed().map_or(&[], Packed::needs)).is_some() {
                    pe.services.expect_arrival(collection, id.index, header.moves);
                }
            }
            LocationMessage::Gone { id, .. } => pe.expect_end(collection, id.index),
            _ => {}
        }
    }

    fn too_late(&self, pe: &Pe) {
        match self {
            LocationMessage::Gone { id, order: Some(order), .. } => pe.tell_of_end(*id, order),
            LocationMessage::Arrive { id, header, .. } => pe.tell_of_end(*id, &header.order),
            LocationMessage::Reconciled { gone, partner, answer, said: Some(sent) } if !answer.said => {
                pe.tell_partner(*partner, ObjectMessage::SenderGone { sender: *gone, sent: *sent });
            }
            _ => {}
        }
    }

    fn about(&self) -> About {
        match self {
            LocationMessage::Arrive { id, .. } => About::of_object("a move of", *id),
            _ => About::RUNTIME,
        }
    }
}
