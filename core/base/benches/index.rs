//! Numbering and placing indices: `cargo bench -p talisman-base --bench index`.
//!
//! Times are medians of rounds, in nanoseconds per index.

use std::hint::black_box;
use std::time::Instant;

use talisman_base::index::{ArrayIndex, Bounds};
use talisman_base::map::Map;

const ROUNDS: usize = 11;

type Cell = (i32, i32, i32);

fn main() {
    let bounds = Bounds::new([0; 3], [40, 50, 60]).expect("a small box");
    let bounds = black_box(&bounds);
    let cells: Vec<Cell> = bounds.indices(0..bounds.len()).collect();
    println!("a box of 40 x 50 x 60, in index order");
    time("all indices of the box", &cells, || {
        bounds.indices::<Cell>(0..bounds.len()).map(|i| i.0 as u64).sum()
    });
    time("index to bits", &cells, || cells.iter().map(|cell| cell.to_bits() as u64).sum());
    time("index to position", &cells, || cells.iter().filter_map(|cell| bounds.ordinal(*cell)).sum());
    for map in [Map::Block, Map::RoundRobin, Map::Hash] {
        let home =
            |cell: &Cell| u64::from(black_box(&map).pe(*cell, Some(bounds), 8).expect("a map of ours"));
        time(&format!("home PE by {map:?}"), &cells, || cells.iter().map(home).sum());
    }
}

fn time(name: &str, cells: &[Cell], run: impl Fn() -> u64) {
    let round = |_| {
        let start = Instant::now();
        black_box(run());
        start.elapsed().as_nanos() as f64 / cells.len() as f64
    };
    let mut times: Vec<f64> = (0..ROUNDS).map(round).collect();
    times.sort_by(f64::total_cmp);
    println!("  {name:28} {:8.2} ns  (fastest {:.2})", times[ROUNDS / 2], times[0]);
}
