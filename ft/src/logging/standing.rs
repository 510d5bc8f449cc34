//! Who leads next, when whoever led is lost: all that the former one knew is with those that are left, who say where they are.
//!
//! ```text
//! the leader is lost ─► Introduce, to all that are left ─(Standing, of all)─► Line, to those in the former line ─► Ask, as after a loss
//! ```
//!
//! | what it knew | who knows it |
//! |---|---|
//! | the line | whoever was told of it is in it; whatever was printed in it says so too |
//! | processes, and where the logs of former ones end | all that were told |
//! | who goes back | they do not say that they are live: each begins once more, as after a loss during a recovery |
//! | who is there | whoever is in the line; another membership that was said to come is taken back |
//! | who holds a part of the next line | all say it again, in the next recovery |
//! | what is printed | the node that has said it, its keeper, and what the output went through |
//!
//! A recovery begins even if nobody else was lost: its number is larger than any that was heard of, so that nothing counts
//! that was said to the former leader.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::cuts::Cuts;
use super::ids::{Incarnation, LogId, Shape};
use super::leader::{Leader, Order, Session};
use super::lengths::Lengths;
use super::membership::Membership;
use super::votes::Votes;
use crate::{NodeId, Version};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// Where a node is, as whoever leads next has to know it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Whether it is like all others: else it has not come to the end of a recovery.
    pub is_live: bool,
    /// The line that it is in.
    pub line: Version,
    /// The last recovery that it has heard of.
    pub session: Session,
    /// The newest process of each node that it has heard of.
    pub incarnations: Vec<Incarnation>,
    /// Where the logs of former ones end, in this line.
    pub cuts: Cuts,
    /// How much is printed of what was said in this line, as far as it was told: on its own PEs, and on those of nodes whose keeper it is.
    pub printed: Lengths,
    /// Who is there in its line, unless that is who was at the job's beginning.
    pub membership: Option<Membership>,
    /// Who is to be there in the next one, if it was told that these are others.
    pub coming: Option<Membership>,
}

/// No process is the so-manieth of its node, and no recovery of its job.
const NUMBERS_MAX: u32 = u32::MAX / 2;

impl Standing {
    /// Whether a node of such a job may be there.
    #[must_use]
    pub fn is_of(&self, shape: Shape) -> bool {
        let mut numbers = self.incarnations.iter().chain([&self.session]);
        let mut memberships = self.membership.iter().chain(&self.coming);
        self.incarnations.len() == shape.nodes as usize
            && memberships.all(|membership| membership.is_of(shape))
            && numbers.all(|number| *number < NUMBERS_MAX)
            && self.printed.iter().all(|(log, lines)| shape.has(log) && lines < u64::MAX / 2)
            && self.cuts.iter().all(|cut| cut.node < shape.nodes)
    }
}

/// Something was printed: in that line, on a PE, the so-manieth thing, by the last bits of its number.
pub type Seen = (Version, LogId, u32);

/// Those that are left, until all have said where they are.
#[derive(Clone, Debug, Default)]
pub struct Gathering {
    missing: BTreeSet<NodeId>,
    left: BTreeMap<NodeId, Standing>,
}

/// What a leader begins with that has taken another's place.
#[derive(Clone, Debug)]
pub struct Succession {
    /// It.
    pub leader: Leader,
    /// What it knows of the line, and of the next one.
    pub votes: Votes,
    /// Nodes that are to be told first that the line has begun.
    pub behind: Vec<NodeId>,
    /// Nodes that were released when the line began, and may go.
    pub released: Vec<NodeId>,
    /// Nodes that have a process which is of no use any more.
    pub unfinished: Vec<NodeId>,
    /// What is to be done then.
    pub orders: Vec<Order>,
}

impl Gathering {
    /// Of these.
    #[must_use]
    pub fn of(left: impl IntoIterator<Item = NodeId>) -> Self {
        Gathering { missing: left.into_iter().collect(), left: BTreeMap::new() }
    }

    /// One of them is lost meanwhile.
    pub fn on_lost(&mut self, node: NodeId) {
        self.missing.remove(&node);
        self.left.remove(&node);
    }

