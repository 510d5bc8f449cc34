//! Calls that no node takes from another one, while what goes between nodes is kept: beside `--ft off` in the same round.
//!
//! The program is this one, started again.

use std::process::ExitCode;

use talisman::prelude::*;

use crate::common::{Budget, nanos, row, sample, table};
use crate::{is_smoke, own_program, rounds};

pub const PROGRAM: &str = "@calls";

const ROUNDS: u32 = 9;
/// PEs of a node, how many calls go to and fro, and how much longer each may take.
const WAYS: [(u32, u32, Budget, &str); 2] = [
    (1, 4_000_000, Budget::Times(1.02), "a call inside a PE"),
    (2, 200_000, Budget::Times(1.05), "a call between PEs of a node"),
];
const LOGS: &str = "--ft logging --ckpt-every 1000000000steps";

pub fn measure() {
    for _ in 0..rounds(ROUNDS) {
        for (pes, calls, _, what) in WAYS {
            let time = |mode| per_call_ns(pes, if is_smoke() { calls / 100 } else { calls }, mode);
            sample(of(what), time(LOGS), time("--ft off"));
        }
    }
    table("Calls within a node", "ns", &WAYS.map(|(.., budget, what)| row(of(what), budget)));
}

fn of(what: &str) -> String {
    format!("{what}, --ft logging | --ft off")
}

fn per_call_ns(pes: u32, calls: u32, mode: &str) -> f64 {
    let options = format!("{PROGRAM} --calls {calls} --nodes 2 --pes {pes} {mode}");
    own_program::number(&options)
}

pub fn program() -> ExitCode {
    main()
}

#[derive(clap::Parser, Pup)]
struct Options {
    program: String,
    #[arg(long)]
    calls: u32,
}

/// On the last PE of the first node it gives the ball back, on the first it began.
#[derive(Pup)]
struct Player;

#[chare(group)]
impl Player {
    #[init]
    fn new() -> Self {
        Player
    }

    #[entry]
    fn take(&mut self, cx: &mut Cx<Self>, from: u32, left: u32) {
        match left {
            0 => cx.group().on(0).finished(),
            _ => cx.group().on(from).take(cx.index(), left - 1),
        }
    }

    #[entry]
    fn finished();

    /// Nanoseconds for each call.
    #[entry]
    async fn play(&mut self, cx: &mut Cx<Self>, with: u32, calls: u32) -> f64 {
        let start: u64 = nanos();
        cx.group().on(with).take(cx.index(), calls - 1);
        cx.when(Self::finished).await;
        (nanos() - start) as f64 / f64::from(calls)
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let players: Group<Player> = Player::group().new();
    let last: u32 = cx.pes() / cx.nodes() - 1;
    let warm: f64 = players.on(0).play(last, options.calls / 10).await;
    let time: f64 = players.on(0).play(last, options.calls).await;
    assert!(warm > 0.0);
    writeln!(cx.output(), "{time}");
}
