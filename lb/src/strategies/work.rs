//! How much work there is to place, and how much of it each PE should get.

use crate::plan::{Move, Plan};
use crate::snapshot::{Node, Object, Pe, Snapshot};

/// What a strategy has to place, and where it may.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// The objects that may move, by their number in the snapshot.
    pub objects: Vec<u32>,
    /// What each of them takes, in seconds at speed 1. If no load is known at all, each takes 1.
    pub weights: Vec<f64>,
    /// Where they may go. PEs of a node are side by side, and so are nodes of a host.
    pub places: Vec<Place>,
    /// The sum of the weights.
    pub total: f64,
    /// When all PEs would be done if work were a liquid, in seconds.
    pub level: f64,
}

/// A PE that may take objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub pe: u32,
    pub node: u32,
    pub host: u32,
    pub speed: f64,
    /// Seconds for which it is busy with what does not move.
    pub busy: f64,
    /// What it should get of the total weight.
    pub share: f64,
    /// Whether its share is what its node has memory for, and not what it has time for.
    pub full: bool,
}

/// Where no PE of the snapshot is, and no place of the work.
pub(super) const NOWHERE: u32 = u32::MAX;

impl Work {
    /// The work of a snapshot. There are no objects in it if there is no PE to take them.
    pub fn new(snapshot: &Snapshot) -> Self {
        let places = places(snapshot);
        if places.is_empty() {
            return Work::default();
        }
        let movable = |&(_, object): &(usize, &Object)| object.migratable;
        let objects: Vec<u32> =
            snapshot.objects.iter().enumerate().filter(movable).map(|(number, _)| number as u32).collect();
        let weights: Vec<f64> = objects.iter().map(|&o| snapshot.objects[o as usize].work()).collect();
        let total = weights.iter().sum();
        let mut work = Work { objects, weights, places, total, level: 0.0 };
        match total > 0.0 {
            true => work.add_what_stays(snapshot),
            false => work.count_objects(),
        }
        work.share_out(snapshot);
        work
    }

    /// The most weight that this place may get if it is to be done by `slack` times the level.
    pub fn limit(&self, place: usize, slack: f64) -> f64 {
        let Place { speed, busy, share, full, .. } = self.places[place];
        match full {
            true => share,
            false => (speed * (self.level * slack - busy)).max(0.0),
        }
    }

    /// When this place would be done with so much weight, in seconds.
    pub fn time(&self, place: usize, weight: f64) -> f64 {
        let Place { speed, busy, .. } = self.places[place];
        busy + weight / speed
    }

    /// The place of each PE, or [`NOWHERE`].
    pub fn place_of_pe(&self, snapshot: &Snapshot) -> Vec<u32> {
        let mut place_of_pe = vec![NOWHERE; snapshot.pes.len()];
        for (place, at) in self.places.iter().enumerate() {
            place_of_pe[at.pe as usize] = place as u32;
        }
        place_of_pe
    }

    /// The place that each object of the work is at now, or [`NOWHERE`].
    pub fn current(&self, snapshot: &Snapshot) -> Vec<u32> {
        let place_of_pe = self.place_of_pe(snapshot);
        let pe = |&object: &u32| snapshot.objects[object as usize].pe as usize;
        self.objects.iter().map(|object| place_of_pe.get(pe(object)).copied().unwrap_or(NOWHERE)).collect()
    }

    /// The weight that each place gets.
    pub fn placed_weights(&self, placed: &[u32]) -> Vec<f64> {
        let mut sums = vec![0.0; self.places.len()];
        for (&place, &weight) in placed.iter().zip(&self.weights) {
            if let Some(sum) = sums.get_mut(place as usize) {
                *sum += weight;
            }
        }
        sums
    }

    /// The plan that brings each object to its place. Who is to be [`NOWHERE`] stays.
    pub fn plan(&self, snapshot: &Snapshot, placed: &[u32]) -> Plan {
        let target = |(&object, &place): (&u32, &u32)| Some((object, self.places.get(place as usize)?.pe));
        let moves = self.objects.iter().zip(placed).filter_map(target);
        let moves = moves.filter(|&(object, to)| snapshot.objects[object as usize].pe != to);
        Plan { moves: moves.map(|(object, to)| Move { object, to }).collect() }
    }

