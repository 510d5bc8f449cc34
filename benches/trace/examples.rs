//! Examples that are traced and that are not.

use std::fs;

use crate::common::{Budget, example, row, sample_both, table, wanted};

/// Programs and their options: two nodes, one PE each.
const EXAMPLES: [(&str, &str); 3] = [
    ("jacobi3d", "--grid 96,96,96 --block 32,32,32 --steps 2000"),
    ("jacobi3d", "--grid 96,96,96 --block 16,16,16 --steps 1000"),
    ("leanmd", "--steps 100"),
];
/// Single runs differ by some percent.
const ROUNDS: u32 = 11;

pub fn measure() {
    let examples = EXAMPLES.into_iter().filter(|(program, options)| wanted(&name_of(program, options)));
    let rows: Vec<_> = examples
        .map(|(program, options)| {
            (0..ROUNDS).for_each(|round| run_both(program, options, round));
            row(name_of(program, options), Budget::Times(1.02))
        })
        .collect();
    table("Tracing: examples, per step", "µs", &rows);
}

fn name_of(program: &str, options: &str) -> String {
    format!("{program} {options} | not traced")
}

fn run_both(program: &str, options: &str, round: u32) {
    let file = std::env::temp_dir().join(format!("talisman-bench-example-{}.pftrace", std::process::id()));
    let us = |traced: &str| {
        let options = format!("{options} --nodes 2 --pes 1{traced}");
        example::reported_us(program, options.split(' '))
    };
    let traced = format!(" --trace {}", file.display());
    sample_both(name_of(program, options), round, || us(&traced), || us(""));
    let _ = fs::remove_file(&file);
}
