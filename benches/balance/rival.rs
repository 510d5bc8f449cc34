//! A heterogeneous machine, real: each of two nodes on a core of its own, and a process that competes for the first of them.

use std::fs;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};

use super::figures::{Budget, Figures, table};
use super::real::{Ended, Job, cores, even_s, rounds};

/// With the competitor on one of two cores, they do so much of what they would without.
pub const CAPACITY_LEFT: f64 = 0.75;

/// No hot spot, and much to do in a step: cores are dealt out in slices of some milliseconds, and neighbours wait for each
/// other at each step.
const EVEN_WORK: [&str; 6] = ["--peak", "0", "--grid", "4096", "--sync-every", "5"];
/// The first two periods of five steps, before all is known, are a small part of so many.
const STEPS: u32 = 360;
const ROUNDS: u32 = 3;

pub fn measure() -> bool {
    if cores() < 2 {
        println!("\nReal, with a competitor: skipped, it takes two cores");
        return true;
    }
    let names = ["off", "greedy", "greedy-refine"];
    let budget = |name| Budget { time: (name != "off").then_some(1.10), ..Budget::default() };
    let rows = rounds(ROUNDS, names.len(), |row| beside_a_rival(names[row]));
    let rows: Vec<_> = rows.into_iter().zip(names.map(budget)).collect();
    table("Real: two nodes on a core each, another process on the first core as well; even work", &rows)
}

fn beside_a_rival(balancer: &str) -> Figures {
    let even_s = even_s(2, STEPS, &EVEN_WORK) / CAPACITY_LEFT;
    let options = [&["--nodes", "2", "--pes", "1", "--balancer", balancer], &EVEN_WORK[..]].concat();
    let job = Job::start(0, STEPS, &options);
    pin_nodes(&job.child);
    let rival = Rival::start();
    let Ended { seconds, balancing, .. } = job.end();
    drop(rival);
    Figures::new(balancer, seconds, even_s, &balancing)
}

/// A process that computes on the first core until it is dropped.
pub struct Rival(Child);

impl Rival {
    pub fn start() -> Self {
        let child =
            Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("every system has a shell");
        pin(child.id(), 0);
        Rival(child)
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).expect("it is our child");
    }
}

/// Each node of a job to a core, as soon as both are there.
fn pin_nodes(launcher: &Child) {
    let end = Instant::now() + Duration::from_secs(5);
    let nodes = loop {
        let nodes = children(launcher.id());
        if nodes.len() == 2 {
            break nodes;
        }
        assert!(Instant::now() < end, "the job has two nodes");
        thread::sleep(Duration::from_millis(1));
    };
    // Threads that are started later are where the one is that starts them.
    nodes.into_iter().enumerate().for_each(|(core, node)| pin(node, core));
}

fn children(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

/// The calling thread on one core.
pub fn pin_this_thread(core: usize) {
    let mut set = CpuSet::new();
    set.set(core);
    // Where that is not allowed it runs on any.
    let _ = sched_setaffinity(None, &set);
}

/// All threads of a process on one core.
fn pin(process: u32, core: usize) {
    let mut set = CpuSet::new();
    set.set(core);
    for task in fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
        let thread = task.file_name().to_string_lossy().parse().ok().and_then(Pid::from_raw);
        // A thread that has just ended needs no place.
        let _ = sched_setaffinity(thread, &set);
    }
}
