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
        for pe in most_loaded_first(&loads, snapshot, limit) {
            for object in residents.leavers(&loads, pe, limit) {
                try_to_move(&mut loads, object, limit);
            }
            relieve(&mut loads, &residents, pe, limit);
        }
        loads.into_plan()
    }
}

/// Beyond the ideal time, as in Charm++: less is not worth a move.
const SLACK: f64 = 1.02;

/// PEs that take none, and those that have too much. None of the others will have too much, so these are all.
fn most_loaded_first(loads: &Loads<'_>, snapshot: &Snapshot, limit: f64) -> Vec<u32> {
    let too_much = |pe: &u32| !snapshot.takes(*pe) || loads.time(*pe) > limit;
    let mut pes: Vec<u32> = (0..snapshot.pes.len() as u32).filter(too_much).collect();
    let order = |pe: u32| (snapshot.takes(pe), -loads.time(pe));
    pes.sort_by(|&a, &b| order(a).0.cmp(&order(b).0).then(order(a).1.total_cmp(&order(b).1)));
    pes
}

/// If those that should leave could not, others may.
fn relieve(loads: &mut Loads<'_>, residents: &Residents<'_>, pe: u32, limit: f64) {
    if loads.time(pe) > limit {
        for object in residents.largest_first(loads, pe) {
            if residents.work(object) > 0.0 && loads.time(pe) > limit {
                try_to_move(loads, object, limit);
            }
        }
    }
}

/// Moves an object to where it is ready by `limit`, and one that must leave anywhere.
fn try_to_move(loads: &mut Loads<'_>, object: u32, limit: f64) {
    let place = loads.place(object);
    let forced = loads.must_leave(object);
    loads.lift(object);
    let to = loads.lowest_for(object, limit).filter(|&to| forced || loads.time_with(to, object) <= limit);
    loads.put(object, to.unwrap_or(place));
}

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
