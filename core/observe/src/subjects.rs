//! What the runtime's events are about: the targets of [`tracing`](https://docs.rs/tracing) by which `--log` chooses them.
//!
//! An event says what is decided rarely. None is on a message's way: counters are for that ([`crate::stats`]).

/// Options, start and end of the program.
pub const LAUNCH: &str = "talisman::launch";
/// The launcher and the nodes: who joins, who is suspected, who is lost, what the job is asked for from outside.
pub const CONTROL: &str = "talisman::control";
/// Connections and other links between nodes.
pub const TRANSPORT: &str = "talisman::transport";
/// Checkpoints: begun, cut, committed, given up.
pub const CHECKPOINT: &str = "talisman::checkpoint";
/// What follows a loss.
pub const RECOVERY: &str = "talisman::recovery";
/// Load balancing.
pub const BALANCE: &str = "talisman::balance";
/// Collections and their elements.
pub const COLLECTION: &str = "talisman::collection";

/// All of them.
pub const ALL: [&str; 7] = [LAUNCH, CONTROL, TRANSPORT, CHECKPOINT, RECOVERY, BALANCE, COLLECTION];
