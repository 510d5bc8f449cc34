//! Examples, and a program with much of the programming model in it, that lose nodes.

use std::process::Command;

use crate::job::{Ended, Scratch, Shape, example, program, run};

crate::trials::checks!(jacobi, leanmd, nqueens, members_that_wander, groups_sections_and_pendulums);

/// What lines have that tell of times: they are others in every run.
const TIMES: [&str; 4] = [" ms a step, ", " ns each", " µs one way", " s, fingerprint "];

/// What a run has in common with every other of its program.
fn left(make: impl Fn(&str) -> Command, options: &str) -> (Ended, Vec<String>, serde_json::Value) {
    let report = Scratch::new("report");
    let ended = run(make(&format!("--report {} {options}", report.name()))).expect(0, &[]);
    let is_common =
        |line: &&String| !line.starts_with("at ") && !TIMES.iter().any(|time| line.contains(time));
    let mut lines: Vec<String> = ended.stdout.iter().filter(is_common).cloned().collect();
    lines.sort();
    let text = std::fs::read_to_string(&report.0).expect("a job that ends well writes its report");
    let mut report: serde_json::Value = serde_json::from_str(&text).expect("it is a report");
    if let Some(results) = report["results"].as_object_mut() {
        results.retain(|name, _| !name.ends_with("_s") && !name.ends_with("_ratio"));
    }
    (ended, lines, report)
}

/// Loses whoever its options kill, and ends as if it had not.
#[track_caller]
pub fn survives(make: impl Fn(&str) -> Command, kills: &str) {
    let (_, lines, report) = left(&make, "");
    let (ended, lines_again, again) = left(&make, &format!("--ft logging {kills}"));
    assert_eq!(lines_again, lines, "{}", ended.said());
    assert_eq!(again["results"], report["results"], "{}", ended.said());
    let lost = again["failures"].as_array().map_or(0, Vec::len);
    assert_eq!(lost, kills.matches("--kill").count(), "{}", ended.said());
}

pub fn of_example(name: &'static str, options: &'static str, shape: Shape) -> impl Fn(&str) -> Command {
    move |words| example(name, &format!("{options} {words}"), shape)
}

fn jacobi() {
    let options = "--grid 44,42,21 --block 21,21,21 --steps 60 --check";
    for transport in ["tcp", "shm"] {
        survives(of_example("jacobi3d", options, (3, 1, transport)), "--kill 1@step30");
    }
    survives(
        of_example("jacobi3d", options, (4, 1, "tcp")),
        "--kill 0@step20 --kill 2@step20 --kill 1@step40",
    );
}

fn leanmd() {
    let options = "--cells 3,3,3 --atoms-per-cell 8 --steps 40 --migrate-every 10 --check";
    for transport in ["tcp", "shm"] {
        survives(of_example("leanmd", options, (3, 1, transport)), "--kill 2@step25");
    }
}

fn nqueens() {
    survives(of_example("nqueens", "--queens 12 --grain 8", (3, 1, "shm")), "");
}

fn members_that_wander() {
    for transport in ["tcp", "shm"] {
        survives(|words| program(words, (3, 1, transport)), "--kill 1@step18 --kill 0@step30");
    }
}

fn groups_sections_and_pendulums() {
    survives(|words| program(&format!("--tower --pendulums {words}"), (4, 1, "mixed")), "--kill 3@step12");
}
