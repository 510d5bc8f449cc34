//! Who is there, in terms of PEs: a node's lanes share its fate.
//!
//! PEs keep their numbers for the whole job, whoever is lost. So names mean the same in every epoch, and what depends on how
//! many PEs there are, such as homes, changes for lost ones only: their *acting PE* is the PE of the same lane on the node that
//! acts for theirs. Trees and counts are over those that are there.

use crate::ids::PeId;
use crate::topology::Shape;
use crate::tree;
use talisman_observe::mutations::mutated;

/// Its acting PE is the root of whatever concerns the whole job.
pub const FIRST: PeId = 0;

/// Who is there, and who acts for the others.
#[derive(Clone, Debug)]
pub struct View {
    of_nodes: talisman_ft::view::View,
    lanes: u32,
    /// The nodes that are there, in increasing order.
    there: Box<[u32]>,
    /// Numbers of PEs, if nobody has been lost, and else 0: those below it are their own acting, without a look at anything else.
    whole: u32,
}

impl View {
    /// All of them.
    pub fn whole(shape: Shape) -> Self {
        View::new(talisman_ft::view::View::whole(shape.nodes), shape.pes_per_node)
    }

    /// All but these nodes, in whose place are the next ones that are there.
    pub fn without(shape: Shape, lost: &[u32]) -> Self {
        View::whole(shape).losing(lost)
    }

    /// The next one, without these nodes either.
    pub fn losing(&self, lost: &[u32]) -> Self {
        let (now, nodes) = (&self.of_nodes, self.of_nodes.nodes());
        let there = |node| now.is_there(node) && !lost.contains(&node);
        let next = |node| talisman_ft::view::View::next_there(node, nodes, there).expect("somebody is there");
        View::new(now.after(now.epoch + 1, nodes, there, next), self.lanes)
    }

    /// The next one, with these nodes again.
    pub fn gaining(&self, nodes: &[u32]) -> Self {
        let now = &self.of_nodes;
        let there = |node| now.is_there(node) || nodes.contains(&node);
        View::new(now.after(now.epoch + 1, now.nodes(), there, |node| node), self.lanes)
    }

    pub fn new(of_nodes: talisman_ft::view::View, lanes: u32) -> Self {
        let is_counted = |node: &u32| of_nodes.is_there(*node) || mutated("trees-over-the-dead");
        let there = (0..of_nodes.nodes()).filter(is_counted).collect();
        let mut view = View { of_nodes, lanes, there, whole: 0 };
        if view.is_whole() {
            view.whole = view.pes();
        }
        view
    }

    pub fn of_nodes(&self) -> &talisman_ft::view::View {
        &self.of_nodes
    }

    /// How many nodes and PEs have a number, there or not.
    pub fn shape(&self) -> Shape {
        Shape { nodes: self.of_nodes.nodes(), pes_per_node: self.lanes }
    }

    /// The PE itself if it is there, else the one that acts for it.
    #[inline]
    pub fn acting_for(&self, pe: PeId) -> PeId {
        if pe < self.whole { pe } else { self.look_up(pe) }
    }

    #[cold]
    fn look_up(&self, pe: PeId) -> PeId {
        self.of_nodes.acting_for(pe / self.lanes) * self.lanes + pe % self.lanes
    }

    /// The root of whatever concerns the whole job.
    #[inline]
    pub fn first(&self) -> PeId {
        self.acting_for(FIRST)
    }

    /// Whether a PE of this number is there.
    #[inline]
    pub fn is_there(&self, pe: PeId) -> bool {
        pe < self.whole || self.of_nodes.is_there(pe / self.lanes)
    }

