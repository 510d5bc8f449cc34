//! How far a restarted PE has to come before it is live: until it has sent as much as anybody took, and said as much
//! as was printed.
//!
//! Its log says what it was given, not how far it had come with that. Messages that were in its queue at the log's
//! end may have run, and what they sent may have been taken. So it runs on, without taking anything, until all that
//! is there. Whoever goes live at the log's end would take something in before that, and send something else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::NodeId;
use talisman_observe::mutations::mutated;

/// What a PE has sent, or is to have sent, since the job began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Frames on the lanes to other nodes.
    pub frames: BTreeMap<NodeId, u64>,
    /// Slots in the rings to the other PEs of its node, by rank.
    pub slots: BTreeMap<u32, u64>,
    /// Lines of output.
    pub lines: u64,
}

impl Reach {
    /// Whether a PE that has come so far has come as far as this.
    #[must_use]
    pub fn is_reached_by(&self, own: &Reach) -> bool {
        let of = |all: &BTreeMap<u32, u64>, to: &u32| all.get(to).copied().unwrap_or(0);
        mutated("live-before-horizon")
            || self.frames.iter().all(|(to, sent)| of(&own.frames, to) >= *sent)
                && self.slots.iter().all(|(to, sent)| of(&own.slots, to) >= *sent)
                && own.lines >= self.lines
    }
}
