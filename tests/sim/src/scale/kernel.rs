//! What the kernel of `examples/jacobi3d` takes here, in the memory that it takes there.

// The example's own code; its tests use more of it than is used here.
#[allow(dead_code, missing_docs)]
#[path = "../../../../examples/jacobi3d/block.rs"]
mod block;

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use block::{CellBlock, SIDES};

use super::skeleton::{Cost, Plan};

/// Steps of which the time is taken.
const STEPS: u32 = 8;

/// Times the blocks of a grid, shared out evenly among so many threads that work at the same time: the mean of them.
pub fn cost(plan: &Plan, threads: u32) -> Cost {
    let barrier = Barrier::new(threads as usize);
    let costs: Vec<Cost> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| one(plan, threads, &barrier))).collect();
        workers.into_iter().map(|worker| worker.join().expect("the kernel does not panic")).collect()
    });
    let mean = |part: fn(&Cost) -> f64| costs.iter().map(part).sum::<f64>() / f64::from(threads);
    Cost {
        relax_ns: mean(|cost| cost.relax_ns),
        face_ns: mean(|cost| cost.face_ns),
        change_ns: mean(|cost| cost.change_ns),
    }
}

/// The share of one thread.
fn one(plan: &Plan, threads: u32, barrier: &Barrier) -> Cost {
    let number = (plan.blocks.iter().product::<u32>() / threads).max(1);
    let mut blocks: Vec<_> = (0..number).map(|_| CellBlock::new(plan.cells.map(|n| n as usize))).collect();
    blocks.iter_mut().for_each(CellBlock::relax);
    barrier.wait();
    let start = Instant::now();
    (0..STEPS).for_each(|_| blocks.iter_mut().for_each(CellBlock::relax));
    let relax = start.elapsed();
    barrier.wait();
    let start = Instant::now();
    (0..STEPS).for_each(|_| blocks.iter_mut().for_each(exchange_and_relax));
    let with_faces = start.elapsed();
    barrier.wait();
    let start = Instant::now();
    black_box(blocks.iter().map(CellBlock::change).fold(0.0, f64::max));
    let change = start.elapsed();
    barrier.wait();
    let cells = (plan.cells_of_block() * u64::from(number)) as f64;
    // Each side is read once and set once.
    let faces: u64 = (0..SIDES).map(|side| 2 * plan.face(side)).sum();
    let steps = f64::from(STEPS);
    Cost {
        relax_ns: relax.as_nanos() as f64 / (cells * steps),
        face_ns: with_faces.saturating_sub(relax).as_nanos() as f64
            / ((faces * u64::from(number)) as f64 * steps),
        change_ns: change.as_nanos() as f64 / cells,
    }
}

fn exchange_and_relax(block: &mut CellBlock) {
    for side in 0..SIDES {
        let mut face = Vec::new();
        block.read_face(side, &mut face);
        block.set_ghosts(side ^ 1, &face);
    }
    block.relax();
}
