//! What became of a node that was lost, and how the job went on.

use serde::{Deserialize, Serialize};

/// A node that was lost while the program ran. Times are in seconds, as the launcher saw them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Which.
    pub node: u32,
    /// What became of it, in words.
    pub what: String,
    /// What told: `exit` (its process ended), `silence`, `suspicion` (another could not reach it), `host` (its host is out of reach) or
    /// `itself`.
    pub detected: String,
    /// When it was known to be lost, from the start of the program.
    pub at_s: f64,
    /// From what happened to it until that, where it is known: for kills that the launcher was asked for, and silence.
    pub detect_s: Option<f64>,
    /// From then until all others had halted, those that were lost meanwhile excepted; none if the job ended before.
    pub halt_s: Option<f64>,
    /// From then until all others went on; none if the job ended before.
    pub recover_s: Option<f64>,
    /// The checkpoint that they went back to; none if there was none, and the program began anew.
    pub version: Option<u64>,
    /// Steps that the program had reported before and did again, where it is known.
    pub steps_redone: Option<u64>,
}
