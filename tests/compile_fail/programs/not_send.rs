//! Arguments that cannot move between threads; a result always goes as bytes.
use std::rc::Rc;
use talisman::prelude::*;

#[derive(Pup)]
struct Counted {
    n: u32,
    #[pup(skip)]
    cache: Rc<Vec<f64>>,
}

impl Counted {
    fn new(n: u32) -> Self {
        Counted { n, cache: Default::default() }
    }
}

#[derive(Pup)]
struct Block {
    n: u32,
}

#[chare(array1d)]
impl Block {
    #[init]
    fn new() -> Self {
        Block { n: 0 }
    }
    #[entry]
    fn take(&mut self, x: f64, counted: Counted) {
        self.n += counted.n + x as u32;
    }
    #[entry]
    fn give(&self) -> Counted {
        Counted::new(self.n)
    }
}

fn main() {}
