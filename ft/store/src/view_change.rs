//! Who acts for whom, between the view in which a version was taken and the one in which it is gone on from.

use talisman_base::ids::{ObjId, PeId, single_home};
use talisman_base::topology::Shape;
use talisman_base::view::View;
use talisman_observe::mutations::mutated;

/// Who is there, of which numbers, and who was when the parts were taken.
#[derive(Clone, Copy, Debug)]
pub struct ViewChange<'a> {
    pub taken_in: &'a View,
    pub view: &'a View,
    pub shape: Shape,
}

impl<'a> ViewChange<'a> {
    pub fn after(taken_in: &'a View, view: &'a View) -> Self {
        ViewChange { taken_in, view, shape: view.shape() }
    }

    /// PEs on which members of groups are new.
    pub fn newcomers(&self) -> Vec<PeId> {
        let is_new = |pe: &PeId| !self.taken_in.is_there(*pe) || self.new_node_of(*pe).is_some();
        self.view.there().filter(is_new).collect()
    }

    /// The node of a PE that is the first of its node, if that node is new.
    pub fn new_node_of(&self, pe: PeId) -> Option<u32> {
        let is_new = |node: &u32| !self.taken_in.of_nodes().is_there(*node);
        pe.is_multiple_of(self.shape.pes_per_node).then(|| self.shape.node_of(pe)).filter(is_new)
    }

    /// The PE that a chare goes back to, if it is a single chare of one for which the PE of this part acted, and which is there again.
    pub fn goes_home(&self, acting: PeId, id: ObjId) -> Option<PeId> {
        let is_single = id.collection.is_singles() && !mutated("single-chares-stay-away");
        let home = is_single.then(|| single_home(id.index))?;
        self.had_guests_of(acting).find(|of| *of == home)
    }

    /// PEs that are there again, for which this one acted.
    pub fn had_guests_of(&self, acting: PeId) -> impl Iterator<Item = PeId> {
        let is_back = move |of: &PeId| *of != acting && *of < self.shape.pes() && self.view.is_there(*of);
        self.taken_in.acted_for_by(acting).filter(is_back)
    }

    /// Whether nodes have another number of PEs than they had: members of nodegroups, which are by node, are on other PEs then.
    pub fn have_other_lanes(&self) -> bool {
        self.taken_in.shape().pes_per_node != self.shape.pes_per_node && !mutated("members-stay-on-their-pes")
    }

    /// Nodes whose members of nodegroups are here, and were on a PE whose acting PE is another one: that one, and the node.
    pub fn members_to_fetch(&self, pe: PeId) -> impl Iterator<Item = (PeId, u32)> {
        let first_of = |node: &u32| (self.taken_in.shape().first_pe(*node), *node);
        let is_other = move |(from, node): &(PeId, u32)| {
            self.view.acting_for(self.shape.first_pe(*node)) == pe && self.view.acting_for(*from) != pe
        };
        let nodes = self.taken_in.nodes().iter().filter(|_| self.have_other_lanes());
        nodes.map(first_of).filter(is_other)
    }
}
