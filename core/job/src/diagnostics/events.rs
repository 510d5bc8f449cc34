//! Events of PEs as events of `tracing`.

use tracing::debug;
use tracing::level_filters::LevelFilter;

use talisman_observe::event::{Event, Sink};
use talisman_observe::subjects::{BALANCE, CHECKPOINT, COLLECTION, CONTROL, LAUNCH, RECOVERY, TRANSPORT};

/// What `--log debug` shows, or a subscriber of the program's own.
pub struct Diagnostics;

impl Sink for Diagnostics {
    fn is_wanted(&self) -> bool {
        LevelFilter::current() >= LevelFilter::DEBUG
    }

    fn take(&self, pe: u32, event: &Event<'_>) {
        // A target is part of the place where an event is told.
        match event.subject() {
            BALANCE => debug!(target: BALANCE, pe, "{event}"),
            CHECKPOINT => debug!(target: CHECKPOINT, pe, "{event}"),
            COLLECTION => debug!(target: COLLECTION, pe, "{event}"),
            CONTROL => debug!(target: CONTROL, pe, "{event}"),
            RECOVERY => debug!(target: RECOVERY, pe, "{event}"),
            TRANSPORT => debug!(target: TRANSPORT, pe, "{event}"),
            _ => debug!(target: LAUNCH, pe, "{event}"),
        }
    }
}
