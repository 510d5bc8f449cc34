//! Better borders between many parts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::coarsen::shuffle;
use super::csr::Csr;
use crate::rng::Rng;
use crate::strategies::least::Least;

/// Parts of a graph, and what they weigh.
pub(super) struct Parts<'a> {
    graph: &'a Csr,
    /// Vertices from here on stay where they are.
    movable: usize,
    pub part: Vec<u32>,
    weights: Vec<i64>,
    limits: &'a [i64],
    pull: Pull,
}

/// By how much edges pull at a vertex, for each part. Kept between vertices, for its memory.
struct Pull {
    by_part: Vec<i64>,
    parts: Vec<u32>,
}

/// A search for moves that gain something together, with its memory for the next one.
struct Search {
    /// Moves without a gain after which it has got lost.
    patience: usize,
    /// Vertices that have moved in this pass, back again or not.
    done: Vec<bool>,
    /// What moves gain, as far as it is known.
    heap: BinaryHeap<(i64, Reverse<u32>)>,
    /// Vertices that have moved, and where from.
    log: Vec<(u32, u32)>,
}

impl<'a> Parts<'a> {
    pub fn new(graph: &'a Csr, movable: usize, part: Vec<u32>, limits: &'a [i64]) -> Self {
        let mut weights = vec![0; limits.len()];
        for (vertex, &part) in part.iter().enumerate() {
            weights[part as usize] += graph.weights[vertex];
        }
        let pull = Pull { by_part: vec![0; limits.len()], parts: Vec::new() };
        Parts { graph, movable, part, weights, limits, pull }
    }

    /// Takes vertices out of parts that weigh too much, those first that lose least by it.
    pub fn relieve(&mut self) {
        let over = |part: usize| self.weights[part] > self.limits[part];
        if !(0..self.limits.len()).any(over) {
            return;
        }
        let room = |part: usize| (self.weights[part] - self.limits[part]) as f64;
        let mut rooms = Least::new((0..self.limits.len()).map(room).collect());
        let mut heap: BinaryHeap<(i64, Reverse<u32>)> = (0..self.movable as u32)
            .filter(|&vertex| over(self.part[vertex as usize] as usize))
            .map(|vertex| (i64::MAX, Reverse(vertex)))
            .collect();
        while let Some((expected, Reverse(vertex))) = heap.pop() {
            let from = self.part[vertex as usize] as usize;
            if self.weights[from] <= self.limits[from] || self.graph.weights[vertex as usize] == 0 {
                continue;
            }
            let Some((gain, to)) = self.way_out(vertex, &rooms) else { continue };
            if gain < expected {
                heap.push((gain, Reverse(vertex)));
                continue;
            }
            self.shift(vertex, to);
            for part in [from, to as usize] {
                rooms.set(part, (self.weights[part] - self.limits[part]) as f64);
            }
        }
    }

    /// Looks for better borders, at most so many times all over.
    pub fn improve(&mut self, passes: usize, patience: usize, rng: &mut Rng) {
        let mut seeds: Vec<u32> =
            (0..self.movable as u32).filter(|&vertex| self.is_at_border(vertex)).collect();
        let mut first = 0;
        for _ in 0..passes {
            let (gain, next) = self.pass(seeds, patience, rng);
            first = first.max(gain);
            if gain <= first / NOT_WORTH_IT {
                break;
            }
            seeds = next;
        }
    }

    /// The best neighbouring part that has room, else the one that has most room, if that makes the worse of both better.
    fn way_out(&mut self, vertex: u32, rooms: &Least) -> Option<(i64, u32)> {
        if let Some(way) = self.best_move(vertex) {
            return Some(way);
        }
        let to = rooms.of(0..self.limits.len())?;
        let (from, weight) = (self.part[vertex as usize] as usize, self.graph.weights[vertex as usize]);
        let better =
            rooms.value(to) + weight as f64 <= 0.0 || rooms.value(to) + (weight as f64) < rooms.value(from);
        let pulled: i64 = self.graph.arcs(vertex as usize).iter().map(|arc| i64::from(arc.weight)).sum();
        (to != from && better).then_some((-pulled, to as u32))
    }

    /// Searches from every seed, in no order, each vertex moving once at most. What was gained, and where it may be worth looking again:
    /// near what has moved.
    fn pass(&mut self, mut seeds: Vec<u32>, patience: usize, rng: &mut Rng) -> (i64, Vec<u32>) {
        shuffle(&mut seeds, rng);
        let mut search = Search {
            patience,
            done: vec![false; self.graph.len()],
            heap: BinaryHeap::new(),
            log: Vec::new(),
        };
        search.done[self.movable..].fill(true);
        let (mut gain, mut next) = (0, Vec::new());
        let mut noted = search.done.clone();
        for seed in seeds {
            gain += self.search(seed, &mut search);
            for &(moved, _) in &search.log {
                let near = self.graph.arcs(moved as usize).iter().map(|arc| arc.to).chain([moved]);
                next.extend(near.filter(|&vertex| !std::mem::replace(&mut noted[vertex as usize], true)));
            }
        }
        (gain, next)
    }

