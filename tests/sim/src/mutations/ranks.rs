//! Deliberate mistakes: virtual MPI ranks (`ampi/src`), and programs that are mapped for them (`ampi/loader/src`).

use super::{Level, Mutation};

pub(super) const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "message-left-by-its-rank",
        places: &["ampi/rank/mod.rs"],
        rule: "A message that a rank has not received goes with it.",
        level: Level::Messages,
        seen_by: "--seed 0x4000001 --workload ranks --nodes 3 --ft 15us --respawn false --succession false --lingers false --faults none --calm pause,limits,disk",
    },
    Mutation {
        name: "announced-send-not-paid",
        places: &["ampi/engine/send.rs"],
        rule: "A rank that leaves sends what it has announced.",
        level: Level::Messages,
        seen_by: "--seed 0x4000000 --workload ranks --nodes 2 --ft off --faults none --calm lost,reset",
    },
    Mutation {
        name: "frame-number-not-restored",
        places: &["ampi/rank/mod.rs"],
        rule: "A rank that is back from a checkpoint goes on with the numbers of its frames.",
        level: Level::World,
        seen_by: "--seed 0x4000001 --workload ranks --size 1 --nodes 2 --ft 15us --respawn false --lingers false --faults 2 --calm disk,pause,limits",
    },
    Mutation {
        name: "canary-of-the-process",
        places: &["ampi/thread/switch_x86_64.rs"],
        rule: "Functions of a rank that a stack protector guards find the same canary in all processes.",
        level: Level::Machine,
        seen_by: "",
    },
    Mutation {
        name: "pad-not-copied-in",
        places: &["loader/thread_locals.rs"],
        rule: "A rank that goes on has its thread-locals below the thread pointer.",
        level: Level::Machine,
        seen_by: "",
    },
    Mutation {
        name: "pad-not-copied-out",
        places: &["loader/thread_locals.rs"],
        rule: "What a rank has written to its thread-locals is kept while others run.",
        level: Level::Machine,
        seen_by: "",
    },
    Mutation {
        name: "got-word-of-another-slot",
        places: &["loader/replay.rs"],
        rule: "Each word of a copy of a program points into that copy.",
        level: Level::Machine,
        seen_by: "",
    },
];
