//! The tutorial's program as it is in the end: heat spreads through a rod, whatever is killed meanwhile. See
//! `docs/src/tutorial/`.

use talisman::prelude::*;

// ANCHOR: options
/// Heat in a rod.
#[derive(clap::Parser, Pup)]
struct Options {
    /// Blocks that the rod is cut into
    #[arg(long, default_value_t = 16)]
    blocks: i32,
    /// Cells of a block
    #[arg(long, default_value_t = 50)]
    cells: usize,
    /// The most steps to do
    #[arg(long, default_value_t = 1000)]
    steps: u32,
    /// End once no cell changes by more than this in a step
    #[arg(long, default_value_t = 1e-3)]
    tolerance: f64,
}
// ANCHOR_END: options

// ANCHOR: state
#[derive(Pup)]
struct Block {
    options: Shared<Options>,
    /// The cells, and a ghost cell at either end.
    cells: Vec<f64>,
}
// ANCHOR_END: state

// ANCHOR: sides
const LEFT: usize = 0;
const RIGHT: usize = 1;
// ANCHOR_END: sides

#[chare(array1d)]
impl Block {
    #[init]
    fn new(cx: &mut Cx<Self>, options: Shared<Options>) -> Self {
        let mut cells = vec![0.0; options.cells + 2];
        if cx.index() == 0 {
            cells[0] = 1.0; // the left end of the rod is held at one
        }
        Block { options, cells }
    }

    // ANCHOR: ghost
    /// The last cell of the neighbour on this side, as it was before `step`.
    #[entry]
    fn ghost(step: u32, side: usize, value: f64);
    // ANCHOR_END: ghost

    // ANCHOR: kept
    /// A checkpoint that was asked for is committed.
    #[entry]
    fn kept();
    // ANCHOR_END: kept

    // ANCHOR: run
    /// Steps to the end, and returns how many it did.
    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) -> u32 {
        for step in 1..=self.options.steps {
            let neighbours: usize = self.send_ends(cx, step);
            for _ in 0..neighbours {
                let (side, value) = cx.when(Self::ghost, step).await;
                self.set_ghost(side, value);
            }
            let change: f64 = self.relax();
            // ANCHOR: step
            if cx.index() == 0 {
                cx.step(step.into()); // one block speaks for all
            }
            // ANCHOR_END: step
            // ANCHOR: converged
            if step % 10 == 0 {
                let largest: f64 = cx.all_reduce(change, Max).await;
                if largest < self.options.tolerance {
                    return step;
                }
            }
            // ANCHOR_END: converged
            // ANCHOR: checkpoint
            if step % 100 == 0 && cx.index() == 0 {
                cx.checkpoint(cx.callback(Self::kept));
                cx.when(Self::kept).await;
            }
            // ANCHOR_END: checkpoint
            // ANCHOR: sync
            if step % 50 == 0 {
                cx.at_sync().await; // objects may move here
            }
            // ANCHOR_END: sync
        }
        self.options.steps
    }
    // ANCHOR_END: run

    /// The heat in this block.
    #[entry]
    fn heat(&self) -> f64 {
        self.inside().iter().sum()
    }

    // ANCHOR: send
    /// Sends both ends to the neighbours, and returns how many there are.
    fn send_ends(&self, cx: &Cx<Self>, step: u32) -> usize {
        let (me, last) = (cx.index(), self.options.blocks - 1);
        if me > 0 {
            cx.array().at(me - 1).ghost(step, RIGHT, self.cells[1]);
        }
        if me < last {
            cx.array().at(me + 1).ghost(step, LEFT, self.cells[self.options.cells]);
        }
        usize::from(me > 0) + usize::from(me < last)
    }
    // ANCHOR_END: send
}

// ANCHOR: numerics
/// The numerics know nothing of messages.
impl Block {
    fn inside(&self) -> &[f64] {
        &self.cells[1..=self.options.cells]
    }

    fn set_ghost(&mut self, side: usize, value: f64) {
        let at = if side == LEFT { 0 } else { self.options.cells + 1 };
        self.cells[at] = value;
    }

    /// One step. Returns the largest change of a cell.
    fn relax(&mut self) -> f64 {
        if self.cells.iter().all(|cell| *cell == 0.0) {
            return 0.0; // heat has not come here yet, and there is nothing to compute
        }
        let mut change: f64 = 0.0;
        let mut left = self.cells[0];
        for at in 1..=self.options.cells {
            let here = self.cells[at];
            let next = here + 0.25 * (left - 2.0 * here + self.cells[at + 1]);
            change = change.max((next - here).abs());
            self.cells[at] = next;
            left = here;
        }
        change
    }
}
// ANCHOR_END: numerics

// ANCHOR: main
#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    cx.expect_steps(options.steps.into());
    let options: Shared<Options> = cx.share(options);
    let blocks: Array<Block> = Block::array(options.blocks).new(options.clone());
    let steps: u32 = blocks.run().reduce(Max).await;
    let heat: f64 = blocks.heat().reduce(Sum).await;
    writeln!(cx.output(), "{steps} steps, heat {heat:.9}");
    cx.result("heat", heat);
}
// ANCHOR_END: main
