//! What PEs say to each other of read-only values.

use crate::shared::SharedValuesOnPe;
use talisman_base::ids::PeId;
use talisman_kernel::message::service::{About, Service, ServiceMessage, service};
use talisman_kernel::pe::Pe;
use talisman_kernel::wire::check::{Checked, below, require, stays_in_node};
use talisman_pup::{Packed, Pup};

/// A message about a read-only value.
#[derive(Debug, Pup)]
pub enum SharedMessage {
    /// A read-only value, down the tree of its creator.
    Share { id: u64, value: Packed },
    /// The same, when it has travelled on: for this node alone.
    Keep { id: u64, value: Packed },
    /// To the other PEs of a node: it has this read-only value now.
    Has { id: u64 },
    /// A read-only value is to end: to its creator, down the creator's tree, and to the other PEs of each node.
    Drop { id: u64 },
}

service!(SharedMessage);

impl ServiceMessage for SharedMessage {
    const SERVICE: Service = Service::Shared;

    fn run(self, pe: &Pe, _: PeId) {
        match self {
            SharedMessage::Share { id, value } => pe.on_share(id, value),
            SharedMessage::Keep { id, value } => pe.keep_shared(id, value),
            SharedMessage::Has { id } => {
                pe.note_shared(id);
                pe.on_shared(id);
            }
            SharedMessage::Drop { id } => pe.on_drop_shared(id),
        }
    }

    fn check(&self, pe: &Pe) -> Checked {
        match self {
            SharedMessage::Share { id, .. } => check_share(pe, *id),
            SharedMessage::Drop { id } => below("the creator of a shared value", (id >> 32) as u32, pe.pes()),
            SharedMessage::Keep { .. } | SharedMessage::Has { .. } => stays_in_node(),
        }
    }

    fn packed(&self) -> Option<&Packed> {
        match self {
            SharedMessage::Keep { value, .. } => Some(value),
            _ => None,
        }
    }

    fn about(&self) -> About {
        match self {
            SharedMessage::Share { .. } => About::of_collection("a shared value", None),
            _ => About::RUNTIME,
        }
    }
}

/// Shared values go to the first PE of each node, down a tree from their creator's.
fn check_share(pe: &Pe, id: u64) -> Checked {
    let creator = (id >> 32) as u32;
    below("the creator of a shared value", creator, pe.pes())?;
    require(pe.id == pe.first_pe, "a shared value to another than the first PE of a node")?;
    let root = pe.node.shape.node_of(pe.view().acting_for(creator));
    require(root != pe.node.number, "a shared value comes back to its node")
}
