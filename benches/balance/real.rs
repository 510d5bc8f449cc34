//! The example itself, as processes on this machine.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use talisman::launch::{BalancingStep, Report, ResultValue};

use super::figures::{Budget, Figures, table};
use super::{has_flag, steps};

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
            .expect("`cargo build --profile bench --examples` has made it");
        Job { child, report }
    }

    /// What came of it.
    pub fn end(mut self) -> Ended {
        let status = self.child.wait().expect("it is our child");
        assert!(status.success(), "the example fails: {status}");
        let report = Report::read(&self.report).unwrap_or_else(|error| panic!("{error}"));
        std::fs::remove_file(&self.report).expect("just read");
        let Some(ResultValue::F64(per_step_s)) = report.results.value("per_step_s") else {
            panic!("the example tells what a step takes");
        };
        let busy_s = report.pe.iter().map(|times| times.busy_s).sum::<f64>() / report.pe.len() as f64;
        Ended {
            seconds: per_step_s * report.steps as f64,
            over_busy: report.wall_s / busy_s,
            balancing: report.balancing,
        }
    }
}

/// A run of the example that has ended.
pub struct Ended {
    /// What its steps took.
    pub seconds: f64,
    /// All of it, times what its PEs were busy on average.
    pub over_busy: f64,
    pub balancing: Vec<BalancingStep>,
}

/// Processes on two nodes, and on more than there are cores.
const JOBS: [u32; 2] = [2, 4];
const STEPS: u32 = 300;
/// Without a hot spot, about as much work in a step: what such processes come to where there is nothing to balance.
const EVEN_WORK: [&str; 4] = ["--peak", "0", "--grid", "768"];

/// Of each row the middle one of so many runs is told. Rounds go over all rows: what else the machine does comes to all of them.
const ROUNDS: u32 = 5;
/// What balanced runs may take, times what their PEs were busy on average: with the same work perfectly spread they would take just that.
const OVER_BUSY_MOST: f64 = 1.15;

pub fn measure() -> bool {
    let row = |nodes| {
        let even_work = Row { nodes, balancer: "off", work: &EVEN_WORK, what: "even work" };
        let hot_spot = |balancer| Row { nodes, balancer, work: &[], what: balancer };
        [even_work, hot_spot("off"), hot_spot("greedy"), hot_spot("greedy-refine")]
    };
    let rows: Vec<Row> = JOBS.into_iter().flat_map(row).collect();
    let rows = rounds(ROUNDS, rows.len(), |number| rows[number].run());
    let rows: Vec<_> = rows
        .into_iter()
        .map(|figures| {
            let budget = budget(&figures);
            (figures, budget)
        })
        .collect();
    let cores = cores();
    table(
        &format!("Real: a hot spot that wanders, processes on {cores} cores; even is that of the cores"),
        &rows,
    )
}

/// Of runs that were balanced, where each PE had a core.
fn budget(figures: &Figures) -> Budget {
    let is_meant = figures.balancing_s > 0.0 && figures.over_busy.is_some();
    Budget { over_busy: is_meant.then_some(OVER_BUSY_MOST), ..Budget::default() }
}

/// Runs all rows so many times; the middle run of each.
pub fn rounds(rounds: u32, rows: usize, run: impl Fn(usize) -> Figures) -> Vec<Figures> {
    let mut runs: Vec<Vec<Figures>> = (0..rows).map(|_| Vec::new()).collect();
    let rounds = if has_flag("--smoke") { 1 } else { rounds };
    for _ in 0..rounds {
        runs.iter_mut().enumerate().for_each(|(row, runs)| runs.push(run(row)));
    }
    runs.into_iter().map(Figures::middle).collect()
}

struct Row<'a> {
    nodes: u32,
    balancer: &'a str,
    work: &'a [&'a str],
    what: &'a str,
}

impl Row<'_> {
    fn run(&self) -> Figures {
        let even_s = even_s(self.nodes, STEPS, self.work);
        let nodes = self.nodes.to_string();
        let options = [&["--nodes", &nodes, "--pes", "1", "--balancer", self.balancer], self.work].concat();
        let Ended { seconds, over_busy, balancing } = Job::start(0, STEPS, &options).end();
        let figures = Figures::new(format!("{}, {nodes} nodes", self.what), seconds, even_s, &balancing);
        // What a PE is busy with is told by the clock: more PEs than cores are busy while others have theirs.
        if self.nodes as usize > cores() { figures } else { figures.with_over_busy(over_busy) }
    }
}

/// What the work takes at best: alone on one PE while every other core has as much to do, divided by the cores that the
/// nodes can use.
pub fn even_s(nodes: u32, steps: u32, options: &[&str]) -> f64 {
    let cores = cores().min(nodes as usize);
    let jobs: Vec<Job> = (0..cores)
        .map(|number| Job::start(number, steps, &[&["--nodes", "1", "--pes", "1"], options].concat()))
        .collect();
    let seconds: f64 = jobs.into_iter().map(|job| job.end().seconds).sum();
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
