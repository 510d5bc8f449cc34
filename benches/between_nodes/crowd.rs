//! More nodes than cores: a stencil with one cell on each.

use std::process::ExitCode;

use talisman::prelude::*;

use crate::common::{Budget, Row, grain, nanos, row, sample, table};
use crate::job::{Job, TRANSPORTS, Transport, rounds};

pub const PROGRAM: &str = "@crowd";

const ROUNDS: u32 = 5;
const NODES: [u32; 3] = [2, 4, 8];
/// Microseconds, steps, and the budget where there are 8 nodes.
const GRAINS: [(u32, u32, Budget); 2] = [(100, 500, Budget::Times(1.2)), (10, 3000, Budget::Open)];

pub fn measure() {
    let speed = grain::ns_per_unit();
    for _ in 0..rounds(ROUNDS) {
        for (transport, nodes, (grain_us, steps, _)) in all() {
            let units = grain::units(grain_us, speed);
            let options = vec![units.to_string(), steps.to_string()];
            let printed = Job { program: PROGRAM, nodes, transport, options }.run();
            let ours = printed.trim().parse().expect("it prints its time per step");
            sample(what(transport, nodes, grain_us), ours, grain::ideal_us(nodes, units, steps));
        }
    }
    let rows: Vec<Row> =
        all().map(|(transport, nodes, of)| row(what(transport, nodes, of.0), of.2)).collect();
    table("More nodes than cores, per step", "µs", &rows);
}

fn all() -> impl Iterator<Item = (Transport, u32, (u32, u32, Budget))> {
    let of =
        |transport| NODES.into_iter().flat_map(move |nodes| GRAINS.map(|grain| (transport, nodes, grain)));
    TRANSPORTS.into_iter().flat_map(of)
}

fn what(transport: Transport, nodes: u32, grain_us: u32) -> String {
    format!("stencil, {nodes} nodes, {transport}, {grain_us} µs grain | ideal")
}

pub fn program() -> ExitCode {
    main()
}

/// One cell of a ring: works, tells both neighbours, waits for both.
#[derive(Pup)]
struct Cell {
    grain: u64,
}

#[chare(group)]
impl Cell {
    #[init]
    fn new(grain: u64) -> Self {
        Cell { grain }
    }

    #[entry]
    fn edge(step: u32);

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>, steps: u32) -> u32 {
        for step in 0..steps {
            grain::work(grain::share(self.grain, cx.pe(), step));
            let (me, all): (u32, u32) = (cx.pe(), cx.pes());
            cx.group().on((me + 1) % all).edge(step);
            cx.group().on((me + all - 1) % all).edge(step);
            cx.when(Self::edge, step).await;
            cx.when(Self::edge, step).await;
        }
        steps
    }
}

#[derive(clap::Parser, Pup)]
struct Options {
    program: String,
    grain: u64,
    steps: u32,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let cells: Group<Cell> = Cell::group().new(options.grain);
    // Long enough for the system to spread the nodes over the cores.
    let _warm: u32 = cells.run(options.steps / 4).reduce(Max).await;
    let start: u64 = nanos();
    let _steps: u32 = cells.run(options.steps).reduce(Max).await;
    let us: f64 = (nanos() - start) as f64 / 1000.0 / options.steps as f64;
    writeln!(cx.output(), "{us}");
}
