//! With a count of missing faces, and a list of those that came a step early.

use talisman::prelude::*;

use super::{Part, STEPS, Size, blocks, grid};
use crate::common::{nanos, on_pes};
use talisman::run::Outcome;

pub fn run(block: usize) -> Outcome {
    on_pes::<__Main>(1, (Size { block },))
}

#[derive(Pup)]
struct Block {
    part: Part,
    /// The step that is being done; 0 before `run`.
    step: u32,
    /// Faces of this step that have not come.
    missing: usize,
    /// Faces of the next step: no neighbour is further ahead.
    early: Vec<(usize, Vec<f64>)>,
}

#[chare(array3d)]
impl Block {
    #[init]
    fn new(cx: &mut Cx<Self>, block: usize) -> Self {
        Block { part: Part::new(block, cx.index()), step: 0, missing: 0, early: Vec::new() }
    }

    #[entry]
    fn run(&mut self, cx: &mut Cx<Self>) {
        self.begin(cx);
        self.finish_steps(cx);
    }

    #[entry]
    fn ghosts(&mut self, cx: &mut Cx<Self>, step: u32, side: usize, cells: Vec<f64>) {
        if step != self.step {
            self.early.push((side, cells));
            return;
        }
        self.part.ghosts[side] = cells;
        self.missing -= 1;
        self.finish_steps(cx);
    }

    /// Ends this step if all faces are there, and the next ones for which they already are.
    fn finish_steps(&mut self, cx: &mut Cx<Self>) {
        while self.missing == 0 {
            self.part.relax();
            if self.step == STEPS {
                return;
            }
            self.begin(cx);
        }
    }

    fn begin(&mut self, cx: &mut Cx<Self>) {
        self.step += 1;
        for (to, side, face) in self.part.faces() {
            cx.array().at(to).ghosts(self.step, side, face);
            self.missing += 1;
        }
        for (side, cells) in self.early.drain(..) {
            self.part.ghosts[side] = cells;
            self.missing -= 1;
        }
    }

    #[entry]
    fn sum(&self) -> f64 {
        self.part.cells.sum()
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, size: Size) {
    let blocks: Array<Block> = Block::array(blocks(&grid(size.block))).new(size.block);
    cx.quiescence().await;
    let start: u64 = nanos();
    blocks.run();
    cx.quiescence().await;
    cx.result("µs", (nanos() - start) as f64 / 1000.0 / f64::from(STEPS));
    let sum: f64 = blocks.sum().reduce(Sum).await;
    cx.result("sum", sum);
}
