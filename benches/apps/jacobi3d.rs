//! Jacobi's iteration.

// Of the example's modules the loop needs a part; their tests are compiled here too, but not run.
#![allow(dead_code, unused_imports)]

#[path = "../../examples/jacobi3d/block.rs"]
pub mod block;
#[path = "../../examples/jacobi3d/grid.rs"]
pub mod grid;
#[path = "../../examples/jacobi3d/serial.rs"]
mod serial;

use crate::common::{ns_each, sample};

const GRID: usize = 64;
const STEPS: u32 = 400;

pub fn measure(what: &'static str, what_cut: &'static str, block: usize) {
    let arguments = ["--grid", &triple(GRID), "--block", &triple(block), "--steps", &STEPS.to_string()];
    let ours = crate::reported_us("jacobi3d", &arguments.map(String::from));
    sample(what, ours, one_loop());
    sample(what_cut, ours, loop_over_blocks(block));
}

fn triple(n: usize) -> String {
    format!("{n},{n},{n}")
}

fn one_loop() -> f64 {
    let grid = grid::Grid::new([GRID; 3], [GRID; 3]).expect("one block");
    let until = serial::Until { steps: STEPS, tolerance: None, look_every: 10 };
    ns_each(u64::from(STEPS), || drop(serial::solve(&grid, until))) / 1000.0
}

/// The same with the same blocks, their faces copied by hand: what is left of the ratio is the runtime's. The first step, which
/// touches fresh memory, counts here as it does in the program.
fn loop_over_blocks(block: usize) -> f64 {
    let grid = grid::Grid::new([GRID; 3], [block; 3]).expect("blocks fit");
    let [a, b, c] = grid.blocks().map(|n| n as i32);
    let all = (0..a).flat_map(|i| (0..b).flat_map(move |j| (0..c).map(move |k| (i, j, k))));
    let places: Vec<_> = all.collect();
    let number = |at: grid::BlockIndex| ((at.0 * b + at.1) * c + at.2) as usize;
    let mut blocks: Vec<_> = places.iter().map(|at| grid.start(*at)).collect();
    let mut faces = vec![[const { Vec::new() }; block::SIDES]; blocks.len()];
    let mut step = |blocks: &mut Vec<block::CellBlock>| {
        for (at, block) in places.iter().zip(&*blocks) {
            for side in 0..block::SIDES {
                let Some(other) = grid.neighbour(*at, side) else { continue };
                block.read_face(side, &mut faces[number(other)][side ^ 1]);
            }
        }
        for ((at, block), faces) in places.iter().zip(&mut *blocks).zip(&mut faces) {
            let given = || (0..block::SIDES).filter(|side| grid.neighbour(*at, *side).is_some());
            given().for_each(|side| block.set_ghosts(side, std::mem::take(&mut faces[side])));
            block.relax();
            given().for_each(|side| faces[side] = block.take_ghosts(side));
        }
    };
    ns_each(u64::from(STEPS), || (0..STEPS).for_each(|_| step(&mut blocks))) / 1000.0
}
