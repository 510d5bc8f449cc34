//! A node that hangs: how long until it is known to be lost, against the time that it may be silent.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Budget, alone, example, row, sample, table};
use crate::{rounds, words};

const ROUNDS: u32 = 9;
const NODES: u32 = 4;
/// `--silence`, the shortest and one of usual length.
const SILENCES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];

pub fn measure() {
    for _ in 0..rounds(ROUNDS) {
        SILENCES.into_iter().for_each(one);
    }
    let rows = SILENCES.map(|silence| row(what(silence, KNOWN), Budget::Plus(10.0)));
    let after = SILENCES.map(|silence| row(what(silence, RUNNING), Budget::Open));
    let rows: Vec<_> = rows.into_iter().chain(after).collect();
    table("A node of four is stopped (SIGSTOP)", "ms", &rows);
}

const KNOWN: &str = "stopped to known | --silence";
const RUNNING: &str = "known to running again";

fn what(silence: Duration, part: &str) -> String {
    format!("leanmd, --silence {} ms, {part}", silence.as_millis())
}

fn one(silence: Duration) {
    let options = format!(
        "--nodes {NODES} --pes 1 --ft double --ckpt-every 10steps --steps 100 --ft-log --silence {}ms",
        silence.as_millis()
    );
    let mut known_s = f64::NAN;
    let report = example::report_while("leanmd", words(&options), |job| known_s = stop_a_node(job));
    let [failure] = &report.failures[..] else {
        panic!("one node is stopped, not {}", report.failures.len())
    };
    assert_eq!(failure.detected, "silence", "{}", failure.what);
    sample(what(silence, KNOWN), known_s * 1e3, silence.as_secs_f64() * 1e3);
    alone(what(silence, RUNNING), failure.recover_s.expect("the job went on") * 1e3);
}

/// Once there is a checkpoint. Seconds until the launcher says that the node is lost, read as it is written.
fn stop_a_node(job: &mut Child) -> f64 {
    let launcher = job.id();
    let mut lines = BufReader::new(job.stderr.as_mut().expect("it is a pipe")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("checkpoint 1 ")), "a checkpoint is taken");
    let node = node_of(launcher);
    let stopped = Instant::now();
    kill_process(node, Signal::STOP).expect("it is a process of ours");
    assert!(lines.any(|line| line.contains("said nothing for")), "the node is lost");
    stopped.elapsed().as_secs_f64()
}

/// The process of the last node: nodes are the launcher's children.
fn node_of(launcher: u32) -> Pid {
    let children = std::fs::read_to_string(format!("/proc/{launcher}/task/{launcher}/children"));
    let children = children.expect("the launcher is there");
    let pid = children.split_whitespace().filter_map(|word| word.parse().ok()).max();
    pid.and_then(Pid::from_raw).expect("it has started its nodes")
}
