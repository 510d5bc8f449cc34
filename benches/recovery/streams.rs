//! Large messages one way, one after the other, while what is sent is kept: beside `--ft off` in the same round.
//!
//! The program is this one, started again.

use std::process::ExitCode;

use talisman::prelude::*;

use crate::common::{Budget, row, sample, table};
use crate::streamer::Streamer;
use crate::{is_smoke, own_program, rounds};

pub const PROGRAM: &str = "@stream";

const ROUNDS: u32 = 5;
/// Bytes of a message, and how many are sent.
const STREAMS: [(usize, u64); 4] = [(1 << 10, 4096), (16 << 10, 512), (1 << 20, 32), (16 << 20, 4)];
/// A node keeps so many bytes; then what is kept is forgotten at a checkpoint, which belongs to what is measured.
const KEPT: u64 = 256 << 20;
/// Bytes a second are at least 0.85 of those without logs.
const BUDGET: Budget = Budget::Times(1.0 / 0.85);
const TRANSPORTS: [&str; 2] = ["tcp", "shm"];
const LOGS: &str = "--ft logging --ckpt-every 1000000000steps --log-budget 256MiB";

pub fn measure() {
    for _ in 0..rounds(ROUNDS) {
        for transport in TRANSPORTS {
            for (bytes, messages) in STREAMS {
                let time = |mode| per_message_us(transport, bytes, messages, mode);
                sample(what(transport, bytes), time(LOGS), time("--ft off"));
            }
        }
    }
    let rows =
        TRANSPORTS.iter().flat_map(|transport| STREAMS.map(|(bytes, _)| row(what(transport, bytes), BUDGET)));
    table("A stream of messages, for each", "µs", &rows.collect::<Vec<_>>());
}

fn what(transport: &str, bytes: usize) -> String {
    format!("stream, {transport}, {} KiB, --ft logging | --ft off", bytes >> 10)
}

/// On average of all streams of a run, after some until what is kept has been forgotten once.
fn per_message_us(transport: &str, bytes: usize, messages: u64, mode: &str) -> f64 {
    let until_full = KEPT.div_ceil(messages * bytes as u64);
    let [warm_up, streams] = if is_smoke() { [0, 1] } else { [until_full, 2 * until_full] };
    let game = format!("--bytes {bytes} --messages {messages} --warm-up {warm_up} --streams {streams}");
    let options = format!("{PROGRAM} {game} --nodes 2 --pes 1 --transport {transport} {mode}");
    own_program::number(&options)
}

pub fn program() -> ExitCode {
    main()
}

#[derive(clap::Parser, Pup)]
struct Options {
    program: String,
    #[arg(long)]
    bytes: usize,
    #[arg(long)]
    messages: u64,
    #[arg(long)]
    warm_up: u64,
    #[arg(long)]
    streams: u64,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let members: Group<Streamer> = Streamer::group().new();
    let mut total: f64 = 0.0;
    for nth in 0..options.warm_up + options.streams {
        let time: f64 = members.on(0).stream(options.bytes, options.messages).await;
        total += if nth < options.warm_up { 0.0 } else { time };
    }
    writeln!(cx.output(), "{}", total / 1e3 / options.streams as f64);
}
