//! As many parts as there are places, by halving again and again.

use super::bisect::bisect;
use super::csr::{Arc, Csr};
use crate::rng::Rng;
use crate::strategies::rcb::middle;
use crate::strategies::work::Place;

/// The place of each vertex. The machine is halved with the graph, between hosts first: so neighbouring parts are on one host.
pub(super) fn parts(graph: &Csr, places: &[Place], rng: &mut Rng) -> Vec<u32> {
    let mut parts = vec![0; graph.len()];
    let all = (0..graph.len() as u32).collect();
    halve(Piece { graph: graph.clone(), vertices: all, places, first: 0 }, rng, &mut parts);
    parts
}

/// A part of the graph for a part of the machine.
struct Piece<'a> {
    graph: Csr,
    /// What its vertices are in the whole graph.
    vertices: Vec<u32>,
    places: &'a [Place],
    first: usize,
}

fn halve(piece: Piece, rng: &mut Rng, parts: &mut [u32]) {
    if piece.places.len() <= 1 || piece.vertices.is_empty() {
        piece.vertices.iter().for_each(|&vertex| parts[vertex as usize] = piece.first as u32);
        return;
    }
    let middle = middle(piece.places);
    let (low, high) = piece.places.split_at(middle);
    let sum = |places: &[Place]| places.iter().map(|place| place.share).sum::<f64>();
    let (share, rest) = (sum(low), sum(high));
    let part = if share + rest > 0.0 { share / (share + rest) } else { 0.5 };
    let total = piece.graph.total() as f64;
    let side = bisect(&piece.graph, (total * part) as i64, (total * TOLERANCE) as i64, rng);
    let [below, above] = [false, true].map(|half| induced(&piece, &side, half));
    let first = piece.first;
    // The whole is not needed any more while its halves are halved.
    drop(piece.graph);
    halve(Piece { graph: below.0, vertices: below.1, places: low, first }, rng, parts);
    halve(Piece { graph: above.0, vertices: above.1, places: high, first: first + middle }, rng, parts);
}

/// What every halving may be off by: deviations add up.
const TOLERANCE: f64 = 0.002;

/// One half of a piece: its graph, and its vertices.
fn induced(piece: &Piece, side: &[bool], half: bool) -> (Csr, Vec<u32>) {
    let mut number = vec![0; side.len()];
    let inside: Vec<usize> = (0..side.len()).filter(|&vertex| side[vertex] == half).collect();
    for (new, &vertex) in inside.iter().enumerate() {
        number[vertex] = new as u32;
    }
    let mut graph = Csr { offsets: vec![0], ..Csr::default() };
    for &vertex in &inside {
        let arcs = piece.graph.arcs(vertex).iter().filter(|arc| side[arc.to as usize] == half);
        graph.arcs.extend(arcs.map(|arc| Arc { to: number[arc.to as usize], weight: arc.weight }));
        graph.offsets.push(graph.arcs.len());
        graph.weights.push(piece.graph.weights[vertex]);
    }
    let vertices = inside.into_iter().map(|vertex| piece.vertices[vertex]).collect();
    (graph, vertices)
}
