//! What PEs say to each other of quiescence.

use super::Wave;
use crate::quiescence::QuiescenceOnPe;
use talisman_base::ids::PeId;
use talisman_kernel::message::service::{Service, ServiceMessage, WhenFrozen, service};
use talisman_kernel::pe::Pe;
use talisman_kernel::route::Route;
use talisman_kernel::wire::check::{Checked, require};
use talisman_pup::Pup;

/// A message about quiescence.
#[derive(Debug, Pup)]
pub enum QuiescenceMessage {
    /// Ask for, and answer with, the counts that show quiescence.
    Wave(Wave),
    /// To PE 0: tell this receiver when nothing is in flight.
    WhenQuiet(Route),
}

service!(QuiescenceMessage);

impl ServiceMessage for QuiescenceMessage {
    const SERVICE: Service = Service::Quiescence;

    fn run(self, pe: &Pe, from: PeId) {
        match self {
            QuiescenceMessage::Wave(wave) => pe.on_wave(from, wave),
            QuiescenceMessage::WhenQuiet(route) => {
                pe.detector().ask(route);
                pe.chores.set(true);
            }
        }
    }

    fn check(&self, pe: &Pe) -> Checked {
        match self {
            QuiescenceMessage::Wave(_) => Ok(()),
            QuiescenceMessage::WhenQuiet(_) => {
                require(pe.is_first(), "quiescence is asked for where it is not found out")
            }
        }
    }

    fn is_counted(&self) -> bool {
        !matches!(self, QuiescenceMessage::Wave(_))
    }

    fn when_frozen(&self) -> WhenFrozen {
        match self {
            QuiescenceMessage::Wave(_) => WhenFrozen::IsPutOff,
            QuiescenceMessage::WhenQuiet(_) => WhenFrozen::Waits,
        }
    }

    fn request_again(self, pe: &Pe) {
        match self {
            QuiescenceMessage::WhenQuiet(to) => pe.when_quiet(to),
            other => pe.tell(pe.id, other),
        }
    }
}
