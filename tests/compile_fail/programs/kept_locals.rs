//! Variables that are needed after an `.await`, and cannot be kept as they are.
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
    async fn without_type(&mut self, cx: &mut Cx<Self>) {
        let limit = self.cells.len();
        cx.barrier().await;
        self.cells.truncate(limit);
        cx.barrier().await;
        self.cells.truncate(limit);
    }
    #[entry]
    async fn of_a_pattern(&mut self, cx: &mut Cx<Self>) {
        if let Some(x) = self.cells.pop() {
            cx.barrier().await;
            self.cells.push(x);
        }
    }
    #[entry]
    async fn reference(&mut self, cx: &mut Cx<Self>) {
        let first: &f64 = &self.cells[0];
        cx.barrier().await;
        let _ = *first;
    }
    #[entry]
    async fn reference_without_type(&mut self, cx: &mut Cx<Self>) {
        let first = &self.cells[0];
        cx.barrier().await;
        let _ = *first;
    }
    #[entry]
    async fn half_a_type(&mut self, cx: &mut Cx<Self>) {
        let all: Vec<_> = self.cells.clone();
        cx.barrier().await;
        self.cells = all;
    }
    #[entry]
    async fn impl_trait(&mut self, cx: &mut Cx<Self>) {
        let all: Box<impl Iterator<Item = u32>> = Box::new(0..3);
        cx.barrier().await;
        let _ = all.count();
    }
    #[entry]
    async fn hidden(&mut self, cx: &mut Cx<Self>) {
        let x: f64 = 1.0;
        for i in 0..3u32 {
            let x: u32 = i;
            cx.barrier().await;
            self.cells.push(x as f64);
        }
        self.cells.push(x);
    }
    #[entry]
    async fn hidden_by_a_pattern(&mut self, cx: &mut Cx<Self>) {
        let x: f64 = 1.0;
        loop {
            cx.barrier().await;
            if let Some(x) = self.cells.pop() {
                if x > 2.0 {
                    break;
                }
            }
        }
        self.cells.push(x);
    }
}

fn main() {}
