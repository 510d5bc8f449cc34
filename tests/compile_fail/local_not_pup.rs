//! A variable that is kept and cannot be packed.
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
    async fn file(&mut self, cx: &mut Cx<Self>) {
        let log: std::fs::File = std::fs::File::open("x").unwrap();
        cx.barrier().await;
        self.cells.push(log.metadata().unwrap().len() as f64);
    }
}

fn main() {}
