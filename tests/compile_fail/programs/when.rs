//! `cx.when(…)` with what is no receive entry, or too many arguments.
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
    async fn with_a_body(&mut self, cx: &mut Cx<Self>) {
        cx.when(Self::poke).await;
    }
    #[entry]
    async fn misspelt(&mut self, cx: &mut Cx<Self>) {
        let cells = cx.when(Self::gohst, 1).await;
        self.cells = cells;
    }
    #[entry]
    async fn nothing(&mut self, cx: &mut Cx<Self>) {
        cx.when().await;
    }
    #[entry]
    async fn no_path(&mut self, cx: &mut Cx<Self>) {
        cx.when("ghost").await;
    }
    #[entry]
    async fn two_keys(&mut self, cx: &mut Cx<Self>) {
        cx.when(Self::ghost, 1, 2).await;
    }
    #[entry]
    async fn no_key(&mut self, cx: &mut Cx<Self>) {
        cx.when(Self::stop, 1).await;
    }
    #[entry]
    async fn called(&mut self, cx: &mut Cx<Self>) {
        self.ghost(cx, 1).await;
    }
    #[entry]
    async fn untyped(&mut self, cx: &mut Cx<Self>) {
        let n = cx.array().at(0).size().await;
        self.cells.truncate(n);
    }
}

fn main() {}
