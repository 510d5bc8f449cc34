//! `break`, `continue`, `return`, `?` and `for` around an `.await`.
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
    async fn break_with_a_value(&mut self, cx: &mut Cx<Self>) {
        loop {
            cx.when(Self::stop).await;
            if self.cells.is_empty() {
                break 7;
            }
        }
    }
    #[entry]
    async fn no_loop(&mut self, cx: &mut Cx<Self>) {
        cx.when(Self::stop).await;
        break;
    }
    #[entry]
    async fn no_loop_to_continue(&mut self, cx: &mut Cx<Self>) {
        'block: {
            cx.when(Self::stop).await;
            continue 'block;
        }
    }
    #[entry]
    async fn question_mark(&mut self, cx: &mut Cx<Self>) {
        let x: f64 = "1.5".parse()?;
        cx.barrier().await;
        self.cells.push(x);
    }
    #[entry]
    async fn pattern_in_for(&mut self, cx: &mut Cx<Self>) {
        for (i, _) in 0..3 {
            cx.barrier().await;
            self.cells.push(i);
        }
    }
}

fn main() {}
