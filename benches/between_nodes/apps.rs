//! The example programs on several nodes, against as many PEs of one.

use crate::common::{Budget, Row, example, row, sample, table};
use crate::job::{TRANSPORTS, Transport, rounds};

const ROUNDS: u32 = 5;
const SIZES: [u32; 2] = [2, 4];
const PROGRAMS: [(&str, &[&str]); 2] = [
    ("jacobi3d", &["--grid", "96,96,96", "--block", "32,32,32", "--steps", "200"]),
    ("leanmd", &["--steps", "20"]),
];

pub fn measure() {
    for _ in 0..rounds(ROUNDS) {
        for (program, arguments) in PROGRAMS {
            SIZES.into_iter().for_each(|size| one(program, arguments, size));
        }
    }
    let of = |(program, _)| {
        SIZES.into_iter().flat_map(move |size| TRANSPORTS.map(|link| what(program, size, link)))
    };
    let rows: Vec<Row> = PROGRAMS.into_iter().flat_map(of).map(|what| row(what, Budget::Open)).collect();
    table("Whole programs on several nodes, per step", "µs", &rows);
}

fn one(program: &str, arguments: &[&str], size: u32) {
    let size_word = size.to_string();
    let with = |more: &[&str]| example::reported_us(program, arguments.iter().chain(more));
    let one_node = with(&["--nodes", "1", "--pes", &size_word]);
    for transport in TRANSPORTS {
        let link = transport.to_string();
        let nodes = with(&["--nodes", &size_word, "--pes", "1", "--transport", &link]);
        sample(what(program, size, transport), nodes, one_node);
    }
}

fn what(program: &str, size: u32, transport: Transport) -> String {
    format!("{program}, {size} nodes, {transport} | {size} PEs of one")
}
