//! `.await` where none can be.
use talisman::prelude::*;

mod alias {
    pub type Result = std::result::Result<(), String>;
}

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
    fn parse(&self) -> Result<usize, String> {
        Ok(self.cells.len())
    }
    #[entry]
    fn plain(&mut self, cx: &mut Cx<Self>) {
        let _ = cx.when(Self::stop).await;
    }
    #[entry]
    async fn inside_an_expression(&mut self, cx: &mut Cx<Self>) {
        self.cells.push(cx.when(Self::ghost, 1).await[0]);
    }
    #[entry]
    async fn assigned(&mut self, cx: &mut Cx<Self>) {
        self.cells = cx.when(Self::ghost, 1).await;
    }
    #[entry]
    async fn part_of_a_let(&mut self, cx: &mut Cx<Self>) {
        let first: f64 = cx.when(Self::ghost, 1).await[0];
        self.cells.push(first);
    }
    #[entry]
    async fn in_a_condition(&mut self, cx: &mut Cx<Self>) {
        if cx.when(Self::ghost, 1).await.is_empty() {
            self.cells.clear();
        }
    }
    #[entry]
    async fn in_a_macro(&mut self, cx: &mut Cx<Self>) {
        println!("{:?}", cx.when(Self::ghost, 1).await);
    }
    #[entry]
    async fn let_else(&mut self, cx: &mut Cx<Self>) {
        let Some(x): Option<u32> = cx.barrier().await else { return };
        let _ = x;
    }
    #[entry]
    async fn if_let(&mut self, cx: &mut Cx<Self>) {
        if let [first, ..] = &cx.when(Self::ghost, 1).await[..] {
            self.cells.push(*first);
        }
    }
    #[entry]
    async fn while_let(&mut self, cx: &mut Cx<Self>) {
        while let Some(x) = cx.when(Self::ghost, 1).await.pop() {
            self.cells.push(x);
        }
    }
    #[entry]
    async fn question(&mut self, cx: &mut Cx<Self>) {
        let n: usize = cx.array().at(1).parse().await?;
        self.cells.truncate(n);
    }
    #[entry]
    async fn question_without_type(&mut self, cx: &mut Cx<Self>) -> Result<(), String> {
        let n = cx.array().at(1).parse().await?;
        Ok(())
    }
    #[entry]
    async fn question_of_an_alias(&mut self, cx: &mut Cx<Self>) -> alias::Result {
        let n: usize = cx.array().at(1).parse().await?;
        Ok(())
    }
    #[entry]
    async fn in_a_guard(&mut self, cx: &mut Cx<Self>) {
        match self.cells.len() {
            n if cx.when(Self::ghost, 1).await.len() == n => self.cells.clear(),
            _ => cx.barrier().await,
        }
    }
}

fn main() {}
