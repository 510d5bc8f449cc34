//! How long a line takes from being said in an entry to being there: with `--ft logging` it waits until all that it depends on is kept by two
//! nodes, which nothing else waits for.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::common::{Budget, row, sample, table};
use crate::progress;
use crate::step_notes::nanos;
use crate::{is_smoke, rounds, words};

const ROUNDS: u32 = 3;
const NODES: u32 = 4;
const STEPS: u32 = 500;
const VARIANTS: [&str; 3] = ["logging", "logging:strict", "logging:ticket"];
const QUANTILES: [(&str, f64); 2] = [("median", 0.5), ("p99", 0.99)];

pub fn measure() {
    for _ in 0..rounds(ROUNDS) {
        let off = lines("off");
        for variant in VARIANTS {
            let ours = lines(variant);
            for (name, part) in QUANTILES {
                sample(what(variant, name), at(&ours, part), at(&off, part));
            }
        }
    }
    let rows: Vec<_> = VARIANTS
        .into_iter()
        .flat_map(|variant| QUANTILES.map(|(name, _)| row(what(variant, name), Budget::Open)))
        .collect();
    table("A line of a program, from being said to being there", "µs", &rows);
}

fn what(variant: &str, quantile: &str) -> String {
    format!("{quantile}, --ft {variant} | --ft off")
}

/// What each took, in microseconds, in increasing order.
fn lines(ft: &str) -> Vec<f64> {
    let steps = if is_smoke() { STEPS / 5 } else { STEPS };
    let every = if ft == "off" { "" } else { "--ckpt-every 1000000000steps" };
    let program = progress::PROGRAM;
    let options = format!("{program} --steps {steps} --talks --nodes {NODES} --pes 1 --ft {ft} {every}");
    let mut job = Command::new(std::env::current_exe().expect("the system tells"))
        .args(words(&options))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it is there");
    let said = BufReader::new(job.stdout.take().expect("it is a pipe")).lines().map_while(Result::ok);
    let took =
        |line: String| Some((nanos() - line.strip_prefix("said at ")?.parse::<u64>().ok()?) as f64 / 1e3);
    let mut all: Vec<f64> = said.filter_map(took).collect();
    assert!(job.wait().expect("it is ours").success() && !all.is_empty(), "{options}");
    all.sort_by(f64::total_cmp);
    all
}

fn at(sorted: &[f64], part: f64) -> f64 {
    sorted[(sorted.len() as f64 * part) as usize]
}
