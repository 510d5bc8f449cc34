//! `match cx.when_any().await` with arms that are none.
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
    async fn without_match(&mut self, cx: &mut Cx<Self>) {
        let message = cx.when_any().await;
        let _ = message;
    }
    #[entry]
    async fn of_another(&mut self, cx: &mut Cx<Self>) {
        match cx.when(Self::ghost, 1).await {
            cells => self.cells = cells,
        }
    }
    #[entry]
    async fn other_arm(&mut self, cx: &mut Cx<Self>) {
        match cx.when_any().await {
            Self::stop() => {}
            _ => {}
        }
    }
    #[entry]
    async fn arguments(&mut self, cx: &mut Cx<Self>) {
        match cx.when_any().await {
            Self::ghost(iter) => self.cells.push(iter as f64),
        }
    }
    #[entry]
    async fn waiting_guard(&mut self, cx: &mut Cx<Self>) {
        match cx.when_any().await {
            Self::ghost(iter, _) if cx.when(Self::ghost, iter).await.is_empty() => {}
        }
    }
}

fn main() {}
