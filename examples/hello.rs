//! The smallest parallel program: a group has one member on every PE, and each says hello.
//!
//! Shows: a group, a broadcast that gathers what its members return, output, results.
//!
//! ```text
//! cargo run --release --example hello -- --pes 4
//! ```
//!
//! Checks: there is a greeting from every PE, in the order of the PEs. Result: `greetings_per_pe`.

use talisman::prelude::*;

#[derive(Pup)]
struct Greeter;

#[chare(group)]
impl Greeter {
    #[init]
    fn new() -> Self {
        Greeter
    }

    /// This PE's number, to be greeted with.
    #[entry]
    fn greet(&self, cx: &mut Cx<Self>) -> u32 {
        cx.pe()
    }
}

#[talisman::main]
async fn main(cx: &mut Cx) -> Result<(), String> {
    let pes: Vec<u32> = Greeter::group().new().greet().reduce(Concat).await;
    for pe in &pes {
        writeln!(cx.output(), "hello from PE {pe} of {}", cx.pes());
    }
    cx.result("greetings_per_pe", pes.len() as f64 / f64::from(cx.pes()));
    if pes == (0..cx.pes()).collect::<Vec<u32>>() {
        return Ok(());
    }
    Err(format!("of {} PEs, these said hello: {pes:?}", cx.pes()))
}
