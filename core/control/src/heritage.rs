//! What processes inherit to do without their launcher.

use std::os::fd::RawFd;

use serde::{Deserialize, Serialize};

/// What a node has inherited to do without its launcher: descriptors by their numbers, of standard output, then of standard error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heritage {
    /// What the launcher prints to.
    pub streams: [RawFd; 2],
    /// What its output goes through.
    pub spool: Option<Numbers>,
    /// The folder where the nodes listen for each other.
    pub doors: RawFd,
    /// The ends of this node's pipes that the launcher reads from. While a node holds these itself, what it prints does not fail.
    pub pipes: [RawFd; 2],
    /// The process that was started: people call the job by this number, whoever leads it.
    pub launcher: u32,
    /// What it says that to, when it begins, if somebody stands by for the launcher until then.
    pub pledge: Option<RawFd>,
}

/// The descriptors of a spool, under the same numbers in all processes that inherit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbers {
    pub record: RawFd,
    pub ends: [RawFd; 2],
}

impl Numbers {
    pub fn all(self) -> [RawFd; 3] {
        [self.record, self.ends[0], self.ends[1]]
    }
}
