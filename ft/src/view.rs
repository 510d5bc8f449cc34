//! Who is there in an epoch.

use serde::{Deserialize, Serialize};

use crate::{Epoch, NodeId};
use talisman_observe::mutations::mutated;

/// The nodes that are there in an epoch, and who acts for each that is not.
///
/// Nodes keep their numbers for the whole job, so that names stay what they are; what a lost node would have had to do, its
/// acting node does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The period between two failures that it holds for.
    pub epoch: Epoch,
    /// By node: itself, or its acting node, which is there.
    acting: Vec<NodeId>,
}

impl View {
    /// All of so many nodes are there, at the start.
    #[must_use]
    pub fn whole(nodes: u32) -> Self {
        View { epoch: 0, acting: (0..nodes).collect() }
    }

    /// So many have a number, and the first ones are there at the start; those that are not are shared out among them in turn.
    ///
    /// # Panics
    /// If nobody is there.
    #[must_use]
    pub fn beginning_with(there: u32, nodes: u32) -> Self {
        View::whole(there).after(0, nodes, |node| node < there, |node| node % there)
    }

    /// What comes after this one: these nodes are left or have come, `nodes` have a number by now, and the part of each that is lost goes
    /// to its heir. Whoever had acted for others leaves them to its heir too.
    ///
    /// # Panics
    /// If nobody is there, or an heir is not.
    #[must_use]
    pub fn after(
        &self,
        epoch: Epoch,
        nodes: u32,
        there: impl Fn(NodeId) -> bool,
        heir: impl Fn(NodeId) -> NodeId,
    ) -> Self {
        let of_one = |node: NodeId| match self.acting.get(node as usize) {
            _ if there(node) => node,
            Some(node) if there(*node) => *node,
            Some(node) => heir(*node),
            None => heir(node),
        };
        let acting: Vec<_> = (0..nodes).map(of_one).collect();
        assert!(acting.iter().all(|node| there(*node)), "whoever acts for a node is there");
        View { epoch, acting }
    }

    /// The next node around the ring that is there, from this one on.
    #[must_use]
    pub fn next_there(node: NodeId, nodes: u32, there: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        around(node, nodes).find(|one| there(*one))
    }

    /// How many nodes have a number, there or not.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.acting.len() as u32
    }

    /// Whether a node is there.
    #[must_use]
    pub fn is_there(&self, node: NodeId) -> bool {
        self.acting.get(node as usize) == Some(&node)
    }

    /// The nodes that are there, in increasing order.
    pub fn there(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.nodes()).filter(|node| self.is_there(*node))
    }

    /// The node itself if it is there, else its acting node. Of a number that no node has: that of one that has.
    #[must_use]
    pub fn acting_for(&self, node: NodeId) -> NodeId {
        self.acting[node as usize % self.acting.len()]
    }

    /// Who keeps the other copy of this node's checkpoint: the next one around the ring that is on another host; the next one at
    /// all if there is but one host; nobody if it is alone. `host` tells the host of a node.
    #[must_use]
    pub fn buddy(&self, node: NodeId, host: impl Fn(NodeId) -> u32) -> Option<NodeId> {
        self.next_but(node, |_| false, |one| host(one) != host(node) || mutated("buddy-on-the-same-host"))
    }

    /// Who keeps copies of this node's checkpoint when these nodes are about to go: of everything there are two then on those that stay, if these are
    /// two. So whoever goes has two keepers, on different hosts if there are such, and everybody else one as ever. If nobody else stays,
    /// one that goes is the keeper.
    #[must_use]
    pub fn keepers(&self, node: NodeId, leaving: &[NodeId], host: impl Fn(NodeId) -> u32) -> Vec<NodeId> {
        let goes = |one: NodeId| leaving.contains(&one);
        let is_elsewhere = |one: NodeId| host(one) != host(node) || mutated("buddy-on-the-same-host");
        let Some(first) = self.next_but(node, goes, is_elsewhere) else {
            return self.buddy(node, host).into_iter().collect();
        };
        let second = self.next_but(node, |one| goes(one) || one == first, |one| host(one) != host(first));
        [first].into_iter().chain(second.filter(|_| goes(node))).collect()
    }

    /// The next one around the ring that is there, is none of some, and is preferred; if none is, the next one that is not.
    fn next_but(
        &self,
        node: NodeId,
        is_no_choice: impl Fn(NodeId) -> bool,
        is_preferred: impl Fn(NodeId) -> bool,
    ) -> Option<NodeId> {
        let others =
            || around(node, self.nodes()).skip(1).filter(|one| self.is_there(*one) && !is_no_choice(*one));
        others().find(|one| is_preferred(*one)).or_else(|| others().next())
    }
}

