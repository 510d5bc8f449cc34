//! The largest object first, each to the PE that is the least loaded by then.

use crate::plan::Plan;
use crate::snapshot::Snapshot;
use crate::strategy::Strategy;

/// The largest object first, each to the PE that is the least loaded by then.
///
/// Corresponds to Charm++'s `GreedyLB`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Greedy;

impl Strategy for Greedy {
    fn name(&self) -> &str {
        "greedy"
    }

    fn plan(&mut self, snapshot: &Snapshot) -> Plan {
        let mut times: Vec<f64> = snapshot.pes.iter().map(|pe| pe.busy()).collect();
        let mut places = Plan::default().places(snapshot);
        for (object, place) in snapshot.objects.iter().zip(&mut places) {
            let least = snapshot
                .available()
                .into_iter()
                .min_by(|&a, &b| times[a as usize].total_cmp(&times[b as usize]));
            if let Some(to) = least.filter(|_| object.migratable) {
                times[to as usize] += object.work() / snapshot.pes[to as usize].rate();
                *place = to;
            }
        }
        Plan::to_places(snapshot, &places)
    }
}
