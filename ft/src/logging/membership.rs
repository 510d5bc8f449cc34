//! Who is there in a line, and who keeps what of whom. Another membership comes with another line: nodes are released at a cut, or added.
//!
//! Whoever leads says the next one to all that are there, and counts only what is held of a cut in that one. Until that line begins it may
//! say another, of a larger number: then the one before is taken back.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::ids::Shape;
use super::keepers::Keepers;
use crate::NodeId;
use crate::view::View;

/// The nodes of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// Counted from 0, that of the job's beginning: one of a larger number was said later.
    pub number: u32,
    /// Who is there, and who acts for the others.
    pub view: View,
    /// Who keeps the images and logs of whom.
    pub keepers: Keepers,
}

/// No membership is the so-manieth of its job.
const NUMBERS_MAX: u32 = u32::MAX / 2;

impl Membership {
    /// That of a job's beginning.
    #[must_use]
    pub fn first(view: View, keepers: Keepers) -> Self {
        Membership { number: 0, view, keepers }
    }

    /// That of so many nodes, each on a host of its own.
    #[must_use]
    pub fn around(nodes: u32) -> Self {
        Membership::first(View::whole(nodes), Keepers::around(nodes))
    }

    /// The same under another number: what was said since is taken back.
    #[must_use]
    pub fn again(&self, number: u32) -> Self {
        Membership { number, ..self.clone() }
    }

    /// One of this number without these nodes, in whose place are the next ones around the ring; `host` tells where a node is. Nothing if
    /// fewer than two stay: nobody would keep what the only one was given.
    #[must_use]
    pub fn releasing(&self, number: u32, nodes: &[NodeId], host: impl Fn(NodeId) -> u32) -> Option<Self> {
        let (now, all) = (&self.view, self.view.nodes());
        let stays = |node: NodeId| now.is_there(node) && !nodes.contains(&node);
        if (0..all).filter(|node| stays(*node)).count() < 2 {
            return None;
        }
        let heir = |node| View::next_there(node, all, stays).unwrap_or(node);
        let view = now.after(now.epoch + 1, all, stays, heir);
        Some(Membership { number, keepers: ring(&view, host), view })
    }

    /// One of this number with these nodes as well, which are not there; `host` tells where a node is. All are kept by those that are there: the
    /// others have nothing when the line begins, and get what they begin with from these.
    #[must_use]
    pub fn gaining(&self, number: u32, nodes: &[NodeId], host: impl Fn(NodeId) -> u32) -> Self {
        let (now, all) = (&self.view, self.view.nodes());
        let comes = |node: NodeId| !now.is_there(node) && nodes.contains(&node);
        let view = now.after(now.epoch + 1, all, |node| now.is_there(node) || comes(node), |node| node);
        let keeper = |node| match comes(node) {
            true => now.buddy(node, &host).unwrap_or(node),
            false => self.keeper(node),
        };
        let keepers = Keepers::named((0..all).map(keeper).collect());
        Membership { number, view, keepers }
    }

    /// One of this number with the same nodes, each of which is kept by the next one around the ring on another host; `host` tells where a node is.
    /// Nothing if that is so already.
    #[must_use]
    pub fn by_the_ring(&self, number: u32, host: impl Fn(NodeId) -> u32) -> Option<Self> {
        let next = Membership { number, keepers: ring(&self.view, host), view: self.view.clone() };
        self.view.there().any(|node| next.keeper(node) != self.keeper(node)).then_some(next)
    }

    /// Nodes that are there, and were not before.
    pub fn newcomers<'a>(&'a self, before: &'a Membership) -> impl Iterator<Item = NodeId> + 'a {
        self.view.there().filter(|node| !before.view.is_there(*node))
    }

    /// Who keeps the images and log of a node.
    #[must_use]
    pub fn keeper(&self, node: NodeId) -> NodeId {
        self.keepers.of(node)
    }

    /// Numbers that no node has.
    #[must_use]
    pub fn absent(&self) -> BTreeSet<NodeId> {
        (0..self.view.nodes()).filter(|node| !self.view.is_there(*node)).collect()
    }

    /// Who is to have the part of a node that this one begins with: its keeper, or whoever acts for it if it is released.
    #[must_use]
    pub fn receiver(&self, node: NodeId) -> NodeId {
        if self.view.is_there(node) { self.keeper(node) } else { self.view.acting_for(node) }
    }

    /// Nodes that are there in `before`, and not in this one, where this node acts for them.
    pub fn guests<'a>(&'a self, node: NodeId, before: &'a Membership) -> impl Iterator<Item = NodeId> + 'a {
        let is_guest = move |one: &NodeId| !self.view.is_there(*one) && self.view.acting_for(*one) == node;
        before.view.there().filter(is_guest)
    }

