//! Faults that were asked for, and did not happen.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A `--kill` or `--chaos` that killed nobody: whoever tests with it has tested nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotInjected {
    /// The option: `--kill 1@step400`.
    pub option: String,
    /// Why it did not happen: `the last step of the program was 100`.
    pub why: String,
}

/// As a line for people.
impl fmt::Display for NotInjected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} killed nobody: {}", self.option, self.why)
    }
}
