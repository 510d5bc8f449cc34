//! Images of a node: its own, and those that it keeps for others. Each has two phases: it is sent, and counts when
//! the keeper has it whole.
//!
//! Until then nothing may be forgotten for its sake, as the one before may be gone back to.

use std::collections::BTreeMap;

use super::position::{ImageId, Position};
use crate::NodeId;
use talisman_observe::mutations::mutated;

/// What a node has of images, whatever these are.
#[derive(Clone, Debug)]
pub struct Images<I> {
    /// Its own that are committed, oldest first. They are here too, for a keeper that is lost.
    own: Vec<(Position, I)>,
    /// One that is on its way to the keeper.
    pending: Option<(Position, I)>,
    kept: BTreeMap<NodeId, Vec<(Position, I)>>,
}

impl<I> Default for Images<I> {
    fn default() -> Self {
        Images { own: Vec::new(), pending: None, kept: BTreeMap::new() }
    }
}

impl<I> Images<I> {
    /// Of a node that was restored from this one, or begins with it.
    #[must_use]
    pub fn starting_with(position: Position, image: I) -> Self {
        Images { own: vec![(position, image)], ..Images::default() }
    }

    /// The number of the next one.
    #[must_use]
    pub fn next(&self) -> ImageId {
        self.own.last().map_or(0, |(position, _)| position.image + 1)
    }

    /// Whether one is on its way: another is taken when that is kept.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.pending.is_some()
    }

    /// An image was taken, and is on its way. Returns where it was taken if it counts by now.
    pub fn send(&mut self, position: Position, image: I) -> Option<&Position> {
        let number = position.image;
        self.pending = Some((position, image));
        if mutated("image-counts-when-sent") { self.on_stored(number) } else { None }
    }

    /// The keeper has one whole. Returns where it was taken if it counts from now on.
    pub fn on_stored(&mut self, number: ImageId) -> Option<&Position> {
        let image = self.pending.take_if(|(position, _)| position.image == number)?;
        self.own.push(image);
        self.own.last().map(|(position, _)| position)
    }

    /// Whether this is the newest that counts: a keeper that has it has all, as they are sent in order.
    #[must_use]
    pub fn is_newest(&self, number: ImageId) -> bool {
        self.own.last().is_some_and(|(position, _)| position.image == number)
    }

    /// All that a new keeper is sent, in order.
    pub fn to_send(&self) -> impl Iterator<Item = &(Position, I)> {
        self.own.iter().chain(&self.pending)
    }

    /// Where those were taken that count.
    pub fn positions(&self) -> impl Iterator<Item = &Position> {
        self.own.iter().map(|(position, _)| position)
    }

    /// Another node's image is here, whole. One that comes again takes the place of what there was.
    pub fn keep(&mut self, of: NodeId, position: Position, image: I) {
        let kept = self.kept.entry(of).or_default();
        kept.retain(|(one, _)| one.image != position.image);
        kept.push((position, image));
    }

    /// What is kept for others, and where it was taken.
    pub fn kept(&self) -> impl Iterator<Item = (NodeId, &Position)> {
        self.kept.iter().flat_map(|(of, images)| images.iter().map(|(position, _)| (*of, position)))
    }

    /// All that are kept for others, by whose they are.
    pub fn all_kept(&self) -> impl Iterator<Item = &I> {
        self.kept.values().flatten().map(|(_, image)| image)
    }

    /// One that is kept for another.
    #[must_use]
    pub fn find(&self, of: NodeId, number: ImageId) -> Option<&I> {
        let kept = self.kept.get(&of)?;
        kept.iter().find(|(position, _)| position.image == number).map(|(_, image)| image)
    }

    /// Nobody goes back before these any more, by node; `own` is this one.
    pub fn forget(&mut self, own: NodeId, oldest: &[Position]) {
        for (node, oldest) in (0..).zip(oldest) {
            let is_needed = |(position, _): &(Position, I)| position.image >= oldest.image;
            if node == own {
                self.own.retain(is_needed);
            }
            if let Some(kept) = self.kept.get_mut(&node) {
                kept.retain(is_needed);
            }
        }
    }
}
