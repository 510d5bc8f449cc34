//! Deliberate mistakes: what real PEs log (`core/src/logging`).

use super::{Level, Mutation};

pub(super) const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "time-not-logged",
        places: &["logging/recorder.rs"],
        rule: "What a PE's clock says is logged before anything that is done then.",
        level: Level::Leader,
        seen_by: "",
    },
    Mutation {
        name: "slot-taken-not-logged",
        places: &["logging/member.rs"],
        rule: "That something is taken in from a ring is logged.",
        level: Level::Leader,
        seen_by: "",
    },
    Mutation {
        name: "frame-taken-not-logged",
        places: &["logging/member.rs"],
        rule: "That a frame is taken in is logged.",
        level: Level::Leader,
        seen_by: "",
    },
    Mutation {
        name: "timer-not-logged",
        places: &["logging/recorder.rs"],
        rule: "That timers fire is logged.",
        level: Level::Leader,
        seen_by: "",
    },
    Mutation {
        name: "frame-not-retained",
        places: &["logging/member.rs"],
        rule: "A frame stays with its sender until nobody can ask for it any more.",
        level: Level::Leader,
        seen_by: "",
    },
    Mutation {
        name: "sent-again-though-taken",
        places: &["logging/member.rs"],
        rule: "A restarted node does not send again what its receiver has taken.",
        level: Level::Leader,
        seen_by: "",
    },
];
