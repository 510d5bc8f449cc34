//! A machine as a model: what everything on it takes.

use super::cores::Core;

/// What a machine is like. All times are in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Processes of the job on each host, in the order of their numbers.
    pub nodes_per_host: u32,
    /// Cores of a host. Its PEs take turns on them if there are more.
    pub cores_per_host: u32,
    /// Those of the PEs, the first ones again where there are more PEs than are listed here; none: they are all alike.
    pub cores: Vec<Core>,
    /// What the runtime takes to run a message, without what the program does in it.
    pub run_ns: f64,
    /// Between PEs of a node.
    pub within: Way,
    /// Between nodes of a host.
    pub near: Way,
    /// Between hosts. All that enters, and all that leaves a host, shares its line.
    pub far: Way,
    /// Where PEs take turns on cores: for how long one runs while others wait.
    pub slice_ns: u64,
    /// Where PEs take turns on cores: what it takes one to come to a core, its looking around and falling asleep before
    /// included. Elsewhere they wait awake.
    pub wake_ns: u64,
}

/// What a message takes from one PE to another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Way {
    /// The sender's work for a message.
    pub send_ns: f64,
    /// The sender's work for each byte.
    pub send_ns_per_byte: f64,
    /// The receiver's work for a message.
    pub receive_ns: f64,
    /// The receiver's work for each byte.
    pub receive_ns_per_byte: f64,
    /// From when an empty message is sent until it is there.
    pub latency_ns: f64,
    /// What a byte takes on the line, at each end: only between hosts, where it may have to wait for others.
    pub line_ns_per_byte: f64,
}

impl Way {
    pub(super) fn send(&self, bytes: u32) -> u64 {
        (self.send_ns + self.send_ns_per_byte * f64::from(bytes)) as u64
    }

    pub(super) fn receive(&self, bytes: u32) -> u64 {
        (self.receive_ns + self.receive_ns_per_byte * f64::from(bytes)) as u64
    }

    pub(super) fn line(&self, bytes: u32) -> u64 {
        (self.line_ns_per_byte * f64::from(bytes)) as u64
    }

    pub(super) fn latency(&self) -> u64 {
        self.latency_ns as u64
    }
}
