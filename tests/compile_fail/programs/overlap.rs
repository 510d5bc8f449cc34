//! `cx.overlap(…)`: parts that are none, and ways out of a part.
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
    async fn value(&mut self, cx: &mut Cx<Self>) {
        let x: u32 = cx.overlap(async { cx.when(Self::stop).await; }).await;
        self.cells.push(x as f64);
    }
    #[entry]
    async fn not_a_block(&mut self, cx: &mut Cx<Self>) {
        cx.overlap(cx.barrier(), async { cx.when(Self::stop).await; }).await;
    }
    #[entry]
    async fn leaves(&mut self, cx: &mut Cx<Self>) -> Result<(), String> {
        loop {
            cx.overlap(
                async {
                    cx.when(Self::stop).await;
                    return Ok(());
                },
                async {
                    let cells = cx.when(Self::ghost, 1).await;
                    let first = cells.first().ok_or("none")?;
                    let _ = first;
                },
                async {
                    cx.when(Self::stop).await;
                    break;
                },
            )
            .await;
        }
    }
}

fn main() {}
