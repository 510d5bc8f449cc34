//! What all nodes do together.

use std::process::ExitCode;

use talisman::prelude::*;

use crate::common::{Budget, Row, nanos, row, table};
use crate::job::{Job, TRANSPORTS, Transport, line, rounds};

pub const PROGRAM: &str = "@collectives";

const ROUNDS: u32 = 11;
const TIMES: u32 = 50;
const NODES: [u32; 4] = [2, 4, 8, 12];
const KINDS: [&str; 4] =
    ["broadcast and one answer", "broadcast and reduction", "reduction to all", "barrier"];

pub fn measure() {
    for transport in TRANSPORTS {
        for nodes in NODES {
            let options = ["--link", &transport.to_string(), "--rounds", &rounds(ROUNDS).to_string()]
                .map(String::from)
                .into();
            Job { program: PROGRAM, nodes, transport, options }.sample();
        }
    }
    let of = |kind| TRANSPORTS.into_iter().flat_map(move |link| NODES.map(|nodes| (kind, link, nodes)));
    let all = KINDS.into_iter().flat_map(of);
    let rows: Vec<Row> = all.map(|(kind, link, nodes)| row(what(kind, link, nodes), Budget::Open)).collect();
    table("Together", "µs", &rows);
}

fn what(kind: &str, link: Transport, nodes: u32) -> String {
    format!("{kind}, {nodes} nodes, {link}")
}

pub fn program() -> ExitCode {
    main()
}

#[derive(Pup)]
struct Member {}

#[chare(group)]
impl Member {
    #[init]
    fn new() -> Self {
        Member {}
    }

    #[entry]
    fn one(&mut self) -> u64 {
        1
    }

    /// The last one answers.
    #[entry]
    fn call(&mut self, cx: &mut Cx<Self>) {
        if cx.pe() + 1 == cx.pes() {
            cx.group().on(0).answer();
        }
    }

    #[entry]
    fn answer();

    #[entry]
    async fn broadcasts(&mut self, cx: &mut Cx<Self>) -> f64 {
        let start: u64 = nanos();
        for _ in 0..TIMES {
            cx.group().call();
            cx.when(Self::answer).await;
        }
        us_each(start)
    }

    #[entry]
    async fn reductions(&mut self, cx: &mut Cx<Self>) -> f64 {
        let start: u64 = nanos();
        for _ in 0..TIMES {
            let _all: f64 = cx.all_reduce(1.0, Max).await;
        }
        us_each(start)
    }

    #[entry]
    async fn barriers(&mut self, cx: &mut Cx<Self>) -> f64 {
        let start: u64 = nanos();
        for _ in 0..TIMES {
            cx.barrier().await;
        }
        us_each(start)
    }
}

fn us_each(start: u64) -> f64 {
    (nanos() - start) as f64 / 1000.0 / f64::from(TIMES)
}

#[derive(clap::Parser, Pup)]
struct Options {
    program: String,
    #[arg(long)]
    link: Transport,
    #[arg(long)]
    rounds: u32,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let members: Group<Member> = Member::group().new();
    let _warm: u64 = members.one().reduce(Sum).await;
    for _ in 0..options.rounds {
        let broadcasts: f64 = members.on(0).broadcasts().await;
        let start: u64 = nanos();
        for _ in 0..TIMES {
            let _all: u64 = members.one().reduce(Sum).await;
        }
        let both: f64 = us_each(start);
        let reductions: f64 = members.reductions().reduce(Max).await;
        let barriers: f64 = members.barriers().reduce(Max).await;
        for (kind, us) in KINDS.into_iter().zip([broadcasts, both, reductions, barriers]) {
            writeln!(cx.output(), "{}", line(&what(kind, options.link, cx.nodes()), us, f64::NAN));
        }
    }
}
