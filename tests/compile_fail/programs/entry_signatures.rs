//! Signatures that an entry cannot have. The chare stays whole: the calls at the end give no errors.
use std::sync::Arc;
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
    fn name(&mut self, name: &str, values: &[f64], flag: &bool) {
        println!("{name} {values:?} {flag}")
    }
    #[entry]
    fn shared(&mut self, values: Arc<Vec<f64>>) {}
    #[entry]
    fn some(&mut self, values: impl Iterator<Item = f64>) {}
    #[entry]
    fn text(&self) -> &str {
        "text"
    }
    #[entry]
    fn done(self) {}
    #[entry]
    fn no_self(x: f64) {}
    #[entry]
    fn context(&mut self, cx: &Cx<Self>) {
        let _ = cx;
    }
    #[entry]
    fn late(&mut self, x: f64, cx: &mut Cx<Self>) {}
    #[entry]
    fn generic<T: Into<f64>>(&mut self, x: T) {
        self.cells.push(x.into())
    }
    #[entry]
    unsafe fn dangerous(&mut self) {}
    #[entry]
    fn tuple(&mut self, (a, b): (f64, f64)) {}
    #[entry]
    fn many(&mut self, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8) {}
    #[entry]
    #[cfg(unix)]
    fn sometimes(&mut self) {}
    #[entry]
    async fn reads(&self) {}
    #[entry]
    fn receives(cx: &mut Cx<Self>, x: f64);
    #[entry]
    fn answers() -> f64;
    #[entry]
    async fn waits();
    fn helper();
    #[entry]
    fn fine(&mut self, x: f64) {
        self.cells.push(x)
    }
}

#[talisman::main]
async fn main(cx: &mut Cx) {
    let b: Array<Block> = Block::array(4).new();
    b.fine(1.0);
    b.name("x".into(), vec![], true);
    cx.quiescence().await;
}
