//! Many chares that live for one short task.

use std::hint::black_box;

use talisman::prelude::*;

use crate::common::{Budget, CHARM, nanos, on_pes, result, row, sample, table};

const SPAWN: &str = "50,000 tasks of 100 steps on 2 PEs, ms | the tasks alone";

const TASKS: u32 = 50_000;
const STEPS: u32 = 100;

pub fn measure() {
    for _ in 0..9 {
        let outcome = on_pes::<__Main>(2, ());
        let start = nanos();
        (0..TASKS / 2).for_each(|_| work());
        sample(SPAWN, result(&outcome, "ms"), (nanos() - start) as f64 / 1e6);
    }
    table("Tasks", "ms", &[row(SPAWN, Budget::AtMost(80.0)).beside(CHARM, 80.0)]);
}

fn work() {
    black_box((0..STEPS).fold(1.0f64, |x, _| x * 1.000_000_1 + 1e-9));
}

#[derive(Pup)]
struct Worker {}

#[chare(single)]
impl Worker {
    #[init]
    fn new(cx: &mut Cx<Self>) -> Self {
        work();
        cx.destroy();
        Worker {}
    }
}

#[talisman::main]
async fn main(cx: &mut Cx) {
    let start: u64 = nanos();
    for _ in 0..TASKS {
        let _worker: Proxy<Worker> = Worker::chare().new();
    }
    cx.quiescence().await;
    cx.result("ms", (nanos() - start) as f64 / 1e6);
}
