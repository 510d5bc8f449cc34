//! Deliberate mistakes: links between nodes (`core/transport`).

use super::{Level, Mutation};

pub(super) const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "not-resent",
        places: &["transport/tcp/out.rs"],
        rule: "A new connection goes on with the first frame that the peer has not acknowledged.",
        level: Level::World,
        seen_by: "--seed 0x4000002 --workload chorus --size 1 --nodes 4 --pes 1 --ft off --faults none --calm pause,limits",
    },
    Mutation {
        name: "let-go-when-written",
        places: &["transport/tcp/out.rs"],
        rule: "A frame is kept until the peer has acknowledged it, whether written or not.",
        level: Level::World,
        seen_by: "--seed 0x4000002 --workload chorus --size 1 --nodes 4 --pes 1 --ft off --faults none --calm pause,limits",
    },
    Mutation {
        name: "duplicates-not-skipped",
        places: &["transport/tcp/inbound.rs"],
        rule: "What arrived on a former connection and comes again is passed over.",
        level: Level::World,
        seen_by: "--seed 0x11 --workload chimes --size 1 --pes 2 --ft off --faults 8 --calm altered,pause,limits,disk",
    },
    Mutation {
        name: "half-a-frame-counts",
        places: &["transport/tcp/inbound.rs"],
        rule: "Only whole frames count as arrived.",
        level: Level::World,
        seen_by: "--seed 0x4000003 --workload storm --nodes 2 --pes 2 --ft off --faults 3 --calm limits,late,pause",
    },
    Mutation {
        name: "half-a-frame-survives",
        places: &["transport/tcp/inbound.rs"],
        rule: "What of a frame came by a broken connection comes again, and is not kept.",
        level: Level::World,
        seen_by: "--seed 0x3 --workload casts --ft off --faults none --calm reset,limits",
    },
    Mutation {
        name: "checksum-ignored",
        places: &["transport/tcp/assembly.rs", "transport/tcp/inbound.rs"],
        rule: "A frame whose checksum is wrong is not delivered.",
        level: Level::World,
        seen_by: "--seed 0x4 --workload storm --nodes 2 --pes 1 --ft off --faults none --calm lost,late,pause,limits,disk",
    },
    Mutation {
        name: "never-acknowledges",
        places: &["transport/tcp/inbound.rs"],
        rule: "The peer hears at the latest after some bytes what has arrived, so that what it keeps is bounded.",
        level: Level::World,
        seen_by: "--seed 0x4000208 --workload flood --size 1 --nodes 2 --pes 1 --ft off --faults none --calm doubled,altered,truncated",
    },
    Mutation {
        name: "old-life-admitted",
        places: &["transport/handshake/mod.rs"],
        rule: "Earlier lives of a node are refused.",
        level: Level::World,
        seen_by: "--seed 0x4000007 --workload storm --size 1 --nodes 2 --pes 1 --ft off --faults 4 --calm lost,altered,late,pause,limits,disk",
    },
    Mutation {
        name: "any-proof-is-believed",
        places: &["transport/handshake/acceptor.rs"],
        rule: "Nobody is let in who does not know the job's secret.",
        level: Level::World,
        seen_by: "--seed 0x7b000000 --workload imbalance --size 1 --pes 1 --ft disk:70us --only crowd --calm limits",
    },
];
