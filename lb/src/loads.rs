//! What every PE has to do, as objects are moved about, and which of them has the least.

use crate::lowest::Lowest;
use crate::neighborhoods::Neighborhoods;
use crate::plan::Plan;
use crate::room::Rooms;
use crate::snapshot::Snapshot;
use std::ops::Range;

/// A plan in the making: where every object is, and how many seconds every PE is busy with that, background included.
///
/// ```
/// use talisman_lb::loads::Loads;
/// # use talisman_lb::snapshot::*;
/// # let pe = Pe { node: 0, speed: 1.0, background: 0.0, available: true };
/// # let key = Key { collection: 1, index: 0 };
/// # let object = Object { key, load: 2.0, bytes: 8, pe: 0, migratable: true, position: None };
/// # let (pes, nodes) = (vec![pe; 2], vec![Node { host: 0, memory: None }]);
/// # let snapshot = Snapshot { pes, nodes, objects: vec![object; 2], edges: vec![] };
/// let mut loads = Loads::new(&snapshot); // two objects of 2 seconds, both on PE 0 of two
/// assert_eq!([loads.time(0), loads.time(1)], [4.0, 0.0]);
/// loads.lift(1);
/// let to = loads.lowest_for(1, 2.0).unwrap();
/// loads.put(1, to);
/// assert_eq!([loads.time(0), loads.time(1)], [2.0, 2.0]);
/// assert_eq!(loads.into_plan().moves.len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Loads<'a> {
    snapshot: &'a Snapshot,
    rooms: Rooms<'a>,
    /// Where every object is, or was before it was lifted.
    places: Vec<u32>,
    /// Seconds, by PE.
    times: Vec<f64>,
    neighborhoods: Neighborhoods,
    /// By class of speed: the time of every position whose PE is of it and takes objects.
    classes: Vec<Lowest>,
}

