//! The example programs, run as they are built.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use talisman::launch::{Report, ResultValue};

/// Microseconds per step that an example program reports.
pub fn reported_us(example: &str, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> f64 {
    per_step_s(&report(example, arguments)) * 1e6
}

/// What an example program reports of a run.
pub fn report(example: &str, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Report {
    report_while(example, arguments, |_| ())
}

/// The same, while something is done about its job.
pub fn report_while(
    example: &str,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    meanwhile: impl FnOnce(&mut Child),
) -> Report {
    let file = std::env::temp_dir().join(format!("talisman-bench-{}.json", std::process::id()));
    let mut child = Command::new(built(example))
        .args(arguments)
        .arg("--report")
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("`cargo build --profile bench --examples` has made it");
    meanwhile(&mut child);
    let done = child.wait_with_output().expect("it is ours");
    assert!(done.status.success(), "{example} failed: {}", String::from_utf8_lossy(&done.stderr));
    let report = Report::read(&file).unwrap_or_else(|error| panic!("{error}"));
    std::fs::remove_file(&file).expect("the report is ours");
    report
}

/// Seconds per step, of a report.
pub fn per_step_s(report: &Report) -> f64 {
    match report.results.value("per_step_s") {
        Some(ResultValue::F64(seconds)) => *seconds,
        other => panic!("the program reports its time, not {other:?}"),
    }
}

/// An example program of the same build.
fn built(example: &str) -> PathBuf {
    let me = std::env::current_exe().expect("the system tells");
    let profile = me.parent().and_then(|deps| deps.parent()).expect("benchmarks are in `deps`");
    profile.join("examples").join(example)
}
