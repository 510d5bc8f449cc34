//! Nodes that are added at a cut (`talisman grow`): what they begin the line with.
//!
//! Each number that has no node has one that acts for it. What is the newcomer's in the line is made of that one's part, which two nodes
//! have: itself and its keeper. So the newcomer is not needed when the line begins, and may be lost as often as it likes before it is live: it is
//! one that is lost at that moment, and restored from what either of the two makes. Its own keeper has it when it is live.

use super::image::{Beginning, Image};
use super::member::Member;
use crate::checkpoint::joiners::Redistribution;
use crate::checkpoint::part::Part;
use talisman_base::ids::PeId;
use talisman_base::view::View;
use talisman_ft::NodeId;
use talisman_ft::logging::Shape;
use talisman_job::Results;
use talisman_observe::mutations::mutated;
use talisman_pup::Packed;

impl Member {
    /// Whether it has what the place in the line of a node is made of that was not there before.
    pub(super) fn can_make_image_of(&self, node: NodeId) -> bool {
        self.membership().view.is_there(node) && self.maker_of(node).is_some()
    }

    /// That place.
    pub(super) fn make_image_of(&self, node: NodeId) -> Option<Result<Image, String>> {
        let maker = self.maker_of(node).filter(|_| self.membership().view.is_there(node))?;
        let view = View::new(self.membership().view.clone(), self.shape.pes_per_node);
        Some(maker.image_of_newcomer(node, &view, self.shape))
    }

    /// The place of the one that had acted for it, which is this node's or kept here.
    fn maker_of(&self, node: NodeId) -> Option<&Image> {
        let own = self.images.to_send().map(|(_, image)| image);
        let kept = self.images.all_kept().filter(|_| !mutated("made-by-the-one-that-had-acted-only"));
        let all = own.chain(kept).filter(|image| image.line == self.line);
        let had_acted = |image: &&Image| {
            let before = image.taken_in.as_ref();
            before.is_some_and(|before| !before.is_there(node) && before.acting_for(node) == image.of)
        };
        all.into_iter().find(had_acted)
    }
}

impl Image {
    /// The place of a node that this one had acted for, where these are there.
    fn image_of_newcomer(&self, node: NodeId, view: &View, shape: Shape) -> Result<Image, String> {
        let made = (0..).zip(&self.states).map(|(rank, state)| match state {
            Beginning::Parts(parts) => self.part_of_newcomer(node * shape.pes_per_node + rank, parts, view),
            _ => Err(format!("node {} has not begun with a checkpoint", self.of)),
        });
        let states = made.map(|part| Ok(Beginning::Parts(part?))).collect::<Result<Vec<_>, String>>()?;
        let image = Image::first(node, shape, self.made_at, states).of_cut(self.line, Results::default());
        Ok(Image { taken_in: self.taken_in.clone(), ..image })
    }

    fn part_of_newcomer(&self, pe: PeId, parts: &Packed, view: &View) -> Result<Packed, String> {
        let mut parts: Vec<Part> = parts.clone().into_value().map_err(|error| error.to_string())?;
        let kept = parts.pop().filter(|_| parts.is_empty()).ok_or("it is not one part")?;
        let before = self.view_before(view).ok_or("nobody knows who was there")?;
        Ok(Packed::of(&vec![Redistribution::after(&before, view).part_instead_of(pe, kept)]))
    }

    /// Who was there when its parts were taken, of nodes like these.
    pub(super) fn view_before(&self, view: &View) -> Option<View> {
        self.taken_in.clone().map(|before| View::new(before, view.shape().pes_per_node))
    }

    /// Whether it was made of the part of another node, as its own was not there before the line.
    pub(super) fn is_of_newcomer(&self) -> bool {
        self.taken_in.as_ref().is_some_and(|before| !before.is_there(self.of))
    }

    /// The node whose part it was made of.
    pub fn made_of(&self) -> NodeId {
        self.taken_in.as_ref().map_or(self.of, |before| before.acting_for(self.of))
    }

    /// Parts of PEs that were there before are left what is theirs, where others are there now.
    pub(super) fn share_out(&self, parts: &mut [Part], pe: PeId, view: &View) {
        let before = self.view_before(view);
        before.iter().for_each(|before| Redistribution::after(before, view).make_room(pe, parts));
    }
}
