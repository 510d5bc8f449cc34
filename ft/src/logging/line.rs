//! The recovery line: who goes back where. It is the only place that knows.
//!
//! A node at a position *can serve* another at one, if every frame to it that was not taken there is retained, or
//! will be sent again. The line is the newest vector of positions, of which those of the lost are images, where
//! everybody can serve everybody.
//!
//! **There is one newest.** An older position of a receiver asks for more, never for less. So of two vectors that are
//! consistent the newer of both places in each node is consistent too: the sender that is newer serves its own
//! receiver, hence any newer one. The loop below lowers a sender only where even the newest answer has to, so it ends
//! in it, in whatever order it looks. For the same reason a line of fewer lost nodes is nowhere older.
//!
//! **What may be forgotten** is the line if all nodes are lost: images before it, and frames that the images on it
//! have taken, are never asked for by any set of lost nodes, now or later. Images do not change, so that vector stays
//! consistent while newer ones come.

use serde::{Deserialize, Serialize};

use super::ids::{Lane, Shape};
use super::position::Position;
use crate::NodeId;
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;

/// Where a node goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// At one of its images, counted from the oldest that is kept.
    Image(usize),
    /// Where it is.
    Present,
}

/// What there is of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Its images that somebody holds, oldest first.
    pub images: Vec<Position>,
    /// Where it is, if it is there.
    pub present: Option<Position>,
}

impl Places {
    /// The position at a place.
    #[must_use]
    pub fn at(&self, place: Place) -> Option<&Position> {
        match place {
            Place::Image(number) => self.images.get(number),
            Place::Present => self.present.as_ref(),
        }
    }

    fn newest_image(&self) -> Option<Place> {
        self.images.len().checked_sub(1).map(Place::Image)
    }

    fn older(&self, place: Place) -> Option<Place> {
        match place {
            Place::Image(number) => number.checked_sub(1).map(Place::Image),
            Place::Present => self.newest_image(),
        }
    }
}

/// Frames that nobody has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Of which there is no image, or none that is old enough.
    pub node: NodeId,
    /// Who needs what it had sent; none if there is no image at all.
    pub needed_by: Option<NodeId>,
}

/// Where each node goes on if these are lost.
///
/// `together` says who goes back with a node, itself among them.
///
/// # Errors
/// If there is no consistent vector.
pub fn line(
    shape: Shape,
    nodes: &[Places],
    is_lost: impl Fn(NodeId) -> bool,
    together: impl Fn(NodeId) -> Vec<NodeId>,
) -> Result<Vec<Place>, Missing> {
    let mut places = Vec::new();
    for (node, of_node) in (0..).zip(nodes) {
        let place = if is_lost(node) { of_node.newest_image() } else { Some(Place::Present) };
        places.push(place.ok_or(Missing { node, needed_by: None })?);
    }
    loop {
        go_back_together(&mut places, &together);
        let Some((server, receiver)) = unserved(shape, nodes, &places) else { return Ok(places) };
        sometimes("a node goes back since it has not kept what another asks for");
        let older = nodes[server as usize].older(places[server as usize]);
        places[server as usize] = older.ok_or(Missing { node: server, needed_by: Some(receiver) })?;
        if mutated("line-one-short") {
            return Ok(places);
        }
    }
}

/// Somebody who has not what another will ask for.
fn unserved(shape: Shape, nodes: &[Places], places: &[Place]) -> Option<(NodeId, NodeId)> {
    let at = |node: NodeId| nodes[node as usize].at(places[node as usize]);
    let pairs =
        (0..shape.nodes).flat_map(|server| shape.others(server).map(move |receiver| (server, receiver)));
    let serves = |(from, to): &(NodeId, NodeId)| match (at(*from), at(*to)) {
        (Some(server), Some(receiver)) => (0..shape.pes_per_node).all(|rank| {
            let lane = Lane { from: *from, to: *to, rank };
            server.can_serve(lane, receiver.taken(lane))
        }),
        _ => false,
    };
    pairs.into_iter().find(|pair| !serves(pair))
}

/// A group goes back to images that were taken together: to the oldest that one of it goes back to.
fn go_back_together(places: &mut [Place], together: &impl Fn(NodeId) -> Vec<NodeId>) {
    for node in 0..places.len() {
        let group = together(node as NodeId);
        let oldest = group.iter().map(|one| places[*one as usize]).min();
        if !mutated("group-not-together") {
            group.iter().for_each(|one| places[*one as usize] = oldest.unwrap_or(places[node]));
        }
    }
}

/// Nodes go back one by one.
#[must_use]
pub fn alone(node: NodeId) -> Vec<NodeId> {
    vec![node]
}
