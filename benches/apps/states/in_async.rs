//! As the example does it.

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
}

#[chare(array3d)]
impl Block {
    #[init]
    fn new(cx: &mut Cx<Self>, block: usize) -> Self {
        Block { part: Part::new(block, cx.index()) }
    }

    #[entry]
    fn ghosts(step: u32, side: usize, cells: Vec<f64>);

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) {
        for step in 1..=STEPS {
            let neighbours: usize = self.send_faces(cx, step);
            for _ in 0..neighbours {
                let (side, cells) = cx.when(Self::ghosts, step).await;
                self.part.ghosts[side] = cells;
            }
            self.part.relax();
        }
    }

    fn send_faces(&mut self, cx: &mut Cx<Self>, step: u32) -> usize {
        let mut sent = 0;
        for (to, side, face) in self.part.faces() {
            cx.array().at(to).ghosts(step, side, face);
            sent += 1;
        }
        sent
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
