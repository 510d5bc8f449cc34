//! `#[entry(…)]` with options that are none.
use talisman::prelude::*;

#[derive(Pup)]
struct Block;

#[chare(array1d)]
impl Block {
    #[init]
    fn new() -> Self {
        Block
    }
    #[entry(prioritty = 3)]
    fn misspelt(&mut self) {}
    #[entry(priority = "high")]
    fn text(&mut self) {}
    #[entry(priority = 5000000000)]
    fn large(&mut self) {}
    #[entry(ack)]
    fn received(x: f64);
    #[entry(ack)]
    fn answered(&self) -> f64 {
        1.0
    }
}

fn main() {}
