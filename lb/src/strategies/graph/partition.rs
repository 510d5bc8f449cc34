//! Multilevel partitioning: the coarsest graph is divided, and the parts' borders improved on every finer one (Karypis and Kumar 1998).

use super::coarsen::hierarchy;
use super::csr::Csr;
use super::recursive;
use super::refine::Parts;
use crate::rng::Rng;
use crate::strategies::work::Place;

/// The place of each vertex, so that places get their shares and no more than `limits`, and little is cut.
pub(super) fn partition(graph: &Csr, places: &[Place], limits: &[i64], rng: &mut Rng) -> Vec<u32> {
    let tries = (EFFORT_OF_TRIES / (graph.len() + graph.arcs.len()).max(1)).clamp(1, TRIES);
    let partitions = (0..tries).map(|_| once(graph, places, limits, rng));
    partitions.min_by_key(|part| badness(graph, part, limits)).unwrap_or_default()
}

/// Chance has much to say on small graphs, and trying again takes no time: the best of so many.
const TRIES: usize = 6;
/// Vertices and arcs of all tries together, which take about a tenth of a second.
const EFFORT_OF_TRIES: usize = 200_000;

/// By how much limits are exceeded, and then what is cut.
fn badness(graph: &Csr, part: &[u32], limits: &[i64]) -> (i64, u64) {
    let mut weights = vec![0; limits.len()];
    part.iter().zip(&graph.weights).for_each(|(&part, weight)| weights[part as usize] += weight);
    let excess = weights.iter().zip(limits).map(|(weight, limit)| (weight - limit).max(0)).max();
    (excess.unwrap_or(0), graph.cut(part))
}

fn once(graph: &Csr, places: &[Place], limits: &[i64], rng: &mut Rng) -> Vec<u32> {
    let enough = (places.len() * VERTICES_PER_PART).max(FEWEST);
    let levels = hierarchy(graph, enough, rng);
    let coarsest = levels.last().map_or(graph, |level| &level.graph);
    let mut part = recursive::parts(coarsest, places, rng);
    part = refined(coarsest, part, limits, rng);
    for number in (0..levels.len()).rev() {
        let finer = number.checked_sub(1).map_or(graph, |finer| &levels[finer].graph);
        part = levels[number].merged_into.iter().map(|&vertex| part[vertex as usize]).collect();
        part = refined(finer, part, limits, rng);
    }
    part
}

/// The coarsest graph has so many vertices for each part: enough for borders that fit the graph.
const VERTICES_PER_PART: usize = 30;
/// A graph this small is divided at once.
const FEWEST: usize = 2000;

fn refined(graph: &Csr, part: Vec<u32>, limits: &[i64], rng: &mut Rng) -> Vec<u32> {
    let mut parts = Parts::new(graph, graph.len(), part, limits);
    parts.relieve();
    let (passes, patience) = effort(graph.len());
    parts.improve(passes, patience, rng);
    parts.part
}

/// How often borders are gone over, and how long a search may go on without a gain: less on large graphs, which have their
/// shape from the smaller ones already.
fn effort(vertices: usize) -> (usize, usize) {
    match vertices {
        0..50_000 => (12, 8),
        50_000..300_000 => (8, 5),
        _ => (5, 3),
    }
}
