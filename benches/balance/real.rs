//! The example itself, as processes on this machine.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use talisman::launch::{BalancingStep, Report, ResultValue};

use super::figures::{Budget, Figures, table};
use super::steps;

/// A run of the example that has been started.
pub struct Job {
    pub child: Child,
    report: PathBuf,
}

impl Job {
    /// Starts it, for so many steps.
    pub fn start(number: usize, steps_usual: u32, options: &[&str]) -> Job {
        let report =
            std::env::temp_dir().join(format!("talisman-balance-{}-{number}.json", std::process::id()));
        let child = Command::new(example())
            .args(["--steps", &steps(steps_usual).to_string(), "--report-every", "50"])
            .args(options)
            .arg("--report")
            .arg(&report)
            .stdout(Stdio::null())
            .spawn()
            .expect("`cargo build --release --examples` has made it");
        Job { child, report }
    }

    /// Its seconds, and its balancing steps.
    pub fn end(mut self) -> (f64, Vec<BalancingStep>) {
        let status = self.child.wait().expect("it is our child");
        assert!(status.success(), "the example fails: {status}");
        let report = Report::read(&self.report).unwrap_or_else(|error| panic!("{error}"));
        std::fs::remove_file(&self.report).expect("just read");
        let Some(ResultValue::F64(per_step_s)) = report.results.value("per_step_s") else {
            panic!("the example tells what a step takes");
        };
        (per_step_s * report.steps as f64, report.balancing)
    }
}

/// Processes on two nodes, and on more than there are cores.
const JOBS: [u32; 2] = [2, 4];
const STEPS: u32 = 300;
/// Without a hot spot, about as much work in a step: what such processes come to where there is nothing to balance.
const EVEN_WORK: [&str; 4] = ["--peak", "0", "--grid", "768"];

pub fn measure() -> bool {
    let mut rows: Vec<(Figures, Budget)> = Vec::new();
    for nodes in JOBS {
        rows.push(run(nodes, "off", &EVEN_WORK, "even work"));
        rows.extend(["off", "greedy", "greedy-refine"].map(|name| run(nodes, name, &[], name)));
    }
    let cores = cores();
    table(
        &format!("Real: a hot spot that wanders, processes on {cores} cores; even is that of the cores"),
        &rows,
    )
}

fn run(nodes: u32, balancer: &str, work: &[&str], what: &str) -> (Figures, Budget) {
    let even_s = even_s(nodes, STEPS, work);
    let nodes_word = nodes.to_string();
    let options = [&["--nodes", &nodes_word, "--pes", "1", "--balancer", balancer], work].concat();
    let (seconds, balancing) = Job::start(0, STEPS, &options).end();
    (Figures::new(format!("{what}, {nodes} nodes"), seconds, even_s, &balancing), Budget::default())
}

/// What the work takes at best: alone on one PE while every other core has as much to do, divided by the cores that the
/// nodes can use.
pub fn even_s(nodes: u32, steps: u32, options: &[&str]) -> f64 {
    let cores = cores().min(nodes as usize);
    let jobs: Vec<Job> = (0..cores)
        .map(|number| Job::start(number, steps, &[&["--nodes", "1", "--pes", "1"], options].concat()))
        .collect();
    let seconds: f64 = jobs.into_iter().map(|job| job.end().0).sum();
    seconds / (cores * cores) as f64
}

/// Of this machine.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The example of the same build.
fn example() -> PathBuf {
    let me = std::env::current_exe().expect("the system tells");
    let profile = me.parent().and_then(|deps| deps.parent()).expect("benchmarks are in `deps`");
    profile.join("examples").join("imbalance")
}
