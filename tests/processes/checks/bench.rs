//! `talisman bench`: what is measured of a job, and what it says.

use std::process::Command;

use serde_json::Value;

use super::checks;
use crate::job::{Ended, Scratch, clean, run};

checks!(measures_what_there_is, measures_a_single_pe, refuses_what_cannot_be_measured,);

fn bench(words: &str) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_talisman"));
    command.arg("bench").args(words.split(' ')).args(["--rounds", "2"]);
    run(clean(command))
}

/// The results that a job wrote down, all of which have to be numbers above 0.
fn measured(words: &str) -> (Ended, Vec<String>) {
    let report = Scratch::new("bench");
    let ended = bench(&format!("{words} --report {}", report.name())).expect(0, &[]);
    let report = std::fs::read_to_string(&report.0).expect("the job has written it");
    let report: Value = serde_json::from_str(&report).expect("it is JSON");
    let results = report["results"].as_object().expect("there are results");
    for (name, value) in results {
        assert!(value.as_f64().is_some_and(|value| value > 0.0), "{name}: {value}");
    }
    (ended, results.keys().cloned().collect())
}

fn measures_what_there_is() {
    let (ended, results) = measured("--nodes 2 --pes 2 --ft double");
    let expected = [
        "broadcast_reduction",
        "broadcast_reduction_allowed",
        "checkpoint",
        "memory",
        "message_nodes",
        "message_nodes_allowed",
        "message_pes",
        "message_pes_allowed",
        "slowest_pe",
        "slowest_pe_allowed",
        "stream_nodes",
        "stream_nodes_allowed",
    ];
    assert_eq!(results, expected);
    ended.prints("1 host, 2 nodes, 4 PEs");
    let lines = ended.stdout.join("\n");
    for line in
        ["8 bytes between PEs of a node ", "1 MiB between nodes of a host ", "checkpoint of 16 MiB a PE "]
    {
        assert!(lines.contains(line), "`{line}` is not in {lines}");
    }
}

fn measures_a_single_pe() {
    let (ended, results) = measured("--pes 1");
    assert_eq!(results, ["memory", "slowest_pe", "slowest_pe_allowed"]);
    ended.prints("1 host, 1 node, 1 PE");
}

fn refuses_what_cannot_be_measured() {
    bench("--simulate --nodes 2").expect(1, &["leave --simulate out"]);
    bench("--nodes 0").expect(2, &["--nodes"]);
}
