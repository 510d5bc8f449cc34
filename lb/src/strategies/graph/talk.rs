//! The graph of who talks with whom.

use super::csr::{Arc, Csr};
use super::refine::Parts;
use crate::rng::Rng;
use crate::snapshot::{Edge, Snapshot};
use crate::strategies::work::{NOWHERE, Work};

/// What the objects of a work say to each other.
pub(in crate::strategies) struct Talk {
    /// A vertex for each object of the work.
    pub graph: Csr,
    /// Units of vertex weight in a second.
    unit: f64,
    /// Units of arc weight in a byte.
    per_byte: f64,
}

/// A message costs as much as so many bytes, beside its own.
const MESSAGE_BYTES: f64 = 128.0;
/// What all vertices weigh together, but for rounding.
const WEIGHT_OF_ALL: f64 = (1u64 << 40) as f64;
/// What all edges weigh together, but for rounding: each weighs 1 at least.
const WEIGHT_OF_EDGES: f64 = (1u64 << 30) as f64;

impl Talk {
    /// The graph of a work.
    pub fn new(snapshot: &Snapshot, work: &Work) -> Self {
        let vertex_of = vertices(snapshot, work);
        let unit = WEIGHT_OF_ALL / work.total;
        let between = |edge: &Edge| {
            let vertex =
                |object: u32| vertex_of.get(object as usize).copied().filter(|&vertex| vertex != NOWHERE);
            Some((vertex(edge.from)?, vertex(edge.to)?, cost(edge)))
        };
        let said: f64 = snapshot.edges.iter().filter_map(between).map(|(.., cost)| cost).sum();
        let per_byte = WEIGHT_OF_EDGES / said.max(f64::MIN_POSITIVE);
        let edges = snapshot.edges.iter().filter_map(between).filter(|(.., cost)| *cost > 0.0);
        let edges = edges.map(|(from, to, cost)| (from, to, quantity(cost, per_byte)));
        let weights = work.weights.iter().map(|&weight| (weight * unit) as i64).collect();
        Talk { graph: Csr::new(weights, edges), unit, per_byte }
    }

    /// A weight of the work in the graph's units.
    pub fn weight(&self, weight: f64) -> i64 {
        (weight * self.unit) as i64
    }

    /// Objects that talk with those that cannot move come nearer to them, now that places are known.
    pub fn settle(&self, snapshot: &Snapshot, work: &Work, placed: Vec<u32>, limits: &[i64]) -> Vec<u32> {
        let Some(graph) = self.with_anchors(snapshot, work) else { return placed };
        let objects = placed.len();
        let anchors = 0..work.places.len() as u32;
        let mut parts = Parts::new(&graph, objects, placed.into_iter().chain(anchors).collect(), limits);
        parts.relieve();
        parts.improve(2, 10, &mut Rng::new(2));
        parts.part.truncate(objects);
        parts.part
    }

    /// The graph, and a vertex for each place that stands for all objects that stay there; none if nobody talks with those.
    fn with_anchors(&self, snapshot: &Snapshot, work: &Work) -> Option<Csr> {
        let vertex_of = vertices(snapshot, work);
        let place_of_pe = work.place_of_pe(snapshot);
        let objects = work.objects.len() as u32;
        let end = |object: u32| {
            let vertex = *vertex_of.get(object as usize)?;
            if vertex != NOWHERE {
                return Some(vertex);
            }
            let pe = snapshot.objects.get(object as usize)?.pe;
            let place = *place_of_pe.get(pe as usize)?;
            (place != NOWHERE).then(|| objects + place)
        };
        let anchored = |edge: &Edge| {
            let (from, to) = (end(edge.from)?, end(edge.to)?);
            ((from < objects) != (to < objects) && cost(edge) > 0.0)
                .then(|| (from, to, quantity(cost(edge), self.per_byte)))
        };
        let anchored: Vec<(u32, u32, u32)> = snapshot.edges.iter().filter_map(anchored).collect();
        if anchored.is_empty() {
            return None;
        }
        let arc = |(from, arc): (u32, &Arc)| (from < arc.to).then_some((from, arc.to, arc.weight));
        let arcs = |vertex: u32| self.graph.arcs(vertex as usize).iter().map(move |arc| (vertex, arc));
        let inner = (0..objects).flat_map(arcs).filter_map(arc);
        let mut weights = self.graph.weights.clone();
        weights.resize(weights.len() + work.places.len(), 0);
        Some(Csr::new(weights, inner.chain(anchored.iter().copied())))
    }
}

/// The vertex of each object of the snapshot; [`NOWHERE`] for those that stay.
fn vertices(snapshot: &Snapshot, work: &Work) -> Vec<u32> {
    let mut vertex_of = vec![NOWHERE; snapshot.objects.len()];
    for (vertex, &object) in work.objects.iter().enumerate() {
        vertex_of[object as usize] = vertex as u32;
    }
    vertex_of
}

/// Bytes, or what is as bad.
fn cost(edge: &Edge) -> f64 {
    edge.volume() + f64::from(edge.messages.clamp(0.0, 1e20).max(0.0)) * MESSAGE_BYTES
}

fn quantity(cost: f64, per_byte: f64) -> u32 {
    ((cost * per_byte) as u32).max(1)
}
