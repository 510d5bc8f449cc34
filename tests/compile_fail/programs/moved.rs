//! A variable that was moved before an `.await` and is used after it.
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
    async fn run(&mut self, cx: &mut Cx<Self>) {
        let v: Vec<f64> = vec![1.0];
        self.cells = v;
        cx.barrier().await;
        self.cells[0] = v[0];
    }
}

fn main() {}
