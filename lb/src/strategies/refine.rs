//! Takes from those that have too much, as long as somebody has less.

use super::overload::Residents;
use crate::ideal;
use crate::loads::Loads;
use crate::plan::Plan;
use crate::snapshot::Snapshot;
use crate::strategy::Strategy;

/// Takes from the PEs that have too much, the most loaded first, what others can take without getting too much themselves. What has
/// no such place stays, and nothing leaves a PE that has not too much; so it is good after another strategy.
///
/// Corresponds to Charm++'s `RefineLB`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Refine;

impl Strategy for Refine {
    fn name(&self) -> &str {
        "refine"
    }

    fn plan(&mut self, snapshot: &Snapshot) -> Plan {
        let residents = Residents::new(snapshot);
        let limit = ideal::level(snapshot).max(ideal::largest(snapshot)) * SLACK;
        let mut loads = Loads::new(snapshot);
        residents.relieve_memory(&mut loads, limit);
        for pe in residents.most_loaded_first(&loads, limit) {
            for object in residents.leavers(&loads, pe, limit) {
                residents.try_to_move(&mut loads, object, limit);
            }
            // If those that should leave could not, others may.
            residents.relieve(&mut loads, pe, limit);
        }
        loads.into_plan()
    }
}

/// Beyond the ideal time, as in Charm++: less is not worth a move.
const SLACK: f64 = 1.02;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::line;

    fn places(snapshot: &Snapshot) -> Vec<u32> {
        let plan = Refine.plan(snapshot);
        plan.check(snapshot).unwrap();
        plan.places(snapshot)
    }

    #[test]
    fn who_has_too_much_gives_and_nobody_else() {
        let snapshot =
            line(3, &[(0, 4.0), (0, 3.0), (0, 3.0), (1, 2.0), (1, 2.0), (1, 1.0), (2, 1.0), (2, 2.0)]);
        // 18 seconds are 6 for each; PE 0 has 4 too much, and PE 2 can take 3 of them.
        assert_eq!(places(&snapshot), [0, 2, 0, 1, 1, 1, 2, 2]);
    }

    #[test]
    fn smaller_ones_go_where_larger_ones_find_no_place() {
        let snapshot = line(3, &[(0, 5.0), (0, 5.0), (0, 1.0), (0, 1.0), (1, 6.0), (2, 6.0)]);
        // 24 seconds are 8 for each: nobody can take 5, both others can take 1.
        assert_eq!(places(&snapshot), [0, 0, 1, 2, 1, 2]);
    }

    #[test]
    fn a_pe_that_takes_none_is_left_even_by_what_fits_nowhere() {
        let mut snapshot = line(3, &[(0, 5.0), (1, 5.0), (2, 9.0), (2, 0.0)]);
        snapshot.pes[2].available = false;
        assert_eq!(places(&snapshot)[..2], [0, 1]);
        assert!(places(&snapshot)[2..].iter().all(|&place| place < 2));
    }

    #[test]
    fn objects_without_load_stay() {
        let mut snapshot = line(2, &[(0, 5.0), (0, 0.0), (0, 5.0), (1, 1.0)]);
        snapshot.objects[0].migratable = false;
        snapshot.objects[2].migratable = false;
        assert_eq!(places(&snapshot), [0, 0, 0, 1]);
    }
}
