//! What objects had to do, as it is told at the end of a job: as much as it takes to try a balancer on it.

use serde::{Deserialize, Serialize};
use talisman_base::ids::PeId;

/// All PEs of a job tell of so many objects, or heaps of objects.
const TOLD: u32 = 1 << 16;
/// A PE of a large job tells of as many at least, and one of a small job of as many at most.
const OF_PE: std::ops::RangeInclusive<u32> = 8..=1024;

/// What the objects of a PE had to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PeLoads {
    pub pe: PeId,
    /// In how much time, in nanoseconds, without that in which others had its core.
    pub ns: u64,
    pub loads: Vec<Load>,
}

/// An object, or a heap of small ones, and what it had to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    pub objects: u32,
    pub ns: u64,
    pub can_move: bool,
}

impl PeLoads {
    /// Of a PE of so many. If there are too many objects to tell of each, small ones are told of in heaps; those that cannot be moved
    /// are always one.
    ///
    /// ```
    /// use talisman_job::loads::{Load, PeLoads};
    ///
    /// let load = |ns, can_move| Load { objects: 1, ns, can_move };
    /// let loads = PeLoads::of(3, 1000, vec![load(200, true), load(50, false), load(60, false)], 4);
    /// assert_eq!(loads.loads, [Load { objects: 2, ns: 110, can_move: false }, load(200, true)]);
    /// ```
    pub fn of(pe: PeId, ns: u64, objects: Vec<Load>, pes: u32) -> PeLoads {
        let (mut moving, staying): (Vec<Load>, Vec<Load>) =
            objects.into_iter().partition(|load| load.can_move);
        let most = (TOLD / pes.max(1)).clamp(*OF_PE.start(), *OF_PE.end()) as usize;
        if moving.len() > most {
            moving = heaps(moving, most as u64 / 2);
        }
        let staying = staying.into_iter().reduce(Load::with);
        PeLoads { pe, ns, loads: staying.into_iter().chain(moving).collect() }
    }
}

impl Load {
    fn with(self, other: Load) -> Load {
        let (objects, ns) = (self.objects.saturating_add(other.objects), self.ns.saturating_add(other.ns));
        Load { objects, ns, ..self }
    }
}

/// Large ones alone, and small ones put together until they have as much to do as one of so many parts of the whole: one heap more than
/// that, at most.
fn heaps(mut loads: Vec<Load>, parts: u64) -> Vec<Load> {
    let least = loads.iter().fold(0, |sum: u64, load| sum.saturating_add(load.ns)) / parts.max(1) + 1;
    loads.sort_unstable_by_key(|load| std::cmp::Reverse(load.ns));
    let mut heaps: Vec<Load> = Vec::new();
    for load in loads {
        match heaps.last_mut().filter(|heap| heap.ns < least) {
            Some(heap) => *heap = heap.with(load),
            None => heaps.push(load),
        }
    }
    heaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_objects_the_large_ones_are_told_and_the_others_in_heaps() {
        let load = |ns| Load { objects: 1, ns, can_move: true };
        let objects: Vec<Load> =
            (0..100_000).map(|nth| load(if nth % 10_000 == 7 { 1_000_000 } else { 100 })).collect();
        let told = PeLoads::of(0, 0, objects, 2).loads;
        assert!(told.len() <= 513, "{}", told.len());
        assert_eq!(told.iter().map(|load| u64::from(load.objects)).sum::<u64>(), 100_000);
        assert_eq!(told.iter().map(|load| load.ns).sum::<u64>(), 10 * 1_000_000 + 99_990 * 100);
        assert_eq!(
            told.iter().filter(|load| **load == Load { objects: 1, ns: 1_000_000, can_move: true }).count(),
            10
        );
        assert!(told.iter().all(|load| load.objects == 1 || load.ns < 50_000));
    }

    #[test]
    fn a_pe_of_a_large_job_tells_of_few() {
        let objects = vec![Load { objects: 1, ns: 0, can_move: true }; 1000];
        let told = PeLoads::of(0, 0, objects, 1 << 20).loads;
        assert_eq!((told.len(), told[0].objects), (1, 1000), "which had nothing to do");
        assert_eq!(PeLoads::of(0, 0, Vec::new(), 0).loads, []);
    }
}
