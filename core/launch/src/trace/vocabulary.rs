//! Names that all sequences of a trace have, by their numbers.

/// What annotations are called, by their numbers from 1 on.
pub const ANNOTATIONS: [&str; 17] = [
    "index",
    "to",
    "bytes",
    "asleep_ns",
    "version",
    "objects",
    "moves",
    "step",
    "max_before_s",
    "average_before_s",
    "max_predicted_s",
    "step_s",
    "dropped",
    "from",
    "number",
    "chare",
    "epoch",
];

/// The number of an annotation's name.
pub fn annotation(name: &str) -> u64 {
    let place = ANNOTATIONS.iter().position(|known| *known == name);
    place.expect("it is in the table") as u64 + 1
}

/// Events that are no entries.
pub mod names {
    pub const IDLE: &str = "idle";
    pub const SEND: &str = "send";
    pub const PASS_ON: &str = "pass on";
    pub const FROZEN: &str = "frozen";
    pub const CHECKPOINT: &str = "checkpoint";
    pub const TAKEN: &str = "all parts taken";
    pub const GOES_BACK: &str = "goes back";
    pub const STEP: &str = "balancing step";
    pub const MOVES: &str = "moves";
    pub const DROPPED: &str = "records dropped";
    pub const PROGRAM_STEP: &str = "step";
    pub const REPLAY: &str = "replay";
    /// All of them: their numbers are their places, from 1 on.
    pub const ALL: [&str; 12] = [
        IDLE,
        SEND,
        PASS_ON,
        FROZEN,
        CHECKPOINT,
        TAKEN,
        GOES_BACK,
        STEP,
        MOVES,
        DROPPED,
        PROGRAM_STEP,
        REPLAY,
    ];
}

/// Categories, by their numbers from 1 on: what an event is about.
pub const CATEGORIES: [&str; 5] = ["entry", "message", "idle", "runtime", "mpi"];
pub const ENTRY: u64 = 1;
pub const MESSAGE: u64 = 2;
pub const IDLE: u64 = 3;
pub const RUNTIME: u64 = 4;
pub const MPI: u64 = 5;
