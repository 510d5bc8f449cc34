//! What PEs say to each other of whole collections.

use crate::lifecycle::CreationOnPe;
use crate::lifecycle::destroy::DestructionOnPe;
use talisman_base::ids::{CollectionId, PeId, wire};
use talisman_base::limits::AHEAD_MAX;
use talisman_kernel::collection::description::Description;
use talisman_kernel::message::service::{About, Service, ServiceMessage, service};
use talisman_kernel::pe::Pe;
use talisman_kernel::wire::check::{Checked, below, check_creator, stays_in_node};
use talisman_pup::{Packed, Pup};

/// A message about a collection.
#[derive(Debug, Pup)]
pub enum CollectionMessage {
    /// A collection exists. Travels down the tree of its creator.
    New(Box<Description>),
    /// The same, when it has travelled on: for this PE alone.
    Adopt(Box<Description>),
    /// No element of a collection is left: everybody drops it. Down the tree of its root.
    Drop(#[pup(with = wire::rooted)] CollectionId),
}

service!(CollectionMessage);

impl ServiceMessage for CollectionMessage {
    const SERVICE: Service = Service::Collections;

    fn run(self, pe: &Pe, _: PeId) {
        match self {
            CollectionMessage::New(description) => pe.on_new_collection(*description),
            CollectionMessage::Adopt(description) => pe.adopt(*description),
            CollectionMessage::Drop(id) => pe.on_drop_collection(id),
        }
    }

    fn check(&self, pe: &Pe) -> Checked {
        match self {
            CollectionMessage::New(of) => {
                check_creator(pe, of.id)?;
                let next = pe.collections.next_serial(of.id.creator);
                if pe.collections.get(of.id).is_some() || pe.collections.is_gone(of.id) {
                    return Err(format!("the collection {:?} is created twice", of.id));
                }
                below("the number of a collection", of.id.serial, next.saturating_add(AHEAD_MAX))
            }
            CollectionMessage::Adopt(_) => stays_in_node(),
            CollectionMessage::Drop(id) => check_creator(pe, *id),
        }
    }

    fn packed(&self) -> Option<&Packed> {
        match self {
            CollectionMessage::Adopt(of) => of.fill.as_ref().map(|fill| &fill.args),
            CollectionMessage::New(_) | CollectionMessage::Drop(_) => None,
        }
    }

    fn about(&self) -> About {
        match self {
            CollectionMessage::New(_) | CollectionMessage::Adopt(_) => {
                About::of_collection("the arguments of new elements", None)
            }
            CollectionMessage::Drop(_) => About::RUNTIME,
        }
    }
}
