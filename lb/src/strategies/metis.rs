//! METIS, the library (Karypis and Kumar), for comparison and for those who trust it more.

use metis::option::{NIter, Seed};

use super::graph::talk::Talk;
use super::graph::{self, SLACK};
use super::work::Work;
use crate::plan::Plan;
use crate::snapshot::Snapshot;
use crate::strategy::{Strategy, Wants};

/// The same as [`Graph`](super::Graph), but METIS divides the graph, k-way. Exists with the feature `metis`.
///
/// A graph that METIS refuses, or that is too large for it (2³¹ arcs), is not divided: all objects stay.
#[derive(Clone, Copy, Debug, Default)]
pub struct Metis;

impl Strategy for Metis {
    fn name(&self) -> &str {
        "metis"
    }

    fn wants(&self) -> Wants {
        Wants { edges: true }
    }

    fn plan(&mut self, snapshot: &Snapshot) -> Plan {
        graph::plan(snapshot, |work, talk, _| partition(work, talk))
    }
}

/// What METIS makes of it: vertices weigh so much in all. Its numbers have 32 bits.
const WEIGHT_OF_ALL: i64 = 1 << 30;

/// The place of each object, if METIS says.
fn partition(work: &Work, talk: &Talk) -> Option<Vec<u32>> {
    // Places without a share make METIS divide by zero.
    let open: Vec<usize> = (0..work.places.len()).filter(|&place| work.places[place].share > 0.0).collect();
    let graph = &talk.graph;
    let offsets: Vec<i32> = all(graph.offsets.iter().copied())?;
    let neighbours: Vec<i32> = all(graph.arcs.iter().map(|arc| arc.to))?;
    let arc_weights: Vec<i32> = graph.arcs.iter().map(|arc| arc.weight.min(1 << 30) as i32).collect();
    let scale = WEIGHT_OF_ALL as f64 / graph.total().max(1) as f64;
    let weights: Vec<i32> = graph.weights.iter().map(|&weight| (weight as f64 * scale) as i32).collect();
    let shares: Vec<f32> = open.iter().map(|&place| (work.places[place].share / work.total) as f32).collect();
    let mut part = vec![0; graph.len()];
    metis::Graph::new(1, i32::try_from(open.len()).ok()?, &offsets, &neighbours)
        .ok()?
        .set_vwgt(&weights)
        .set_adjwgt(&arc_weights)
        .set_tpwgts(&shares)
        .set_ubvec(&[SLACK as f32])
        .set_option(Seed(1))
        .set_option(NIter(10))
        .part_kway(&mut part)
        .ok()?;
    part.into_iter().map(|part| open.get(part as usize).map(|&place| place as u32)).collect()
}

/// All numbers, if each is one of METIS's.
fn all<T: TryInto<i32>>(numbers: impl Iterator<Item = T>) -> Option<Vec<i32>> {
    numbers.map(|number| number.try_into().ok()).collect()
}
