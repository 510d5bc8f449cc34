//! Deliberate mistakes: what nodes that give tickets do (`core/src/logging/ticketed.rs`).

use super::{Level, Mutation};

pub(super) const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "ticketed-frames-not-counted",
        places: &["logging/recorder.rs"],
        rule: "A log says how many frames came in the order of tickets before each of its entries.",
        level: Level::Leader,
        seen_by: "",
    },
    Mutation {
        name: "ticketed-while-messages-wait-not-logged",
        places: &["logging/ticketed.rs"],
        rule: "A frame that is taken in while messages wait is in the receiver's log, with its place.",
        level: Level::Leader,
        seen_by: "",
    },
    Mutation {
        name: "ticket-asked-before-the-log-is-stable",
        places: &["logging/sending.rs"],
        rule: "A ticket is asked for when the keeper has all that the sender was given by nobody who keeps it.",
        level: Level::Leader,
        seen_by: "",
    },
    Mutation {
        name: "asked-for-is-not-sent-again",
        places: &["logging/ticketed.rs"],
        rule: "A lost node sends again all for which it had asked for a ticket, before it is live.",
        level: Level::Leader,
        seen_by: "",
    },
    Mutation {
        name: "ticket-two-at-once",
        places: &["ft/logging/leader.rs"],
        rule: "With tickets one node may be lost at a time.",
        level: Level::Leader,
        seen_by: "",
    },
];
