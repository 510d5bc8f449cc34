//! A million elements, dense and sparse: the time to make them and the memory they take.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use talisman::prelude::*;

use super::memory::{start_counting, stop_counting};
use crate::common::{Budget, nanos, on_pes, result, row, sample, table};

const DENSE_1: &str = "create 1,000,000 elements, dense, 1 PE, ms | 96-byte boxes";
const DENSE_2: &str = "create 1,000,000 elements, dense, 2 PEs, ms | 96-byte boxes";
const SPARSE_1: &str = "create 1,000,000 elements, sparse, 1 PE, ms | 96-byte boxes";
const BYTES_DENSE: &str = "memory per idle element, dense | its state of 8 bytes";
const BYTES_SPARSE: &str = "memory per idle element, sparse | its state of 8 bytes";

const ROUNDS: usize = 5;
const ELEMENTS: i32 = 1_000_000;
/// Elements inserted by one entry, so that their messages do not gather.
const BATCH: i32 = 1000;
const STATE: f64 = 8.0;

static CREATED: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);

pub fn measure() {
    for _ in 0..ROUNDS {
        for (what, pes, dense) in [(DENSE_1, 1, true), (DENSE_2, 2, true), (SPARSE_1, 1, false)] {
            sample(what, run(pes, dense, false, "ms"), boxes_ms());
        }
    }
    sample(BYTES_DENSE, run(1, true, true, "bytes") - STATE, STATE);
    sample(BYTES_SPARSE, run(1, false, true, "bytes") - STATE, STATE);
    table(
        "Creation",
        "ms",
        &[
            row(DENSE_1, Budget::AtMost(150.0)),
            row(DENSE_2, Budget::AtMost(150.0)),
            row(SPARSE_1, Budget::Open),
        ],
    );
    let rows = [row(BYTES_DENSE, Budget::AtMost(100.0)), row(BYTES_SPARSE, Budget::AtMost(170.0))];
    table("Memory beyond the state", "bytes", &rows);
}

fn run(pes: u32, dense: bool, count: bool, figure: &str) -> f64 {
    CREATED.store(0, Ordering::Relaxed);
    result(&on_pes::<__Main>(pes, (Options { dense, count },)), figure)
}

/// The limit: as many allocations.
fn boxes_ms() -> f64 {
    let start = nanos();
    let all: Vec<Box<[u64; 12]>> = (0..ELEMENTS as u64).map(|number| Box::new([number; 12])).collect();
    let ms = (nanos() - start) as f64 / 1e6;
    black_box(all);
    ms
}

#[derive(Pup)]
struct Idle {
    number: u64,
}

#[chare(array1d)]
impl Idle {
    #[init]
    fn new() -> Self {
        let number = CREATED.fetch_add(1, Ordering::Relaxed);
        if number + 1 == ELEMENTS as u64 {
            DONE.store(nanos(), Ordering::Relaxed);
        }
        Idle { number }
    }

    #[entry]
    fn number(&mut self) -> u64 {
        self.number
    }
}

/// Inserts the elements of a sparse array.
#[derive(Pup)]
struct Inserter {}

#[chare(single)]
impl Inserter {
    #[init]
    fn new() -> Self {
        Inserter {}
    }

    #[entry]
    fn fill(&mut self, cx: &mut Cx<Self>, array: Array<Idle>, from: i32) {
        for index in from..from + BATCH {
            array.insert(index).new();
        }
        match from + BATCH {
            ELEMENTS => array.done_inserting(),
            next => cx.me().fill(array, next),
        }
    }
}

#[derive(clap::Parser, Pup)]
struct Options {
    dense: bool,
    count: bool,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let inserter: Proxy<Inserter> = Inserter::chare().on(0).new();
    if options.count {
        start_counting();
    }
    let start: u64 = nanos();
    if options.dense {
        let _array: Array<Idle> = Idle::array(ELEMENTS).new();
    } else {
        inserter.fill(Idle::sparse(), 0);
    }
    cx.quiescence().await;
    cx.result("ms", (DONE.load(Ordering::Relaxed) - start) as f64 / 1e6);
    cx.result("bytes", stop_counting() as f64 / ELEMENTS as f64);
    assert_eq!(CREATED.load(Ordering::Relaxed), ELEMENTS as u64);
}
