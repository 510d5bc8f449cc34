//! Graph partitioning: objects that talk much go to one PE.

mod bisect;
mod coarsen;
mod csr;
mod partition;
mod recursive;
mod refine;
pub(super) mod talk;

use self::talk::Talk;
use super::work::Work;
use super::{mapping, memory};
use crate::plan::Plan;
use crate::rng::Rng;
use crate::snapshot::Snapshot;
use crate::strategy::{Strategy, Wants};

/// Divides the graph of who talks with whom into as many parts as there are PEs, each as heavy as its PE can take, so that as few
/// bytes as possible go between them; by the multilevel method that METIS is known for (Karypis and Kumar 1998).
///
/// Parts go where most of their objects are already, and parts that talk with each other to one host.
#[derive(Clone, Copy, Debug, Default)]
pub struct Graph;

impl Strategy for Graph {
    fn name(&self) -> &str {
        "graph"
    }

    fn wants(&self) -> Wants {
        Wants { edges: true }
    }

    fn plan(&mut self, snapshot: &Snapshot) -> Plan {
        let mut rng = Rng::new(SEED);
        plan(snapshot, |work, talk, limits| {
            Some(partition::partition(&talk.graph, &work.places, limits, &mut rng))
        })
    }
}

/// Any would do; the same in every run.
const SEED: u64 = 1;

/// Nobody may be done later than by so much of what is possible: less would cut more, and would be lost in what measurements are off by.
pub(super) const SLACK: f64 = 1.02;

/// The plan made of a partition, which gives each vertex of the graph a place.
pub(super) fn plan(
    snapshot: &Snapshot,
    partition: impl FnOnce(&Work, &Talk, &[i64]) -> Option<Vec<u32>>,
) -> Plan {
    let work = Work::new(snapshot);
    if work.objects.is_empty() {
        return Plan::default();
    }
    let talk = Talk::new(snapshot, &work);
    let limits: Vec<i64> =
        (0..work.places.len()).map(|place| talk.weight(work.limit(place, SLACK))).collect();
    let Some(mut placed) = partition(&work, &talk, &limits) else { return Plan::default() };
    mapping::keep(snapshot, &work, &mut placed);
    placed = talk.settle(snapshot, &work, placed, &limits);
    memory::plan(snapshot, &work, placed)
}
