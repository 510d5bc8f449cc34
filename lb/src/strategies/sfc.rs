//! Space-filling curve: objects in the order of a Hilbert curve, cut into as many pieces as there are PEs.

use super::geometry::{self, Point};
use super::work::Work;
use crate::plan::Plan;
use crate::snapshot::Snapshot;
use crate::strategy::Strategy;

/// Threads a Hilbert curve through all objects and cuts it where the sum of loads reaches each PE's share.
///
/// Pieces of the curve are not boxes: their surfaces are larger than those of [`Rcb`](super::Rcb), but it takes one sort, and where the
/// cuts are changes little from step to step. Objects without a position go to whoever is done first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sfc;

impl Strategy for Sfc {
    fn name(&self) -> &str {
        "sfc"
    }

    fn plan(&mut self, snapshot: &Snapshot) -> Plan {
        geometry::plan(snapshot, |work, points| cut(work, &along_curve(&points)))
    }
}

/// Points in the order of the curve.
fn along_curve(points: &[Point]) -> Vec<Point> {
    let grid = Grid::new(points);
    let mut keyed: Vec<(u64, Point)> =
        points.iter().map(|&point| (grid.key(point.position), point)).collect();
    keyed.sort_unstable_by_key(|&(key, point)| (key, point.at));
    keyed.into_iter().map(|(_, point)| point).collect()
}

/// Cuts the row of points into pieces, one for each place, of weights in proportion to the shares.
fn cut(work: &Work, points: &[Point]) -> Vec<(u32, u32)> {
    let weight: f64 = points.iter().map(|point| point.weight).sum();
    let scale = if work.total > 0.0 { weight / work.total } else { 0.0 };
    let (mut place, mut before) = (0, 0.0);
    let mut end = work.places[0].share * scale;
    let mut placed = Vec::with_capacity(points.len());
    for point in points {
        // Each goes where its middle is.
        while before + point.weight / 2.0 > end && place + 1 < work.places.len() {
            place += 1;
            end += work.places[place].share * scale;
        }
        before += point.weight;
        placed.push((point.at, place as u32));
    }
    placed
}

/// The grid whose cells the curve visits: a cube around all points, as long along every axis, because boxes should be cubes.
struct Grid {
    low: [f32; 3],
    scale: f64,
    /// Those along which the points extend: a curve in a plane must not leave it.
    axes: Vec<usize>,
}

/// Bits of a cell's number along each of three axes. 63 in all fill a key.
const BITS: u32 = 21;

impl Grid {
    fn new(points: &[Point]) -> Self {
        let (low, sides) = (geometry::corners(points).0, geometry::sides(points));
        let longest = sides.iter().copied().fold(0.0, f64::max);
        let scale = if longest > 0.0 { f64::from((1u32 << BITS) - 1) / longest } else { 0.0 };
        Grid { low, scale, axes: (0..3).filter(|&axis| sides[axis] * scale >= 1.0).collect() }
    }

    /// How far along the curve a position is.
    fn key(&self, position: [f32; 3]) -> u64 {
        let mut cell = [0; 3];
        for (coordinate, &axis) in cell.iter_mut().zip(&self.axes) {
            *coordinate = ((f64::from(position[axis]) - f64::from(self.low[axis])) * self.scale) as u32;
        }
        along_hilbert_curve(&mut cell[..self.axes.len()])
    }
}

/// How far along the Hilbert curve a cell is, in as many dimensions as it has numbers (Skilling 2004, AIP Conference Proceedings 707).
fn along_hilbert_curve(cell: &mut [u32]) -> u64 {
    let Some(last) = cell.len().checked_sub(1) else { return 0 };
    // From the largest cube inwards: undo how the curve is turned inside each.
    for bit in (1..BITS).rev() {
        let low = (1 << bit) - 1;
        for axis in 0..cell.len() {
            match cell[axis] >> bit & 1 {
                1 => cell[0] ^= low,
                _ => {
                    let differ = (cell[0] ^ cell[axis]) & low;
                    cell[0] ^= differ;
                    cell[axis] ^= differ;
                }
            }
        }
    }
    // The bits are those of a Gray code, across the axes.
    for axis in 1..cell.len() {
        cell[axis] ^= cell[axis - 1];
    }
    let turns = (1..BITS).filter(|&bit| cell[last] >> bit & 1 == 1);
    let flip = turns.fold(0, |flip, bit| flip ^ ((1 << bit) - 1));
    cell.iter_mut().for_each(|number| *number ^= flip);
    let bits = (0..BITS).rev().flat_map(|bit| cell.iter().map(move |number| u64::from(number >> bit & 1)));
    bits.fold(0, |key, bit| key << 1 | bit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::samples;

    #[test]
    fn the_curve_goes_from_each_cell_to_a_neighbour() {
        for axes in 1..=3 {
            let side: u32 = 8;
            let cell = |number: u32| (0..axes).map(|axis| number / side.pow(axis) % side).collect::<Vec<_>>();
            let mut cells: Vec<Vec<u32>> = (0..side.pow(axes)).map(cell).collect();
            // The first cube of the grid is where the curve begins, so it is gone through without a gap.
            cells.sort_by_key(|cell| along_hilbert_curve(&mut cell.clone()));
            let distance = |pair: &[Vec<u32>]| -> u32 {
                pair[0].iter().zip(&pair[1]).map(|(a, b)| a.abs_diff(*b)).sum()
            };
            assert!(cells.windows(2).all(|pair| distance(pair) == 1), "{axes} axes");
        }
    }

    #[test]
    fn objects_are_placed_by_position() {
        samples::placed_by_position(&mut Sfc);
    }
}
