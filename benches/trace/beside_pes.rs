//! What the threads of a job take of the cores that are no PEs: its launcher, and what its nodes have beside their PEs.

use std::fs;
use std::path::Path;
use std::thread::{JoinHandle, available_parallelism, sleep, spawn};
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Looks at the job of this launcher until that has ended: percents of all cores.
pub fn watch(launcher: u32) -> JoinHandle<f64> {
    spawn(move || {
        let (start, mut most, mut until) = (Instant::now(), 0, LOOK_EVERY);
        while let Some(ns) = taken_ns(launcher) {
            // Processes that end take what they had taken with them.
            if ns > most {
                (most, until) = (ns, start.elapsed());
            }
            sleep(LOOK_EVERY);
        }
        let cores = available_parallelism().map_or(1, usize::from);
        most as f64 / until.as_nanos() as f64 / cores as f64 * 100.0
    })
}

/// Nanoseconds so far; none if the launcher is gone.
fn taken_ns(launcher: u32) -> Option<u64> {
    let nodes = fs::read_to_string(format!("/proc/{launcher}/task/{launcher}/children")).ok()?;
    let processes = nodes.split_whitespace().filter_map(|node| node.parse().ok()).chain([launcher]);
    let threads = processes.filter_map(|pid: u32| fs::read_dir(format!("/proc/{pid}/task")).ok()).flatten();
    Some(threads.flatten().filter_map(|thread| of_thread(&thread.path())).sum())
}

/// The same of one thread, unless it is a PE or has ended.
fn of_thread(thread: &Path) -> Option<u64> {
    let name = fs::read_to_string(thread.join("comm")).ok()?;
    let is_pe = name.trim_end().strip_prefix("pe").is_some_and(|number| number.parse::<u32>().is_ok());
    let times = fs::read_to_string(thread.join("schedstat")).ok()?;
    times.split_whitespace().next()?.parse().ok().filter(|_| !is_pe)
}
