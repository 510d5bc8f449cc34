//! What the runtime costs a whole program, on one PE: time per step of the example programs against a plain loop that does the
//! same arithmetic.
//!
//! `cargo build --release --examples && cargo bench --bench apps`. For jacobi3d there are two: one
//! without blocks, and one over the same blocks that copies their faces by hand; what is more than the latter is the runtime's.

#[path = "../common/mod.rs"]
mod common;

mod jacobi3d;
mod leanmd;

use std::path::PathBuf;
use std::process::Command;

use common::{Budget, row, table, wanted};

const JACOBI_16: &str = "jacobi3d 64³, blocks of 4,096 cells | one loop";
const JACOBI_32: &str = "jacobi3d 64³, blocks of 32,768 cells | one loop";
const CUT_16: &str = "… | loop over such blocks, faces copied by hand (4,096)";
const CUT_32: &str = "… | loop over such blocks, faces copied by hand (32,768)";
const LEANMD: &str = "leanmd, 4³ cells of 100 atoms | one loop";

const ROUNDS: usize = 9;

fn main() {
    for _ in 0..ROUNDS {
        if wanted("jacobi3d") {
            jacobi3d::measure(JACOBI_16, CUT_16, 16);
            jacobi3d::measure(JACOBI_32, CUT_32, 32);
        }
        if wanted("leanmd") {
            leanmd::measure(LEANMD);
        }
    }
    let budget = Budget::Times(1.05);
    let rows = [
        row(JACOBI_16, Budget::Open),
        row(CUT_16, budget),
        row(JACOBI_32, Budget::Open),
        row(CUT_32, budget),
        row(LEANMD, budget),
    ];
    table("Whole programs on one PE", "µs per step", &rows);
}

/// Microseconds per step that an example program reports.
fn reported_us(example: &str, arguments: &[String]) -> f64 {
    let report = std::env::temp_dir().join(format!("talisman-bench-{}.json", std::process::id()));
    let done = Command::new(built(example))
        .args(arguments)
        .args(["--pes", "1", "--report"])
        .arg(&report)
        .output()
        .expect("`cargo build --release --examples` has made it");
    assert!(done.status.success(), "{example} failed: {}", String::from_utf8_lossy(&done.stderr));
    let text = std::fs::read_to_string(&report).expect("the report is written");
    std::fs::remove_file(&report).expect("the report is ours");
    let report: serde_json::Value = serde_json::from_str(&text).expect("a report is JSON");
    report["results"]["per_step_s"].as_f64().expect("the program reports its time") * 1e6
}

/// An example program of the same build.
fn built(example: &str) -> PathBuf {
    let me = std::env::current_exe().expect("the system tells");
    let profile = me.parent().and_then(|deps| deps.parent()).expect("benchmarks are in `deps`");
    profile.join("examples").join(example)
}