/// All nodes, from this one on.
fn around(node: NodeId, nodes: u32) -> impl Iterator<Item = NodeId> {
    (0..nodes).map(move |step| (node + step) % nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_lost_has_an_acting_node() {
        let acting = |view: &View| (0..6).map(|node| view.acting_for(node)).collect::<Vec<_>>();
        let first = View::whole(6).after(1, 6, |node| ![2, 5].contains(&node), |node| (node + 1) % 6);
        assert_eq!(acting(&first), [0, 1, 3, 3, 4, 0]);
        let second = first.after(2, 6, |node| ![2, 3, 5].contains(&node), |_| 4);
        assert_eq!(acting(&second), [0, 1, 4, 4, 4, 0]);
        assert_eq!(second.there().collect::<Vec<_>>(), [0, 1, 4]);
    }

    #[test]
    fn those_that_are_not_there_at_the_start_are_shared_out() {
        let view = View::beginning_with(2, 5);
        assert_eq!((view.epoch, view.nodes(), view.there().collect::<Vec<_>>()), (0, 5, vec![0, 1]));
        assert_eq!([2, 3, 4].map(|node| view.acting_for(node)), [0, 1, 0]);
    }

    #[test]
    fn a_buddy_is_on_another_host_if_there_is_one() {
        let without = |lost: &[u32]| View::whole(4).after(1, 4, |node| !lost.contains(&node), |_| 1);
        let view = without(&[3]);
        assert_eq!(view.buddy(0, |node| node / 2), Some(2));
        assert_eq!(view.buddy(2, |_| 0), Some(0));
        assert_eq!(without(&[0, 2, 3]).buddy(1, |node| node), None);
    }

    #[test]
    fn what_those_have_that_go_is_held_twice_by_others() {
        let (whole, own) = (View::whole(6), |node| node);
        for node in 0..6 {
            assert_eq!(
                whole.keepers(node, &[], |node| node / 2),
                Vec::from_iter(whole.buddy(node, |node| node / 2))
            );
        }
        assert_eq!(whole.keepers(1, &[2, 3], own), [4]);
        assert_eq!(whole.keepers(2, &[2, 3], own), [4, 5]);
        assert_eq!(whole.keepers(2, &[2, 3], |node| node / 4), [4, 0], "on two hosts");
        assert_eq!(whole.keepers(2, &[0, 1, 2, 3], |_| 0), [4, 5]);
        let two = View::whole(2);
        assert_eq!(
            (two.keepers(0, &[0], own), two.keepers(1, &[0], own)),
            (vec![1], vec![0]),
            "there is nobody else"
        );
        assert_eq!(View::whole(1).keepers(0, &[0], own), []);
        let all = [0, 1, 2];
        for (nodes, leaving) in (1..7).flat_map(|nodes| (0..nodes).map(move |leaving| (nodes, leaving))) {
            let (view, leaving) = (View::whole(nodes), Vec::from_iter(0..leaving));
            let stays = nodes as usize - leaving.len();
            for (node, hosts) in (0..nodes).flat_map(|node| all.map(|hosts| (node, hosts + 1))) {
                let keepers = view.keepers(node, &leaving, |node| node % hosts);
                let holders =
                    keepers.iter().chain([&node]).filter(|holder| !leaving.contains(holder)).count();
                assert_eq!(holders, stays.min(2), "node {node} of {nodes} without {leaving:?}: {keepers:?}");
            }
        }
    }
}