    /// The PEs for which this one acts: itself, and those for whom it acts.
    pub fn acted_for_by(&self, pe: PeId) -> impl Iterator<Item = PeId> + '_ {
        let (node, lane) = (pe / self.lanes, pe % self.lanes);
        let numbers = if self.is_whole() { node..node + 1 } else { 0..self.of_nodes.nodes() };
        let acted_for_by = numbers.filter(move |one| self.of_nodes.acting_for(*one) == node);
        acted_for_by.map(move |one| one * self.lanes + lane)
    }

    /// The PE so many further on, round and round, of those that are there.
    pub fn further(&self, pe: PeId, steps: u32) -> PeId {
        self.at(((u64::from(self.rank(pe)) + u64::from(steps)) % u64::from(self.pes())) as u32)
    }

    /// Whether nobody has been lost.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.there.len() == self.of_nodes.nodes() as usize
    }

    /// How many PEs are there.
    #[inline]
    pub fn pes(&self) -> u32 {
        self.there.len() as u32 * self.lanes
    }

    /// The PEs that are there, in increasing order.
    pub fn there(&self) -> impl Iterator<Item = PeId> + '_ {
        self.there.iter().flat_map(|node| node * self.lanes..(node + 1) * self.lanes)
    }

    /// The PEs of a node.
    pub fn lanes_of(&self, node: u32) -> impl Iterator<Item = PeId> + use<> {
        node * self.lanes..(node + 1) * self.lanes
    }

    /// The nodes that are there, in increasing order.
    pub fn nodes(&self) -> &[u32] {
        &self.there
    }

    /// The PEs below `pe` in the tree over those that are there; `root`, or the PE that acts for it, is on top.
    pub fn children(&self, pe: PeId, root: PeId) -> impl Iterator<Item = PeId> + '_ {
        let (pe, root) = (self.rank(pe), self.rank(self.acting_for(root)));
        tree::children(pe, root, self.pes()).map(|rank| self.at(rank))
    }

    /// How many PEs are in the branch of the same tree whose top is `pe`, itself among them.
    pub fn branch(&self, pe: PeId, root: PeId) -> u32 {
        tree::branch(self.rank(pe), self.rank(self.acting_for(root)), self.pes())
    }

    /// The PE above `pe` in the same tree; none above the root.
    pub fn parent(&self, pe: PeId, root: PeId) -> Option<PeId> {
        let (pe, root) = (self.rank(pe), self.rank(self.acting_for(root)));
        tree::parent(pe, root, self.pes()).map(|rank| self.at(rank))
    }

    /// The nodes below `node` in the tree over those that are there; `root`, or its acting node, is on top.
    pub fn nodes_below(&self, node: u32, root: u32) -> impl Iterator<Item = u32> + '_ {
        let (node, root) = (self.rank_of_node(node), self.rank_of_node(self.of_nodes.acting_for(root)));
        tree::children(node, root, self.there.len() as u32).map(|rank| self.there[rank as usize])
    }

    /// A PE's number among those that are there, counted without gaps.
    pub fn rank(&self, pe: PeId) -> u32 {
        if self.is_whole() { pe } else { self.rank_of_node(pe / self.lanes) * self.lanes + pe % self.lanes }
    }

    /// The PE of such a number.
    pub fn at(&self, rank: u32) -> PeId {
        self.there[(rank / self.lanes) as usize] * self.lanes + rank % self.lanes
    }

    /// The same for nodes. Only those that are there have one.
    pub fn rank_of_node(&self, node: u32) -> u32 {
        self.there.partition_point(|there| *there < node) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_over_those_that_are_there() {
        let shape = Shape { nodes: 9, pes_per_node: 2 };
        let lost = |node: &u32| [0, 4, 5].contains(node);
        let of_nodes =
            talisman_ft::view::View::whole(9).after(1, 9, |node| !lost(&node), |node| (node + 2) % 9);
        let view = View::new(of_nodes, shape.pes_per_node);
        assert_eq!(
            (view.pes(), view.acting_for(1), view.acting_for(9), view.acting_for(17)),
            (12, 5, 13, 17)
        );
        assert_eq!(view.acted_for_by(13).collect::<Vec<_>>(), [9, 13]);
        assert_eq!((view.further(4, 1), view.further(7, 1), view.further(16, 3)), (5, 12, 3));
        for root in 0..shape.pes() {
            assert_eq!(view.parent(view.acting_for(root), root), None);
            let below: Vec<_> =
                view.there().flat_map(|pe| view.children(pe, root).map(move |child| (pe, child))).collect();
            assert_eq!(below.len(), 11);
            assert!(below.iter().all(|(pe, child)| view.parent(*child, root) == Some(*pe)));
        }
    }
}
