//! Jacobi's iteration.

// Of the example's modules the loop needs a part, and none of their tests.
#![allow(dead_code, unused_imports)]

#[path = "../../examples/jacobi3d/block.rs"]
mod block;
#[path = "../../examples/jacobi3d/grid.rs"]
mod grid;
#[path = "../../examples/jacobi3d/serial.rs"]
mod serial;

use crate::common::{ns_each, sample};

const GRID: usize = 64;
const STEPS: u32 = 200;

pub fn measure(what: &'static str, block: usize) {
    let arguments = ["--grid", &triple(GRID), "--block", &triple(block), "--steps", &STEPS.to_string()];
    let ours = crate::reported_us("jacobi3d", &arguments.map(String::from));
    sample(what, ours, one_loop());
}

fn triple(n: usize) -> String {
    format!("{n},{n},{n}")
}

fn one_loop() -> f64 {
    let grid = grid::Grid::new([GRID; 3], [GRID; 3]).expect("one block");
    let until = serial::Until { steps: STEPS, tolerance: None, look_every: 10 };
    ns_each(u64::from(STEPS), || drop(serial::solve(&grid, until))) / 1000.0
}
