//! Four thousand ranks in one node: how long it takes until all run, and what each occupies.

use std::time::Duration;

use talisman::prelude::*;
use talisman_ampi::api::Universe;
use talisman_ampi::api::traits::*;

use crate::common::{Budget, alone, row, table};
use crate::job::rounds;
use crate::ranks::{RankJob, Task};

const ROUNDS: u32 = 7;
const RANKS: u32 = 4_000;
/// Two rows are made of the two samples of a job.
const BOTH: &str = "time, memory";
const TIME: &str = "4,000 ranks, asked for to running, ms";
const MEMORY: &str = "memory of each, KiB";

pub fn measure() {
    for _ in 0..rounds(ROUNDS) {
        RankJob { ranks: RANKS, ..RankJob::new(Task::Create, BOTH) }.sample();
        let [time, memory] = crate::common::last_of::<2>(BOTH);
        alone(TIME, time);
        alone(MEMORY, memory);
    }
    let rows = [row(TIME, Budget::AtMost(100.0)), row(MEMORY, Budget::AtMost(64.0))];
    table("Many ranks", "ms, KiB", &rows);
}

/// When ranks were asked for, and what the process had then.
#[derive(Pup)]
pub struct Before {
    at: Duration,
    resident: u64,
}

impl Before {
    pub fn new(at: Duration) -> Before {
        Before { at, resident: resident() }
    }

    /// Milliseconds until the last rank ran, and KiB that each of them has added.
    pub fn samples(&self, ranks: &[Vec<(f64, f64)>]) -> Vec<(f64, f64)> {
        let last = ranks.iter().map(|rank| rank[0].0).fold(0.0, f64::max);
        let added = ranks[0][0].1 - self.resident as f64;
        let time = last - self.at.as_secs_f64() * 1e3;
        vec![(time, f64::NAN), (added / 1024.0 / ranks.len() as f64, f64::NAN)]
    }
}

/// When this rank began, in milliseconds, and what the process has when all are there.
pub fn rank(universe: Universe) -> Vec<(f64, f64)> {
    let begun = universe.time().as_secs_f64() * 1e3;
    universe.world().barrier().expect("all take part");
    let resident = if universe.world().rank() == 0 { resident() } else { 0 };
    vec![(begun, resident as f64)]
}

/// Bytes of this process that are in memory.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("the system tells");
    let pages = pages.split_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok());
    pages.expect("a number of pages") * 4_096
}
