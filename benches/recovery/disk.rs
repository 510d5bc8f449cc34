//! One checkpoint in files: for how long no entry runs, and how long it takes until everything is on the disk twice.

use std::path::Path;

use crate::common::{Budget, Row, example, row, sample, table};
use crate::copying;
use crate::size::{MB_50, MB_200, Size};
use crate::{is_smoke, rounds, words, writing};

const ROUNDS: u32 = 3;
const NODES: u32 = 4;
const SIZES: [Size; 2] = [MB_50, MB_200];

/// Checkpoints of a job, and steps between two.
const CHECKPOINTS: u32 = 3;
const STEPS: u32 = 100;

pub fn measure() {
    let sizes = if is_smoke() { &SIZES[..1] } else { &SIZES[..] };
    let dir = std::env::temp_dir().join(format!("talisman-bench-disk-{}", std::process::id()));
    for _ in 0..rounds(ROUNDS) {
        sizes.iter().for_each(|size| one(*size, &dir));
    }
    let rows: Vec<Row> = sizes
        .iter()
        .flat_map(|size| [BLOCKED, COMMIT].map(|part| row(what(*size, part), Budget::Open)))
        .collect();
    table("One checkpoint of jacobi3d in files, 4 nodes", "ms", &rows);
}

/// The program ends with a checkpoint under way, so that it is measured how long those before it took while it went on.
fn one(size: Size, dir: &Path) {
    let jobs = dir.join("job");
    let options = format!(
        "{} --steps {} --nodes {NODES} --pes 1 --ft disk --ckpt-every {STEPS}steps --ckpt-dir {}",
        size.options(),
        CHECKPOINTS * STEPS + 1,
        jobs.display()
    );
    let report = example::report("jacobi3d", words(&options));
    let Some(first) = report.checkpoints.first() else {
        return println!("{}: the disk had taken no checkpoint when the job ended", size.name);
    };
    let each = first.bytes / u64::from(NODES);
    let (memory, disk) = (copying::at_once(NODES, each), limit(dir, each));
    for checkpoint in &report.checkpoints {
        sample(what(size, BLOCKED), checkpoint.blocked_s * 1e3, memory.fresh_s * 1e3);
        sample(what(size, COMMIT), checkpoint.commit_s * 1e3, disk * 1e3);
    }
}

/// Every part is written where it is, and where its copy is.
fn limit(dir: &Path, each: u64) -> f64 {
    std::fs::create_dir_all(dir).expect("a folder among the temporary files");
    let took = writing::at_once(dir, NODES, 2 * each);
    std::fs::remove_dir_all(dir).expect("it is ours");
    took
}

const BLOCKED: &str = "blocked, fresh memory | memcpy";
const COMMIT: &str = "to commit | write and fsync of twice the bytes";

fn what(size: Size, part: &str) -> String {
    format!("{}, {part}", size.name)
}
