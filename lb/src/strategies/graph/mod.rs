//! Graph partitioning: objects that talk much go to one PE.

mod bisect;
mod coarsen;
mod csr;
mod partition;
mod recursive;
mod refine;
pub(super) mod talk;

use self::talk::Talk;
use super::work::{NOWHERE, Work};
use super::{mapping, memory};
use crate::ideal;
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
        plan(snapshot, |work, talk, slack| {
            let limits = &talk.limits(work, slack);
            let fresh = partition::partition(&talk.graph, &work.places, limits, &mut rng);
            Some(
                adapted(&talk.with_anchors(&work.current(snapshot)), talk, limits, &fresh, &mut rng)
                    .unwrap_or(fresh),
            )
        })
    }
}

/// What comes of where objects are, if it is about as good as a fresh partition: it moves few of them.
fn adapted(current: &[u32], talk: &Talk, limits: &[i64], fresh: &[u32], rng: &mut Rng) -> Option<Vec<u32>> {
    let (excess, cut) = partition::badness(&talk.graph, fresh, limits);
    if current.contains(&NOWHERE) || talk.graph.cut(current) > HOPELESS * cut {
        return None;
    }
    let adapted = partition::adapt(&talk.graph, current, limits, rng);
    let badness = partition::badness(&talk.graph, &adapted, limits);
    (badness.0 <= excess && badness.1 <= cut + cut / WORTH_MOVING).then_some(adapted)
}

/// Where so many times as much is cut as need be, it is not tried.
const HOPELESS: u64 = 3;
/// Most objects move only where that part of what is cut can be saved.
const WORTH_MOVING: u64 = 10;

/// Any would do; the same in every run.
const SEED: u64 = 1;

/// Nobody may be done later than by so much of what is possible: less would cut more, and would be lost in what measurements are off by.
const SLACK: f64 = 1.02;
/// Unless the largest object takes longer than that anyway: then all may, within reason.
const SLACK_MAX: f64 = 1.1;

