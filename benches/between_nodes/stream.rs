//! Large messages one way, one after the other.

use std::process::ExitCode;

use talisman::prelude::*;

use crate::common::{Budget, Row, row, table};
use crate::job::{Job, TRANSPORTS, Transport, line, rounds};
use crate::latency::size;
use crate::mpi;
use crate::raw::RawPair;
use crate::streamer::Streamer;

pub const PROGRAM: &str = "@stream";

const ROUNDS: u32 = 21;
/// How large, how many, and the budget over TCP: 0.85 and 0.75 times the raw speed.
const SIZES: [(usize, u64, f64); 2] = [(1 << 20, 32, 1.0 / 0.85), (16 << 20, 4, 1.0 / 0.75)];

pub fn measure() {
    for transport in TRANSPORTS {
        let words = ["--limit", &transport.to_string(), "--rounds", &rounds(ROUNDS).to_string()];
        Job { program: PROGRAM, nodes: 2, transport, options: words.map(String::from).into() }.sample();
        let others = mpi::measured(transport);
        let rows: Vec<Row> = SIZES.iter().map(|of| of_size(transport, *of, &others)).collect();
        table(&format!("A stream of large messages, per message, {transport}"), "µs", &rows);
    }
}

fn of_size(transport: Transport, (bytes, _, times): (usize, u64, f64), others: &[mpi::Measured]) -> Row {
    let budget = match transport {
        Transport::Tcp => Budget::Times(times),
        Transport::Shm => Budget::Open,
    };
    mpi::beside(row(what(transport, bytes), budget), others, "stream", bytes)
}

fn what(transport: Transport, bytes: usize) -> String {
    let limit = if transport == Transport::Shm { "copy of cold memory" } else { "raw stream" };
    format!("stream, {transport}, {} | {limit}", size(bytes))
}

pub fn program() -> ExitCode {
    main()
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
    let members: Group<Streamer> = Streamer::group().new();
    let raw: Group<RawPair> = RawPair::group().new();
    let refused: String = raw.on(0).connect(1, options.limit.way()).await;
    assert!(refused.is_empty(), "{refused}");
    for _ in 0..options.rounds {
        for which in 0..SIZES.len() {
            let bytes: usize = SIZES[which].0;
            let messages: u64 = SIZES[which].1;
            let ours: f64 = members.on(0).stream(bytes, messages).await;
            let limit: f64 = raw.on(0).stream(bytes, messages).await;
            let what = what(options.limit, bytes);
            writeln!(cx.output(), "{}", line(&what, ours / 1000.0, limit / 1000.0));
        }
    }
}
