//! The example programs, run as they are built.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

/// Microseconds per step that an example program reports.
pub fn reported_us(example: &str, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> f64 {
    let report = std::env::temp_dir().join(format!("talisman-bench-{}.json", std::process::id()));
    let done = Command::new(built(example))
        .args(arguments)
        .arg("--report")
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
