//! The tutorial's second program: blocks with a state, and a reduction. See `docs/src/tutorial/state.md`.

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
}
// ANCHOR_END: options

// ANCHOR: chare
#[derive(Pup)]
struct Block {
    options: Shared<Options>,
    /// The cells, and a ghost cell at either end.
    cells: Vec<f64>,
}

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

    /// The heat in this block.
    #[entry]
    fn heat(&self) -> f64 {
        self.inside().iter().sum()
    }
}

impl Block {
    fn inside(&self) -> &[f64] {
        &self.cells[1..=self.options.cells]
    }
}
// ANCHOR_END: chare

// ANCHOR: main
#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let options: Shared<Options> = cx.share(options);
    let blocks: Array<Block> = Block::array(options.blocks).new(options.clone());
    let heat: f64 = blocks.heat().reduce(Sum).await;
    writeln!(cx.output(), "{} blocks, heat {heat:.9}", options.blocks);
    cx.result("heat", heat);
}
// ANCHOR_END: main
