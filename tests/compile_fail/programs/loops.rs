//! `for` loops that wait inside and do not run over integers: one error each.
use talisman::prelude::*;

#[derive(Pup)]
struct Block {
    cells: Vec<f64>,
    sum: f64,
}

#[chare(array1d)]
impl Block {
    #[init]
    fn new() -> Self {
        Block { cells: vec![], sum: 0.0 }
    }
    #[entry]
    async fn reference(&mut self, cx: &mut Cx<Self>) {
        for x in &self.cells {
            cx.barrier().await;
            self.sum += x;
        }
    }
    #[entry]
    async fn values(&mut self, cx: &mut Cx<Self>, values: Vec<f64>) {
        for x in values {
            self.sum += cx.all_reduce(x, Sum).await;
        }
    }
    #[entry]
    async fn pairs(&mut self, cx: &mut Cx<Self>) {
        for (i, x) in self.cells.iter().enumerate() {
            cx.barrier().await;
            self.sum += x * i as f64;
        }
    }
    #[entry]
    async fn nothing_answers(&mut self, cx: &mut Cx<Self>) {
        cx.array().at(1).reference().await;
        cx.array().size().await;
    }
    #[entry]
    fn size(&self) -> usize {
        self.cells.len()
    }
}

fn main() {}
