//! What the kernel of `examples/jacobi3d` takes here, in the memory that it takes there.

// The example's own code; its tests use more of it than is used here.
#[allow(dead_code, missing_docs)]
#[path = "../../../../examples/jacobi3d/block.rs"]
mod block;

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;

use block::{CellBlock, SIDES};

use super::exchange::worked_ns;
use super::predict::median;
use super::skeleton::{Cost, Plan};

/// Steps of which the time is taken.
const STEPS: u32 = 40;

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
    let new = || CellBlock::new(plan.cells.map(|n| n as usize));
    let mut blocks: Vec<_> = (0..number).map(|_| held(new())).collect();
    (0..STEPS / 4).for_each(|_| blocks.iter_mut().for_each(CellBlock::relax));
    let relax = timed(barrier, || blocks.iter_mut().for_each(CellBlock::relax));
    let mut faces: Vec<Faces> = blocks.iter().map(faces_of).collect();
    blocks.iter_mut().for_each(|block| *block = new());
    let all =
        timed(barrier, || blocks.iter_mut().zip(&mut faces).for_each(|(block, faces)| step(block, faces)));
    let change = timed(barrier, || {
        black_box(blocks.iter().map(CellBlock::change).fold(0.0, f64::max));
    });
    let cells = (plan.cells_of_block() * u64::from(number)) as f64;
    // Each side is read once and set once.
    let faces: u64 = (0..SIDES).map(|side| 2 * plan.face(side)).sum();
    Cost {
        relax_ns: relax / cells,
        face_ns: (all - relax).max(0.0) / (faces * u64::from(number)) as f64,
        change_ns: change / cells,
    }
}

/// What something that all threads do at the same time takes this one, in nanoseconds: the median of many times. Others may
/// use its core now and then, so the clock is that of its own work.
fn timed(barrier: &Barrier, mut work: impl FnMut()) -> f64 {
    barrier.wait();
    let mut once = || {
        let start = worked_ns();
        work();
        (worked_ns() - start) as f64
    };
    median((0..STEPS).map(|_| once()).collect())
}

/// With a boundary on every side, so that it can be stepped by itself.
fn held(mut block: CellBlock) -> CellBlock {
    (0..SIDES).for_each(|side| block.hold(side, 0.0));
    block
}

type Faces = [Vec<f64>; SIDES];

fn faces_of(block: &CellBlock) -> Faces {
    std::array::from_fn(|side| {
        let mut face = Vec::new();
        block.read_face(side, &mut face);
        face
    })
}

/// What a block does between two messages, in the order of the example: its faces for the next step are read while it is
/// in the cache, and set as ghosts when it is not any more.
fn step(block: &mut CellBlock, faces: &mut Faces) {
    (0..SIDES).for_each(|side| block.set_ghosts(side, std::mem::take(&mut faces[side ^ 1])));
    block.relax();
    for (side, face) in faces.iter_mut().enumerate() {
        *face = block.take_ghosts(side);
        block.read_face(side, face);
    }
}
