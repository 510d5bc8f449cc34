//! What goes wrong in a simulated world, and when.

/// Something that goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// When.
    pub when: When,
    /// What.
    pub what: What,
}

/// When something goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// So many simulated nanoseconds after the launcher was started.
    At(u64),
    /// Just before the event of this number.
    Event(u64),
    /// Just before the step of this number, the first of which is 0. All that happens is a step, whether it is worth an
    /// event (a PE's turn) or not (bytes reach a socket): nothing can be disturbed more finely than this.
    Step(u64),
    /// So many simulated nanoseconds after the first node says how the program has ended.
    AfterEnd(u64),
    /// So many simulated nanoseconds after the fault that is at this place among all, once that has struck.
    After(usize, u64),
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A node's process is killed. What it has written to its sockets is still delivered, except where it had not read all
    /// that had come: there the system breaks the connection at once.
    Crash {
        /// The node.
        node: u32,
    },
    /// A node's process dies in the midst of its next turn: of what it writes in that turn only the first part gets out.
    CrashAmid {
        /// The node.
        node: u32,
        /// How much gets out: so many millionths.
        kept_ppm: u32,
    },
    /// A node's process is killed, and all its connections break at once: what is under way on them is lost.
    CrashReset {
        /// The node.
        node: u32,
    },
    /// Somebody asks a node's process to end (SIGTERM), which ends the job in order.
    Terminate {
        /// The node.
        node: u32,
    },
    /// A host loses its power: all its nodes die, nothing that they wrote arrives, and nobody resets their connections.
    HostLoss {
        /// The host.
        host: u32,
    },
    /// A process that takes itself for a node that has crashed starts, as one would that was restored from an old image:
    /// empty memory, and of an earlier incarnation than its connections' peers will admit. It dials all others, and answers
    /// at the node's port once the node is gone.
    Impostor {
        /// The node that it takes itself for.
        node: u32,
        /// Whether it finds what the node has written to its disk.
        with_disk: bool,
    },
    /// A node's process is killed, and after a while a process starts there that takes itself for it: see
    /// [`What::Impostor`].
    Restart {
        /// The node.
        node: u32,
        /// After so long.
        after_ns: u64,
        /// Whether it finds what the node has written to its disk.
        with_disk: bool,
    },
    /// A node does nothing for a while (SIGSTOP, SIGCONT).
    Stop {
        /// The node.
        node: u32,
        /// For how long.
        for_ns: u64,
    },
    /// A node takes so many times as long for everything.
    Slow {
        /// The node.
        node: u32,
        /// How many times.
        times: u32,
        /// For how long.
        for_ns: u64,
    },
    /// All connections between two nodes are reset.
    Reset {
        /// One.
        one: u32,
        /// The other.
        other: u32,
    },
    /// Nothing passes from some hosts to some others; what is sent is held back until the cut is mended, and new
    /// connections fail. The other direction is cut only if that is a fault of its own.
    Cut {
        /// From these hosts.
        from: Vec<u32>,
        /// To these.
        to: Vec<u32>,
        /// For how long.
        for_ns: u64,
    },
    /// A bit of what is next sent from one node to another is altered.
    Alter {
        /// From this node.
        from: u32,
        /// To this one.
        to: u32,
    },
    /// What is next sent from one node to another arrives only in part, and then the connection is reset.
    Truncate {
        /// From this node.
        from: u32,
        /// To this one.
        to: u32,
    },
    /// The launcher is killed.
    LauncherLoss,
    /// The launcher does nothing for a while.
    LauncherStop {
        /// For how long.
        for_ns: u64,
    },
    /// A node's clock jumps ahead, as one does that was asleep.
    ClockJump {
        /// The node.
        node: u32,
        /// By so much.
        by_ns: u64,
    },
    /// Strangers come to a node's doors: so many within a time.
    Crowd {
        /// The node.
        node: u32,
        /// How many.
        strangers: u32,
        /// Within so long.
        for_ns: u64,
    },
    /// The disk that a node's checkpoints are on does nothing for a while: whoever wants something of it waits.
    DiskHang {
        /// The node.
        node: u32,
        /// For how long.
        for_ns: u64,
    },
    /// Somebody asks the job for something. That is nothing that goes wrong, but comes at a moment like what does.
    Ask(Asked),
    /// From now on a node's clock is fast or slow.
    ClockDrift {
        /// The node.
        node: u32,
        /// By so many millionths; a clock that is slow by all of them stands still.
        ppm: i32,
    },
}

/// What somebody asks a running job for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A checkpoint (`talisman checkpoint`).
    Checkpoint,
    /// A step of load balancing (`talisman balance`).
    Balance,
    /// To go on without this node (`talisman shrink`).
    Shrink(u32),
    /// To go on with all nodes again that it has gone on without (`talisman grow`).
    Grow,
}

impl What {
    /// Whether it may end this node's process, or keep it from answering.
    pub(super) fn may_end(&self, number: u32) -> bool {
        match self {
            What::Crash { node }
            | What::CrashAmid { node, .. }
            | What::CrashReset { node }
            | What::Restart { node, .. }
            | What::Terminate { node }
            | What::Stop { node, .. }
            | What::ClockJump { node, .. } => *node == number,
            // In a job that has but one.
            What::HostLoss { .. } => true,
            _ => false,
        }
    }

    /// Whether it hits whoever leads.
    pub(super) fn is_of_launcher(&self) -> bool {
        matches!(self, What::LauncherLoss | What::LauncherStop { .. })
    }

    /// A word for its kind, as tables and command lines have it.
    pub fn kind(&self) -> &'static str {
        match self {
            What::Crash { .. } => "crash",
            What::CrashAmid { .. } => "crash-amid",
            What::CrashReset { .. } => "crash-reset",
            What::Terminate { .. } => "terminate",
            What::HostLoss { .. } => "host-loss",
            What::Impostor { .. } => "impostor",
            What::Restart { .. } => "restart",
            What::Stop { .. } => "stop",
            What::Slow { .. } => "slow",
            What::Reset { .. } => "reset",
            What::Cut { .. } => "cut",
            What::Alter { .. } => "alter",
            What::Truncate { .. } => "truncate",
            What::LauncherLoss => "launcher-loss",
            What::LauncherStop { .. } => "launcher-stop",
            What::ClockJump { .. } => "clock-jump",
            What::ClockDrift { .. } => "clock-drift",
            What::Crowd { .. } => "crowd",
            What::DiskHang { .. } => "disk-hang",
            What::Ask(Asked::Checkpoint) => "ask-checkpoint",
            What::Ask(Asked::Balance) => "ask-balance",
            What::Ask(Asked::Shrink(_)) => "ask-shrink",
            What::Ask(Asked::Grow) => "ask-grow",
        }
    }
}
