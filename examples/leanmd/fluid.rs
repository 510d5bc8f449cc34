//! A fluid without a file: the same number of atoms in each cell, or more of them to one side, on a slightly disturbed lattice.
//!
//! Mass and well depth are argon's; `σ` follows from the density, so that `σ³` times the number of atoms per volume is
//! [`DENSITY`] where it is densest, a dense fluid, however many atoms a cell is to have.

use super::atoms::Atom;
use super::cell_list::{CellGrid, CellIndex, indices};
use super::elements;

/// Atoms per `σ³`.
pub const DENSITY: f64 = 0.8;

/// How many atoms the cells have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filling {
    /// On average.
    pub per_cell: usize,
    /// How much more than the average there is at the far end of the x axis, as a share of it; at the near end there is as much
    /// less. From 0, which is none, to 1.
    pub gradient: f64,
    /// Cells along each axis that have atoms, from the corner of the box; the others are empty.
    pub cells: [usize; 3],
}

impl Filling {
    /// In the cells of a column, one at least.
    fn atoms(&self, column: i32, columns: i32) -> usize {
        let along = (2.0 * f64::from(column) + 1.0) / f64::from(columns) - 1.0;
        ((self.per_cell as f64 * (1.0 + self.gradient * along)).round() as usize).max(1)
    }
}

/// Fills cells with atoms at rest. The same seed gives the same fluid.
pub fn fill(grid: &CellGrid, filling: Filling, seed: u64) -> Vec<Atom> {
    let filled = filling.cells.map(|cells| cells as i32);
    let columns = filled[0];
    let most = filling.atoms(columns - 1, columns);
    let sigma3 = DENSITY * grid.width.iter().product::<f64>() / most as f64;
    let argon = elements::find("Ar").expect("argon is in the table");
    let kind = Atom {
        at: [0.0; 3],
        velocity: [0.0; 3],
        mass: argon.mass,
        sigma3,
        strength: (4.0 * argon.depth).sqrt(),
        id: 0,
    };
    let cells = indices(filled).flat_map(|cell| sites(grid, cell, filling.atoms(cell.0, columns)));
    let disturbed = cells.enumerate().map(|(id, (site, room))| {
        let at = std::array::from_fn(|axis| {
            site[axis] + 0.2 * room[axis] * (noise(seed, 3 * id as u64 + axis as u64) - 0.5)
        });
        Atom { at, id: id as u64, ..kind }
    });
    disturbed.collect()
}

/// A number in `0..1` that depends on nothing but `seed` and `index` (SplitMix64).
pub fn noise(seed: u64, index: u64) -> f64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Places for `count` atoms in a cell, and the room around each: the first lattice that is large enough, with its free sites spread
/// evenly.
fn sites(
    grid: &CellGrid,
    cell: CellIndex,
    count: usize,
) -> impl Iterator<Item = ([f64; 3], [f64; 3])> + use<> {
    let side = (1..).find(|side| side * side * side >= count).expect("some lattice is large enough");
    let (corner, room) = (grid.corner(cell), grid.width.map(|width| width / side as f64));
    (0..count).map(move |number| {
        let site = number * side * side * side / count;
        let place = [site / side / side, site / side % side, site % side];
        (std::array::from_fn(|axis| corner[axis] + (place[axis] as f64 + 0.5) * room[axis]), room)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_cell_has_its_atoms_and_none_is_on_another() {
        for per_cell in [1, 5, 27, 100] {
            let grid = CellGrid::cut([22.0, 33.0, 11.0], [2, 3, 1], 11.0, true).expect("wide enough");
            let atoms = fill(&grid, Filling { per_cell, gradient: 0.0, cells: [2, 3, 1] }, 7);
            let mut counts = BTreeMap::new();
            atoms.iter().for_each(|atom| *counts.entry(grid.home(atom.at).0).or_insert(0) += 1);
            assert_eq!(counts, grid.indices().map(|cell| (cell, per_cell)).collect());
            let spacing = 11.0 / (per_cell as f64).cbrt().ceil();
            for (i, a) in atoms.iter().enumerate() {
                for b in &atoms[..i] {
                    let squared: f64 = (0..3).map(|axis| (a.at[axis] - b.at[axis]).powi(2)).sum();
                    assert!(squared.sqrt() > 0.7 * spacing, "atoms {} and {}", a.id, b.id);
                }
            }
        }
    }

    #[test]
    fn a_gradient_keeps_the_average_and_leaves_no_cell_empty() {
        let counts = |per_cell, gradient| {
            (0..8).map(|x| Filling { per_cell, gradient, cells: [8; 3] }.atoms(x, 8)).collect::<Vec<_>>()
        };
        assert_eq!(counts(80, 0.8), [24, 40, 56, 72, 88, 104, 120, 136]);
        assert_eq!(counts(80, 0.0), [80; 8]);
        assert_eq!(counts(2, 1.0)[0], 1);
    }

    #[test]
    fn noise_is_even_and_repeatable() {
        let mean = (0..10_000).map(|i| noise(3, i)).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        assert_eq!(noise(3, 5), noise(3, 5));
        assert_ne!(noise(3, 5), noise(4, 5));
    }
}
