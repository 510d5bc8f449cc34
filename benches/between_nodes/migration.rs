//! Moving objects between two nodes.

use std::process::ExitCode;

use talisman::prelude::*;

use crate::common::{Budget, CHARM, Row, nanos, row, table};
use crate::job::{Job, TRANSPORTS, Transport, line, rounds};
use crate::raw::RawPair;

pub const PROGRAM: &str = "@migration";

const ROUNDS: u32 = 21;
const SMALL_HOPS: u32 = 200;
const LARGE_HOPS: u32 = 4;
const LARGE_BYTES: usize = 16 << 20;

pub fn measure() {
    for transport in TRANSPORTS {
        let words = ["--limit", &transport.to_string(), "--rounds", &rounds(ROUNDS).to_string()];
        Job { program: PROGRAM, nodes: 2, transport, options: words.map(String::from).into() }.sample();
    }
    let of = |transport| {
        [row(small(transport), Budget::AtMost(16.0)).beside(CHARM, 16.0), row(large(transport), Budget::Open)]
    };
    let rows: Vec<Row> = TRANSPORTS.into_iter().flat_map(of).collect();
    table("Migration between two nodes, and a message that follows", "µs", &rows);
}

fn small(transport: Transport) -> String {
    format!("migrate a chare of 24 bytes, {transport} | raw hand-over of 64 bytes")
}

fn large(transport: Transport) -> String {
    let limit = if transport == Transport::Tcp { "raw hand-over" } else { "copy of cold memory" };
    format!("migrate a chare of 16 MiB, {transport} | {limit}")
}

pub fn program() -> ExitCode {
    main()
}

#[derive(Pup)]
struct Wanderer {
    state: Vec<u8>,
}

#[chare(array1d)]
impl Wanderer {
    #[init]
    fn new() -> Self {
        Wanderer { state: Vec::new() }
    }

    #[entry]
    fn grow(&mut self, bytes: usize) -> u64 {
        self.state = vec![1; bytes];
        self.state.len() as u64
    }

    /// Goes to the other node, where its own message follows it.
    #[entry]
    fn hop(&mut self, cx: &mut Cx<Self>, left: u32) {
        if left == 0 {
            return cx.array().at(cx.index()).arrived();
        }
        cx.migrate_to(1 - cx.pe());
        cx.array().at(cx.index()).hop(left - 1);
    }

    #[entry]
    fn arrived();

    /// Microseconds per hop. An even number of hops ends where they began, and so on the same clock.
    #[entry]
    async fn wander(&mut self, cx: &mut Cx<Self>, hops: u32) -> f64 {
        let start: u64 = nanos();
        cx.array().at(cx.index()).hop(hops);
        cx.when(Self::arrived).await;
        (nanos() - start) as f64 / 1000.0 / hops as f64
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
    let wanderers: Array<Wanderer> = Wanderer::array(2).new();
    let _grown: u64 = wanderers.at(1).grow(LARGE_BYTES).await;
    let raw: Group<RawPair> = RawPair::group().new();
    let refused: String = raw.on(0).connect(1, options.limit.way()).await;
    assert!(refused.is_empty(), "{refused}");
    for _ in 0..options.rounds {
        let ours: f64 = wanderers.at(0).wander(SMALL_HOPS).await;
        let limit: f64 = raw.on(0).ping_pong(64, 100).await;
        writeln!(cx.output(), "{}", line(&small(options.limit), ours, limit / 1000.0));
        let ours: f64 = wanderers.at(1).wander(LARGE_HOPS).await;
        let limit: f64 = raw.on(0).ping_pong(LARGE_BYTES, 2).await;
        writeln!(cx.output(), "{}", line(&large(options.limit), ours, limit / 1000.0));
    }
}
