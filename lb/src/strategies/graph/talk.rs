//! The graph of who talks with whom.

use super::csr::Csr;
use super::refine::Parts;
use crate::rng::Rng;
use crate::snapshot::{Edge, Object, Snapshot};
use crate::strategies::work::{NOWHERE, Work};

/// What the objects of a work say to each other, and to those that stay.
pub(in crate::strategies) struct Talk {
    /// A vertex for each object of the work. If any of them talks with objects that stay, then an *anchor* for each place follows, which
    /// stands for all that stay there and weighs nothing.
    pub graph: Csr,
    /// Vertices that are no anchors.
    objects: usize,
    /// How many seconds the weight of all vertices is.
    total: f64,
    /// Units of arc weight in a byte.
    per_byte: f64,
}

/// A message costs as much as so many bytes, beside its own.
const MESSAGE_BYTES: f64 = 128.0;
/// What all vertices weigh together, but for rounding.
const WEIGHT_OF_ALL: f64 = (1u64 << 40) as f64;
/// What all edges weigh together, but for rounding: each weighs 1 at least.
const WEIGHT_OF_EDGES: f64 = (1u64 << 30) as f64;

/// How often a placement is used, more or less, before the next one: what is said in a period counts so much against what moves once.
const PERIODS: f64 = 10.0;

/// Seconds as a weight, of so many in all. The share comes first: of the shortest loads there are, a second would be more units than can be counted.
fn in_units(seconds: f64, total: f64) -> i64 {
    (seconds / total * WEIGHT_OF_ALL) as i64
}

impl Talk {
    /// The graph of a work.
    pub fn new(snapshot: &Snapshot, work: &Work) -> Self {
        let vertex_of = vertices(snapshot, work);
        let objects = work.objects.len();
        let is_anchor = |vertex: u32| vertex as usize >= objects;
        let known = |edge: &Edge| {
            let vertex =
                |object: u32| vertex_of.get(object as usize).copied().filter(|&vertex| vertex != NOWHERE);
            let ends = (vertex(edge.from)?, vertex(edge.to)?);
            let counts = cost(edge) > 0.0 && !(is_anchor(ends.0) && is_anchor(ends.1));
            counts.then(|| (ends.0, ends.1, cost(edge)))
        };
        let known = snapshot.edges.iter().filter_map(known);
        let per_byte =
            WEIGHT_OF_EDGES / known.clone().map(|(.., cost)| cost).sum::<f64>().max(f64::MIN_POSITIVE);
        let anchored = known.clone().any(|(from, to, _)| is_anchor(from) || is_anchor(to));
        let total = work.total;
        let mut weights: Vec<i64> = work.weights.iter().map(|&weight| in_units(weight, total)).collect();
        weights.resize(objects + if anchored { work.places.len() } else { 0 }, 0);
        let edges = known.map(|(from, to, cost)| (from, to, ((cost * per_byte) as u32).max(1)));
        Talk { graph: Csr::new(weights, edges), objects, total, per_byte }
    }

    /// What each place may get, if it may be done by `slack` times the level, in the graph's units.
    pub fn limits(&self, work: &Work, slack: f64) -> Vec<i64> {
        (0..work.places.len()).map(|place| in_units(work.limit(place, slack), self.total)).collect()
    }

    /// Where all vertices are if the objects are there.
    pub fn with_anchors(&self, placed: &[u32]) -> Vec<u32> {
        placed.iter().copied().chain(0..(self.graph.len() - self.objects) as u32).collect()
    }

    /// What it is worth, in bytes, if parts go where their anchors are: pairs of part and place.
    pub fn worth_of_anchors(&self, part: &[u32]) -> Vec<((u32, u32), u64)> {
        let bytes = |weight: u64| (weight as f64 / self.per_byte * PERIODS) as u64;
        let said = |anchor: usize| self.graph.arcs(anchor).iter().map(|arc| u64::from(arc.weight)).sum();
        let anchors = (0..).zip(self.objects..self.graph.len());
        anchors.map(|(place, anchor)| ((part[anchor], place), bytes(said(anchor)))).collect()
    }

    /// Objects that talk with those that stay come nearer to them, now that parts have places. The places of the objects.
    pub fn settle(&self, mut placed: Vec<u32>, limits: &[i64]) -> Vec<u32> {
        placed.truncate(self.objects);
        if self.graph.len() > self.objects {
            let mut parts = Parts::new(&self.graph, self.objects, self.with_anchors(&placed), limits);
            parts.relieve();
            parts.improve(4, 10, &mut Rng::new(2));
            placed = parts.part;
            placed.truncate(self.objects);
        }
        placed
    }
}

/// The vertex of each object of the snapshot: its own, or that of its place. [`NOWHERE`] if it stays at none.
fn vertices(snapshot: &Snapshot, work: &Work) -> Vec<u32> {
    let place_of_pe = work.place_of_pe(snapshot);
    let anchor = |object: &Object| match place_of_pe.get(object.pe as usize) {
        Some(&place) if place != NOWHERE => work.objects.len() as u32 + place,
        _ => NOWHERE,
    };
    let mut vertex_of: Vec<u32> = snapshot.objects.iter().map(anchor).collect();
    for (vertex, &object) in work.objects.iter().enumerate() {
        vertex_of[object as usize] = vertex as u32;
    }
    vertex_of
}

/// Bytes, or what is as bad.
fn cost(edge: &Edge) -> f64 {
    edge.volume() + f64::from(edge.messages.clamp(0.0, 1e20).max(0.0)) * MESSAGE_BYTES
}
