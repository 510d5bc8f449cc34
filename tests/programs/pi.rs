// pi
use talisman::prelude::*;

#[derive(clap::Parser, Pup)]
struct Options {
    /// Slices of the integral, one chare each
    #[arg(long, default_value_t = 1000)]
    slices: i32,
}

#[derive(Pup)] // may move to another machine, or come back from a checkpoint
struct Slice;

#[chare(array1d)]
impl Slice {
    #[init]
    fn new() -> Self { Slice }

    #[entry] // may be called by message, from anywhere
    fn area(&mut self, cx: &mut Cx<Self>, slices: i32) -> f64 {
        let x = (cx.index() as f64 + 0.5) / slices as f64;
        4.0 / (1.0 + x * x) / slices as f64
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let slices = Slice::array(options.slices).new();
    let pi: f64 = slices.area(options.slices).reduce(Sum).await; // call all of them, sum what they return
    writeln!(cx.output(), "pi is about {pi:.6}");
}
