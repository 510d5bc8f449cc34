//! A million small messages one way, from many elements of one node to many of another.

use std::process::ExitCode;

use talisman::prelude::*;

use crate::common::{Budget, Row, nanos, row, table};
use crate::job::{Job, TRANSPORTS, Transport, line, rounds};
use crate::mpi;
use crate::raw::RawPair;

pub const PROGRAM: &str = "@rate";

const ROUNDS: u32 = 5;
const SIZES: [usize; 2] = [16, 64];
/// Elements on each of the nodes; each sends one message to each of the other node's.
const SIDE: i32 = 1000;
const MESSAGES: u64 = SIDE as u64 * SIDE as u64;
/// Messages that an element sends before the next has its turn.
const BATCH: i32 = 50;

pub fn measure() {
    for transport in TRANSPORTS {
        let words = ["--limit", &transport.to_string(), "--rounds", &rounds(ROUNDS).to_string()];
        Job { program: PROGRAM, nodes: 2, transport, options: words.map(String::from).into() }.sample();
        let others = mpi::measured(transport);
        let of_size =
            |bytes: usize| mpi::beside(row(what(transport, bytes), Budget::Open), &others, "rate", bytes);
        let rows: Vec<Row> = SIZES.map(of_size).into();
        table(&format!("A million messages one way, per message, {transport}"), "ns", &rows);
    }
}

fn what(transport: Transport, bytes: usize) -> String {
    let limit = if transport == Transport::Shm { "slots" } else { "64 in each write" };
    format!("rate, {transport}, {bytes} B | {limit}")
}

pub fn program() -> ExitCode {
    main()
}

/// The first half is on the first node and sends, the second half takes.
#[derive(Pup)]
struct Element {
    counter: Group<Counter>,
    seen: u64,
    sum: u64,
}

#[chare(array1d)]
impl Element {
    #[init]
    fn new(counter: Group<Counter>) -> Self {
        Element { counter, seen: 0, sum: 0 }
    }

    #[entry]
    fn two(&mut self, a: u64, b: u64) {
        self.took(a ^ b);
    }

    #[entry]
    fn eight(&mut self, all: [u64; 8]) {
        self.took(all[7]);
    }

    #[entry]
    fn pour(&mut self, cx: &mut Cx<Self>, bytes: usize, from: i32) {
        let array = cx.array();
        for number in from..from + BATCH {
            let to = array.at(SIDE + (cx.index() + number) % SIDE);
            match bytes {
                16 => to.two(1, number as u64),
                _ => to.eight([number as u64; 8]),
            }
        }
        if from + BATCH < SIDE {
            array.at(cx.index()).pour(bytes, from + BATCH);
        }
    }
}

impl Element {
    fn took(&mut self, number: u64) {
        self.sum = self.sum.wrapping_add(number);
        self.seen += 1;
        if self.seen == SIDE as u64 {
            self.seen = 0;
            self.counter.on(1).full();
        }
    }
}

/// Counts the elements that have all.
#[derive(Pup)]
struct Counter {
    full: i32,
}

#[chare(group)]
impl Counter {
    #[init]
    fn new() -> Self {
        Counter { full: 0 }
    }

    #[entry]
    fn full(&mut self, cx: &mut Cx<Self>) {
        self.full += 1;
        if self.full == SIDE {
            self.full = 0;
            cx.group().on(0).finished();
        }
    }

    #[entry]
    fn finished();

    /// Nanoseconds per message.
    #[entry]
    async fn rate(&mut self, cx: &mut Cx<Self>, elements: Array<Element>, bytes: usize) -> f64 {
        let start: u64 = nanos();
        (0..SIDE).for_each(|from| elements.at(from).pour(bytes, 0));
        cx.when(Self::finished).await;
        (nanos() - start) as f64 / MESSAGES as f64
    }
}

#[derive(clap::Parser, Pup)]
struct Options {
    program: String,
    #[arg(long)]
    limit: Transport,
    #[arg(long)]
    rounds: u32,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let counters: Group<Counter> = Counter::group().new();
    let elements: Array<Element> = Element::array(2 * SIDE).map(Map::Block).new(counters);
    let raw: Group<RawPair> = RawPair::group().new();
    let refused: String = raw.on(0).connect(1, options.limit.way()).await;
    assert!(refused.is_empty(), "{refused}");
    for _ in 0..options.rounds {
        for which in 0..SIZES.len() {
            let bytes: usize = SIZES[which];
            let ours: f64 = counters.on(0).rate(elements, bytes).await;
            let limit: f64 = raw.on(0).rate(bytes, MESSAGES).await;
            writeln!(cx.output(), "{}", line(&what(options.limit, bytes), ours, limit));
        }
    }
}
