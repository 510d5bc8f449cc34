//! Objects go elsewhere where a node has no memory for them.

use std::collections::BTreeSet;

use super::least::Least;
use super::work::{Work, bytes_that_stay};
use crate::plan::Plan;
use crate::room::Rooms;
use crate::snapshot::Snapshot;

/// The plan that brings objects to their places, but for those for which their nodes have no memory.
pub(super) fn plan(snapshot: &Snapshot, work: &Work, mut placed: Vec<u32>) -> Plan {
    if snapshot.nodes.iter().all(|node| node.memory.is_none()) {
        return work.plan(snapshot, &placed);
    }
    fit(snapshot, work, &mut placed);
    in_lawful_order(snapshot, work.plan(snapshot, &placed))
}

/// Changes where objects are placed until no node has to hold more bytes than it may, as far as there is room at all.
fn fit(snapshot: &Snapshot, work: &Work, placed: &mut [u32]) {
    let mut room = Room::new(snapshot, work, placed);
    let evicted = room.evict(snapshot, work, placed);
    room.resettle(snapshot, work, placed, evicted);
}

/// The moves in an order in which each finds room. Those that wait for each other, and those for which there is none, are left out.
fn in_lawful_order(snapshot: &Snapshot, plan: Plan) -> Plan {
    let mut rooms = Rooms::new(snapshot);
    let (mut waiting, mut moves) = (plan.moves, Vec::new());
    for _ in 0..ROUNDS {
        let before = moves.len();
        waiting.retain(|&next| {
            let object = &snapshot.objects[next.object as usize];
            let fits = rooms.fits(object, object.pe, next.to);
            if fits {
                rooms.moved(object, object.pe, next.to);
                moves.push(next);
            }
            !fits
        });
        if moves.len() == before {
            break;
        }
    }
    Plan { moves }
}

/// Each round makes room for the next; after so many, what still waits is hardly worth it.
const ROUNDS: usize = 20;

/// What room nodes have. Less than none: so many bytes are too many.
struct Room {
    bytes: Vec<i128>,
    times: Least,
}

impl Room {
    fn new(snapshot: &Snapshot, work: &Work, placed: &[u32]) -> Self {
        let memory = snapshot.nodes.iter().map(|node| node.memory.map_or(i128::MAX / 2, i128::from));
        let stays = bytes_that_stay(snapshot).into_iter().map(i128::from);
        let mut bytes: Vec<i128> = memory.zip(stays).map(|(memory, stays)| memory - stays).collect();
        for (&object, &place) in work.objects.iter().zip(placed) {
            if let Some(bytes) = node(work, place).and_then(|node| bytes.get_mut(node)) {
                *bytes -= i128::from(snapshot.objects[object as usize].bytes);
            }
        }
        let weights = work.placed_weights(placed);
        let times = (0..work.places.len()).map(|place| work.time(place, weights[place])).collect();
        Room { bytes, times: Least::new(times) }
    }

    /// Takes objects out of nodes that hold too much: those of least load for their bytes, because they disturb the balance least.
    fn evict(&mut self, snapshot: &Snapshot, work: &Work, placed: &mut [u32]) -> Vec<u32> {
        let bytes = |at: u32| snapshot.objects[work.objects[at as usize] as usize].bytes;
        let over = |at: &u32| {
            let node = node(work, placed[*at as usize]);
            bytes(*at) > 0 && node.is_some_and(|node| self.bytes.get(node).is_some_and(|room| *room < 0))
        };
        let mut candidates: Vec<u32> = (0..placed.len() as u32).filter(over).collect();
        let density = |at: u32| work.weights[at as usize] / bytes(at) as f64;
        candidates.sort_by(|&a, &b| density(a).total_cmp(&density(b)).then(a.cmp(&b)));
        candidates.retain(|&at| self.leave(work, placed[at as usize], at, bytes(at)));
        candidates
    }

    /// An object leaves its node, if that still holds too much.
    fn leave(&mut self, work: &Work, place: u32, at: u32, bytes: u64) -> bool {
        let place = place as usize;
        let room = &mut self.bytes[work.places[place].node as usize];
        let leaves = *room < 0;
        if leaves {
            *room += i128::from(bytes);
            let time = self.times.value(place) - work.weights[at as usize] / work.places[place].speed;
            self.times.set(place, time);
        }
        leaves
    }

    /// Finds places for those that were evicted, the largest first. Who finds none stays where it was to be.
    fn resettle(&mut self, snapshot: &Snapshot, work: &Work, placed: &mut [u32], mut evicted: Vec<u32>) {
        let bytes = |at: u32| snapshot.objects[work.objects[at as usize] as usize].bytes;
        evicted.sort_by_key(|&at| (std::cmp::Reverse(bytes(at)), at));
        let ranges = ranges_of_nodes(work, self.bytes.len());
        let usable = (0..ranges.len()).filter(|&node| ranges[node].end > 0);
        let mut by_room: BTreeSet<(i128, usize)> = usable.map(|node| (self.bytes[node], node)).collect();
        for at in evicted {
            let bytes = i128::from(bytes(at));
            let own = placed[at as usize] as usize;
            // The nodes with most room; among those, who is done first. A node of its own host is worth some time.
            let done = |node: usize| {
                let place = self.times.of(ranges[node].clone())?;
                let elsewhere = work.places[place].host != work.places[own].host;
                let detour = if elsewhere { work.level * HOST_PREFERENCE } else { 0.0 };
                Some((self.times.value(place) + detour, place))
            };
            let fitting = by_room.iter().rev().take_while(|(room, _)| *room >= bytes).take(NODES_TRIED);
            let best = fitting.filter_map(|&(_, node)| done(node)).min_by(|a, b| a.0.total_cmp(&b.0));
            let to = best.map_or(own, |(_, place)| place);
            let node = work.places[to].node as usize;
            by_room.remove(&(self.bytes[node], node));
            self.bytes[node] -= bytes;
            by_room.insert((self.bytes[node], node));
            self.times.set(to, self.times.value(to) + work.weights[at as usize] / work.places[to].speed);
            placed[at as usize] = to as u32;
        }
    }
}

/// Of all nodes that have room, so many are compared: enough for a good choice, and no more on machines of many thousands.
const NODES_TRIED: usize = 64;

/// A place on its own host is taken if it is done at most so much of the level later than the best elsewhere.
const HOST_PREFERENCE: f64 = 0.02;

fn node(work: &Work, place: u32) -> Option<usize> {
    work.places.get(place as usize).map(|place| place.node as usize)
}

/// The places of each node: they are side by side.
fn ranges_of_nodes(work: &Work, nodes: usize) -> Vec<std::ops::Range<usize>> {
    let mut ranges = vec![0..0; nodes];
    for (number, place) in work.places.iter().enumerate() {
        if let Some(range) = ranges.get_mut(place.node as usize) {
            if range.end == 0 {
                range.start = number;
            }
            range.end = number + 1;
        }
    }
    ranges
}
