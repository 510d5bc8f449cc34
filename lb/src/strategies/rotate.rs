//! Every object goes one PE further.

use crate::plan::Plan;
use crate::room::Rooms;
use crate::snapshot::{Object, Snapshot};
use crate::strategy::Strategy;

/// For tests: moves all objects in every step, to the next PE that takes objects.
///
/// Corresponds to Charm++'s `RotateLB`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rotate;

impl Strategy for Rotate {
    fn name(&self) -> &str {
        "rotate"
    }

    fn plan(&mut self, snapshot: &Snapshot) -> Plan {
        let ring = snapshot.available();
        let mut rooms = Rooms::new(snapshot);
        let mut places = Plan::default().places(snapshot);
        for (object, place) in
            snapshot.objects.iter().zip(&mut places).filter(|(object, _)| object.migratable)
        {
            if let Some(to) = next(&ring, object, &rooms) {
                rooms.moved(object, *place, to);
                *place = to;
            }
        }
        Plan::to_places(snapshot, &places)
    }
}

/// The first PE after its own that has room; where nothing presses, the neighbour or none.
fn next(ring: &[u32], object: &Object, rooms: &Rooms<'_>) -> Option<u32> {
    let after = ring.partition_point(|&pe| pe <= object.pe);
    let tries = if rooms.must_leave(object.pe) { TRIES } else { 1 };
    let onward = ring[after..].iter().chain(&ring[..after]).copied();
    onward.take(tries).find(|&to| rooms.fits(object, object.pe, to))
}

/// Enough for tests, and no full memory makes a search of it through all PEs for every object.
const TRIES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::line;

    #[test]
    fn all_go_to_the_next_that_takes_objects() {
        let mut snapshot = line(4, &[(0, 1.0), (1, 1.0), (2, 1.0), (3, 1.0), (3, 1.0)]);
        snapshot.pes[2].available = false;
        snapshot.objects[4].migratable = false;
        assert_eq!(Rotate.plan(&snapshot).places(&snapshot), [1, 3, 3, 0, 3]);
    }

    #[test]
    fn a_full_node_is_left_but_not_entered() {
        let mut snapshot = line(3, &[(0, 1.0), (1, 1.0), (2, 1.0)]);
        snapshot.nodes[1].memory = Some(10);
        snapshot.nodes[2].memory = Some(5);
        assert_eq!(Rotate.plan(&snapshot).places(&snapshot), [0, 1, 0]);
    }
}