    /// Whether a job of this shape may have it.
    #[must_use]
    pub fn is_of(&self, shape: Shape) -> bool {
        let is_there = |node: NodeId| node < shape.nodes && self.view.is_there(node);
        self.number < NUMBERS_MAX
            && self.view.nodes() == shape.nodes
            && (0..shape.nodes).all(|node| is_there(self.view.acting_for(node)))
            && self.view.there().all(|node| is_there(self.keeper(node)))
    }
}

/// Each is kept by the next one around the ring that is there, on another host if there is one.
fn ring(view: &View, host: impl Fn(NodeId) -> u32) -> Keepers {
    let keeper = |node| view.buddy(node, &host).filter(|_| view.is_there(node)).unwrap_or(node);
    Keepers::named((0..view.nodes()).map(keeper).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(node: NodeId) -> u32 {
        node
    }

    #[test]
    fn whoever_is_released_has_an_heir_and_keeps_nothing() {
        let first = Membership::around(5);
        let next = first.releasing(1, &[1, 2], own).expect("three stay");
        assert_eq!(next.view.there().collect::<Vec<_>>(), [0, 3, 4]);
        assert_eq!([0, 3, 4].map(|node| next.keeper(node)), [3, 4, 0]);
        assert_eq!([1, 2].map(|node| next.receiver(node)), [3, 3]);
        assert_eq!(next.receiver(0), 3);
        assert_eq!(next.guests(3, &first).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(next.guests(0, &first).count(), 0);
        assert_eq!(next.absent(), [1, 2].into());
        let later = next.releasing(2, &[3], own).expect("two stay");
        assert_eq!((1..4).map(|node| later.view.acting_for(node)).collect::<Vec<_>>(), [4; 3]);
        assert_eq!(later.guests(4, &next).collect::<Vec<_>>(), [3], "the others went with it");
        assert_eq!(later.releasing(3, &[0], own), None);
        let shape = Shape { nodes: 5, pes_per_node: 1 };
        assert!(first.is_of(shape) && later.is_of(shape) && later.again(7).is_of(shape));
    }

    #[test]
    fn whoever_comes_is_kept_by_those_that_were_there() {
        let few = Membership::first(View::beginning_with(3, 5), Keepers::around(3));
        let next = few.gaining(1, &[3, 4], own);
        assert_eq!(next.view.there().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!((0..5).map(|node| next.keeper(node)).collect::<Vec<_>>(), [1, 2, 0, 0, 0]);
        assert_eq!(next.newcomers(&few).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(next.guests(0, &few).count(), 0);
        assert!(next.is_of(Shape { nodes: 5, pes_per_node: 1 }));
        // Once they are there, all are kept as ever.
        let later = next.by_the_ring(2, own).expect("node 2 has another keeper");
        assert_eq!((0..5).map(|node| later.keeper(node)).collect::<Vec<_>>(), [1, 2, 3, 4, 0]);
        assert_eq!((later.by_the_ring(3, own), &later.view), (None, &next.view));
        // One that was released comes back, and another one does not.
        let fewer = Membership::around(5).releasing(1, &[1, 2], own).expect("three stay");
        let back = fewer.gaining(2, &[1, 0], |node| node % 2);
        assert_eq!((back.view.acting_for(2), back.newcomers(&fewer).collect::<Vec<_>>()), (3, vec![1]));
        assert_eq!([0, 1, 3].map(|node| back.keeper(node)), [3, 4, 4], "on another host");
    }

    #[test]
    fn keepers_stay_on_other_hosts() {
        let next = Membership::around(6).releasing(1, &[4], |node| node / 3).expect("five stay");
        assert_eq!([0, 1, 2, 3, 5].map(|node| next.keeper(node)), [3, 3, 3, 0, 0]);
    }

    #[test]
    fn what_no_job_has_is_refused() {
        let shape = Shape { nodes: 3, pes_per_node: 1 };
        let good = Membership::around(3);
        assert!(good.is_of(shape));
        let keepers = Keepers::named(vec![1, 2, 7]);
        assert!(!Membership { keepers, ..good.clone() }.is_of(shape));
        assert!(!Membership::around(2).is_of(shape));
        assert!(!good.again(u32::MAX).is_of(shape));
        let gone = good.releasing(1, &[1], own).expect("two stay");
        let keepers = Keepers::named(vec![1, 2, 0]);
        assert!(!Membership { keepers, ..gone }.is_of(shape), "its keeper is not there");
    }
}