impl<'a> Loads<'a> {
    /// With all objects where they are.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self::with(snapshot, |_| true)
    }

    /// With all objects lifted that may be moved.
    pub fn lifted(snapshot: &'a Snapshot) -> Self {
        Self::with(snapshot, |migratable| !migratable)
    }

    fn with(snapshot: &'a Snapshot, counts: impl Fn(bool) -> bool) -> Self {
        let mut times: Vec<f64> = snapshot.pes.iter().map(|pe| pe.busy()).collect();
        for object in snapshot.objects.iter().filter(|object| counts(object.migratable)) {
            if let Some(pe) = snapshot.pes.get(object.pe as usize) {
                times[object.pe as usize] += object.work() / pe.rate();
            }
        }
        let neighborhoods = Neighborhoods::new(snapshot);
        let classes =
            (0..neighborhoods.classes).map(|class| neighborhoods.lowest(class, snapshot, &times)).collect();
        let places = snapshot.objects.iter().map(|object| object.pe).collect();
        Loads { snapshot, rooms: Rooms::new(snapshot), places, times, neighborhoods, classes }
    }

    /// Seconds that a PE is busy, without what is lifted.
    pub fn time(&self, pe: u32) -> f64 {
        self.times.get(pe as usize).copied().unwrap_or(0.0)
    }

    /// Seconds that a PE would be busy with one more object.
    #[inline]
    pub fn time_with(&self, pe: u32, object: u32) -> f64 {
        let work = self.snapshot.objects[object as usize].work();
        self.snapshot.pes.get(pe as usize).map_or(0.0, |of| self.times[pe as usize] + work / of.rate())
    }

    /// The longest time of a PE that takes objects.
    pub fn time_max(&self) -> f64 {
        let available = self.times.iter().zip(&self.snapshot.pes).filter(|(_, pe)| pe.available);
        available.map(|(&time, _)| time).fold(0.0, f64::max)
    }

    /// The PE that an object is on, or was on before it was lifted.
    #[inline]
    pub fn place(&self, object: u32) -> u32 {
        self.places[object as usize]
    }

    /// Whether an object should leave the PE it is on, whatever its load: the PE takes none, or its node holds too much.
    #[inline]
    pub fn must_leave(&self, object: u32) -> bool {
        self.rooms.must_leave(self.place(object))
    }

    /// Takes an object from its PE. It still takes the memory of its node, until it is put elsewhere.
    pub fn lift(&mut self, object: u32) {
        let pe = self.place(object);
        self.add(pe, -self.snapshot.objects[object as usize].work());
    }

    /// Puts an object that is lifted on a PE.
    pub fn put(&mut self, object: u32, pe: u32) {
        let of = &self.snapshot.objects[object as usize];
        self.rooms.moved(of, self.place(object), pe);
        self.places[object as usize] = pe;
        self.add(pe, of.work());
    }

    fn add(&mut self, pe: u32, work: f64) {
        let Some(of) = self.snapshot.pes.get(pe as usize) else { return };
        let time = self.times[pe as usize] + work / of.rate();
        self.times[pe as usize] = time;
        if of.available {
            let position = &self.neighborhoods.of[pe as usize];
            self.classes[usize::from(position.class)].set(position.number, time);
        }
    }

    /// Where an object that is lifted should go: to the nearest place (its node, its host, anywhere) where a PE is ready by `limit` with
    /// it, else where it is ready first, which may be its own PE. None if no PE takes it.
    pub fn lowest_for(&mut self, object: u32, limit: f64) -> Option<u32> {
        let place = self.place(object);
        let mut found = [None; 3];
        for (found, span) in found.iter_mut().zip(self.neighborhoods.around(place)) {
            *found = if span.is_empty() { None } else { self.lowest_in(&span, object) };
            if let Some((pe, _)) = found.filter(|(_, time)| *time <= limit) {
                return Some(pe);
            }
        }
        let stays = (!self.rooms.must_leave(place)).then(|| (place, self.time_with(place, object)));
        // Off a PE that takes none, but with no room elsewhere, it may at least go to another PE of its node.
        let beside = || self.lowest_of_any_size(&self.neighborhoods.around(place)[0], object);
        if found == [None; 3] && stays.is_none() {
            return beside().map(|(pe, _)| pe);
        }
        let nearest_first = stays.into_iter().chain(found.into_iter().flatten());
        let first = nearest_first.clone().map(|(_, time)| time).fold(f64::INFINITY, f64::min);
        nearest_first.into_iter().find(|(_, time)| *time <= first * EVEN).map(|(pe, _)| pe)
    }

    /// The other PE where an object that is lifted would be ready first, even if it is later than where it was. None if no other takes it.
    pub fn lowest_elsewhere(&mut self, object: u32) -> Option<u32> {
        let all = 0..self.neighborhoods.pes.len() as u32;
        let own = self
            .neighborhoods
            .of
            .get(self.place(object) as usize)
            .map_or(0..0, |position| position.number..position.number + 1);
        self.close(&own);
        let found = self.lowest_in(&all, object);
        self.reopen(own);
        found.map(|(pe, _)| pe)
    }

    /// The PE of a span of positions where an object would be ready first, and when; its node must have room for it.
    fn lowest_in(&mut self, span: &Range<u32>, object: u32) -> Option<(u32, f64)> {
        let (of, place) = (&self.snapshot.objects[object as usize], self.place(object));
        let own_node = self.neighborhoods.around(place)[0].clone();
        let span = if self.rooms.is_hopeless(of) { &own_node } else { span };
        let tries = if self.must_leave(object) { usize::MAX } else { TRIES };
        let mut full = Vec::new();
        let found = loop {
            match self.lowest_of_any_size(span, object) {
                Some((pe, _)) if !self.rooms.fits(of, place, pe) && full.len() < tries => {
                    full.push(self.neighborhoods.around(pe)[0].clone());
                    self.close(&full[full.len() - 1]);
                }
                found => break found.filter(|&(pe, _)| self.rooms.fits(of, place, pe)),
            }
        };
        if found.is_none() && tries == usize::MAX && span.len() == self.neighborhoods.pes.len() {
            self.rooms.fits_nowhere(of);
        }
        for span in full {
            self.reopen(span);
        }
        found
    }

    fn lowest_of_any_size(&self, span: &Range<u32>, object: u32) -> Option<(u32, f64)> {
        let lowest = self.classes.iter().filter_map(|class| class.lowest(span));
        let timed = lowest.map(|(position, _)| {
            let pe = self.neighborhoods.pes[position as usize];
            (pe, self.time_with(pe, object))
        });
        timed.reduce(|first, next| if next.1 < first.1 { next } else { first })
    }

    fn close(&mut self, span: &Range<u32>) {
        for position in span.clone() {
            let class = self.neighborhoods.of[self.neighborhoods.pes[position as usize] as usize].class;
            self.classes[usize::from(class)].set(position, f64::INFINITY);
        }
    }

    fn reopen(&mut self, span: Range<u32>) {
        for position in span {
            let pe = self.neighborhoods.pes[position as usize] as usize;
            if self.snapshot.pes[pe].available {
                self.classes[usize::from(self.neighborhoods.of[pe].class)].set(position, self.times[pe]);
            }
        }
    }

    /// What has been decided.
    pub fn into_plan(self) -> Plan {
        Plan::to_places(self.snapshot, &self.places)
    }
}

/// Times that differ by less are taken for the same: sums of floating-point numbers depend on their order by so much.
const EVEN: f64 = 1.0 + 1e-9;

