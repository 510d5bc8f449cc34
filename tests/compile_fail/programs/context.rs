//! What the context, proxies and builders are asked for in vain.
use talisman::prelude::*;

#[derive(Pup)]
struct Block;

#[chare(array2d)]
impl Block {
    #[init]
    fn new(_size: u32) -> Self {
        Block
    }
    #[entry]
    fn work(&mut self, cx: &mut Cx<Self>, index: (i32, i32)) {
        cx.migrate_to("1");
        cx.migrate_to(index);
        cx.migrate(1);
        cx.group();
        let n: u32 = cx.index();
        cx.share(std::cell::Cell::new(n));
    }
}

#[derive(Pup)]
struct Rows(u32);

#[derive(Pup)]
struct Driver;

#[talisman::main]
impl Driver {
    #[init]
    fn new() -> Self {
        let blocks = Block::array((2, 2)).new(1);
        blocks.at((0, 0)).with_priority(-1).work((0, 0));
        blocks.with_priority(&Priority::int(-1)).work((0, 0));
        blocks.on(1).work((0, 0));
        Block::array(4).new(1);
        Block::array((2, 2)).map(Rows(2)).new(1);
        Block::array((2, 2)).on(1).new(1);
        Block::array((2, 2)).new();
        Block::chare().new(1);
        Block::group().new(1);
        Block::main_chare().work((0, 0));
        Driver
    }
}
