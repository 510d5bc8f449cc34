//! The tutorial's first program: the blocks of an array say hello. See `docs/src/tutorial/greet.md`.

// ANCHOR: all
use talisman::prelude::*;

// ANCHOR: chare
#[derive(Pup)]
struct Block;

#[chare(array1d)]
impl Block {
    #[init]
    fn new() -> Self {
        Block
    }

    #[entry]
    fn hello(&mut self, cx: &mut Cx<Self>) -> String {
        format!("hello from block {}", cx.index())
    }
}
// ANCHOR_END: chare

// ANCHOR: main
#[talisman::main]
async fn main(cx: &mut Cx) {
    let blocks: Array<Block> = Block::array(4).new();
    let lines: Vec<String> = blocks.hello().reduce(Concat).await;
    cx.result("blocks", lines.len() as u64);
    for line in lines {
        writeln!(cx.output(), "{line}");
    }
}
// ANCHOR_END: main
// ANCHOR_END: all
