//! Twelve nodes lose ten, one after another, in one run of `leanmd`.

use talisman::launch::Report;

use crate::common::{Budget, alone, example, row, sample, table};
use crate::{is_smoke, rounds, words};

const ROUNDS: u32 = 3;
const NODES: u32 = 12;
/// Who is lost, in this order.
const LOST: [u32; 10] = [5, 0, 11, 3, 7, 1, 9, 2, 10, 4];

pub fn measure() {
    let steps = if is_smoke() { 120 } else { 600 };
    for _ in 0..rounds(ROUNDS) {
        one(steps);
    }
    let more = f64::from(steps) * 7.0 / 6.0;
    table(
        "Twelve nodes of leanmd lose ten",
        "s",
        &[row(TIME, Budget::Times(1.5)), row(RECOVERY, Budget::Open)],
    );
    table("The same", "steps", &[row(STEPS, Budget::AtMost(more))]);
}

const TIME: &str = "ten losses | none";
const RECOVERY: &str = "one loss, from known to running again";
const STEPS: &str = "steps done, those done again counted";

fn one(steps: u32) {
    let options = format!(
        "--steps {steps} --nodes {NODES} --pes 1 --ft double --ckpt-every 10steps --balancer greedy-refine"
    );
    // Each half way between two checkpoints.
    let apart = steps / (LOST.len() as u32 + 1) / 10 * 10;
    let kills: String =
        LOST.iter().zip(1..).map(|(node, n)| format!(" --kill {node}@step{}", n * apart + 5)).collect();
    let without = example::report("leanmd", words(&options));
    let with = example::report("leanmd", words(&format!("{options}{kills}")));
    for name in ["energy_total", "fingerprint"] {
        assert_eq!(with.results.value(name), without.results.value(name), "{name} with and without losses");
    }
    assert_eq!(with.failures.len(), LOST.len());
    let seconds = |report: &Report| example::per_step_s(report) * f64::from(steps);
    sample(TIME, seconds(&with), seconds(&without));
    // Not a number if it is not known of one.
    let redone = |steps: Option<u64>| steps.map_or(f64::NAN, |steps| steps as f64);
    let again: f64 = with.failures.iter().map(|failure| redone(failure.steps_redone)).sum();
    alone(STEPS, f64::from(steps) + again);
    with.failures.iter().filter_map(|failure| failure.recover_s).for_each(|seconds| alone(RECOVERY, seconds));
}
