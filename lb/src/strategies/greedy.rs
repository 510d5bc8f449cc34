//! The largest object first, each to the PE that is ready first with it.

use crate::ideal;
use crate::loads::Loads;
use crate::plan::Plan;
use crate::snapshot::Snapshot;
use crate::strategy::Strategy;

/// The largest object first, each to the PE that is ready first with it. The best balance, for many moves.
///
/// A move that gains nothing is not made. No PE can be ready before the [level](ideal::level) that evenly divided work would reach, so
/// an object stays where it is while its PE is below that with it; smaller ones, which come later, fill what is left. And if all
/// this would hardly be better than what is there, nothing moves.
///
/// Corresponds to Charm++'s `GreedyLB`, which knows no present places.
#[derive(Clone, Copy, Debug, Default)]
pub struct Greedy;

impl Strategy for Greedy {
    fn name(&self) -> &str {
        "greedy"
    }

    fn plan(&mut self, snapshot: &Snapshot) -> Plan {
        let level = ideal::level(snapshot) * ROUNDING;
        let mut loads = Loads::lifted(snapshot);
        let (mut forced, mut waiting) = (false, Vec::new());
        for alike in largest_first(snapshot).chunk_by(|a, b| a.class() == b.class()) {
            for object in alike.iter().map(|ranked| ranked.object()) {
                forced |= loads.must_leave(object);
                if stays(&loads, snapshot, object, level) {
                    loads.put(object, loads.place(object));
                } else {
                    waiting.push(object);
                }
            }
            for object in waiting.drain(..) {
                if let Some(to) = loads.lowest_for(object, level) {
                    loads.put(object, to);
                }
            }
        }
        if forced || loads.time_max() < Loads::new(snapshot).time_max() * WORTH {
            loads.into_plan()
        } else {
            Plan::default()
        }
    }
}

fn stays(loads: &Loads<'_>, snapshot: &Snapshot, object: u32, level: f64) -> bool {
    let gains_nothing = || {
        snapshot.objects[object as usize].work() == 0.0
            || loads.time_with(loads.place(object), object) <= level
    };
    !loads.must_leave(object) && gains_nothing()
}

/// Sums of floating-point numbers depend on their order by less than this.
const ROUNDING: f64 = 1.0 + 1e-9;

/// The load of the next period is not known better than to a percent, so less than that is no gain.
const WORTH: f64 = 0.99;

/// An object's load, coarsely, with its number; they are sorted by both as one number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked(u64);

impl Ranked {
    fn new(work: f64, object: u32) -> Self {
        // The bits of positive numbers have the order of the numbers; 20 bits of the mantissa are left of them.
        Ranked(!work.to_bits() & !0xffff_ffff | u64::from(object))
    }

    fn object(self) -> u32 {
        self.0 as u32
    }

    /// The same for loads that differ by some 3 %. Whoever of them can stay is placed before those that move, which otherwise would take
    /// the places of the former.
    fn class(self) -> u64 {
        self.0 >> 47
    }
}

/// The objects that may move, the largest first.
fn largest_first(snapshot: &Snapshot) -> Vec<Ranked> {
    let movable = (0..).zip(&snapshot.objects).filter(|(_, object)| object.migratable);
    let mut ranked: Vec<_> = movable.map(|(number, object)| Ranked::new(object.work(), number)).collect();
    ranked.sort_unstable();
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::line;

    fn times(snapshot: &Snapshot) -> (Vec<f64>, usize) {
        let plan = Greedy.plan(snapshot);
        plan.check(snapshot).unwrap();
        let mut after = snapshot.clone();
        for moved in &plan.moves {
            after.objects[moved.object as usize].pe = moved.to;
        }
        let loads = Loads::new(&after);
        ((0..snapshot.pes.len() as u32).map(|pe| loads.time(pe)).collect(), plan.moves.len())
    }

    #[test]
    fn the_largest_are_placed_first() {
        let snapshot = line(3, &[(0, 1.0), (0, 2.0), (0, 3.0), (0, 3.0), (0, 6.0)]);
        let (mut times, _) = times(&snapshot);
        times.sort_by(f64::total_cmp);
        assert_eq!(times, [4.0, 5.0, 6.0]);
    }

    #[test]
    fn what_is_balanced_stays() {
        let even: Vec<_> = (0..64).map(|object| (object / 16, 1.0)).collect();
        assert_eq!(times(&line(4, &even)).1, 0);
        let uneven_by_one: Vec<_> = (0..10).map(|object| (object % 4, 1.0)).collect();
        assert_eq!(times(&line(4, &uneven_by_one)).1, 0);
        assert_eq!(times(&line(4, &[(3, 0.0); 10])).1, 0);
    }

    #[test]
    fn only_what_is_too_much_goes() {
        let objects: Vec<_> =
            (0..64).map(|object| (if object < 40 { 0 } else { 1 + object % 3 }, 1.0)).collect();
        let mut snapshot = line(4, &objects);
        assert_eq!(times(&snapshot), (vec![16.0; 4], 24));
        snapshot.pes.iter_mut().for_each(|pe| pe.node = 0);
        assert_eq!(times(&snapshot), (vec![16.0; 4], 24), "nobody moves because another PE is near");
    }

    #[test]
    fn those_that_move_do_not_take_the_places_of_those_that_could_stay() {
        // They differ by next to nothing, but those of PE 0 come first, and those of PE 1 last.
        let counts = [(0, 30, 1.0003), (1, 18, 1.0), (2, 10, 1.0001), (3, 6, 1.0002)];
        let objects = counts.into_iter().flat_map(|(pe, count, load)| (0..count).map(move |_| (pe, load)));
        let (_, moves) = times(&line(4, &objects.collect::<Vec<_>>()));
        assert!((16..=18).contains(&moves), "{moves} moves where 16 are too many on PEs 0 and 1");
    }

    #[test]
    fn slow_and_busy_pes_get_less() {
        let objects: Vec<_> = (0..200).map(|object| (object % 4, 1.0)).collect();
        let mut snapshot = line(4, &objects);
        snapshot.pes[2].speed = 0.5;
        snapshot.pes[3].background = 20.0;
        let (times, _) = times(&snapshot);
        let ideal = ideal::level(&snapshot);
        assert!(times.iter().all(|&time| (ideal - 2.0..ideal + 2.0).contains(&time)), "{times:?}, {ideal}");
    }

    #[test]
    fn a_giant_does_not_go_to_a_slow_pe() {
        let mut snapshot = line(3, &[(1, 30.0), (1, 30.0), (1, 2.0), (1, 2.0)]);
        snapshot.pes[0].speed = 0.1;
        assert_eq!(Greedy.plan(&snapshot).places(&snapshot)[..2], [1, 2]);
    }
}
