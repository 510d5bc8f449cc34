//! A graph in two halves: a half is grown from a vertex of the coarsest graph, and its border improved on every finer one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::coarsen::hierarchy;
use super::csr::Csr;
use crate::rng::Rng;

/// Which half each vertex is in, false for the first, so that the first weighs `target` but for `tolerance`, and little is cut.
pub(super) fn bisect(graph: &Csr, target: i64, tolerance: i64, rng: &mut Rng) -> Vec<bool> {
    let levels = hierarchy(graph, COARSEST, rng);
    let coarsest = levels.last().map_or(graph, |level| &level.graph);
    let mut side = best_of_several(coarsest, target, tolerance, rng);
    for number in (0..levels.len()).rev() {
        let finer = number.checked_sub(1).map_or(graph, |finer| &levels[finer].graph);
        side = levels[number].merged_into.iter().map(|&vertex| side[vertex as usize]).collect();
        let mut halves = Halves::new(finer, side, target, tolerance);
        halves.improve(PASSES);
        side = halves.side;
    }
    side
}

/// Vertices of the graph that is bisected from scratch: few enough to try often.
const COARSEST: usize = 100;
/// Halves that are grown, of which the best is taken.
const TRIES: usize = 8;
/// Most gain comes of the first two or three.
const PASSES: usize = 6;
/// Moves without a gain after which a pass has got lost.
const PATIENCE: usize = 100;

fn best_of_several(graph: &Csr, target: i64, tolerance: i64, rng: &mut Rng) -> Vec<bool> {
    let grown = (0..TRIES).map(|_| {
        let mut halves = Halves::new(graph, grow(graph, target, rng), target, tolerance);
        halves.improve(PASSES);
        halves
    });
    grown.min_by_key(Halves::badness).map_or(Vec::new(), |halves| halves.side)
}

/// The first half grows from a vertex drawn by lot: always by the vertex whose joining cuts least.
fn grow(graph: &Csr, target: i64, rng: &mut Rng) -> Vec<bool> {
    let mut side = vec![true; graph.len()];
    let mut gains: Vec<i64> = (0..graph.len()).map(|vertex| -sum_of_arcs(graph, vertex)).collect();
    let mut heap = BinaryHeap::new();
    let (mut weight, mut next) = (0, rng.below(graph.len() as u32) as usize);
    for _ in 0..graph.len() {
        // Where nothing is left that is connected, the next vertex that is not in.
        let connected =
            std::iter::from_fn(|| heap.pop()).find(|&(gain, Reverse(v))| side[v] && gains[v] == gain);
        let vertex = connected.map_or_else(
            || {
                while !side[next] {
                    next = (next + 1) % graph.len();
                }
                next
            },
            |(_, Reverse(vertex))| vertex,
        );
        if weight + graph.weights[vertex] / 2 > target {
            break;
        }
        side[vertex] = false;
        weight += graph.weights[vertex];
        for arc in graph.arcs(vertex) {
            let to = arc.to as usize;
            gains[to] += 2 * i64::from(arc.weight);
            if side[to] {
                heap.push((gains[to], Reverse(to)));
            }
        }
    }
    side
}

fn sum_of_arcs(graph: &Csr, vertex: usize) -> i64 {
    graph.arcs(vertex).iter().map(|arc| i64::from(arc.weight)).sum()
}

/// Two halves, and what moving each vertex to the other would gain (Fiduccia and Mattheyses 1982).
struct Halves<'a> {
    graph: &'a Csr,
    side: Vec<bool>,
    gains: Vec<i64>,
    /// By how much the first half is too heavy.
    excess: i64,
    tolerance: i64,
    cut: i64,
}

impl<'a> Halves<'a> {
    fn new(graph: &'a Csr, side: Vec<bool>, target: i64, tolerance: i64) -> Self {
        let weight: i64 = (0..graph.len()).filter(|&v| !side[v]).map(|v| graph.weights[v]).sum();
        let gain = |vertex: usize| {
            let signed = |to: u32, weight: u32| match side[to as usize] == side[vertex] {
                true => -i64::from(weight),
                false => i64::from(weight),
            };
            graph.arcs(vertex).iter().map(|arc| signed(arc.to, arc.weight)).sum()
        };
        let gains: Vec<i64> = (0..graph.len()).map(gain).collect();
        let cut = (0..graph.len()).map(|vertex| gains[vertex] + sum_of_arcs(graph, vertex)).sum::<i64>() / 4;
        // No border can be drawn through a vertex.
        let tolerance = tolerance.max(graph.total() / graph.len().max(1) as i64);
        Halves { excess: weight - target, graph, side, gains, tolerance, cut }
    }

    /// Balance first, then what is cut.
    fn badness(&self) -> (i64, i64) {
        ((self.excess.abs() - self.tolerance).max(0), self.cut)
    }

    fn improve(&mut self, passes: usize) {
        for _ in 0..passes {
            let before = self.badness();
            self.pass();
            if self.badness() >= before {
                break;
            }
        }
    }

