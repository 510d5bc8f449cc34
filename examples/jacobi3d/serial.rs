//! The same iteration as one loop over one block, to compare with.

use talisman::prelude::*;

use super::block::CellBlock;
use super::grid::Grid;

/// When to stop.
#[derive(Clone, Copy, Debug, Pup)]
pub struct Until {
    /// At the latest after this many steps.
    pub steps: u32,
    /// Earlier, once no cell changes by more than this.
    pub tolerance: Option<f64>,
    /// Steps between two looks at the tolerance.
    pub look_every: u32,
}

/// Where the iteration ended.
#[derive(Clone, Debug, Pup)]
pub struct Solution {
    pub steps: u32,
    /// Largest change of a cell in the last step.
    pub residual: f64,
    /// The cells, `x` running fastest.
    pub cells: Vec<f64>,
}

impl Until {
    /// Whether the change of `step` (counted from 1) is compared with the tolerance; that of the last step is, too.
    pub fn looks_at(&self, step: u32) -> bool {
        self.tolerance.is_some() && (step.is_multiple_of(self.look_every) || step == self.steps)
    }

    /// Whether a change is small enough.
    pub fn is_reached(&self, residual: f64) -> bool {
        self.tolerance.is_some_and(|tolerance| residual <= tolerance)
    }
}

/// Solves the whole grid as one block.
pub fn solve(grid: &Grid, until: Until) -> Solution {
    let mut block = Grid { block: grid.cells, ..grid.clone() }.start((0, 0, 0));
    let mut steps = 0;
    while steps < until.steps {
        block.relax();
        steps += 1;
        if until.looks_at(steps) && until.is_reached(block.change()) {
            break;
        }
    }
    Solution { steps, residual: block.change(), cells: block.rows().flatten().copied().collect() }
}

/// How many cells of a block differ from the solution in any bit.
pub fn differences(block: &CellBlock, grid: &Grid, origin: [usize; 3], solution: &[f64]) -> u64 {
    let [nx, ny, _] = grid.cells;
    let height = |row: usize, block_rows: usize| (origin[1] + row % block_rows, origin[2] + row / block_rows);
    let rows_per_plane = grid.block[1].min(ny - origin[1]);
    let different = block.rows().enumerate().map(|(number, row)| {
        let (y, z) = height(number, rows_per_plane);
        let start = (z * ny + y) * nx + origin[0];
        let theirs = &solution[start..start + row.len()];
        row.iter().zip(theirs).filter(|(a, b)| a.to_bits() != b.to_bits()).count() as u64
    });
    different.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: Until = Until { steps: 25, tolerance: None, look_every: 10 };

    /// All blocks of a grid, exchanging faces by hand.
    fn in_blocks(grid: &Grid, steps: u32) -> Vec<((i32, i32, i32), CellBlock)> {
        let [a, b, c] = grid.blocks().map(|n| n as i32);
        let indices = (0..a).flat_map(|i| (0..b).flat_map(move |j| (0..c).map(move |k| (i, j, k))));
        let mut blocks: Vec<_> = indices.map(|at| (at, grid.start(at))).collect();
        let mut face = Vec::new();
        for _ in 0..steps {
            let before: Vec<_> = blocks.clone();
            for (at, block) in &mut blocks {
                for side in 0..6 {
                    let Some(other) = grid.neighbour(*at, side) else { continue };
                    let (_, theirs) = before.iter().find(|(at, _)| *at == other).expect("a neighbour exists");
                    theirs.read_face(side ^ 1, &mut face);
                    block.set_ghosts(side, face.clone());
                }
            }
            for (_, block) in &mut blocks {
                block.relax();
            }
        }
        blocks
    }

    #[test]
    fn blocks_of_any_size_give_the_bits_of_one_block() {
        for block in [[3, 4, 5], [7, 1, 2], [9, 8, 7], [2, 3, 3]] {
            let grid = Grid::new([9, 8, 7], block).expect("blocks fit");
            let solution = solve(&grid, STEPS);
            for (at, cells) in in_blocks(&grid, STEPS.steps) {
                assert_eq!(
                    differences(&cells, &grid, grid.origin(at), &solution.cells),
                    0,
                    "{block:?} {at:?}"
                );
            }
        }
    }

    #[test]
    fn a_single_wrong_cell_is_found() {
        let grid = Grid::new([9, 8, 7], [4, 4, 4]).expect("blocks fit");
        let mut solution = solve(&grid, STEPS);
        let last = solution.cells.len() - 1;
        solution.cells[last] = solution.cells[last].next_up();
        let blocks = in_blocks(&grid, STEPS.steps);
        let found =
            blocks.iter().map(|(at, cells)| differences(cells, &grid, grid.origin(*at), &solution.cells));
        assert_eq!(found.sum::<u64>(), 1);
    }

    #[test]
    fn the_tolerance_ends_it_and_the_answer_is_laplaces() {
        // In the middle of a cube with one side at 1 and five at 0 the solution is 1/6, by symmetry.
        let grid = Grid::new([15, 15, 15], [15, 15, 15]).expect("blocks fit");
        let until = Until { steps: 10_000, tolerance: Some(1e-10), look_every: 10 };
        let solution = solve(&grid, until);
        assert!(solution.steps < 10_000 && solution.steps.is_multiple_of(10) && solution.residual <= 1e-10);
        let middle = solution.cells[(7 * 15 + 7) * 15 + 7];
        assert!((middle - 1.0 / 6.0).abs() < 1e-7, "{middle}");
    }
}