    /// Objects that may not move keep their PEs busy.
    fn add_what_stays(&mut self, snapshot: &Snapshot) {
        let place_of_pe = self.place_of_pe(snapshot);
        for object in snapshot.objects.iter().filter(|object| !object.migratable) {
            let place = place_of_pe.get(object.pe as usize).copied().unwrap_or(NOWHERE);
            if let Some(place) = self.places.get_mut(place as usize) {
                place.busy += object.work() / place.speed;
            }
        }
    }

    /// Nothing is known of loads: each object counts the same, and seconds of background cannot be compared with that.
    fn count_objects(&mut self) {
        self.weights.fill(1.0);
        self.total = self.objects.len() as f64;
        self.places.iter_mut().for_each(|place| place.busy = 0.0);
    }

    /// Gives each place its share. A node that has no memory for its part of the objects gets as much as it has memory for.
    fn share_out(&mut self, snapshot: &Snapshot) {
        let most = self.most_of_nodes(snapshot);
        let mut left = self.total;
        for _ in 0..MEMORY_ROUNDS {
            self.pour(left);
            let full = self.nodes_over(&most);
            left -= full.iter().map(|&node| most[node]).sum::<f64>();
            full.iter().for_each(|&node| self.fill_up(node, most[node]));
            if full.is_empty() || left <= 0.0 {
                break;
            }
        }
        self.scale_to_total();
    }

    /// The most weight for which each node has memory, if all bytes weigh the same.
    fn most_of_nodes(&self, snapshot: &Snapshot) -> Vec<f64> {
        if snapshot.nodes.iter().all(|node| node.memory.is_none()) {
            return vec![f64::INFINITY; snapshot.nodes.len()];
        }
        let bytes: u128 = self.objects.iter().map(|&o| snapshot.objects[o as usize].bytes as u128).sum();
        let weight_of_byte = self.total / (bytes.max(1) as f64);
        let stays = bytes_that_stay(snapshot);
        let most = |(node, stays): (&Node, u64)| match node.memory {
            Some(memory) => memory.saturating_sub(stays) as f64 * weight_of_byte,
            None => f64::INFINITY,
        };
        snapshot.nodes.iter().zip(stays).map(most).collect()
    }

    /// Pours weight over the places that are not full: those that are done first get it first, until all are done at once.
    fn pour(&mut self, weight: f64) {
        let mut order: Vec<usize> =
            (0..self.places.len()).filter(|&place| !self.places[place].full).collect();
        order.sort_by(|&a, &b| self.places[a].busy.total_cmp(&self.places[b].busy));
        let (mut speed, mut work, mut level) = (0.0, weight.max(0.0), 0.0);
        for &number in &order {
            let place = self.places[number];
            if speed > 0.0 && level <= place.busy {
                break;
            }
            speed += place.speed;
            work += place.speed * place.busy;
            level = work / speed;
        }
        for &number in &order {
            let place = &mut self.places[number];
            place.share = place.speed * (level - place.busy).max(0.0);
        }
        self.level = self.level.max(level);
    }

    /// Nodes whose places would get more than there is memory for.
    fn nodes_over(&self, most: &[f64]) -> Vec<usize> {
        let mut sums = vec![0.0; most.len()];
        for place in self.places.iter().filter(|place| !place.full) {
            if let Some(sum) = sums.get_mut(place.node as usize) {
                *sum += place.share;
            }
        }
        (0..sums.len()).filter(|&node| sums[node] > most[node]).collect()
    }

    /// The places of a node get so much in all, and no more.
    fn fill_up(&mut self, node: usize, most: f64) {
        let of_node = |place: &&mut Place| place.node as usize == node;
        let sum: f64 = self.places.iter().filter(|place| place.node as usize == node).map(|p| p.share).sum();
        for place in self.places.iter_mut().filter(of_node) {
            place.share *= most / sum;
            place.full = true;
        }
    }

