//! Types that do not fit what is awaited; a mistake of the program itself is shown where it is.
use talisman::prelude::*;

#[derive(Pup)]
struct Block {
    cells: Vec<f64>,
}

#[chare(array1d)]
impl Block {
    #[init]
    fn new() -> Self {
        Block { cells: vec![] }
    }
    #[entry]
    fn ghost(iter: u32, cells: Vec<f64>);
    #[entry]
    fn stop();
    #[entry]
    fn poke(&mut self) {}
    #[entry]
    fn size(&self) -> usize {
        self.cells.len()
    }
    #[entry]
    async fn key(&mut self, cx: &mut Cx<Self>) {
        let cells = cx.when(Self::ghost, 1.5).await;
        self.cells = cells;
    }
    #[entry]
    async fn answer(&mut self, cx: &mut Cx<Self>) {
        let n: u32 = cx.array().at(0).size().await;
        self.cells.truncate(n as usize);
    }
    #[entry]
    async fn no_range(&mut self, cx: &mut Cx<Self>, sizes: Vec<u32>) {
        for size in sizes {
            cx.barrier().await;
            let _ = size;
        }
    }
    #[entry]
    async fn no_awaitable(&mut self, cx: &mut Cx<Self>) {
        let n: u32 = std::future::ready(3).await;
        let _ = (n, cx);
    }
    #[entry]
    async fn own_mistake(&mut self, cx: &mut Cx<Self>) {
        let cells = cx.when(Self::ghost, 1).await;
        self.cells = cells.iter().map(|c| c.length()).collect();
    }
    #[entry]
    async fn no_value(&mut self, cx: &mut Cx<Self>) -> u32 {
        cx.barrier().await;
    }
}

fn main() {}
