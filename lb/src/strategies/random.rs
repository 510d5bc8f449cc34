//! Every object goes anywhere.

use crate::plan::Plan;
use crate::rng::{Rng, scattered};
use crate::room::Rooms;
use crate::snapshot::{Object, Snapshot};
use crate::strategy::Strategy;

/// For tests: moves objects to PEs drawn at random, which are others in every step whose snapshot is another.
///
/// Corresponds to Charm++'s `RandCentLB`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Random;

impl Strategy for Random {
    fn name(&self) -> &str {
        "random"
    }

    fn plan(&mut self, snapshot: &Snapshot) -> Plan {
        let pes = snapshot.available();
        let mut rng = Rng::new(seed(snapshot));
        let mut rooms = Rooms::new(snapshot);
        let mut places = Plan::default().places(snapshot);
        for (object, place) in
            snapshot.objects.iter().zip(&mut places).filter(|(object, _)| object.migratable)
        {
            if let Some(to) = drawn(&pes, object, &rooms, &mut rng) {
                rooms.moved(object, *place, to);
                *place = to;
            }
        }
        Plan::to_places(snapshot, &places)
    }
}

/// Another number for other places, so that the objects move in every step.
fn seed(snapshot: &Snapshot) -> u64 {
    snapshot.objects.iter().fold(0, |seed, object| scattered(seed ^ u64::from(object.pe)).wrapping_add(1))
}

/// A PE that has room, if one of the first drawn has.
fn drawn(pes: &[u32], object: &Object, rooms: &Rooms<'_>, rng: &mut Rng) -> Option<u32> {
    let tries = if rooms.must_leave(object.pe) { TRIES } else { 1 };
    let mut draws = (0..tries).filter_map(|_| pes.get(rng.below(pes.len() as u32) as usize).copied());
    draws.find(|&to| rooms.fits(object, object.pe, to))
}

/// Enough for tests, and no full memory makes a long search of it for every object.
const TRIES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::line;

    #[test]
    fn objects_are_spread_over_the_pes_that_take_them() {
        let mut snapshot = line(5, &[(0, 1.0); 4_000]);
        snapshot.pes[3].available = false;
        let places = Random.plan(&snapshot).places(&snapshot);
        let on = |pe| places.iter().filter(|&&place| place == pe).count();
        assert_eq!(on(3), 0);
        assert!(
            [0, 1, 2, 4].map(on).iter().all(|count| (900..1_100).contains(count)),
            "{:?}",
            [0, 1, 2, 4].map(on)
        );
    }

    #[test]
    fn other_places_make_another_draw() {
        let snapshot = line(8, &[(0, 1.0); 100]);
        let mut moved = snapshot.clone();
        moved.objects[50].pe = 3;
        assert_eq!(Random.plan(&snapshot), Random.plan(&snapshot));
        assert_ne!(Random.plan(&snapshot).places(&snapshot), Random.plan(&moved).places(&moved));
    }
}
