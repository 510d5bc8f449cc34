//! State that cannot move between threads.
use std::rc::Rc;
use talisman::prelude::*;

#[derive(Pup)]
struct Block {
    cells: Vec<f64>,
    #[pup(skip)]
    cache: Rc<Vec<f64>>,
}

#[chare(array1d)]
impl Block {
    #[init]
    fn new() -> Self {
        Block { cells: vec![], cache: Default::default() }
    }
    #[entry]
    fn add(&mut self, x: f64) {
        self.cells.push(x + self.cache[0])
    }
}

fn main() {}
