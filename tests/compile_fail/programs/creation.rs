//! Creation: an `#[init]` that is not called, not marked, or not there. One error each, without other people's types.
use talisman::prelude::*;

#[derive(Pup)]
struct Block;

#[chare(array1d)]
impl Block {
    #[init]
    fn new() -> Self {
        Block
    }
    #[entry]
    fn go(&mut self, round: u32) {
        let _ = round;
    }
}

#[derive(Pup)]
struct Unmarked;

#[chare(array1d)]
impl Unmarked {
    fn with(round: u32) -> Self {
        let _ = round;
        Unmarked
    }
    #[entry]
    fn go(&mut self) {}
}

#[derive(Pup)]
struct Without;

#[chare(single)]
impl Without {
    #[entry]
    fn go(&mut self) {}
}

#[talisman::main]
async fn main(cx: &mut Cx) {
    let blocks = Block::array(4);
    blocks.go(1);
    Unmarked::array(3).with(3).go();
    Without::chare().new().go();
    cx.exit();
}
