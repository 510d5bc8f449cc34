//! What happens to a node, as the launcher hears of it.

use crate::exit_cause::How;
use crate::protocol::ToLauncher;

/// Something that happened to a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Its process runs.
    Started(u32),
    /// It said something.
    Said(ToLauncher),
    /// What it said cannot be read.
    Garbled(String),
    /// It has no process: the reason.
    NotStarted(String),
    /// Its process is gone, and all it said has been handed on.
    Ended(How),
    /// It is out of reach for good, with all others of its host: the reason.
    Lost(String),
}