    /// One says where it is.
    pub fn on_standing(&mut self, node: NodeId, standing: Standing) {
        if self.missing.remove(&node) {
            self.left.insert(node, standing);
        }
    }

    /// Whether all have.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// The line that the job is in, if this was printed that nobody may have heard of.
    fn line(&self, seen: &[Seen]) -> Version {
        let told = self.left.values().map(|standing| standing.line);
        let told = if mutated("next-leader-takes-the-former-line") { told.min() } else { told.max() };
        told.into_iter().chain(seen.iter().map(|(line, ..)| *line)).max().unwrap_or_default()
    }

    /// Who is there in that line, as those know that are in it. Where nobody is, somebody was, and those that are left have held what it
    /// began with in the membership that they were told of last.
    fn membership(&self, line: Version) -> Option<Membership> {
        let of_line = self.left.values().filter(|standing| standing.line == line);
        let is_known = of_line.clone().next().is_some();
        let told = self.left.values().filter(|_| !is_known);
        let told = told.flat_map(|standing| standing.membership.iter().chain(&standing.coming));
        let all = of_line.filter_map(|standing| standing.membership.as_ref()).chain(told);
        all.max_by_key(|membership| membership.number).cloned()
    }

    /// The largest number of a membership that anybody was told of.
    fn last_membership(&self) -> u32 {
        let told = self.left.values().flat_map(|standing| standing.membership.iter().chain(&standing.coming));
        told.map(|membership| membership.number).max().unwrap_or_default()
    }

    /// All have: `fresh` leads them from now on, which is that of a job of the same shape that begins.
    #[must_use]
    pub fn lead(self, fresh: Leader, seen: &[Seen]) -> Succession {
        let line = self.line(seen);
        let membership = self.membership(line).unwrap_or_else(|| fresh.membership().clone());
        let last = self.last_membership();
        let taken_back = (last > membership.number).then(|| membership.again(last + 1));
        if taken_back.is_some() {
            sometimes("a leader was lost while nodes were to be released");
        }
        let (mut leader, mut printed) = (fresh.among(membership), Lengths::default());
        for standing in self.left.values() {
            leader.hear_of(standing, standing.line == line);
            if standing.line == line && !mutated("printed-is-not-asked-for") {
                printed.raise_all(&standing.printed);
            }
        }
        let of_line = seen.iter().filter(|(of, ..)| *of == line && !mutated("seen-is-not-looked-at"));
        of_line.for_each(|(_, log, number)| printed.raise(*log, past(printed.get(*log), *number)));
        printed.iter().for_each(|(log, lines)| leader.on_printed(log, lines));
        let is_live = |node: &NodeId| {
            self.left.get(node).is_some_and(|standing| standing.is_live || mutated("whoever-is-left-is-live"))
        };
        let lost: Vec<_> = leader.there().filter(|node| !is_live(node)).collect();
        let view = &leader.membership().view;
        let left = self.left.keys().copied();
        let (left, released): (Vec<_>, Vec<_>) = left.partition(|node| view.is_there(*node));
        let unfinished: Vec<_> = left.into_iter().filter(|node| !is_live(node)).collect();
        if !unfinished.is_empty() {
            sometimes("a leader was lost while a node went back");
        }
        let is_behind = |node: &NodeId, standing: &Standing| {
            view.is_there(*node) && is_live(node) && standing.line < line
        };
        let behind = self.left.iter().filter(|(node, standing)| is_behind(node, standing));
        let behind: Vec<_> = behind.map(|(node, _)| *node).collect();
        if !behind.is_empty() {
            sometimes("a leader was lost when not all had heard of the next line");
        }
        let orders = leader.on_lost(lost);
        let mut votes = Votes::going_on(line);
        votes.expect(taken_back);
        Succession { leader, votes, behind, released, unfinished, orders }
    }
}

/// So much is printed, if this is the number of one of the next, or of the last, by its last bits; and so much before that.
fn past(before: u64, number: u32) -> u64 {
    let ahead = number.wrapping_sub(before as u32);
    if ahead < u32::MAX / 2 { before + u64::from(ahead) + 1 } else { before }
}
