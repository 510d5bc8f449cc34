//! Boundedly many bundles for a PE's objects.

use crate::member::Local;
use talisman_pup::Pup;

/// One object, or several light ones that move together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pup)]
pub(crate) struct Bundle {
    /// Load of all.
    pub load: f64,
    /// Bytes of all.
    pub bytes: u64,
}

impl Bundle {
    /// Whether it can be reckoned with.
    pub fn is_sound(&self) -> bool {
        self.load.is_finite() && self.load >= 0.0
    }
}

/// Which object of a PE is in which bundle.
#[derive(Debug, Default)]
pub(crate) struct Bundles {
    /// Bundle and number of the object, in this order.
    members: Vec<(u32, u32)>,
}

impl Bundles {
    /// Of the objects that may move, at most so many bundles.
    pub fn new(local: &Local, most: u32) -> (Self, Vec<Bundle>) {
        let mut numbers: Vec<u32> =
            (0..).zip(&local.objects).filter(|(_, o)| o.migratable).map(|(n, _)| n).collect();
        let most = most as usize;
        if numbers.len() > most {
            let work = |number: &u32| local.objects[*number as usize].work();
            numbers.sort_by(|a, b| work(b).total_cmp(&work(a)));
        }
        let mut members: Vec<_> = (0..).map(|place| bundle(place, most)).zip(numbers).collect();
        members.sort_unstable();
        let count = members.last().map_or(0, |(bundle, _)| *bundle as usize + 1);
        let mut bundles = vec![Bundle::default(); count];
        for (bundle, number) in &members {
            let (bundle, object) = (&mut bundles[*bundle as usize], &local.objects[*number as usize]);
            bundle.load += object.work();
            bundle.bytes = bundle.bytes.saturating_add(object.bytes);
        }
        (Bundles { members }, bundles)
    }

    /// Numbers of the objects in a bundle.
    pub fn objects(&self, bundle: u32) -> impl Iterator<Item = u32> {
        let start = self.members.partition_point(|(of, _)| *of < bundle);
        self.members[start..].iter().take_while(move |(of, _)| *of == bundle).map(|(_, number)| *number)
    }
}

/// The heavier half of the bundles is of one object each, and the rest is dealt out to the others in turn.
fn bundle(place: usize, most: usize) -> u32 {
    let single = most / 2;
    let bundle = if place < most { place } else { single + (place - single) % (most - single) };
    bundle as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributed::locals::Locals;
    use crate::snapshot::tests::line;

    fn bundles(loads: &[f64], most: u32) -> (Vec<f64>, Vec<Vec<u32>>) {
        let objects: Vec<_> = loads.iter().map(|load| (0, *load)).collect();
        let mut snapshot = line(1, &objects);
        snapshot.objects[0].migratable = false;
        let (bundles, described) = Bundles::new(&Locals::new(&snapshot).local(0, false), most);
        let objects = (0..described.len() as u32).map(|bundle| bundles.objects(bundle).collect()).collect();
        (described.iter().map(|bundle| bundle.load).collect(), objects)
    }

    #[test]
    fn few_objects_are_bundles_of_their_own() {
        assert_eq!(bundles(&[9.0, 1.0, 3.0], 4), (vec![1.0, 3.0], vec![vec![1], vec![2]]));
    }

    #[test]
    fn light_ones_of_many_go_together() {
        let (loads, objects) = bundles(&[9.0, 1.0, 1.0, 5.0, 1.0, 1.0, 1.0, 7.0], 4);
        assert_eq!(loads, [7.0, 5.0, 3.0, 2.0]);
        assert_eq!(objects, [vec![7], vec![3], vec![1, 4, 6], vec![2, 5]]);
    }
}
