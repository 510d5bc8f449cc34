//! The rooms of the house, and the directions between them.

use crate::imports::Crate;

/// Crates whose imports are looked at.
pub const CRATES: &[Crate] = &[
    ("talisman_pup", "pup/src"),
    ("talisman_observe", "core/observe/src"),
    ("talisman_ft", "ft/src"),
    ("talisman_lb", "lb/src"),
    ("talisman_base", "core/base/src"),
    ("talisman_sched", "core/sched/src"),
    ("talisman_reduce", "core/reduce/src"),
    ("talisman_transport", "core/transport/src"),
    ("talisman_store", "ft/store/src"),
    ("talisman_job", "core/job/src"),
    ("talisman_control", "core/control/src"),
    ("talisman_dashboard", "core/dashboard/src"),
    ("talisman_cluster", "core/cluster/src"),
    ("talisman_kernel", "core/kernel/src"),
    ("talisman_core", "core/src"),
    ("talisman_node", "core/node/src"),
    ("talisman_simulator", "core/sim/src"),
    ("talisman_launch", "core/launch/src"),
    ("talisman_ampi", "ampi/src"),
    ("talisman_abi", "ampi/abi/src"),
    ("talisman_loader", "ampi/loader/src"),
    ("talisman_sim", "tests/sim/src"),
    ("talisman", "src"),
];

/// What each room may know, itself apart; also what those may know.
pub const DIRECTIONS: &[(&str, &[&str])] = &[
    ("pup", &[]),
    ("lb", &["pup"]),
    // Counters, rare paths, deliberate mistakes.
    ("observe", &[]),
    // Pure: protocols of fault tolerance.
    ("ft", &["pup", "observe"]),
    // Names, topology, view, tree, index, clock. Its view of PEs is made of ft's view of nodes.
    ("base", &["pup", "ft", "observe"]),
    // Rings, bells, queues, timers.
    ("sched", &["base"]),
    // Reducers.
    ("reduce", &["base"]),
    // Images on disk and in memory. Knows no PE, no chare, no protocol.
    ("store", &["base", "ft"]),
    // Links. Knows no message, no checkpoint.
    ("transport", &["base", "sched"]),
    // Options, settings, report, output, exit.
    ("job", &["base", "lb", "ft", "store"]),
    // Pure: the launcher's and the nodes' decisions.
    ("control", &["ft", "job", "base"]),
    // One PE.
    ("kernel", &["transport", "sched", "reduce", "base", "lb", "job"]),
    // What runs on each PE beside objects: broadcasts, reductions, quiescence, balancing.
    ("services", &["kernel"]),
    // Checkpoints and recovery on a PE.
    ("recovery", &["services", "kernel", "ft", "store"]),
    // The programming model.
    ("core", &["services", "kernel", "recovery"]),
    // What is seen of a job, by HTTP. Knows no launcher.
    ("dashboard", &["job"]),
    // Launcher, hosts, agents, succession; a node's side of the control connection, which becomes the launcher when that is lost.
    ("cluster", &["control", "dashboard", "job", "transport", "store"]),
    // A process of the job.
    ("node", &["recovery", "services", "kernel", "control", "cluster"]),
    // Simulated worlds. A world is started with a program's main chare.
    ("sim", &["node", "cluster", "control", "recovery", "core"]),
    // Command line, start, signals.
    ("launch", &["node", "cluster", "sim", "core"]),
    ("ampi", &["core", "kernel"]),
    // The binary interfaces: tables over ranks.
    ("abi", &["ampi"]),
    // Programs of others in slots. Knows no rank.
    ("loader", &["observe"]),
    ("facade", &["launch", "core", "ampi", "sim"]),
    // The node program of `talisman mpirun`: brings the three together.
    ("mpirun", &["facade", "ampi", "abi", "loader"]),
    // The node program of `talisman bench`: measures as any program could.
    ("bench", &["facade"]),
    ("tests", &["facade", "sim", "launch"]),
];

/// Where files live: the longest prefix counts.
const ROOMS: &[(&str, &str)] = &[
    ("pup/", "pup"),
    ("lb/", "lb"),
    ("ft/", "ft"),
    ("core/base/", "base"),
    ("core/cluster/", "cluster"),
    ("core/control/", "control"),
    ("core/dashboard/", "dashboard"),
    ("core/job/", "job"),
    ("ft/store/", "store"),
    ("core/transport/", "transport"),
    ("core/reduce/", "reduce"),
    ("core/sched/", "sched"),
    ("core/observe/", "observe"),
    ("ampi/", "ampi"),
    ("ampi/abi/", "abi"),
    ("ampi/loader/", "loader"),
    ("src/", "facade"),
    ("src/bin/talisman-mpi/", "mpirun"),
    ("src/bin/talisman-bench/", "bench"),
    ("src/bin/talisman-mpicc/", "mpirun"),
    ("tests/sim/", "tests"),
    ("core/src/", "core"),
    ("core/src/lib.rs", "facade"),
    ("core/src/start.rs", "facade"),
    ("core/src/balance/", "services"),
    ("core/src/broadcast/", "services"),
    ("core/src/broadcast.rs", "services"),
    ("core/src/function.rs", "services"),
    ("core/src/group_members.rs", "services"),
    ("core/src/leftovers.rs", "services"),
    ("core/src/lifecycle/", "services"),
    ("core/src/quiescence/", "services"),
    ("core/src/quiescence.rs", "services"),
    ("core/src/reduction/", "services"),
    ("core/src/routing.rs", "services"),
    ("core/src/section.rs", "services"),
    ("core/src/section/", "services"),
    ("core/src/shared/", "services"),
    ("core/src/checkpoint/", "recovery"),
    ("core/src/logging/", "recovery"),
    ("core/src/record/", "recovery"),
    ("core/src/program_types.rs", "recovery"),
    ("core/src/services.rs", "recovery"),
    ("core/kernel/", "kernel"),
    ("core/launch/", "launch"),
    ("core/node/", "node"),
    ("core/sim/", "sim"),
];

pub fn room_of(file: &str) -> &'static str {
    ROOMS
        .iter()
        .filter(|(prefix, _)| file.starts_with(prefix))
        .max_by_key(|(prefix, _)| prefix.len())
        .map_or("", |(_, room)| *room)
}

/// Whether `room` may import `other`: itself, what its row says, and what those may import.
pub fn may_know(room: &str, other: &str) -> bool {
    let Some((_, below)) = DIRECTIONS.iter().find(|(name, _)| *name == room) else { return false };
    room == other || below.iter().any(|next| may_know(next, other))
}
