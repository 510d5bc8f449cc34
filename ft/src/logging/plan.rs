//! How a job recovers: from what the survivors hold, who goes back where, and is fed what.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::cuts::Cut;
use super::holdings::Holdings;
use super::horizon::Reach;
use super::ids::{Incarnation, Lane, LogId, Shape};
use super::known::{Known, Orphan};
use super::lengths::Lengths;
use super::line::{Missing, Place, Places, line};
use super::position::{ImageId, Position};
use crate::NodeId;
use talisman_observe::mutations::mutated;

/// What the leader knows when all survivors have answered.
#[derive(Clone, Debug)]
pub struct Answers<'a> {
    /// The job.
    pub shape: Shape,
    /// Of each survivor.
    pub held: &'a BTreeMap<NodeId, Holdings>,
    /// The incarnation that ended, of each that is lost.
    pub lost: &'a BTreeMap<NodeId, Incarnation>,
    /// Lines that have been printed, by PE.
    pub printed: &'a Lengths,
}

/// How one node is restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restore {
    /// From which image.
    pub image: ImageId,
    /// Who sends it.
    pub keeper: NodeId,
    /// It was not there before the line, and the keeper makes what it begins with: its own one has nothing of it yet.
    pub is_new: bool,
    /// What its PEs are fed after that, one batch for each.
    pub fed: Vec<Batch>,
    /// How far each has to come, by rank.
    pub horizons: Vec<Reach>,
    /// Entries of others' logs that it may depend on and that are not stable.
    pub unstable: Vec<Batch>,
}

/// How a job recovers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// By node: the lost, and nobody else.
    pub restored: BTreeMap<NodeId, Restore>,
    /// Up to where the logs of the lost are believed.
    pub cuts: Vec<Cut>,
}

/// The job cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Loss {
    /// An image, or frames, that nobody has.
    Missing(Missing),
    /// Entries of a log that somebody depends on and nobody has.
    Orphan(Orphan),
    /// A survivor would have to go back as well: it has not kept what it was to keep.
    Survivor(NodeId),
    /// Nobody is left.
    Everybody,
    /// These were away at once, where one at a time may be (`logging:ticket`): the order in which they took what they had
    /// sent each other is gone with them.
    AtOnce(Vec<NodeId>),
}

impl Plan {
    /// The plan that follows from these answers.
    ///
    /// # Errors
    /// If something that is needed is gone.
    pub fn of(answers: &Answers<'_>, together: impl Fn(NodeId) -> Vec<NodeId>) -> Result<Self, Loss> {
        let shape = answers.shape;
        let nodes: Vec<_> = (0..shape.nodes).map(|node| answers.places(node)).collect();
        let is_lost = |node| answers.lost.contains_key(&node);
        let places = line(shape, &nodes, is_lost, together).map_err(Loss::Missing)?;
        let back: BTreeMap<NodeId, &Position> = (0..shape.nodes)
            .filter(|node| places[*node as usize] != Place::Present)
            .filter_map(|node| Some((node, nodes[node as usize].at(places[node as usize])?)))
            .collect();
        if let Some(node) = back.keys().copied().find(|node| !is_lost(*node)) {
            return Err(Loss::Survivor(node));
        }
        let known = answers.known(&back).map_err(Loss::Orphan)?;
        let restore =
            |(node, from): (&NodeId, &&Position)| Some((*node, answers.restore(*node, from, &back, &known)?));
        let restored = back.iter().filter_map(restore).collect();
        let cut = |(node, ended): (&NodeId, &Incarnation)| Cut {
            node: *node,
            ended: *ended,
            ends: shape.logs_of(*node).map(|log| known.end(log)).collect(),
        };
        Ok(Plan { restored, cuts: answers.lost.iter().map(cut).collect() })
    }
}

