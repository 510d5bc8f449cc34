//! The whole grid, how it is cut into blocks, and its boundary.

use talisman::prelude::*;

use super::block::{CellBlock, SIDES};

/// A block's place.
pub type BlockIndex = (i32, i32, i32);

/// The value on the grid's west side; the other five sides are held at zero.
pub const HOT: f64 = 1.0;

/// A grid cut into blocks.
#[derive(Clone, Debug, PartialEq, Pup)]
pub struct Grid {
    /// Cells along each axis.
    pub cells: [usize; 3],
    /// Cells of a block along each axis; the last block has what remains.
    pub block: [usize; 3],
}

/// Why a grid cannot be cut as wanted.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum GridError {
    #[error("the grid has no cell along {axis}; give --grid at least 1 there")]
    NoCells { axis: char },
    #[error("a block has no cell along {axis}; give --block at least 1 there")]
    EmptyBlock { axis: char },
    #[error(
        "blocks are {block} cells along {axis}, more than the grid's {grid}; use at most --block {grid} there"
    )]
    BlockTooLarge { axis: char, block: usize, grid: usize },
    #[error("a grid of {x} × {y} × {z} cells does not fit in any memory; use a smaller --grid")]
    TooLarge { x: usize, y: usize, z: usize },
}

const AXES: [char; 3] = ['x', 'y', 'z'];

/// Most cells of a grid: 128 TiB for its values alone.
const MOST_CELLS: usize = 1 << 44;

impl Grid {
    /// Cuts `cells` into blocks of `block`.
    pub fn new(cells: [usize; 3], block: [usize; 3]) -> Result<Self, GridError> {
        for (axis, (cells, block)) in AXES.into_iter().zip(cells.into_iter().zip(block)) {
            check_axis(axis, cells, block)?;
        }
        let [x, y, z] = cells;
        let all = x.checked_mul(y).and_then(|xy| xy.checked_mul(z));
        all.filter(|all| *all <= MOST_CELLS).ok_or(GridError::TooLarge { x, y, z })?;
        Ok(Grid { cells, block })
    }

    /// Blocks along each axis.
    pub fn blocks(&self) -> [usize; 3] {
        std::array::from_fn(|axis| self.cells[axis].div_ceil(self.block[axis]))
    }

    /// The first cell of a block.
    pub fn origin(&self, (i, j, k): BlockIndex) -> [usize; 3] {
        let place = [i, j, k].map(|n| n as usize);
        std::array::from_fn(|axis| place[axis] * self.block[axis])
    }

    /// Cells of a block along each axis.
    pub fn size(&self, block: BlockIndex) -> [usize; 3] {
        let origin = self.origin(block);
        std::array::from_fn(|axis| self.block[axis].min(self.cells[axis] - origin[axis]))
    }

    /// The block beyond a side, if that is not the border of the grid.
    pub fn neighbour(&self, (i, j, k): BlockIndex, side: usize) -> Option<BlockIndex> {
        let mut place = [i, j, k];
        place[side / 2] += if side.is_multiple_of(2) { -1 } else { 1 };
        let inside = (0..self.blocks()[side / 2] as i32).contains(&place[side / 2]);
        inside.then_some((place[0], place[1], place[2]))
    }

    /// A block at the start: zero, with the boundary where it is at the border.
    pub fn start(&self, block: BlockIndex) -> CellBlock {
        let mut cells = CellBlock::new(self.size(block));
        for side in (0..SIDES).filter(|side| self.neighbour(block, *side).is_none()) {
            cells.hold(side, if side == 0 { HOT } else { 0.0 });
        }
        cells
    }
}

fn check_axis(axis: char, grid: usize, block: usize) -> Result<(), GridError> {
    match (grid, block) {
        (0, _) => Err(GridError::NoCells { axis }),
        (_, 0) => Err(GridError::EmptyBlock { axis }),
        _ if block > grid => Err(GridError::BlockTooLarge { axis, block, grid }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_the_grid_once() {
        let grid = Grid::new([10, 7, 3], [4, 7, 2]).expect("blocks fit");
        assert_eq!(grid.blocks(), [3, 1, 2]);
        let indices = (0..3).flat_map(|i| (0..2).map(move |k| (i, 0, k)));
        assert_eq!(indices.map(|at| grid.size(at).iter().product::<usize>()).sum::<usize>(), 210);
        assert_eq!((grid.origin((2, 0, 1)), grid.size((2, 0, 1))), ([8, 0, 2], [2, 7, 1]));
    }

    #[test]
    fn neighbours_see_each_other_and_end_at_the_border() {
        let grid = Grid::new([8, 8, 8], [4, 4, 4]).expect("blocks fit");
        assert_eq!(grid.neighbour((0, 1, 0), 0), None);
        assert_eq!(grid.neighbour((0, 1, 0), 1), Some((1, 1, 0)));
        assert_eq!(grid.neighbour((1, 1, 0), 0), Some((0, 1, 0)));
        assert_eq!(grid.neighbour((1, 1, 0), 5), Some((1, 1, 1)));
    }

    #[test]
    fn wrong_sizes_are_told_apart() {
        let message = |cells, block| Grid::new(cells, block).expect_err("wrong").to_string();
        assert!(message([4, 4, 4], [4, 5, 4]).contains("5 cells along y, more than the grid's 4"));
        assert!(message([4, 0, 4], [4, 1, 4]).contains("--grid"));
        assert!(message([4, 4, 4], [4, 4, 0]).contains("--block"));
        assert!(message([usize::MAX, 2, 2], [1, 1, 1]).contains("memory"));
    }
}
