//! What nodes print and read.

use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{AT_ONCE, Job, is_gone, run, signal_to};

const NODES: &str = "--nodes 3 --pes 1 --transport tcp";

/// The lines of one node, in order.
fn lines_of(stdout: &str, node: usize) -> Vec<String> {
    let start = format!("from {node} line ");
    stdout.lines().filter(|line| line.contains(&start)).map(str::to_owned).collect()
}

#[test]
fn lines_arrive_whole_and_in_order_and_nothing_is_lost() {
    let ended = run("prints", NODES);
    ended.expect(0, &["last words of 0", "last words of 1", "last words of 2"]);
    for node in 0..3 {
        let expected: Vec<String> = (0..200).map(|line| format!("from {node} line {line} end")).collect();
        assert_eq!(lines_of(&ended.stdout, node), expected);
    }
    assert_eq!(ended.stdout.matches('~').count(), 300_000);
}

#[test]
fn lines_begin_with_their_node_if_asked() {
    let ended = run("prints", &format!("{NODES} --label-output"));
    ended.expect(0, &["[0] last words of 0", "[2] last words of 2"]);
    let lines = lines_of(&ended.stdout, 2);
    assert_eq!(lines.len(), 200);
    assert!(lines.iter().all(|line| line.starts_with("[2] from 2")), "{lines:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut job = Job::start("prints without end", NODES);
    job.line_with("line 1 end");
    drop(std::mem::replace(&mut job.stdout, std::io::BufReader::new(nothing())));
    job.end().expect(0, &["from 2 of 3"]);
}

fn nothing() -> std::process::ChildStdout {
    let mut child = std::process::Command::new("true").stdout(Stdio::piped()).spawn().unwrap();
    child.wait().unwrap();
    child.stdout.take().unwrap()
}

#[test]
fn standard_input_goes_to_the_first_node() {
    let mut job = Job::start_with("reads", NODES, |command| command.stdin(Stdio::piped()));
    job.launcher.stdin.take().unwrap().write_all(b"some text").unwrap();
    let ended = job.end();
    ended.expect(0, &[]);
    for line in ["node 0 read \"some text\"", "node 1 read \"\"", "node 2 read \"\""] {
        assert!(ended.stdout.contains(line), "{line} {}", ended.stdout);
    }
}

#[test]
fn a_child_of_a_node_keeps_nobody_waiting_and_inherits_nothing() {
    let mut job = Job::start("has a child", NODES);
    let line = job.line_with("the child is ");
    let pid: i32 = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
    job.end().expect(0, &["from 2 of 3"]);
    let targets = |pid: &str| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
        entries.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok()).collect()
    };
    let of_tests = targets("self");
    // Its standard streams, and what these tests inherited from whoever runs them.
    let is_new = |target: &PathBuf| !of_tests.contains(target) && !target.starts_with("/dev/null");
    let is_pipe = |target: &PathBuf| target.to_string_lossy().starts_with("pipe:");
    let others = || -> Vec<PathBuf> {
        targets(&pid.to_string()).into_iter().filter(|target| is_new(target) && !is_pipe(target)).collect()
    };
    // It opens files itself when it starts, and closes them again; what it has inherited stays.
    let start = Instant::now();
    while !others().is_empty() && start.elapsed() < AT_ONCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    let inherited = others();
    let environment = std::fs::read_to_string(format!("/proc/{pid}/environ")).unwrap();
    signal_to(pid, rustix::process::Signal::KILL);
    assert!(is_gone(pid));
    assert!(inherited.is_empty(), "{inherited:?}");
    assert!(!environment.contains("TALISMAN_CONTROL"));
}

#[test]
fn progress_is_shown_for_the_job() {
    run("steps", &format!("{NODES} --progress")).expect(0, &["step 100 of 1000", "done: 100"]);
}
