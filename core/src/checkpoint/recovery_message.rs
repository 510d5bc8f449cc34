//! What PEs say to each other, and a PE to itself, when they go back to a checkpoint.

use super::part::{Newborn, SavedObject};
use crate::checkpoint::joiners::JoinersOnPe;
use crate::checkpoint::restore::RestoreOnPe;
use talisman_base::ids::{CollectionId, ObjId, PeId};
use talisman_kernel::message::service::{Service, ServiceMessage, service};
use talisman_kernel::pe::Pe;
use talisman_kernel::pe::execute::Restored;
use talisman_kernel::wire::check::{Checked, check_moves, stays_in_node};
use talisman_pup::{Packed, Pup};

/// A message about going back.
#[derive(Debug, Pup)]
pub enum RecoveryMessage {
    /// To homes, after going back to a checkpoint: these objects are here, or were before they moved on, after so many moves.
    Places { objects: Vec<(ObjId, u32)> },
    /// To the PE itself: an object of a checkpoint, which has to wait for a shared value.
    Restore { object: Box<SavedObject>, why: Restored },
    /// To the PE itself, which is new: a member of a group is to be made on it.
    Newborn(Box<Newborn>),
    /// To the PE itself: everything is back.
    GoOn,
}

service!(RecoveryMessage);

impl ServiceMessage for RecoveryMessage {
    const SERVICE: Service = Service::Recovery;

    fn run(self, pe: &Pe, from: PeId) {
        match self {
            RecoveryMessage::Places { objects } => pe.on_places(from, objects),
            RecoveryMessage::Restore { object, why } => pe.on_restore(*object, why),
            RecoveryMessage::Newborn(newborn) => pe.on_newborn(*newborn),
            RecoveryMessage::GoOn => pe.on_go_on(),
        }
    }

    fn check(&self, pe: &Pe) -> Checked {
        match self {
            RecoveryMessage::Places { objects } => {
                objects.iter().try_for_each(|(id, moves)| check_moves(pe, id.collection, *moves))
            }
            RecoveryMessage::Restore { .. } | RecoveryMessage::Newborn(_) | RecoveryMessage::GoOn => {
                stays_in_node()
            }
        }
    }

    fn collection(&self) -> Option<CollectionId> {
        match self {
            RecoveryMessage::Restore { object, .. } => Some(object.id.collection),
            RecoveryMessage::Newborn(newborn) => Some(newborn.id.collection),
            RecoveryMessage::Places { .. } | RecoveryMessage::GoOn => None,
        }
    }

    fn packed(&self) -> Option<&Packed> {
        match self {
            RecoveryMessage::Restore { object, .. } => Some(&object.state),
            RecoveryMessage::Newborn(newborn) => Some(&newborn.args),
            _ => None,
        }
    }
}
