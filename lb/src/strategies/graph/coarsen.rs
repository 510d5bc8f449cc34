//! Smaller graphs that look like a graph: vertices are merged in pairs along heavy edges (Karypis and Kumar 1998).

use super::csr::{Arc, Csr, Seen};
use crate::rng::Rng;

/// A graph made of another by merging vertices.
#[derive(Debug)]
pub(super) struct Coarser {
    pub graph: Csr,
    /// By vertex of the finer graph: what it became a part of.
    pub merged_into: Vec<u32>,
}

/// Graphs of fewer and fewer vertices, until there are `enough` or merging no longer helps.
pub(super) fn hierarchy(graph: &Csr, enough: usize, rng: &mut Rng) -> Vec<Coarser> {
    // Few heavy vertices among light ones cannot be balanced.
    let heaviest = (graph.total() / enough.max(1) as i64).saturating_mul(3) / 2 + 1;
    let mut levels: Vec<Coarser> = Vec::new();
    loop {
        let finer = levels.last().map_or(graph, |level| &level.graph);
        if finer.len() <= enough {
            return levels;
        }
        let coarser = merge_pairs(finer, heaviest, rng);
        if coarser.graph.len() * 20 > finer.len() * 19 {
            return levels;
        }
        levels.push(coarser);
    }
}

fn merge_pairs(graph: &Csr, heaviest: i64, rng: &mut Rng) -> Coarser {
    let mut partner = vec![ALONE; graph.len()];
    match_neighbours(graph, heaviest, rng, &mut partner);
    match_leaves(graph, heaviest, &mut partner);
    contracted(graph, &partner)
}

const ALONE: u32 = u32::MAX;

/// Each vertex, those of few arcs first, with the neighbour to which the heaviest edge leads.
fn match_neighbours(graph: &Csr, heaviest: i64, rng: &mut Rng, partner: &mut [u32]) {
    for vertex in visiting_order(graph, rng) {
        if partner[vertex as usize] != ALONE {
            continue;
        }
        let weight = graph.weights[vertex as usize];
        let free = |arc: &&Arc| {
            partner[arc.to as usize] == ALONE && weight + graph.weights[arc.to as usize] <= heaviest
        };
        // Between edges of the same weight, the one to a light neighbour: clusters are to grow evenly.
        let rating = |arc: &Arc| {
            let weight = arc.weight as f32;
            weight * weight / (graph.weights[arc.to as usize] + 1) as f32
        };
        let better = |best: Option<(f32, u32)>, arc: &Arc| match (best, rating(arc)) {
            (Some((most, to)), rating) if rating <= most => Some((most, to)),
            (_, rating) => Some((rating, arc.to)),
        };
        if let Some((_, to)) = graph.arcs(vertex as usize).iter().filter(free).fold(None, better) {
            partner[vertex as usize] = to;
            partner[to as usize] = vertex;
        }
    }
}

/// By number of arcs, and at random among those with as many: a vertex of few arcs is soon left without a free neighbour.
fn visiting_order(graph: &Csr, rng: &mut Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..graph.len() as u32).collect();
    shuffle(&mut order, rng);
    let usual = graph.arcs.len() * 7 / 10 / graph.len().max(1);
    let class = |vertex: u32| graph.arcs(vertex as usize).len().min(usual + 1);
    let mut starts = vec![0usize; usual + 3];
    order.iter().for_each(|&vertex| starts[class(vertex) + 1] += 1);
    for class in 0..usual + 2 {
        starts[class + 1] += starts[class];
    }
    let mut sorted = vec![0; order.len()];
    for vertex in order {
        let start = &mut starts[class(vertex)];
        sorted[*start] = vertex;
        *start += 1;
    }
    sorted
}

pub(super) fn shuffle(order: &mut [u32], rng: &mut Rng) {
    for at in (1..order.len()).rev() {
        order.swap(at, rng.below(at as u32 + 1) as usize);
    }
}

/// Those that are left over with each other if their heaviest edges lead to the same vertex, or if they have no edges: without it,
/// stars would not get smaller.
fn match_leaves(graph: &Csr, heaviest: i64, partner: &mut [u32]) {
    let mut waiting = vec![ALONE; graph.len() + 1];
    for vertex in 0..graph.len() {
        if partner[vertex] != ALONE {
            continue;
        }
        let heaviest_arc = graph.arcs(vertex).iter().max_by_key(|arc| (arc.weight, arc.to));
        let hub = heaviest_arc.map_or(graph.len(), |arc| arc.to as usize);
        let other = waiting[hub];
        if other != ALONE && graph.weights[vertex] + graph.weights[other as usize] <= heaviest {
            partner[vertex] = other;
            partner[other as usize] = vertex as u32;
            waiting[hub] = ALONE;
        } else {
            waiting[hub] = vertex as u32;
        }
    }
}

fn contracted(graph: &Csr, partner: &[u32]) -> Coarser {
    let mut merged_into = vec![ALONE; graph.len()];
    let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(graph.len() / 2);
    for vertex in 0..graph.len() as u32 {
        if merged_into[vertex as usize] != ALONE {
            continue;
        }
        merged_into[vertex as usize] = pairs.len() as u32;
        if partner[vertex as usize] != ALONE {
            merged_into[partner[vertex as usize] as usize] = pairs.len() as u32;
        }
        pairs.push((vertex, partner[vertex as usize]));
    }
    let mut coarse = Csr { offsets: vec![0], ..Csr::default() };
    coarse.arcs.reserve(graph.arcs.len() * 3 / 4);
    let mut seen = Seen::new(pairs.len());
    for (number, &(a, b)) in pairs.iter().enumerate() {
        let begin = coarse.arcs.len();
        let mut weight = 0;
        for vertex in [a, b].into_iter().filter(|&vertex| vertex != ALONE) {
            weight += graph.weights[vertex as usize];
            for arc in graph.arcs(vertex as usize) {
                let to = merged_into[arc.to as usize];
                match seen.at(to, begin) {
                    _ if to == number as u32 => {}
                    Some(at) => coarse.arcs[at].weight += arc.weight,
                    None => {
                        seen.note(to, coarse.arcs.len());
                        coarse.arcs.push(Arc { to, weight: arc.weight });
                    }
                }
            }
        }
        coarse.weights.push(weight);
        coarse.offsets.push(coarse.arcs.len());
    }
    Coarser { graph: coarse, merged_into }
}
