//! Jacobi's iteration once with an async entry and once with states kept by hand: what async entries cost a whole program.
//!
//! The two send the same messages and do the same arithmetic.

mod by_hand;
mod in_async;

use talisman::prelude::*;

use super::jacobi3d::block::{CellBlock, SIDES};
use super::jacobi3d::grid::{BlockIndex, Grid};
use crate::common::{result, sample};
use talisman::run::Outcome;

const GRID: usize = 64;
const STEPS: u32 = 200;

pub fn measure(what: &'static str, block: usize) {
    let (ours, by_hand) = (in_async::run(block), by_hand::run(block));
    let figure = |name: &str| [&ours, &by_hand].map(|outcome: &Outcome| result(outcome, name));
    let [ours_sum, by_hand_sum] = figure("sum");
    assert_eq!(ours_sum.to_bits(), by_hand_sum.to_bits(), "the two programs do the same");
    let [ours_us, by_hand_us] = figure("µs");
    sample(what, ours_us, by_hand_us);
}

fn grid(block: usize) -> Grid {
    Grid::new([GRID; 3], [block; 3]).expect("blocks fit")
}

fn blocks(grid: &Grid) -> BlockIndex {
    let [x, y, z] = grid.blocks().map(|n| n as i32);
    (x, y, z)
}

/// Cells of a block along each axis.
#[derive(clap::Parser, Pup)]
struct Size {
    block: usize,
}

/// The part of a block that is the same in both programs.
#[derive(Pup)]
struct Part {
    cells: CellBlock,
    neighbours: [Option<BlockIndex>; SIDES],
    ghosts: [Vec<f64>; SIDES],
}

impl Part {
    fn new(block: usize, at: BlockIndex) -> Self {
        let grid = grid(block);
        let neighbours = std::array::from_fn(|side| grid.neighbour(at, side));
        Part { cells: grid.start(at), neighbours, ghosts: Default::default() }
    }

    /// The faces, each with the block it goes to and the side it has there.
    fn faces(&mut self) -> impl Iterator<Item = (BlockIndex, usize, Vec<f64>)> {
        (0..SIDES).filter_map(|side| {
            let neighbour = self.neighbours[side]?;
            let mut face = std::mem::take(&mut self.ghosts[side]);
            self.cells.read_face(side, &mut face);
            Some((neighbour, side ^ 1, face))
        })
    }

    fn relax(&mut self) {
        let given = |side: &usize| self.neighbours[*side].is_some();
        for side in (0..SIDES).filter(given) {
            self.cells.set_ghosts(side, std::mem::take(&mut self.ghosts[side]));
        }
        self.cells.relax();
        for side in (0..SIDES).filter(given) {
            self.ghosts[side] = self.cells.take_ghosts(side);
        }
    }
}