/// An object that may stay where it is looks at so many nodes that have no room for it.
const TRIES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::line;

    /// Four PEs, two on each of two nodes; both nodes on one host.
    fn pairs(objects: &[(u32, f64)]) -> Snapshot {
        let mut snapshot = line(4, objects);
        for (number, pe) in (0..).zip(&mut snapshot.pes) {
            pe.node = number / 2;
        }
        snapshot.nodes[1].host = 0;
        snapshot
    }

    fn lowest_for(snapshot: &Snapshot, object: u32, limit: f64) -> Option<u32> {
        let mut loads = Loads::new(snapshot);
        loads.lift(object);
        loads.lowest_for(object, limit)
    }

    #[test]
    fn the_nearest_that_is_low_enough_is_taken() {
        let snapshot = pairs(&[(0, 5.0), (0, 1.0), (1, 2.0), (2, 1.0), (3, 0.5)]);
        assert_eq!(lowest_for(&snapshot, 1, 3.0), Some(1), "its own node, ready at 3");
        assert_eq!(lowest_for(&snapshot, 1, 2.9), Some(3), "another node, ready at 1.5");
        assert_eq!(lowest_for(&snapshot, 1, 0.0), Some(3), "nothing is low enough, this is the lowest");
    }

    #[test]
    fn a_host_is_nearer_than_another() {
        let mut snapshot = pairs(&[(0, 5.0), (0, 9.0), (1, 4.0), (2, 1.0)]);
        snapshot.pes[3].node = 2;
        assert_eq!(lowest_for(&snapshot, 0, 9.0), Some(1), "on its node");
        assert_eq!(lowest_for(&snapshot, 0, 6.0), Some(2), "on its host");
        assert_eq!(lowest_for(&snapshot, 0, 5.5), Some(3), "on another");
    }

    #[test]
    fn where_it_is_as_good_as_elsewhere_it_stays() {
        let snapshot = pairs(&[(2, 5.0), (0, 1.0), (1, 1.0), (2, 1.0), (3, 1.0)]);
        assert_eq!(lowest_for(&snapshot, 0, 0.0), Some(2));
    }

    #[test]
    fn speed_tells_who_is_ready_first() {
        let mut snapshot = pairs(&[(0, 4.0), (1, 3.0), (2, 1.0), (3, 4.5)]);
        snapshot.pes[2].speed = 0.3;
        snapshot.pes[1].speed = 2.0;
        // Ready with the first object at 4 (PE 0 itself), 3.5, 16.7 and 8.5.
        assert_eq!(lowest_for(&snapshot, 0, 0.0), Some(1));
        snapshot.pes[1].background = 1.0;
        assert_eq!(lowest_for(&snapshot, 0, 0.0), Some(0));
    }

    #[test]
    fn what_takes_no_objects_is_left_and_not_found() {
        let mut snapshot = pairs(&[(0, 1.0), (1, 1.0), (2, 1.0)]);
        snapshot.pes[3].available = false;
        snapshot.pes[0].available = false;
        assert_eq!(lowest_for(&snapshot, 0, 0.0), Some(1), "its own PE is not lawful");
        for pe in &mut snapshot.pes {
            pe.available = false;
        }
        assert_eq!(lowest_for(&snapshot, 0, 9.0), None);
    }

    #[test]
    fn a_full_node_is_passed_by_and_found_again_when_there_is_room() {
        let mut snapshot = pairs(&[(0, 4.0), (0, 4.0), (2, 0.5), (1, 3.0)]);
        snapshot.nodes[1].memory = Some(15);
        snapshot.objects[1].bytes = 5;
        let mut loads = Loads::new(&snapshot);
        loads.lift(0);
        assert_eq!(loads.lowest_for(0, 0.0), Some(1), "node 1 has no room");
        loads.lift(1);
        assert_eq!(loads.lowest_elsewhere(1), Some(3), "for a smaller one it has");
        loads.put(1, 0);
        loads.lift(2);
        loads.put(2, 1);
        assert_eq!(loads.lowest_for(0, 0.0), Some(2));
    }

    #[test]
    fn a_node_that_holds_too_much_is_left() {
        let mut snapshot = pairs(&[(0, 1.0), (0, 1.0), (2, 5.0)]);
        snapshot.nodes[0].memory = Some(15);
        let mut loads = Loads::new(&snapshot);
        assert!(loads.must_leave(0));
        loads.lift(0);
        loads.put(0, 2);
        assert!(!loads.must_leave(1));
    }

    #[test]
    fn a_node_that_holds_too_much_is_left_though_it_has_idle_pes() {
        let mut snapshot = pairs(&[(0, 1.0), (0, 1.0), (2, 5.0)]);
        snapshot.nodes[0].memory = Some(15);
        assert_eq!(lowest_for(&snapshot, 0, 9.0), Some(3), "not PE 1");
        snapshot.nodes[1].memory = Some(15);
        snapshot.pes[0].available = false;
        assert_eq!(lowest_for(&snapshot, 0, 9.0), Some(1), "but it is, if there is no other place");
    }

    #[test]
    fn elsewhere_is_not_where_it_is() {
        let mut snapshot = pairs(&[(0, 5.0), (1, 2.0), (2, 1.0), (3, 4.0)]);
        let mut loads = Loads::new(&snapshot);
        loads.lift(0);
        assert_eq!((loads.lowest_for(0, 0.0), loads.lowest_elsewhere(0)), (Some(0), Some(2)));
        assert_eq!(loads.lowest_for(0, 0.0), Some(0), "it can be found again");
        snapshot.pes[1..].iter_mut().for_each(|pe| pe.available = false);
        assert_eq!(Loads::new(&snapshot).lowest_elsewhere(0), None);
    }
}
