//! Up to where the logs of former incarnations are what the later ones were fed. Beyond, they never were.

use serde::{Deserialize, Serialize};

use super::ids::{Incarnation, LogId};
use crate::NodeId;
use talisman_observe::mutations::mutated;

/// A node was restarted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Which one.
    pub node: NodeId,
    /// The incarnation that ended.
    pub ended: Incarnation,
    /// How long the logs of its PEs were that the next one was fed, by rank.
    pub ends: Vec<u64>,
}

/// All restarts of a job, as far as one has heard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cuts(Vec<Cut>);

impl Cuts {
    /// One more.
    pub fn add(&mut self, cut: Cut) {
        self.0.push(cut);
    }

    /// The same, if it is not among them.
    pub fn add_new(&mut self, cut: &Cut) {
        if !self.0.contains(cut) {
            self.0.push(cut.clone());
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Cut> {
        self.0.iter()
    }

    /// Where a log ends that somebody knows to be of this incarnation: entries from there on are void.
    #[must_use]
    pub fn end_of(&self, log: LogId, incarnation: Incarnation) -> u64 {
        let is_later = |cut: &&Cut| cut.node == log.node && cut.ended >= incarnation;
        let ends = self.0.iter().filter(is_later).filter_map(|cut| cut.ends.get(log.rank as usize));
        match mutated("stale-log-believed") {
            true => u64::MAX,
            false => ends.copied().min().unwrap_or(u64::MAX),
        }
    }

    /// Nobody can name incarnations before these any more, by node: whoever is there has heard of a later one.
    pub fn forget(&mut self, before: impl Fn(NodeId) -> Incarnation) {
        self.0.retain(|cut| cut.ended >= before(cut.node));
    }
}

impl FromIterator<Cut> for Cuts {
    fn from_iter<I: IntoIterator<Item = Cut>>(cuts: I) -> Self {
        Cuts(cuts.into_iter().collect())
    }
}
