//! What a job pays between checkpoints for being able to take them.

use crate::common::{Budget, Row, example, row, sample, table};
use crate::{is_smoke, rounds, words};

/// A percent is asked for, and single runs differ by ten.
const ROUNDS: u32 = 41;

/// Programs, with options for a usual and for a short run.
const PROGRAMS: [(&str, &str, &str); 2] = [
    (
        "jacobi3d",
        "--grid 96,96,96 --block 32,32,32 --steps 1000",
        "--grid 64,64,64 --block 32,32,32 --steps 50",
    ),
    ("leanmd", "--steps 100", "--steps 10"),
];
const NODES: [u32; 2] = [2, 4];

pub fn measure() {
    for round in 0..rounds(ROUNDS) {
        for (program, usual, short) in PROGRAMS {
            let options = if is_smoke() { short } else { usual };
            NODES.into_iter().for_each(|nodes| one(program, options, nodes, round));
        }
    }
    let rows: Vec<Row> = PROGRAMS
        .iter()
        .flat_map(|(program, ..)| NODES.map(|nodes| row(what(program, nodes), Budget::Times(1.01))))
        .collect();
    table("Between checkpoints, per step", "µs", &rows);
}

/// Both ways, with and without going first in turn.
fn one(program: &str, options: &str, nodes: u32, round: u32) {
    let with = |mode: &str| {
        let options = format!("{options} --nodes {nodes} --pes 1 {mode}");
        example::reported_us(program, words(&options))
    };
    let (double, off) = ("--ft double --ckpt-every 1h", "--ft off");
    let (ours, limit) = match round % 2 {
        0 => (with(double), with(off)),
        _ => {
            let limit = with(off);
            (with(double), limit)
        }
    };
    sample(what(program, nodes), ours, limit);
}

fn what(program: &str, nodes: u32) -> String {
    format!("{program}, {nodes} nodes, --ft double | --ft off")
}
