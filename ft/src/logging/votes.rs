//! When the next line begins: once all hold their parts of one cut, as of one recovery, and nobody is lost. That one moment is the commit.
//!
//! A loss voids what was said before it: the keeper that was to have a part may have been lost, and a lost node has its own part to take
//! again. So all say it once more. Whoever does is live, so that nobody is lost any more when all have; that this is looked at as well is
//! an assertion.

use std::collections::BTreeMap;

use super::leader::{Leader, Session};
use crate::{NodeId, Version};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// What whoever leads knows of the cut under way.
#[derive(Clone, Debug, Default)]
pub struct Votes {
    /// The version of the last cut that all hold, 0 at the job's beginning; and that before it.
    line: Version,
    former: Version,
    /// By node: the version of the next one, if that holds its part of it.
    holds: BTreeMap<NodeId, Version>,
}

impl Votes {
    /// Of a job that goes on from this version of a former one, which is its first line.
    #[must_use]
    pub fn going_on(line: Version) -> Self {
        Votes { line, former: line, holds: BTreeMap::new() }
    }

    /// The line that the job is in: lost nodes go back to it.
    #[must_use]
    pub fn line(&self) -> Version {
        if mutated("lost-goes-back-to-the-former-line") { self.former } else { self.line }
    }

    /// A node holds its part of a cut twice, as of a recovery.
    pub fn on_holds(&mut self, node: NodeId, version: Version, session: Session, leader: &Leader) {
        if session == leader.session() && version > self.line && leader.there().any(|one| one == node) {
            self.holds.insert(node, version);
        } else {
            sometimes("a node held its part of a cut before a loss of which it had not heard");
        }
    }

    /// Somebody is lost, who may have held what others are to have twice: who is there says it again.
    pub fn on_lost(&mut self) {
        if !mutated("held-before-a-loss-counts") {
            self.holds.clear();
        }
    }

    /// Begins the next line, if all hold their parts of one cut and nobody is lost: its version.
    pub fn begin_line(&mut self, leader: &mut Leader) -> Option<Version> {
        let version = *self.holds.values().max()?;
        let missing = leader.there().filter(|node| self.holds.get(node) != Some(&version)).count();
        let is_whole = missing == 0 || missing == 1 && mutated("line-begins-before-the-last-holds");
        let is_running = leader.is_running() || mutated("held-before-a-loss-counts");
        if !is_whole || !is_running {
            return None;
        }
        leader.begin_line();
        (self.former, self.line) = (self.line, version);
        self.holds.clear();
        Some(version)
    }
}
