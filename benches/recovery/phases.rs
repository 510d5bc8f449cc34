//! From the kill of a node to running again, phase by phase, as in figure 6 of the paper.

use talisman::launch::Failure;

use crate::common::{Budget, Row, alone, example, row, sample, table};
use crate::kernel;
use crate::size::MB_100;
use crate::{is_smoke, rounds, words};

const ROUNDS: u32 = 9;
const NODES: u32 = 8;

/// A program to be recovered.
struct Subject {
    what: &'static str,
    program: &'static str,
    options: String,
    /// Milliseconds from the kill until all go on, and from when the loss is known.
    budget: [Budget; 2],
    /// Bytes that the lost process has, about.
    resident: u64,
}

pub fn measure() {
    let subjects = subjects();
    for _ in 0..rounds(ROUNDS) {
        subjects.iter().for_each(one);
    }
    let rows: Vec<Row> = subjects.iter().flat_map(rows).collect();
    table("A node of eight is killed, and the others go on", "ms", &rows);
}

fn subjects() -> [Subject; 2] {
    let steps = if is_smoke() {
        "--ckpt-every 5steps --steps 20 --kill 3@step12"
    } else {
        "--ckpt-every 20steps --steps 60 --kill 3@step50"
    };
    [
        Subject {
            what: "leanmd",
            program: "leanmd",
            options: format!("--balancer greedy-refine {steps}"),
            budget: [Budget::AtMost(200.0), Budget::Open],
            resident: 8 << 20,
        },
        Subject {
            what: "jacobi3d, 100 MB",
            program: "jacobi3d",
            options: format!("{} {steps}", MB_100.options()),
            budget: [Budget::Open, Budget::AtMost(150.0)],
            resident: 75 << 20,
        },
    ]
}

fn one(subject: &Subject) {
    let options = format!("--nodes {NODES} --pes 1 --ft double {}", subject.options);
    let report = example::report(subject.program, words(&options));
    let [failure] = &report.failures[..] else { panic!("one node is killed, not {}", report.failures.len()) };
    let kernel_s = kernel::end_s(subject.resident, NODES - 1);
    let detect_s = failure.detect_s.expect("the launcher was asked for the kill");
    let (halt_s, recover_s) = times(failure);
    sample(name(subject, DETECT), detect_s * 1e3, kernel_s * 1e3);
    let keep = |part, seconds: f64| alone(name(subject, part), seconds * 1e3);
    keep(HALT, halt_s);
    keep(RESTORE, recover_s - halt_s);
    keep(AFTER, recover_s);
    keep(TOTAL, detect_s + recover_s);
    if let Some(seconds) = failure.replicate_s {
        keep(REPLICATE, seconds);
    }
    if let Some(step) = report.balancing.iter().find(|step| step.at_s > failure.at_s) {
        keep(BALANCE, step.step_s);
    }
}

fn times(failure: &Failure) -> (f64, f64) {
    let know = "the job went on";
    (failure.halt_s.expect(know), failure.recover_s.expect(know))
}

const DETECT: &str = "killed to known | the system's part";
const HALT: &str = "… to all halted";
const RESTORE: &str = "… to all restored";
const AFTER: &str = "known to running again";
const TOTAL: &str = "killed to running again";
const REPLICATE: &str = "known to all held twice again";
const BALANCE: &str = "then: balancing step";

fn rows(subject: &Subject) -> Vec<Row> {
    let [total, after] = subject.budget;
    let row = |part, budget| row(name(subject, part), budget);
    vec![
        row(DETECT, Budget::Plus(10.0)),
        row(HALT, Budget::Open),
        row(RESTORE, Budget::Open),
        row(AFTER, after),
        row(TOTAL, total),
        row(REPLICATE, Budget::Open),
        row(BALANCE, Budget::Open),
    ]
}

fn name(subject: &Subject, part: &str) -> String {
    format!("{}, {part}", subject.what)
}
