//! What nodes of a job that logs (`--ft logging`) have kept for others.

use serde::{Deserialize, Serialize};

/// What one node has kept: frames that it sent, and logs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogKept {
    /// Which node.
    pub node: u32,
    /// The most bytes that it kept at any time.
    pub bytes_max: u64,
    /// The bytes that it kept at the end.
    pub bytes: u64,
    /// The frames among them.
    pub frames: u64,
    /// For how long its entries waited since that was all that it may keep (`--log-budget`), in seconds.
    pub waited_s: f64,
}
