//! How far input logs reach: what somebody depends on, knows, or was told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::LogId;

/// A dependency vector: so many entries of each of these logs. Of all others none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lengths(BTreeMap<LogId, u64>);

impl Lengths {
    /// Of one log.
    #[must_use]
    pub fn get(&self, log: LogId) -> u64 {
        self.0.get(&log).copied().unwrap_or(0)
    }

    /// At least so much of one.
    pub fn raise(&mut self, log: LogId, length: u64) {
        let known = self.0.entry(log).or_default();
        *known = length.max(*known);
    }

    /// At most so much of one.
    pub fn lower(&mut self, log: LogId, length: u64) {
        if let Some(known) = self.0.get_mut(&log) {
            *known = length.min(*known);
        }
    }

    /// The larger of both, log by log.
    pub fn raise_all(&mut self, other: &Lengths) {
        other.iter().for_each(|(log, length)| self.raise(log, length));
    }

    /// Whether it reaches as far as another in every log.
    #[must_use]
    pub fn covers(&self, other: &Lengths) -> bool {
        other.iter().all(|(log, length)| self.get(log) >= length)
    }

    /// By log, in order.
    pub fn iter(&self) -> impl Iterator<Item = (LogId, u64)> + '_ {
        self.0.iter().map(|(log, length)| (*log, *length))
    }
}

impl FromIterator<(LogId, u64)> for Lengths {
    fn from_iter<I: IntoIterator<Item = (LogId, u64)>>(lengths: I) -> Self {
        Lengths(lengths.into_iter().collect())
    }
}
