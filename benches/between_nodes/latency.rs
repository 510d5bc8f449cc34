//! A message to and fro between two nodes.

use std::process::ExitCode;
use std::time::Duration;

use talisman::prelude::*;

use crate::common::{Budget, CHARM, Row, nanos, row, table};
use crate::job::{Job, TRANSPORTS, Transport, line, rounds};
use crate::mpi;
use crate::raw::RawPair;

pub const PROGRAM: &str = "@latency";

const ROUNDS: u32 = 101;
const PAUSE: Duration = Duration::from_millis(100);
const SIZES: [usize; 6] = [8, 1 << 10, 8 << 10, 64 << 10, 1 << 20, 16 << 20];
/// What is sent as one number, as bytes, and as floating-point numbers.
const NUMBER: usize = 8;
const BYTES_MAX: usize = 8 << 10;
/// From here on shared memory is compared with a copy.
const LARGE: usize = 1 << 20;

/// What Charm++ takes between two processes for up to 1 KiB, over TCP.
const CHARM_US: f64 = 4.7;

pub fn measure() {
    for transport in TRANSPORTS {
        let words = ["--limit", &transport.to_string(), "--rounds", &rounds(ROUNDS).to_string()];
        Job { program: PROGRAM, nodes: 2, transport, options: words.map(String::from).into() }.sample();
        let others = mpi::measured(transport);
        let mut rows: Vec<Row> = SIZES.iter().map(|bytes| of_size(transport, *bytes, &others)).collect();
        rows.push(row(after_a_pause(transport), of_number(transport)));
        table(&format!("A message between two nodes, one way, {transport}"), "µs", &rows);
    }
}

/// What a number may take.
fn of_number(transport: Transport) -> Budget {
    match transport {
        Transport::Tcp => Budget::Times(1.15),
        Transport::Shm => Budget::Times(1.5),
    }
}

/// A number, in a job in which a PE was held up once.
fn after_a_pause(transport: Transport) -> String {
    format!("{transport}, {} after a pause", size(NUMBER))
}

fn of_size(transport: Transport, bytes: usize, others: &[mpi::Measured]) -> Row {
    let budget = match (transport, bytes) {
        (_, NUMBER) => of_number(transport),
        (Transport::Tcp, ..=1024) => Budget::Times(1.15),
        (Transport::Shm, LARGE) => Budget::Times(1.0),
        _ => Budget::Open,
    };
    let mut row = row(what(transport, bytes), budget);
    if transport == Transport::Tcp && bytes <= 1024 {
        row = row.beside(CHARM, CHARM_US);
    }
    mpi::beside(row, others, "ping_pong", bytes)
}

fn what(transport: Transport, bytes: usize) -> String {
    let limit = if is_copy(transport, bytes) { " | copy of cold memory" } else { "" };
    format!("{transport}, {}{limit}", size(bytes))
}

/// Bytes in the largest unit.
pub fn size(bytes: usize) -> String {
    match (bytes >> 20, bytes >> 10) {
        (0, 0) => format!("{bytes} B"),
        (0, kib) => format!("{kib} KiB"),
        (mib, _) => format!("{mib} MiB"),
    }
}

fn is_copy(transport: Transport, bytes: usize) -> bool {
    transport == Transport::Shm && bytes >= LARGE
}

/// Round trips of a round, so that it takes about 2 to 20 ms.
fn trips(bytes: usize) -> u64 {
    (1_000_000 / (bytes as u64 + 3_000)).clamp(2, 300)
}

/// Fewer rounds of what takes long.
fn rounds_of(bytes: usize, rounds: u32) -> u32 {
    if bytes >= LARGE { rounds.div_ceil(8) } else { rounds }
}

pub fn program() -> ExitCode {
    main()
}

/// One of two, each on a node of its own.
#[derive(Pup)]
struct Player {}

#[chare(group)]
impl Player {
    #[init]
    fn new() -> Self {
        Player {}
    }

    #[entry]
    fn ball(&mut self, cx: &mut Cx<Self>, left: u64) {
        match left {
            0 => cx.group().on(0).finished(),
            _ => cx.group().on(1 - cx.pe()).ball(left - 1),
        }
    }

    #[entry]
    fn bytes(&mut self, cx: &mut Cx<Self>, left: u64, bytes: Vec<u8>) {
        match left {
            0 => cx.group().on(0).finished(),
            _ => cx.group().on(1 - cx.pe()).bytes(left - 1, bytes),
        }
    }

    #[entry]
    fn numbers(&mut self, cx: &mut Cx<Self>, left: u64, numbers: Vec<f64>) {
        match left {
            0 => cx.group().on(0).finished(),
            _ => cx.group().on(1 - cx.pe()).numbers(left - 1, numbers),
        }
    }

    /// As if the system had stopped it: long enough for others to think that nobody has anything to do.
    #[entry]
    fn pause(&mut self) -> bool {
        std::thread::sleep(PAUSE);
        true
    }

    #[entry]
    fn finished();

    /// Nanoseconds one way: the last ball comes to where the first was thrown.
    #[entry]
    async fn play(&mut self, cx: &mut Cx<Self>, bytes: usize, trips: u64) -> f64 {
        let flights: u64 = 2 * trips;
        let (some, many): (Vec<u8>, Vec<f64>) = ball_of(bytes);
        let start: u64 = nanos();
        match bytes {
            NUMBER => cx.group().on(1).ball(flights - 1),
            ..=BYTES_MAX => cx.group().on(1).bytes(flights - 1, some),
            _ => cx.group().on(1).numbers(flights - 1, many),
        }
        cx.when(Self::finished).await;
        (nanos() - start) as f64 / flights as f64
    }
}

fn ball_of(bytes: usize) -> (Vec<u8>, Vec<f64>) {
    if bytes <= BYTES_MAX { (vec![1; bytes], Vec::new()) } else { (Vec::new(), vec![1.0; bytes / 8]) }
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
    let players: Group<Player> = Player::group().new();
    let raw: Group<RawPair> = RawPair::group().new();
    let refused: String = raw.on(0).connect(1, options.limit.way()).await;
    assert!(refused.is_empty(), "{refused}");
    for round in 0..options.rounds {
        for which in 0..SIZES.len() {
            let bytes: usize = SIZES[which];
            if round < rounds_of(bytes, options.rounds) {
                let ours: f64 = players.on(0).play(bytes, trips(bytes)).await;
                let limit: f64 = raw.on(0).ping_pong(bytes, trips(bytes)).await;
                let what = what(options.limit, bytes);
                writeln!(cx.output(), "{}", line(&what, ours / 1000.0, limit / 1000.0));
            }
        }
    }
    let _paused: bool = players.on(1).pause().await;
    for _ in 0..options.rounds {
        let ours: f64 = players.on(0).play(NUMBER, trips(NUMBER)).await;
        let limit: f64 = raw.on(0).ping_pong(NUMBER, trips(NUMBER)).await;
        writeln!(cx.output(), "{}", line(&after_a_pause(options.limit), ours / 1000.0, limit / 1000.0));
    }
}
