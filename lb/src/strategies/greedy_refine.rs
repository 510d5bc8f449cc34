//! A good balance for few moves.

use super::overload::Residents;
use crate::ideal;
use crate::loads::Loads;
use crate::plan::Plan;
use crate::snapshot::Snapshot;
use crate::strategy::Strategy;

/// A good balance for few moves: what is too much on a PE leaves it, as few objects as possible, and these are placed where they
/// fit, the largest first. What fits nowhere makes room for itself among smaller ones.
///
/// Too much is what exceeds the ideal time by a slack: the smallest of some for which 15 % of the objects are enough; where even the largest
/// takes more moves, because most of the load is in one place, they are made. The last PE is never ready later than
/// without the plan, unless PEs or memory are taken away.
///
/// Has the aims of Charm++'s `GreedyRefineLB`.
#[derive(Clone, Copy, Debug, Default)]
pub struct GreedyRefine;

impl Strategy for GreedyRefine {
    fn name(&self) -> &str {
        "greedy-refine"
    }

    fn plan(&mut self, snapshot: &Snapshot) -> Plan {
        let residents = Residents::new(snapshot);
        let before = Loads::new(snapshot);
        let ideal = ideal::level(snapshot).max(ideal::largest(snapshot));
        let forced = residents.any_must_leave(&before);
        let mut found = Plan::default();
        for slack in SLACKS {
            let after = spread(before.clone(), &residents, ideal * slack);
            if forced || after.time_max() <= before.time_max() {
                found = after.into_plan();
                if found.moves.len() as f64 <= residents.len() as f64 * MOVES {
                    break;
                }
            }
        }
        found
    }
}

/// Beyond the ideal time. More than the last is worth more moves: the next period brings a tenth at most by surprise.
const SLACKS: [f64; 4] = [1.02, 1.04, 1.06, 1.08];

/// Of the objects that may be moved, what is few.
const MOVES: f64 = 0.15;

fn spread<'a>(mut loads: Loads<'a>, residents: &Residents<'_>, limit: f64) -> Loads<'a> {
    residents.relieve_memory(&mut loads, limit);
    let mut leavers = residents.leavers_of_all(&loads, limit);
    residents.sort(&mut leavers);
    for object in leavers {
        residents.try_to_move(&mut loads, object, limit);
    }
    let mut patience = PATIENCE;
    for pe in residents.most_loaded_first(&loads, limit) {
        residents.relieve(&mut loads, pe, limit);
        for object in residents.largest_first(&loads, pe) {
            if loads.time(pe) > limit && patience > 0 {
                patience =
                    if displaces(&mut loads, residents, object, limit) { PATIENCE } else { patience - 1 };
            }
        }
    }
    loads
}

/// After so many objects in sequence for which no place could be made, no more are tried: it takes long.
const PATIENCE: u32 = 100;

/// Moves an object that fits nowhere to the PE that is ready first with it, and moves away from there what others can take. It goes back
/// if that PE is then no better off than its own was. Whether it moved.
fn displaces(loads: &mut Loads<'_>, residents: &Residents<'_>, object: u32, limit: f64) -> bool {
    let (place, before) = (loads.place(object), loads.time(loads.place(object)));
    loads.lift(object);
    let Some(to) = loads.lowest_elsewhere(object) else {
        loads.put(object, place);
        return false;
    };
    loads.put(object, to);
    let displaced = residents.relieve(loads, to, limit);
    if loads.time(to) < before {
        return true;
    }
    for other in displaced.into_iter().rev() {
        loads.lift(other);
        loads.put(other, to);
    }
    loads.lift(object);
    loads.put(object, place);
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::line;

    fn plan(snapshot: &Snapshot) -> (usize, f64) {
        let plan = GreedyRefine.plan(snapshot);
        plan.check(snapshot).unwrap();
        let mut after = snapshot.clone();
        for moved in &plan.moves {
            after.objects[moved.object as usize].pe = moved.to;
        }
        (plan.moves.len(), Loads::new(&after).time_max() / ideal::level(snapshot))
    }

    #[test]
    fn a_hot_spot_is_spread_with_few_moves() {
        // A quarter of PE 0's objects are ten times as heavy as all others.
        let load = |object| if object < 16 { 10.0 } else { 1.0 };
        let objects: Vec<_> = (0..512).map(|object| (object / 64, load(object))).collect();
        let (moves, ratio) = plan(&line(8, &objects));
        assert!(moves <= 512 * 15 / 100 && ratio <= 1.10, "{moves} moves, {ratio}");
        assert!(moves >= 10, "{moves}");
    }

    #[test]
    fn what_fits_nowhere_makes_room_for_itself() {
        // 10 seconds are ideal, and nobody has room for 4.
        let mut objects = vec![(0, 4.0); 3];
        objects.extend((0..18).map(|object| (1 + object % 2, 1.0)));
        assert_eq!(plan(&line(3, &objects)), (4, 1.0));
    }

    #[test]
    fn what_is_nearly_balanced_stays() {
        let objects: Vec<_> =
            (0..64).map(|object| (object / 16, if object == 7 { 1.2 } else { 1.0 })).collect();
        assert_eq!(plan(&line(4, &objects)).0, 0);
    }

    #[test]
    fn all_in_one_place_takes_many_moves() {
        let (moves, ratio) = plan(&line(4, &[(0, 1.0); 400]));
        assert!(moves > 280 && ratio <= 1.10, "{moves} moves, {ratio}");
    }

    #[test]
    fn a_giant_keeps_its_pe_to_itself() {
        let objects = [(0, 10.0), (0, 1.0), (0, 1.0), (1, 1.0)];
        assert_eq!(GreedyRefine.plan(&line(2, &objects)).places(&line(2, &objects)), [0, 1, 1, 1]);
    }
}
