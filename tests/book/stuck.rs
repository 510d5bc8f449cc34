//! The program with a mistake that the page "Debug a stuck job" shows, and what it is told.

use talisman::prelude::*;
use talisman::testing::Test;

#[derive(Pup)]
struct Block;

#[chare(array1d)]
impl Block {
    #[init]
    fn new() -> Self {
        Block
    }

    // ANCHOR: mistake
    #[entry]
    fn ghost(step: u32, value: f64);

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) -> f64 {
        cx.array().at((cx.index() + 1) % 4).ghost(0, 1.0);
        let value = cx.when(Self::ghost, 1).await; // nobody sends a message with this key
        value
    }
    // ANCHOR_END: mistake
}

#[talisman::main]
async fn main(cx: &mut Cx) {
    let blocks: Array<Block> = Block::array(4).new();
    let sum: f64 = blocks.run().reduce(Sum).await;
    writeln!(cx.output(), "{sum}");
}

#[test]
fn the_message_names_who_waits_for_what() {
    let done = Test::new().pes(2).run::<__Main>(());
    let message = done.message.clone().expect("it cannot end well");
    assert_eq!((done.status, done.output.len()), (1, 0), "{message}");
    assert!(
        message.starts_with("nothing is left to do, and the program has not said it is done"),
        "{message}"
    );
    assert!(message.contains("__main waits for the answers of `run` ("), "{message}");
    for block in 0..4 {
        assert!(message.contains(&format!("Block[{block}]::run waits for `ghost` (")), "{message}");
    }
}
