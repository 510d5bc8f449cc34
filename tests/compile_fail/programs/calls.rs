//! Calls that do not fit the entry, the kind of chare or the index.
use talisman::prelude::*;

#[derive(Pup)]
struct Block {
    cells: Vec<f64>,
}

#[chare(array3d)]
impl Block {
    #[init]
    fn new() -> Self {
        Block { cells: vec![] }
    }
    #[entry]
    fn ghost(iter: u32, cells: Vec<f64>);
    #[entry]
    fn size(&self) -> usize {
        self.cells.len()
    }
}

mod counter {
    use talisman::prelude::*;
    #[derive(Pup)]
    pub struct Counter {
        n: u64,
    }
    #[chare(group)]
    impl Counter {
        #[init]
        pub fn new() -> Self {
            Counter { n: 0 }
        }
        #[entry]
        pub fn start(&mut self, cx: &mut Cx<Self>) {
            cx.group().inner(1);
        }
        #[entry]
        fn inner(&mut self, n: u64) {
            self.n += n
        }
    }
}
use counter::Counter;

#[derive(Pup)]
struct Driver;

#[talisman::main]
impl Driver {
    #[init]
    #[deny(unused_must_use)]
    fn new(cx: &mut Cx<Self>) -> Self {
        let (blocks, counters) = (Block::array((2, 2, 2)).new(), Counter::group().new());
        blocks.ghost(1.5, vec![0.0]);
        blocks.at((0, 0, 0)).ghost(3);
        blocks.at((0, 0, 0)).gohst(3, vec![]);
        blocks.at((0, 0)).size().ignore();
        blocks.at((0, 0, 0)).size();
        cx.array();
        Counter::array(4);
        counters.inner(2);
        Driver
    }
}
