//! What the kernel of `examples/jacobi3d` takes here, in the memory that it takes there.

// The example's own code; its tests use more of it than is used here.
#[allow(dead_code, missing_docs)]
#[path = "../../../../examples/jacobi3d/block.rs"]
mod block;

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;

use block::{CellBlock, SIDES};
use rustix::time::{ClockId, clock_gettime};

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
    let relax = timed(barrier, || (0..STEPS).for_each(|_| blocks.iter_mut().for_each(CellBlock::relax)));
    let all = timed(barrier, || (0..STEPS).for_each(|_| blocks.iter_mut().for_each(exchange_and_relax)));
    let change = timed(barrier, || {
        black_box(blocks.iter().map(CellBlock::change).fold(0.0, f64::max));
    });
    let cells = (plan.cells_of_block() * u64::from(number)) as f64;
    // Each side is read once and set once.
    let faces: u64 = (0..SIDES).map(|side| 2 * plan.face(side)).sum();
    let steps = f64::from(STEPS);
    Cost {
        relax_ns: relax / (cells * steps),
        face_ns: (all - relax).max(0.0) / ((faces * u64::from(number)) as f64 * steps),
        change_ns: change / cells,
    }
}

/// What something that all threads do at the same time takes this one, in nanoseconds. Others may use its core now and then,
/// so the clock is that of its own work.
fn timed(barrier: &Barrier, work: impl FnOnce()) -> f64 {
    barrier.wait();
    let start = clock_gettime(ClockId::ThreadCPUTime);
    work();
    let end = clock_gettime(ClockId::ThreadCPUTime);
    (end.tv_sec - start.tv_sec) as f64 * 1e9 + (end.tv_nsec - start.tv_nsec) as f64
}

fn exchange_and_relax(block: &mut CellBlock) {
    for side in 0..SIDES {
        let mut face = Vec::new();
        block.read_face(side, &mut face);
        block.set_ghosts(side ^ 1, &face);
    }
    block.relax();
}
