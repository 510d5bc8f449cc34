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
        let mut first = 0;
        for _ in 0..passes {
            let gain = self.pass(patience, rng);
            first = first.max(gain);
            if gain <= first / 20 {
                break;
            }
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

    /// Searches from every vertex at a border, in no order, each vertex moving once at most. What was gained.
    fn pass(&mut self, patience: usize, rng: &mut Rng) -> i64 {
        let mut seeds: Vec<u32> =
            (0..self.movable as u32).filter(|&vertex| self.is_at_border(vertex)).collect();
        shuffle(&mut seeds, rng);
        let mut done = vec![false; self.graph.len()];
        done[self.movable..].fill(true);
        let (mut heap, mut log) = (BinaryHeap::new(), Vec::new());
        let mut gain = 0;
        for seed in seeds {
            if !done[seed as usize] {
                gain += self.search(seed, patience, &mut done, &mut heap, &mut log);
            }
        }
        gain
    }

    /// Moves vertices near this one, the best first even if that is a loss, and goes back to where it was best: what a
    /// single move cannot gain, several together may. What was gained.
    fn search(
        &mut self,
        seed: u32,
        patience: usize,
        done: &mut [bool],
        heap: &mut BinaryHeap<(i64, Reverse<u32>)>,
        log: &mut Vec<(u32, u32)>,
    ) -> i64 {
        heap.clear();
        log.clear();
        let (mut gain, mut best, mut best_length) = (0, 0, 0);
        heap.extend(self.best_move(seed).map(|(gain, _)| (gain, Reverse(seed))));
        while let Some((expected, Reverse(vertex))) = heap.pop() {
            if done[vertex as usize] {
                continue;
            }
            let Some((now, to)) = self.best_move(vertex) else { continue };
            if now < expected {
                heap.push((now, Reverse(vertex)));
                continue;
            }
            done[vertex as usize] = true;
            log.push((vertex, self.part[vertex as usize]));
            self.shift(vertex, to);
            gain += now;
            if gain > best {
                (best, best_length) = (gain, log.len());
            }
            if log.len() - best_length >= patience {
                break;
            }
            self.look_around(vertex, done, heap);
        }
        for &(vertex, from) in log[best_length..].iter().rev() {
            self.shift(vertex, from);
        }
        best
    }

    /// Neighbours of what has moved may want to follow.
    fn look_around(&mut self, vertex: u32, done: &[bool], heap: &mut BinaryHeap<(i64, Reverse<u32>)>) {
        let graph = self.graph;
        for arc in graph.arcs(vertex as usize) {
            // Looking at a vertex takes as long as it has arcs: not for each of its neighbours.
            if !done[arc.to as usize] && graph.arcs(arc.to as usize).len() <= HUB {
                heap.extend(self.best_move(arc.to).map(|(gain, _)| (gain, Reverse(arc.to))));
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

    fn shift(&mut self, vertex: u32, to: u32) {
        let weight = self.graph.weights[vertex as usize];
        self.weights[self.part[vertex as usize] as usize] -= weight;
        self.weights[to as usize] += weight;
        self.part[vertex as usize] = to;
    }
}

/// Vertices with more arcs are not looked at again whenever a neighbour has moved.
const HUB: usize = 1000;
