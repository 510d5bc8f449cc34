//! A rectangle of cells with one layer of ghost cells around it, and one step of Fisher's equation on it.
//!
//! A step spreads, then grows: `u` becomes the mean of itself and its four neighbours, and then, so many times as the cell is hot,
//! `u + rate · u · (1 - u)`, with `rate` the smaller the more often. Each cell is computed by itself from old values, so the result has the same bits however
//! the square is cut. Cells stand in memory with `x` running fastest; the border of the square is held at zero.

use talisman::prelude::*;

use super::cut::SIDES;
use super::hot_spot::Heat;

/// A part of the square.
#[derive(Clone, Debug, Pup)]
pub struct Patch {
    /// Its first cell.
    origin: [usize; 2],
    size: [usize; 2],
    /// With the ghost layer: `(x + 2) · (y + 2)` values.
    cells: Vec<f64>,
    /// Where the next step is written. Nothing to keep: a step sets all of it but ghosts, which are set before each step or zero.
    #[pup(skip)]
    next: Vec<f64>,
}

/// What grows in a step.
const GROWTH: f64 = 0.05;

impl Patch {
    /// A part at the start.
    pub fn new(origin: [usize; 2], size: [usize; 2]) -> Self {
        let mut patch =
            Patch { origin, size, cells: vec![0.0; (size[0] + 2) * (size[1] + 2)], next: Vec::new() };
        for y in 0..size[1] {
            for x in 0..size[0] {
                let at = patch.at(x + 1, y + 1);
                patch.cells[at] = start(origin[0] + x, origin[1] + y);
            }
        }
        patch
    }

    /// Its number of cells.
    pub fn len(&self) -> usize {
        self.size[0] * self.size[1]
    }

    /// Copies the outermost own cells of a side into `edge`, which keeps its memory.
    pub fn read_edge(&self, side: usize, edge: &mut Vec<f64>) {
        let outermost = if side.is_multiple_of(2) { 1 } else { self.size[side / 2] };
        edge.clear();
        edge.extend(self.line(side / 2, outermost).map(|at| self.cells[at]));
    }

    /// Sets the ghost cells of a side, in the order of [`read_edge`](Self::read_edge) of the neighbour's opposite side. To be done
    /// before every step, for the sides that have a neighbour.
    ///
    /// # Panics
    /// If there are not as many as the side has cells.
    pub fn set_ghosts(&mut self, side: usize, ghosts: &[f64]) {
        let layer = if side.is_multiple_of(2) { 0 } else { self.size[side / 2] + 1 };
        let line = self.line(side / 2, layer);
        assert_eq!(ghosts.len(), line.len(), "a neighbour's edge has the length of ours");
        line.zip(ghosts).for_each(|(at, ghost)| self.cells[at] = *ghost);
    }

    /// One step; how many times cells were relaxed.
    pub fn step(&mut self, heat: &Heat) -> u64 {
        self.next.resize(self.cells.len(), 0.0);
        let columns: Vec<f64> = heat.along(0, self.origin[0], self.size[0]).collect();
        let mut work = 0;
        for (y, row) in (1..).zip(heat.along(1, self.origin[1], self.size[1])) {
            for (x, column) in (1..).zip(&columns) {
                let times = heat.relaxations(*column, row);
                let at = self.at(x, y);
                self.next[at] = relaxed(self.mean(at), times);
                work += u64::from(times);
            }
        }
        std::mem::swap(&mut self.cells, &mut self.next);
        work
    }

    /// Changes with any bit of any cell. That of the whole square is the wrapping sum of its parts', however it is cut.
    pub fn fingerprint(&self) -> u64 {
        let rows = (0..self.size[1]).flat_map(|y| (0..self.size[0]).map(move |x| (x, y)));
        let cells = rows.map(|(x, y)| {
            let place = ((self.origin[0] + x) as u64) << 32 | (self.origin[1] + y) as u64;
            mixed(mixed(place) ^ self.cells[self.at(x + 1, y + 1)].to_bits())
        });
        cells.fold(0, u64::wrapping_add)
    }

    fn mean(&self, at: usize) -> f64 {
        let (cells, row) = (&self.cells, self.size[0] + 2);
        ((cells[at - 1] + cells[at + 1]) + (cells[at - row] + cells[at + row]) + cells[at]) * 0.2
    }

    fn at(&self, x: usize, y: usize) -> usize {
        y * (self.size[0] + 2) + x
    }

    /// The cells whose coordinate along an axis is `layer`, ghosts of the other axis left out.
    fn line(&self, axis: usize, layer: usize) -> impl ExactSizeIterator<Item = usize> + use<> {
        let row = self.size[0] + 2;
        let (start, stride) = if axis == 0 { (row + layer, row) } else { (layer * row + 1, 1) };
        (0..self.size[1 - axis]).map(move |n| start + n * stride)
    }
}

/// How much there is in a cell at the start.
fn start(x: usize, y: usize) -> f64 {
    ((x * 7 + y * 13) % 17 + 1) as f64 / 18.0
}

fn relaxed(value: f64, times: u32) -> f64 {
    let rate = GROWTH / f64::from(times);
    (0..times).fold(value, |u, _| u + rate * u * (1.0 - u))
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
fn mixed(z: u64) -> u64 {
    let z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const _: () = assert!(SIDES == 4, "two sides along each of two axes");

#[cfg(test)]
mod tests {
    use super::super::hot_spot::HotSpot;
    use super::*;

    const SPOT: HotSpot = HotSpot { peak: 5.0, width: 0.2, lap: 50 };

    #[test]
    fn an_edge_fits_its_neighbours_ghosts() {
        let mut edge = Vec::new();
        for side in 0..SIDES {
            let (left, mut right) = (Patch::new([3, 4], [3, 4]), Patch::new([0, 0], [3, 4]));
            left.read_edge(side, &mut edge);
            right.set_ghosts(side ^ 1, &edge);
            let mut place = [2, 2];
            let (own, ghost) =
                if side % 2 == 0 { (1, left.size[side / 2] + 1) } else { (left.size[side / 2], 0) };
            place[side / 2] = ghost;
            let set = right.cells[right.at(place[0], place[1])];
            place[side / 2] = own;
            assert_eq!(set, left.cells[left.at(place[0], place[1])], "side {side}");
        }
    }

    #[test]
    fn what_a_move_leaves_out_does_not_matter() {
        let mut patch = Patch::new([0, 0], [5, 4]);
        patch.step(&SPOT.at(0, 10));
        let mut moved = Patch { next: Vec::new(), ..patch.clone() };
        for step in 1..4 {
            patch.step(&SPOT.at(step, 10));
            moved.step(&SPOT.at(step, 10));
        }
        assert_eq!(patch.fingerprint(), moved.fingerprint());
    }

    #[test]
    fn a_fingerprint_knows_every_bit_and_every_place() {
        let patch = Patch::new([0, 0], [5, 4]);
        let mut other = patch.clone();
        let at = other.at(3, 2);
        other.cells[at] = other.cells[at].next_up();
        assert_ne!(patch.fingerprint(), other.fingerprint());
        let mut swapped = patch.clone();
        let [a, b] = [swapped.at(1, 1), swapped.at(2, 1)];
        swapped.cells.swap(a, b);
        assert_ne!(patch.fingerprint(), swapped.fingerprint());
    }

    #[test]
    fn values_stay_between_empty_and_full() {
        let mut patch = Patch::new([0, 0], [9, 9]);
        (0..200).for_each(|step| _ = patch.step(&SPOT.at(step, 9)));
        assert!(patch.cells.iter().all(|value| (0.0..=1.0).contains(value)));
    }
}
