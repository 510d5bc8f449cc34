//! A variable that a part of an `overlap` moves although others use it.
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
    fn size(&self, of: Vec<f64>) -> usize {
        self.cells.len() + of.len()
    }
    #[entry]
    async fn two_parts(&mut self, cx: &mut Cx<Self>) {
        let edges: Vec<f64> = vec![1.0];
        cx.overlap(
            async {
                cx.when(Self::stop).await;
                self.cells = edges;
            },
            async {
                let cells = cx.when(Self::ghost, 1).await;
                self.cells.push(cells[0] + edges[0]);
            },
        )
        .await;
    }
    #[entry]
    async fn in_a_call(&mut self, cx: &mut Cx<Self>, other: Proxy<Block>) {
        let edges: Vec<f64> = vec![1.0];
        cx.overlap(
            async {
                let first: usize = other.size(edges).await;
                self.cells.push(first as f64);
            },
            async {
                let second: usize = other.size(edges).await;
                self.cells.push(second as f64);
            },
        )
        .await;
    }
    #[entry]
    async fn afterwards(&mut self, cx: &mut Cx<Self>) {
        let edges: Vec<f64> = vec![1.0];
        cx.overlap(
            async {
                cx.when(Self::stop).await;
                self.cells = edges;
            },
            async {
                cx.when(Self::ghost, 1).await;
            },
        )
        .await;
        self.cells[0] = edges[0];
    }
}

fn main() {}
