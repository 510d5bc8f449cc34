//! Names that are taken.
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
    fn at(&mut self) {}
    #[entry]
    fn with_priority(&mut self) {}
    #[entry]
    fn array(&mut self) {}
    #[entry]
    fn twice(&mut self) {}
    #[entry]
    fn twice(&mut self, x: f64) {}
}

fn main() {}