    /// Moves each vertex once at most, the best first even if that is a loss, and goes back to where it was best.
    fn pass(&mut self) {
        let mut heaps = self.border();
        let mut locked = vec![false; self.graph.len()];
        let (mut moved, mut best, mut best_length) = (Vec::new(), self.badness(), 0);
        while let Some(vertex) = self.next(&mut heaps, &locked) {
            locked[vertex] = true;
            if self.overshoots(vertex) {
                continue;
            }
            self.flip(vertex);
            for arc in self.graph.arcs(vertex).iter().filter(|arc| !locked[arc.to as usize]) {
                let to = arc.to as usize;
                heaps[usize::from(self.side[to])].push((self.gains[to], Reverse(to)));
            }
            moved.push(vertex);
            if self.badness() < best {
                (best, best_length) = (self.badness(), moved.len());
            }
            if moved.len() > best_length + PATIENCE {
                break;
            }
        }
        for vertex in moved.drain(best_length..).rev() {
            self.flip(vertex);
        }
    }

    /// The vertices worth moving, by half: those that have an edge across, or all while the halves are out of balance.
    fn border(&self) -> [BinaryHeap<(i64, Reverse<usize>)>; 2] {
        let all = self.excess.abs() > self.tolerance;
        let mut heaps: [Vec<(i64, Reverse<usize>)>; 2] = [Vec::new(), Vec::new()];
        for vertex in 0..self.graph.len() {
            let across = |to: u32| self.side[to as usize] != self.side[vertex];
            if all || self.graph.arcs(vertex).iter().any(|arc| across(arc.to)) {
                heaps[usize::from(self.side[vertex])].push((self.gains[vertex], Reverse(vertex)));
            }
        }
        heaps.map(BinaryHeap::from)
    }

    /// The best vertex of the half that is too heavy, or of either.
    fn next(&self, heaps: &mut [BinaryHeap<(i64, Reverse<usize>)>; 2], locked: &[bool]) -> Option<usize> {
        for (number, heap) in heaps.iter_mut().enumerate() {
            let current = |&(gain, Reverse(vertex)): &(i64, Reverse<usize>)| {
                !locked[vertex] && self.gains[vertex] == gain && usize::from(self.side[vertex]) == number
            };
            while heap.peek().is_some_and(|top| !current(top)) {
                heap.pop();
            }
        }
        let from = match self.excess {
            excess if excess > self.tolerance => 0,
            excess if excess < -self.tolerance => 1,
            _ => usize::from(heaps[1].peek() > heaps[0].peek()),
        };
        heaps[from].pop().map(|(_, Reverse(vertex))| vertex)
    }

    fn overshoots(&self, vertex: usize) -> bool {
        let change = if self.side[vertex] { self.graph.weights[vertex] } else { -self.graph.weights[vertex] };
        (self.excess + change).abs() > self.tolerance.max(self.excess.abs())
    }

    fn flip(&mut self, vertex: usize) {
        let to = !self.side[vertex];
        self.excess += if to { -self.graph.weights[vertex] } else { self.graph.weights[vertex] };
        self.cut -= self.gains[vertex];
        self.side[vertex] = to;
        self.gains[vertex] = -self.gains[vertex];
        for arc in self.graph.arcs(vertex) {
            let change = 2 * i64::from(arc.weight);
            self.gains[arc.to as usize] += if self.side[arc.to as usize] == to { -change } else { change };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rings of eight with one edge between them.
    fn rings() -> Csr {
        let ring = |first: u32| (0..8).map(move |at| (first + at, first + (at + 1) % 8, 10));
        let edges: Vec<(u32, u32, u32)> = ring(0).chain(ring(8)).chain([(3, 12, 1)]).collect();
        Csr::new(vec![1; 16], edges.into_iter())
    }

    #[test]
    fn a_graph_is_cut_where_it_is_thin() {
        let side = bisect(&rings(), 8, 0, &mut Rng::new(1));
        assert!((0..16).all(|vertex| (side[vertex] == side[0]) == (vertex < 8)), "{side:?}");
    }

    #[test]
    fn halves_may_be_of_different_weight() {
        let side = bisect(&rings(), 4, 0, &mut Rng::new(1));
        let first = side.iter().filter(|side| !**side).count();
        assert!((3..=5).contains(&first), "{first}");
    }

    #[test]
    fn what_is_counted_is_what_is_there() {
        let graph = rings();
        let mut halves = Halves::new(&graph, (0..16).map(|vertex| vertex % 3 == 0).collect(), 8, 1);
        halves.improve(3);
        let part: Vec<u32> = halves.side.iter().map(|&side| u32::from(side)).collect();
        assert_eq!(halves.cut as u64, graph.cut(&part));
        let weight = part.iter().filter(|part| **part == 0).count() as i64;
        assert_eq!(halves.excess, weight - 8);
    }
}