/// The plan made of a partition, which gives each vertex of the graph a place, at most so many times as heavy as its share.
pub(super) fn plan(
    snapshot: &Snapshot,
    partition: impl FnOnce(&Work, &Talk, f64) -> Option<Vec<u32>>,
) -> Plan {
    let work = Work::new(snapshot);
    if work.objects.is_empty() {
        return Plan::default();
    }
    let talk = Talk::new(snapshot, &work);
    let slack = (ideal::largest(snapshot) / work.level).clamp(SLACK, SLACK_MAX);
    let Some(mut placed) = partition(&work, &talk, slack) else { return Plan::default() };
    let anchors = talk.worth_of_anchors(&placed);
    mapping::keep(snapshot, &work, &mut placed, anchors);
    placed = talk.settle(placed, &talk.limits(&work, slack));
    memory::plan(snapshot, &work, placed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{self, Machine, Program};
    use crate::quality::Quality;
    use crate::snapshot::{Edge, Object};
    use crate::strategies::Rcb;
    use crate::strategies::samples::{machine, object, square};

    const MACHINE: Machine = Machine { pes: 24, pes_per_node: 4, nodes_per_host: 2 };

    fn after(snapshot: &Snapshot, plan: &Plan) -> Snapshot {
        let mut after = snapshot.clone();
        for (object, place) in after.objects.iter_mut().zip(plan.places(snapshot)) {
            object.pe = place;
        }
        after
    }

    #[test]
    fn a_square_is_divided_about_as_well_as_by_a_ruler() {
        let mut snapshot = machine(1, 2, 2);
        square(&mut snapshot, 32);
        let quality = Quality::of(&snapshot, &Graph.plan(&snapshot));
        // Two straight cuts through 32 edges each.
        assert!(quality.external_bytes <= 1.25 * 64.0 * 100.0, "{quality:?}");
        assert!(quality.over_ideal() <= SLACK + 1e-9, "{quality:?}");
    }

    #[test]
    fn programs_without_boxes_are_cut_less_than_by_boxes() {
        let snapshot = generate::snapshot(Program::Molecules, 24 * 64, MACHINE, true);
        let graph = Quality::of(&snapshot, &Graph.plan(&snapshot));
        let boxes = Quality::of(&snapshot, &Rcb.plan(&snapshot));
        assert!(graph.external_bytes < 0.9 * boxes.external_bytes, "{graph:?} {boxes:?}");
        assert!(graph.over_ideal() < 1.03, "{graph:?}");
    }

    #[test]
    fn fast_and_busy_pes_get_their_shares() {
        let mut snapshot = generate::snapshot(Program::Stencil, 24 * 64, MACHINE, true);
        for (number, pe) in snapshot.pes.iter_mut().enumerate() {
            pe.speed = [1.0, 0.5, 0.8, 2.1][number % 4];
            pe.background = if number % 5 == 0 { 0.05 } else { 0.0 };
        }
        snapshot.objects.iter_mut().step_by(10).for_each(|object| object.migratable = false);
        let quality = Quality::of(&snapshot, &Graph.plan(&snapshot));
        assert!(quality.over_ideal() < 1.06, "{quality:?}");
    }

    #[test]
    fn what_talks_much_is_on_one_host() {
        let snapshot = generate::snapshot(Program::Stencil, 24 * 64, MACHINE, true);
        let quality = Quality::of(&snapshot, &Graph.plan(&snapshot));
        // Three hosts: two cuts at least. All pairs of PEs being alike, it would be 16 of 23.
        assert!(quality.bytes_between_hosts < 0.45 * quality.external_bytes, "{quality:?}");
    }

    #[test]
    fn a_partition_that_still_is_one_stays() {
        let first = generate::snapshot(Program::Stencil, 24 * 64, MACHINE, true);
        let mut second = after(&first, &Graph.plan(&first));
        for (number, object) in second.objects.iter_mut().enumerate() {
            object.load *= if number % 3 == 0 { 1.03 } else { 1.0 };
        }
        let plan = Graph.plan(&second);
        let quality = Quality::of(&second, &plan);
        assert!(plan.moves.len() * 10 < second.objects.len(), "{} moves", plan.moves.len());
        assert!(quality.over_ideal() < 1.03, "{quality:?}");
    }

    #[test]
    fn objects_go_to_those_that_cannot_move() {
        let mut snapshot = machine(1, 1, 4);
        snapshot.objects = (0..40).map(|number| Object { pe: 3, ..object(number, 1.0) }).collect();
        for (number, object) in snapshot.objects.iter_mut().enumerate().take(4) {
            *object = Object { pe: number as u32, migratable: false, ..*object };
        }
        // Each of the others talks with one of the first four.
        let edge = |from: u32| Edge { from, to: from % 4, messages: 1.0, bytes: 1000.0 };
        snapshot.edges = (4..40).map(edge).collect();
        let quality = Quality::of(&snapshot, &Graph.plan(&snapshot));
        assert_eq!(quality.external_bytes, 0.0, "{quality:?}");
    }

    /// Seconds as short as a number can be overflow nothing.
    #[test]
    fn the_shortest_loads_are_divided_like_any_others() {
        let mut snapshot = machine(1, 1, 4);
        snapshot.objects = (0..40).map(|number| object(number, 1e-300)).collect();
        let placed = after(&snapshot, &Graph.plan(&snapshot));
        let on = |pe| placed.objects.iter().filter(|object| object.pe == pe).count();
        assert_eq!([0, 1, 2, 3].map(on), [10; 4]);
    }

    #[test]
    fn a_star_is_divided_too() {
        let mut snapshot = machine(1, 4, 4);
        snapshot.objects = (0..20_000).map(|number| object(number, 1.0)).collect();
        snapshot.edges = (1..20_000).map(|from| Edge { from, to: 0, messages: 1.0, bytes: 10.0 }).collect();
        let quality = Quality::of(&snapshot, &Graph.plan(&snapshot));
        assert!(quality.over_ideal() < 1.03, "{quality:?}");
    }
}