    /// If all nodes are full, each gets what its memory is of all memory.
    fn scale_to_total(&mut self) {
        let given: f64 = self.places.iter().map(|place| place.share).sum();
        match given > 0.0 {
            true => self.places.iter_mut().for_each(|place| place.share *= self.total / given),
            // No memory anywhere, or no objects: as if there were no limits.
            false => {
                self.places.iter_mut().for_each(|place| place.full = false);
                self.pour(self.total);
            }
        }
    }
}

/// Nodes that are full leave more to the others, which may be full then, too. What is left after so many rounds, [`super::memory`]
/// puts right.
const MEMORY_ROUNDS: usize = 8;

/// Bytes of objects that may not move, of each node.
pub(super) fn bytes_that_stay(snapshot: &Snapshot) -> Vec<u64> {
    let mut bytes = vec![0u64; snapshot.nodes.len()];
    for object in snapshot.objects.iter().filter(|object| !object.migratable) {
        let node = snapshot.pes.get(object.pe as usize).map(|pe| pe.node as usize);
        if let Some(bytes) = node.and_then(|node| bytes.get_mut(node)) {
            *bytes = bytes.saturating_add(object.bytes);
        }
    }
    bytes
}

/// PEs that take objects, by host, node and number.
fn places(snapshot: &Snapshot) -> Vec<Place> {
    let place = |(number, pe): (u32, &Pe)| Place {
        pe: number,
        node: pe.node,
        host: snapshot.nodes.get(pe.node as usize).map_or(NOWHERE, |node| node.host),
        speed: pe.rate(),
        busy: pe.busy(),
        share: 0.0,
        full: false,
    };
    let mut places: Vec<Place> = (0..).zip(&snapshot.pes).filter(|(_, pe)| pe.available).map(place).collect();
    places.sort_by_key(|place| (place.host, place.node, place.pe));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::samples::{object, pes};

    fn shares(work: &Work) -> Vec<f64> {
        work.places.iter().map(|place| place.share).collect()
    }

    #[test]
    fn fast_pes_get_more_and_busy_ones_less() {
        let mut snapshot = pes(&[1.0, 2.0, 1.0, 1.0]);
        snapshot.pes[2].background = 1.5;
        snapshot.pes[3].background = 9.0;
        snapshot.objects = (0..6).map(|number| object(number, 1.0)).collect();
        // All that take work are done after 1.875 s; the last is busy for longer than that.
        assert_eq!(shares(&Work::new(&snapshot)), [1.875, 3.75, 0.375, 0.0]);
    }

    #[test]
    fn objects_that_stay_keep_their_pe_busy() {
        let mut snapshot = pes(&[1.0, 1.0]);
        snapshot.objects = (0..4).map(|number| object(number, 1.0)).collect();
        snapshot.objects[0].migratable = false;
        assert_eq!(shares(&Work::new(&snapshot)), [1.0, 2.0]);
    }

    #[test]
    fn a_node_gets_no_more_than_it_has_memory_for() {
        let mut snapshot = pes(&[1.0, 1.0, 1.0]);
        snapshot.objects = (0..12).map(|number| object(number, 1.0)).collect();
        snapshot.nodes[1].memory = Some(200);
        assert_eq!(shares(&Work::new(&snapshot)), [5.0, 2.0, 5.0]);
    }

    #[test]
    fn without_loads_objects_count() {
        let mut snapshot = pes(&[1.0, 3.0]);
        snapshot.pes[0].background = 100.0;
        snapshot.objects = (0..8).map(|number| object(number, 0.0)).collect();
        assert_eq!(shares(&Work::new(&snapshot)), [2.0, 6.0]);
    }

    #[test]
    fn nobody_to_take_objects_is_no_work() {
        let mut snapshot = pes(&[1.0, 1.0]);
        snapshot.pes.iter_mut().for_each(|pe| pe.available = false);
        snapshot.objects = vec![object(0, 1.0)];
        assert!(Work::new(&snapshot).objects.is_empty());
    }
}
