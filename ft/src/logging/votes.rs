//! When the next line begins: once all hold their parts of one cut, as of one recovery, and nobody is lost. That one moment is the commit.
//!
//! A loss voids what was said before it: the keeper that was to have a part may have been lost, and a lost node has its own part to take
//! again. So all say it once more. Whoever does is live, so that nobody is lost any more when all have; that this is looked at as well is
//! an assertion.
//!
//! Who is to hold is who is there and will be in the next line: nodes that are released at the cut have given theirs to others, which hold it;
//! nodes that are added have nothing, and get it in that line.

use std::collections::BTreeMap;

use super::leader::{Leader, Order, Session};
use super::membership::Membership;
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
    /// That of the next line, if it was said that it is another.
    coming: Option<Membership>,
}

impl Votes {
    /// Of a job that goes on from this version of a former one, which is its first line.
    #[must_use]
    pub fn going_on(line: Version) -> Self {
        Votes { line, former: line, ..Votes::default() }
    }

    /// The line that the job is in: lost nodes go back to it.
    #[must_use]
    pub fn line(&self) -> Version {
        if mutated("lost-goes-back-to-the-former-line") { self.former } else { self.line }
    }

    /// The next line is to have these nodes: it is said to all, and counts from now on.
    pub fn expect(&mut self, coming: Option<Membership>) {
        self.coming = coming;
        self.holds.clear();
    }

    /// The membership that the next line is to have, if that was said.
    #[must_use]
    pub fn coming(&self) -> Option<&Membership> {
        self.coming.as_ref()
    }

    /// How many nodes hold their parts of the next line, as far as is known.
    #[must_use]
    pub fn held_by(&self) -> u32 {
        self.holds.len() as u32
    }

    /// That of the next line.
    fn next<'a>(&'a self, leader: &'a Leader) -> &'a Membership {
        self.coming.as_ref().unwrap_or(leader.membership())
    }

    /// A node holds its part of a cut twice, as of a recovery, and in the membership of this number.
    pub fn on_holds(
        &mut self,
        node: NodeId,
        version: Version,
        (session, membership): (Session, u32),
        leader: &Leader,
    ) {
        let next = self.next(leader);
        let is_counted = next.view.is_there(node)
            && (membership == next.number || mutated("held-in-another-membership-counts"));
        if session == leader.session() && version > self.line && is_counted {
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

    /// Begins the next line, if all hold their parts of one cut and nobody is lost: its version, and what is to be done for those that come with it.
    pub fn begin_line(&mut self, leader: &mut Leader) -> Option<(Version, Vec<Order>)> {
        let version = *self.holds.values().max()?;
        let is_to_hold = |node: &NodeId| leader.membership().view.is_there(*node);
        let holding = self.next(leader).view.there().filter(is_to_hold);
        let missing = holding.filter(|node| self.holds.get(node) != Some(&version)).count();
        let is_whole = missing == 0 || missing == 1 && mutated("line-begins-before-the-last-holds");
        let is_running = leader.is_running() || mutated("held-before-a-loss-counts");
        if !is_whole || !is_running {
            return None;
        }
        let orders = leader.begin_line(self.coming.take());
        (self.former, self.line) = (self.line, version);
        self.holds.clear();
        Some((version, orders))
    }
}
