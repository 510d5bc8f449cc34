//! Which objects should leave PEs that have too much to do: what the refining strategies share.

use crate::loads::Loads;
use crate::snapshot::Snapshot;

/// The objects of every PE that may be moved.
pub(super) struct Residents<'a> {
    snapshot: &'a Snapshot,
    /// By PE, where its objects start.
    starts: Vec<u32>,
    objects: Vec<u32>,
}

impl<'a> Residents<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        let known = snapshot.pes.len() as u32;
        let movable = || {
            let numbered = (0u32..).zip(&snapshot.objects);
            numbered.filter(|(_, object)| object.migratable && object.pe < known)
        };
        let mut starts = vec![0; snapshot.pes.len() + 1];
        movable().for_each(|(_, object)| starts[object.pe as usize + 1] += 1);
        for pe in 1..starts.len() {
            starts[pe] += starts[pe - 1];
        }
        let mut next = starts.clone();
        let mut objects = vec![0; *starts.last().unwrap_or(&0) as usize];
        for (number, object) in movable() {
            let position = &mut next[object.pe as usize];
            objects[*position as usize] = number;
            *position += 1;
        }
        Residents { snapshot, starts, objects }
    }

    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    /// The objects of a PE.
    pub(super) fn of(&self, pe: u32) -> &[u32] {
        &self.objects[self.starts[pe as usize] as usize..self.starts[pe as usize + 1] as usize]
    }

    /// The objects that are still on the PE, the largest first.
    pub(super) fn largest_first(&self, loads: &Loads<'_>, pe: u32) -> Vec<u32> {
        let mut objects: Vec<u32> =
            self.of(pe).iter().copied().filter(|&object| loads.place(object) == pe).collect();
        self.sort(&mut objects);
        objects
    }

    /// Brings objects into the order of their loads, the largest first.
    pub(super) fn sort(&self, objects: &mut [u32]) {
        objects.sort_unstable_by(|&a, &b| self.work(b).total_cmp(&self.work(a)).then(a.cmp(&b)));
    }

    /// The fewest objects without which a PE is ready by `limit`: large ones as long as they do not exceed what is too much, and at last
    /// the smallest that does. All, if it takes none.
    pub(super) fn leavers(&self, loads: &Loads<'_>, pe: u32, limit: f64) -> Vec<u32> {
        let of = &self.snapshot.pes[pe as usize];
        let mut excess = (loads.time(pe) - limit) * of.rate();
        if of.available && excess <= 0.0 {
            return Vec::new();
        }
        let objects = self.largest_first(loads, pe);
        if !of.available {
            return objects;
        }
        let (mut leavers, mut last_too_large) = (Vec::new(), None);
        for object in objects.into_iter().filter(|&object| self.work(object) > 0.0) {
            if self.work(object) <= excess {
                excess -= self.work(object);
                leavers.push(object);
            } else if excess > 0.0 {
                last_too_large = Some(object);
            }
        }
        leavers.extend(last_too_large.filter(|_| excess > 0.0));
        leavers
    }

    /// The leavers of all PEs.
    pub(super) fn leavers_of_all(&self, loads: &Loads<'_>, limit: f64) -> Vec<u32> {
        self.pes().flat_map(|pe| self.leavers(loads, pe, limit)).collect()
    }

    /// Moves objects off nodes that hold too much, the largest in bytes first, as far as there is room elsewhere.
    pub(super) fn relieve_memory(&self, loads: &mut Loads<'_>, limit: f64) {
        for pe in self.pes().filter(|&pe| self.snapshot.pes[pe as usize].available) {
            if !self.of(pe).first().is_some_and(|&object| loads.must_leave(object)) {
                continue;
            }
            let mut objects = self.of(pe).to_vec();
            objects.sort_by_key(|&object| std::cmp::Reverse(self.snapshot.objects[object as usize].bytes));
            for object in objects {
                if loads.must_leave(object) {
                    self.move_to_another_node(loads, object, limit);
                }
            }
        }
    }

    fn move_to_another_node(&self, loads: &mut Loads<'_>, object: u32, limit: f64) {
        let place = loads.place(object);
        let node = |pe: u32| self.snapshot.pes[pe as usize].node;
        loads.lift(object);
        let to = loads.lowest_for(object, limit).filter(|&to| node(to) != node(place));
        loads.put(object, to.unwrap_or(place));
    }

    /// Lifts an object and puts it where it should be; it stays if nobody takes it.
    pub(super) fn settle(&self, loads: &mut Loads<'_>, object: u32, limit: f64) {
        loads.lift(object);
        let to = loads.lowest_for(object, limit).unwrap_or(loads.place(object));
        loads.put(object, to);
    }

    /// Moves an object to where it is ready by `limit`, and one that must leave anywhere. Whether it did.
    pub(super) fn try_to_move(&self, loads: &mut Loads<'_>, object: u32, limit: f64) -> bool {
        let place = loads.place(object);
        if loads.must_leave(object) {
            self.settle(loads, object, limit);
        } else {
            loads.lift(object);
            let to = loads.lowest_for(object, limit).filter(|&to| loads.time_with(to, object) <= limit);
            loads.put(object, to.unwrap_or(place));
        }
        loads.place(object) != place
    }

    /// The PEs that take none, and then those that have too much, the most loaded first.
    pub(super) fn most_loaded_first(&self, loads: &Loads<'_>, limit: f64) -> Vec<u32> {
        let takes = |pe: u32| self.snapshot.takes(pe);
        let mut pes: Vec<u32> = self.pes().filter(|&pe| !takes(pe) || loads.time(pe) > limit).collect();
        pes.sort_by(|&a, &b| takes(a).cmp(&takes(b)).then(loads.time(b).total_cmp(&loads.time(a))));
        pes
    }

    /// Moves whatever others can take from a PE, the largest first, until it is ready by `limit`. What was moved.
    pub(super) fn relieve(&self, loads: &mut Loads<'_>, pe: u32, limit: f64) -> Vec<u32> {
        if loads.time(pe) <= limit {
            return Vec::new();
        }
        let mut objects = self.largest_first(loads, pe);
        objects.retain(|&object| {
            self.work(object) > 0.0 && loads.time(pe) > limit && self.try_to_move(loads, object, limit)
        });
        objects
    }

    pub(super) fn work(&self, object: u32) -> f64 {
        self.snapshot.objects[object as usize].work()
    }

    fn pes(&self) -> std::ops::Range<u32> {
        0..self.snapshot.pes.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::line;

    fn leavers(loads: &[f64], limit: f64) -> Vec<f64> {
        let objects: Vec<_> = loads.iter().map(|&load| (1, load)).collect();
        let snapshot = line(2, &objects);
        let leavers = Residents::new(&snapshot).leavers(&Loads::new(&snapshot), 1, limit);
        leavers.into_iter().map(|object| loads[object as usize]).collect()
    }

    #[test]
    fn few_large_objects_leave() {
        assert_eq!(leavers(&[1.0, 5.0, 2.0, 3.0, 1.0], 6.0), [5.0, 1.0], "12 seconds, 6 too much");
        assert_eq!(leavers(&[4.0, 4.0, 3.0], 9.0), [3.0], "the smallest that is enough");
        assert_eq!(leavers(&[4.0, 4.0, 0.0], 8.0), []);
        assert_eq!(leavers(&[0.0, 0.0], -1.0), [], "nothing would be gained");
    }

    #[test]
    fn all_leave_a_pe_that_takes_none() {
        let mut snapshot = line(2, &[(0, 1.0), (1, 0.0), (1, 2.0), (1, 3.0)]);
        snapshot.pes[1].available = false;
        snapshot.objects[2].migratable = false;
        let residents = Residents::new(&snapshot);
        assert_eq!(residents.leavers(&Loads::new(&snapshot), 1, 100.0), [3, 1]);
    }

    #[test]
    fn too_much_memory_is_relieved_with_few_moves() {
        let mut snapshot = line(3, &[(0, 1.0), (0, 1.0), (0, 1.0), (1, 1.0)]);
        snapshot.nodes[0].memory = Some(25);
        snapshot.nodes[1].memory = Some(15);
        snapshot.objects[1].bytes = 12;
        let mut loads = Loads::new(&snapshot);
        Residents::new(&snapshot).relieve_memory(&mut loads, 0.0);
        assert_eq!(loads.into_plan().places(&snapshot), [0, 2, 0, 1]);
        snapshot.nodes[2].memory = Some(5);
        snapshot.pes[1].node = 0;
        let mut loads = Loads::new(&snapshot);
        Residents::new(&snapshot).relieve_memory(&mut loads, 0.0);
        assert_eq!(loads.into_plan().moves, [], "where there is no room, nothing is gained inside the node");
    }
}