    /// Moves vertices near this one, the best first even if that is a loss, and goes back to where it was best: what a
    /// single move cannot gain, several together may. What was gained; the moves are left in the log.
    fn search(&mut self, seed: u32, search: &mut Search) -> i64 {
        search.heap.clear();
        search.log.clear();
        if search.done[seed as usize] {
            return 0;
        }
        // What begins with a loss rarely ends with a gain.
        let promising = self.best_move(seed).filter(|(gain, _)| *gain >= 0);
        search.heap.extend(promising.map(|(gain, _)| (gain, Reverse(seed))));
        let (mut gain, mut best, mut best_length) = (0, 0, 0);
        while let Some((now, vertex, to)) = self.next(search) {
            let from = self.part[vertex as usize];
            let evens = self.room(to) - self.graph.weights[vertex as usize] >= self.room(from);
            search.done[vertex as usize] = true;
            search.log.push((vertex, from));
            self.shift(vertex, to);
            gain += now;
            if gain > best || (gain == best && evens) {
                (best, best_length) = (gain, search.log.len());
            }
            if search.log.len() - best_length >= search.patience {
                break;
            }
            self.look_around(vertex, search);
        }
        for (vertex, from) in search.log.drain(best_length..).rev() {
            self.shift(vertex, from);
        }
        best
    }

    /// The best move that is known, and what it gains.
    fn next(&mut self, search: &mut Search) -> Option<(i64, u32, u32)> {
        while let Some((expected, Reverse(vertex))) = search.heap.pop() {
            if search.done[vertex as usize] {
                continue;
            }
            match self.best_move(vertex) {
                Some((gain, to)) if gain >= expected => return Some((gain, vertex, to)),
                // Others have moved since: it is less than that now.
                Some((gain, _)) => search.heap.push((gain, Reverse(vertex))),
                None => {}
            }
        }
        None
    }

    /// Neighbours of what has moved may want to follow.
    fn look_around(&mut self, vertex: u32, search: &mut Search) {
        let graph = self.graph;
        for arc in graph.arcs(vertex as usize) {
            // Looking at a vertex takes as long as it has arcs: not for each of its neighbours.
            if !search.done[arc.to as usize] && graph.arcs(arc.to as usize).len() <= HUB {
                search.heap.extend(self.best_move(arc.to).map(|(gain, _)| (gain, Reverse(arc.to))));
            }
        }
    }

    fn is_at_border(&self, vertex: u32) -> bool {
        let own = self.part[vertex as usize];
        self.graph.arcs(vertex as usize).iter().any(|arc| self.part[arc.to as usize] != own)
    }

    /// The part with an edge to this vertex that it had better be in, if it has room: what is gained, and which. Of equals the emptiest.
    fn best_move(&mut self, vertex: u32) -> Option<(i64, u32)> {
        let own = self.part[vertex as usize];
        let weight = self.graph.weights[vertex as usize];
        let Pull { by_part, parts } = &mut self.pull;
        for arc in self.graph.arcs(vertex as usize) {
            let part = self.part[arc.to as usize];
            let pull = &mut by_part[part as usize];
            if *pull == 0 {
                parts.push(part);
            }
            *pull += i64::from(arc.weight);
        }
        let stay = by_part[own as usize];
        let mut best: Option<(i64, i64, u32)> = None;
        for part in parts.drain(..) {
            let gain = std::mem::take(&mut by_part[part as usize]) - stay;
            let room = self.limits[part as usize] - self.weights[part as usize] - weight;
            if part != own && room >= 0 && best.is_none_or(|best| (gain, room) > (best.0, best.1)) {
                best = Some((gain, room, part));
            }
        }
        best.map(|(gain, _, part)| (gain, part))
    }

    /// What a part may still get.
    fn room(&self, part: u32) -> i64 {
        self.limits[part as usize] - self.weights[part as usize]
    }

    fn shift(&mut self, vertex: u32, to: u32) {
        let weight = self.graph.weights[vertex as usize];
        self.weights[self.part[vertex as usize] as usize] -= weight;
        self.weights[to as usize] += weight;
        self.part[vertex as usize] = to;
    }
}

/// A pass that gains less than this part of the first ends the search.
const NOT_WORTH_IT: i64 = 50;

/// Vertices with more arcs are not looked at again whenever a neighbour has moved.
const HUB: usize = 1000;
