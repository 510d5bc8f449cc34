//! Checkpoints of ranks, and the loss of a node that has some.

use talisman::launch::Report;

use crate::common::{Budget, alone, row, sample, table};
use crate::copying;
use crate::job::rounds;
use crate::ranks::{RankJob, Task};
use crate::stencil::SIDE;

const ROUNDS: u32 = 3;
const NODES: u32 = 4;
/// Of each rank; two on a node.
const BYTES: usize = 16 << 20;
const RANKS: u32 = 2 * NODES;
/// From the third checkpoint on there is memory of older ones.
const CHECKPOINTS: u32 = 6;
const FRESH: usize = 2;

const PAUSE: &str = "two ranks of 16 MiB on each of four nodes, pause | memcpy";
const COMMIT: &str = "… to commit | memcpy";

pub fn measure_checkpoints() {
    for _ in 0..rounds(ROUNDS) {
        let job = RankJob {
            ranks: RANKS,
            nodes: NODES,
            size: BYTES,
            rounds: CHECKPOINTS,
            ..RankJob::new(Task::Checkpoint, "")
        };
        let report = reported(job, "--ft double");
        let bytes = report.checkpoints.first().expect("some were committed").bytes;
        let limit = copying::at_once(NODES, bytes / u64::from(NODES));
        for checkpoint in report.checkpoints.iter().skip(FRESH) {
            sample(PAUSE, checkpoint.blocked_s * 1e3, limit.used_s * 1e3);
            sample(COMMIT, checkpoint.commit_s * 1e3, limit.used_s * 1e3);
        }
    }
    let rows = [row(PAUSE, Budget::Times(1.4)), row(COMMIT, Budget::Open)];
    table("A checkpoint of ranks", "ms", &rows);
}

const KNOWN: &str = "killed to known";
const RUNNING: &str = "killed to running again";

pub fn measure_losses() {
    for _ in 0..rounds(3 * ROUNDS) {
        let job = RankJob {
            ranks: 4 * NODES,
            nodes: NODES,
            size: SIDE,
            rounds: 12,
            ..RankJob::new(Task::Stencil, "")
        };
        let report = reported(job, "--ft double --ckpt-every 10steps --kill 2@step45");
        let [failure] = &report.failures[..] else { panic!("one node is killed, not {:?}", report.failures) };
        let detect_s = failure.detect_s.expect("the launcher was asked for the kill");
        alone(KNOWN, detect_s * 1e3);
        alone(RUNNING, (detect_s + failure.recover_s.expect("the job went on")) * 1e3);
    }
    let rows = [row(KNOWN, Budget::Open), row(RUNNING, Budget::AtMost(200.0))];
    table("A node of four is killed, with four ranks of 16 on it", "ms", &rows);
}

/// What a job reports.
fn reported(job: RankJob, options: &str) -> Report {
    let file = std::env::temp_dir().join(format!("talisman-bench-mpi-{}.json", std::process::id()));
    let options = format!("{options} --report {}", file.display());
    RankJob { options, ..job }.run();
    let report = Report::read(&file).unwrap_or_else(|error| panic!("{error}"));
    std::fs::remove_file(&file).expect("the report is ours");
    report
}