impl Answers<'_> {
    /// What there is of a node: its images are the same wherever they are held.
    fn places(&self, node: NodeId) -> Places {
        let own = self.held.get(&node);
        let kept = self.held.values().flat_map(|held| &held.kept).filter(|(of, _)| *of == node);
        let all = own.iter().flat_map(|own| &own.images).chain(kept.map(|(_, position)| position));
        let images: BTreeMap<_, _> = all.map(|position| (position.image, position.clone())).collect();
        let mut images: Vec<_> = images.into_values().collect();
        if images.is_empty() && self.maker(node).is_some() {
            images.push(Position::at_beginning(node, self.shape));
        }
        Places { images, present: own.map(|own| own.present.clone()) }
    }

    /// Who can make what a node begins with that was not there before the line. If something that it has said was printed, its log is needed too,
    /// which its keeper has with its image.
    fn maker(&self, node: NodeId) -> Option<NodeId> {
        let has_said = self.shape.logs_of(node).any(|log| self.printed.get(log) > 0);
        if has_said && !mutated("made-though-something-was-said") {
            return None;
        }
        self.held.iter().find_map(|(maker, held)| held.makes.contains(&node).then_some(*maker))
    }

    /// The image that a node is restored from.
    pub(super) fn image(&self, node: NodeId, plan: &Plan) -> Option<Position> {
        let image = plan.restored.get(&node)?.image;
        self.places(node).images.into_iter().find(|position| position.image == image)
    }

    /// The logs of those that go back, as far as they are believed.
    fn known(&self, back: &BTreeMap<NodeId, &Position>) -> Result<Known, Orphan> {
        let shape = self.shape;
        let starts: Vec<_> = back.iter().flat_map(|(node, from)| from.lengths(*node, shape)).collect();
        let held = self.held.values().flat_map(|held| held.of_lost.iter().chain(&held.unstable));
        let mut known = Known::of(&starts, held);
        known.truncate(shape);
        let mut told = Lengths::default();
        self.held.values().for_each(|held| told.raise_all(&held.told));
        back.values().for_each(|from| told.raise_all(&from.told));
        known.check(shape, &told)?;
        Ok(known)
    }

    fn restore(
        &self,
        node: NodeId,
        from: &Position,
        back: &BTreeMap<NodeId, &Position>,
        known: &Known,
    ) -> Option<Restore> {
        let shape = self.shape;
        let has_it = |(of, position): &(NodeId, Position)| *of == node && position.image == from.image;
        let holder = |(keeper, held): (&NodeId, &Holdings)| held.kept.iter().any(has_it).then_some(*keeper);
        let keeper = self.held.iter().find_map(holder);
        let (keeper, is_new) = (keeper.or_else(|| self.maker(node))?, keeper.is_none());
        let horizons = shape.logs_of(node).map(|log| self.horizon(log, from, back, known));
        let of_others = self.held.values().flat_map(|held| held.unstable.iter().cloned());
        let of_others = of_others.filter(|batch| !self.lost.contains_key(&batch.log.node));
        let of_lost = back.iter().flat_map(|(one, from)| self.fed(*one, from, known));
        let unstable = of_others.chain(of_lost).filter(|batch| batch.log.node != node).collect();
        let fed = self.fed(node, from, known);
        let (image, horizons) = (from.image, horizons.collect());
        Some(Restore { image, keeper, is_new, fed, horizons, unstable })
    }

    /// What the PEs of a lost node are fed.
    fn fed(&self, node: NodeId, from: &Position, known: &Known) -> Vec<Batch> {
        let incarnation = self.lost.get(&node).map_or(0, |ended| ended + 1);
        let batch = |(log, first)| Batch {
            log,
            incarnation,
            first,
            entries: known.entries(log).iter().cloned().collect(),
        };
        from.lengths(node, self.shape).map(batch).collect()
    }

    /// As much as anybody took of what this PE had sent: survivors until now, others that go back as their logs say.
    fn horizon(
        &self,
        log: LogId,
        from: &Position,
        back: &BTreeMap<NodeId, &Position>,
        known: &Known,
    ) -> Reach {
        let LogId { node, rank } = log;
        let taken = |to: NodeId| {
            let lane = Lane { from: node, to, rank };
            match (back.get(&to), self.held.get(&to)) {
                (Some(image), _) => image.taken(lane) + known.frames_from(LogId { node: to, rank }, node),
                (None, Some(held)) => held.present.taken(lane),
                (None, None) => 0,
            }
        };
        let slots = |to: u32| {
            let before = from.rings.get(&(rank, to)).copied().unwrap_or(0);
            before + known.slots_from(LogId { node, rank: to }, rank)
        };
        Reach {
            frames: self.shape.others(node).map(|to| (to, taken(to))).collect(),
            slots: (0..self.shape.pes_per_node).filter(|to| *to != rank).map(|to| (to, slots(to))).collect(),
            lines: self.printed.get(log),
        }
    }
}
