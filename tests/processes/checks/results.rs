//! The same bits on any number of nodes, however they are linked.

use std::path::Path;

use serde_json::{Map, Value};

use super::checks;
use crate::job::{Scratch, Shape, example, run};

checks!(
    hello_says_the_same,
    ring_is_the_same,
    pingpong_is_the_same,
    nqueens_is_the_same,
    jacobi3d_is_the_same,
    leanmd_is_the_same,
    leanmd_of_a_file_is_the_same,
);

/// Numbers of nodes, PEs of each, and transports, for every change.
const SOME: [Shape; 5] = [(2, 1, "tcp"), (4, 1, "shm"), (3, 2, "unix"), (3, 2, "mixed"), (12, 1, "mixed")];

fn ways() -> Vec<Shape> {
    if std::env::var_os("TALISMAN_TEST_ALL").is_none() {
        return SOME.into();
    }
    let nodes = [(1, 3), (2, 1), (2, 3), (4, 2), (8, 1), (12, 1)];
    nodes
        .iter()
        .flat_map(|&(nodes, pes)| ["tcp", "shm", "unix", "mixed"].map(|via| (nodes, pes, via)))
        .collect()
}

fn hello_says_the_same() {
    for (nodes, pes, transport) in ways() {
        let ended = run(example("hello", "", (nodes, pes, transport))).expect(0, &[]).quietly();
        let in_all = nodes * pes;
        let greetings: Vec<String> =
            (0..in_all).map(|pe| format!("hello from PE {pe} of {in_all}")).collect();
        assert_eq!(ended.stdout, greetings);
    }
}

fn ring_is_the_same() {
    same("ring", "--members 7 --laps 30");
}

fn pingpong_is_the_same() {
    for bytes in [8, 1_000, 30_000, 100_000, 3_000_000] {
        same("pingpong", &format!("--rounds 20 --bytes {bytes}"));
    }
}

fn nqueens_is_the_same() {
    assert_eq!(same("nqueens", "--queens 8 --grain 5")["solutions"], 92);
}

fn jacobi3d_is_the_same() {
    same("jacobi3d", "--grid 21,13,10 --block 8,8,4 --steps 12 --check");
    same("jacobi3d", "--grid 32,32,32 --block 16,16,16 --tolerance 1e-2");
}

fn leanmd_is_the_same() {
    same("leanmd", "--cells 3,3,2 --atoms-per-cell 20 --steps 25 --migrate-every 10 --check");
}

fn leanmd_of_a_file_is_the_same() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/leanmd/water.pdb");
    let words = format!("--steps 2 --pdb {}", file.display());
    let one = results("leanmd", &words, (1, 1, "shm"));
    let ways = if std::env::var_os("TALISMAN_TEST_ALL").is_some() { ways() } else { vec![(4, 1, "mixed")] };
    for way in ways {
        assert_eq!(results("leanmd", &words, way), one, "{way:?}");
    }
}

/// Runs an example in one process and on many nodes; gives its results, which are always the same.
#[track_caller]
fn same(name: &str, words: &str) -> Map<String, Value> {
    let one = results(name, words, (1, 2, "shm"));
    for way in ways() {
        assert_eq!(results(name, words, way), one, "{name} {words} {way:?}");
    }
    one
}

/// What an example reports, but for what it measured.
pub fn results(name: &str, words: &str, shape: Shape) -> Map<String, Value> {
    let report = Scratch::new("report.json");
    let mut command = example(name, words, shape);
    command.arg("--report").arg(&report.0);
    run(command).expect(0, &[]).quietly();
    results_in(&report)
}

/// Results of a report, but for what was measured.
pub fn results_in(report: &Scratch) -> Map<String, Value> {
    let text = std::fs::read_to_string(&report.0).expect("a report was asked for");
    let report: Value = serde_json::from_str(&text).expect("a report is JSON");
    let mut results = report["results"].as_object().expect("a report has results").clone();
    results.retain(|name, _| !name.ends_with("_s"));
    results
}
